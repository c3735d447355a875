package yarn

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Progress is the progress of a job.
type Progress struct {
	Map, Reduce float64 // percent of the work of the maps and of the reduces
	State       string  // state of the job, or of the application as long as there is no job
}

// Counters contains the values of counters by group and name. Hadoop's own groups are named by
// their class.
type Counters map[string]map[string]int64

// jobJSON is a job in the JSON of its application master and of the history server.
type jobJSON struct {
	State, Diagnostics          string
	MapsTotal, ReducesTotal     int
	MapProgress, ReduceProgress float64 // only while the job runs
	SuccessfulMapAttempts       int
	SuccessfulReduceAttempts    int
}

// progress returns the progress of the job. For a job that has ended, it is computed from the
// number of successful attempts, because the number of completed tasks includes those that
// failed.
func (j jobJSON) progress(ended bool) Progress {
	p := Progress{j.MapProgress, j.ReduceProgress, j.State}
	if ended {
		p.Map = percent(j.SuccessfulMapAttempts, j.MapsTotal)
		p.Reduce = percent(j.SuccessfulReduceAttempts, j.ReducesTotal)
	}
	return p
}

// percent returns part as a percentage of whole. It is 100 if whole is 0.
func percent(part, whole int) float64 {
	if part >= whole {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// masterPath returns the path of a running job, below the address of a resource manager.
func masterPath(jobID string) string {
	return "/proxy/" + url.PathEscape(appID(jobID)) + "/ws/v1/mapreduce/jobs/" + url.PathEscape(jobID)
}

// historyPath returns the path of a job that has ended, below the address of the history
// server.
func historyPath(jobID string) string {
	return "/ws/v1/history/mapreduce/jobs/" + url.PathEscape(jobID)
}

// jobAnswer is the answer to a request for a job.
type jobAnswer struct{ Job jobJSON }

// Progress returns the progress of an application's job. It asks the application master or,
// when the job has ended, the history server.
func (c *Client) Progress(ctx context.Context, app App) (Progress, error) {
	id := app.JobID()
	var answer jobAnswer
	if !app.Ended() {
		err := c.onManager(ctx, func(base string) error { return c.get(ctx, master, base+masterPath(id), &answer) })
		if err == nil {
			return answer.Job.progress(false), nil
		}
		if ctx.Err() != nil {
			return Progress{}, err
		}
	}
	missing := c.get(ctx, history, c.history+historyPath(id), &answer)
	if missing == nil {
		return answer.Job.progress(true), nil
	}
	// Neither knows the job before its application master runs, or after the master has died.
	fresh, err := c.App(ctx, app.ID)
	if err != nil {
		return Progress{}, err
	}
	if fresh.FinalStatus == "SUCCEEDED" {
		return Progress{100, 100, fresh.FinalStatus}, nil
	}
	return Progress{State: fresh.State}, nil
}

// Counters returns the totals of a job's counters; while the job runs, the totals so far.
// There are none for a job that has failed. When a job has just ended, no service knows it
// until the history server has read its history: Counters waits some seconds for that.
func (c *Client) Counters(ctx context.Context, jobID string) (counters Counters, err error) {
	err = c.onJob(ctx, jobID, func(service, base string, _ jobJSON) error {
		var answer struct {
			JobCounters struct {
				CounterGroup []struct {
					CounterGroupName string
					Counter          []struct {
						Name              string
						TotalCounterValue int64
					}
				}
			}
		}
		if err := c.get(ctx, service, base+"/counters", &answer); err != nil {
			return err
		}
		counters = make(Counters)
		for _, group := range answer.JobCounters.CounterGroup {
			values := make(map[string]int64)
			for _, counter := range group.Counter {
				values[counter.Name] = counter.TotalCounterValue
			}
			counters[group.CounterGroupName] = values
		}
		return nil
	})
	return counters, err
}

// onJob calls report with a service that knows a job, and the job's address there: the history
// server or, if that does not know the job, the application master. If neither does, or if
// report fails because the application master has ended meanwhile, onJob tries again for some
// seconds.
func (c *Client) onJob(ctx context.Context, id string, report func(service, base string, job jobJSON) error) error {
	waiting, cancel := context.WithTimeout(ctx, historyWait)
	defer cancel()
	for {
		var answer jobAnswer
		base := c.history + historyPath(id)
		missing := c.get(ctx, history, base, &answer)
		if missing == nil {
			return report(history, base, answer.Job)
		}
		err := c.onManager(ctx, func(manager string) error {
			base = manager + masterPath(id)
			if err := c.get(ctx, master, base, &answer); err != nil {
				return err
			}
			return report(master, base, answer.Job)
		})
		if err == nil {
			return nil
		}
		if code(missing) != http.StatusNotFound || !sleep(waiting) {
			return fmt.Errorf("%w (and it is not running: %w)", missing, err)
		}
	}
}

package yarn

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Progress is how far a job is.
type Progress struct {
	Map, Reduce float64 // percent of the work of its maps and of its reduces
	State       string  // the job's; the application's, while there is no job yet
}

// Counters are counters by group and name: Hadoop's own groups by the name of
// their class.
type Counters map[string]map[string]int64

// jobJSON is a job as its application master and the history server write it.
type jobJSON struct {
	State, Diagnostics          string
	MapsTotal, ReducesTotal     int
	MapProgress, ReduceProgress float64 // of a job that runs
	SuccessfulMapAttempts       int
	SuccessfulReduceAttempts    int
}

// progress is how far a job is: one that has ended tells only its attempts. (It
// also tells tasks that completed, but counts those that failed.)
func (j jobJSON) progress(ended bool) Progress {
	p := Progress{j.MapProgress, j.ReduceProgress, j.State}
	if ended {
		p.Map = percent(j.SuccessfulMapAttempts, j.MapsTotal)
		p.Reduce = percent(j.SuccessfulReduceAttempts, j.ReducesTotal)
	}
	return p
}

// percent is a part of a whole; nothing of nothing is all.
func percent(part, whole int) float64 {
	if part >= whole {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// masterPath is where a job that runs is told of, under a resource manager.
func masterPath(jobID string) string {
	return "/proxy/" + url.PathEscape(appID(jobID)) + "/ws/v1/mapreduce/jobs/" + url.PathEscape(jobID)
}

// historyPath is where a job that has ended is told of, under the history server.
func historyPath(jobID string) string {
	return "/ws/v1/history/mapreduce/jobs/" + url.PathEscape(jobID)
}

// jobAnswer is a job, in its answer.
type jobAnswer struct{ Job jobJSON }

// Progress tells how far an application's job is: from its application master,
// or from the history server, when it has ended.
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
	// Before its master is there, and after it has died, no job is told of.
	fresh, err := c.App(ctx, app.ID)
	if err != nil {
		return Progress{}, err
	}
	if fresh.FinalStatus == "SUCCEEDED" {
		return Progress{100, 100, fresh.FinalStatus}, nil
	}
	return Progress{State: fresh.State}, nil
}

// Counters are the totals of a job's counters: while it runs, so far; none of one that
// has failed. One that has just ended is known to nobody until the history server has
// read of it: Counters waits for that some seconds.
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

// onJob calls tell with where a job is told of: the history server, if it knows
// of it, or else its application master. If neither does, or tell fails since the
// one that did is gone, it is asked again, for some seconds.
func (c *Client) onJob(ctx context.Context, id string, tell func(service, base string, job jobJSON) error) error {
	waiting, cancel := context.WithTimeout(ctx, historyWait)
	defer cancel()
	for {
		var answer jobAnswer
		base := c.history + historyPath(id)
		missing := c.get(ctx, history, base, &answer)
		if missing == nil {
			return tell(history, base, answer.Job)
		}
		err := c.onManager(ctx, func(manager string) error {
			base = manager + masterPath(id)
			if err := c.get(ctx, master, base, &answer); err != nil {
				return err
			}
			return tell(master, base, answer.Job)
		})
		if err == nil {
			return nil
		}
		if code(missing) != http.StatusNotFound || !sleep(waiting) {
			return fmt.Errorf("%w (and it is not running: %w)", missing, err)
		}
	}
}

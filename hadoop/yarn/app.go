package yarn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// App is an application as the resource manager tells of it.
type App struct {
	ID          string // application_1795287426079_0001
	Name        string
	State       string // NEW, SUBMITTED, ACCEPTED, RUNNING, FINISHED, FAILED, KILLED
	FinalStatus string // UNDEFINED until the end, then SUCCEEDED, FAILED, KILLED
	Diagnostics string
	TrackingURL string
	Tags        []string // in lower case, as the resource manager keeps them
	Started     time.Time
	Finished    time.Time // zero while it runs
}

// JobID is the identifier of the MapReduce job of the application.
func (a App) JobID() string { return "job_" + strings.TrimPrefix(a.ID, "application_") }

// Ended says whether the application has ended, well or not.
func (a App) Ended() bool {
	return a.State == "FINISHED" || a.State == "FAILED" || a.State == "KILLED"
}

// appID is the application of a job.
func appID(jobID string) string { return "application_" + strings.TrimPrefix(jobID, "job_") }

// appJSON is App as the resource manager writes it.
type appJSON struct {
	ID, Name, State, FinalStatus, Diagnostics string
	TrackingURL                               string `json:"trackingUrl"`
	ApplicationTags                           string
	StartedTime, FinishedTime                 int64
}

func (a appJSON) app() App {
	return App{a.ID, a.Name, a.State, a.FinalStatus, a.Diagnostics, a.TrackingURL,
		fields(a.ApplicationTags), moment(a.StartedTime), moment(a.FinishedTime)}
}

// Find returns the applications with a tag, in whatever state, newest first.
func (c *Client) Find(ctx context.Context, tag string) ([]App, error) {
	var answer struct {
		Apps struct{ App []appJSON }
	}
	if err := c.getManager(ctx, "/ws/v1/cluster/apps?applicationTags="+url.QueryEscape(tag), &answer); err != nil {
		return nil, err
	}
	apps := make([]App, len(answer.Apps.App))
	for i, a := range answer.Apps.App {
		apps[i] = a.app()
	}
	slices.SortFunc(apps, func(a, b App) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	return apps, nil
}

// App returns an application.
func (c *Client) App(ctx context.Context, id string) (App, error) {
	var answer struct{ App appJSON }
	err := c.getManager(ctx, "/ws/v1/cluster/apps/"+url.PathEscape(id), &answer)
	return answer.App.app(), err
}

// Kill ends an application and waits until it has ended, for as long as the
// context lets it. If the resource manager refuses, it is Hadoop's own client
// that is asked (see Command). One that has ended before is left as it is.
func (c *Client) Kill(ctx context.Context, id string) error {
	err := c.onManager(ctx, func(base string) error {
		_, err := c.do(ctx, manager, http.MethodPut, base+"/ws/v1/cluster/apps/"+url.PathEscape(id)+"/state",
			`{"state":"KILLED"}`, "application/json", maxAnswer, false)
		return err
	})
	if err != nil && c.Command != "" && ctx.Err() == nil && code(err) != http.StatusNotFound {
		if byCommand := c.killByCommand(ctx, id); byCommand != nil {
			err = fmt.Errorf("%w; %w", err, byCommand)
		} else {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	for {
		app, err := c.App(ctx, id)
		if err == nil && app.Ended() {
			return nil
		}
		if err != nil && code(err) != 0 {
			return err
		}
		if !sleep(ctx) {
			return fmt.Errorf("%s was told to end, but has not: %w", id, ctx.Err())
		}
	}
}

// killByCommand ends a job by Hadoop's client. It comes with a user who may.
func (c *Client) killByCommand(ctx context.Context, id string) error {
	args := []string{"org.apache.hadoop.mapred.JobClient", "-kill", App{ID: id}.JobID()}
	cmd := exec.CommandContext(ctx, c.Command, args...)
	if c.user != "" {
		cmd.Env = append(os.Environ(), "HADOOP_USER_NAME="+c.user)
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if lines := programLines(string(out)); len(lines) > 0 {
		err = errors.New(lines[len(lines)-1])
	}
	return fmt.Errorf("%s %s: %w", c.Command, strings.Join(args, " "), err)
}

package yarn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"sort"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/internal/system"
)

// App is an application as the resource manager describes it.
type App struct {
	ID          string // application_1795287426079_0001
	Name        string
	State       string // NEW, SUBMITTED, ACCEPTED, RUNNING, FINISHED, FAILED, KILLED
	FinalStatus string // UNDEFINED until the application ends, then SUCCEEDED, FAILED or KILLED
	Diagnostics string
	TrackingURL string
	Tags        []string // in lower case, as the resource manager stores them
	Started     time.Time
	Finished    time.Time // zero while the application runs
}

// JobID returns the identifier of the application's MapReduce job.
func (a App) JobID() string { return "job_" + strings.TrimPrefix(a.ID, "application_") }

// Ended reports whether the application has ended, successfully or not.
func (a App) Ended() bool {
	return a.State == "FINISHED" || a.State == "FAILED" || a.State == "KILLED"
}

// appID returns the identifier of a job's application.
func appID(jobID string) string { return "application_" + strings.TrimPrefix(jobID, "job_") }

// appJSON is an App in the JSON of the resource manager.
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

// Find returns the applications with a tag, in any state, newest first.
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
	// slices.SortFunc would add ten times the code for a large struct.
	sort.Slice(apps, func(i, j int) bool {
		a, b := apps[i], apps[j]
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) < 0
	})
	return apps, nil
}

// App returns the application with an identifier.
func (c *Client) App(ctx context.Context, id string) (App, error) {
	var answer struct{ App appJSON }
	err := c.getManager(ctx, "/ws/v1/cluster/apps/"+url.PathEscape(id), &answer)
	return answer.App.app(), err
}

// Kill kills an application, and waits until it has ended or the context is done. If the
// resource manager refuses, Kill uses Hadoop's own client (see Client.Command). It does
// nothing if the application has ended.
func (c *Client) Kill(ctx context.Context, id string) error {
	err := c.onManager(ctx, func(base string) error {
		_, err := c.do(ctx, request{service: manager, method: http.MethodPut, address: base + "/ws/v1/cluster/apps/" + url.PathEscape(id) + "/state",
			body: `{"state":"KILLED"}`, contentType: "application/json", limit: maxAnswer})
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
			return fmt.Errorf("%s is still running after a request to end: %w", id, ctx.Err())
		}
	}
}

// killByCommand kills a job with Hadoop's client, which can act as a user with permission.
func (c *Client) killByCommand(ctx context.Context, id string) error {
	args := []string{"org.apache.hadoop.mapred.JobClient", "-kill", App{ID: id}.JobID()}
	cmd := exec.Command(c.Command, args...)
	cmd.Env = kerberos.Environ()
	if c.user != "" {
		cmd.Env = append(cmd.Env, "HADOOP_USER_NAME="+c.user)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := system.Run(ctx, cmd)
	if err == nil {
		return nil
	}
	if lines := programLines(out.String()); len(lines) > 0 {
		err = errors.New(lines[len(lines)-1])
	}
	return fmt.Errorf("%s %s: %w", c.Command, strings.Join(args, " "), err)
}

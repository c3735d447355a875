package streaming

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// watchEvery is how often to check that the resource manager responds, lostAfter how long
	// it may not respond before it counts as lost. Hadoop's client would retry for 15 minutes.
	watchEvery = 10 * time.Second
	lostAfter  = 60 * time.Second
	// endWait limits the time to clean up after a job that ended early: two commands.
	endWait = time.Minute
	// clientWait is how long a killed client may keep its output open.
	clientWait = 5 * time.Second
	// attendEvery is how often to ask for a job that another client submitted: each time, a JVM starts.
	attendEvery = 5 * time.Second
	// countersTries is how often to ask for the counters of such a job, if there are none.
	countersTries = 6
)

// submit runs Hadoop's client until the job ends.
func (r *Runner) submit(ctx context.Context, job *runner.Job, args []string) (runner.Stats, error) {
	ctx, stop := r.watched(ctx)
	defer stop()
	begun := time.Now()
	cmd := r.Yarn.Command(args...)
	cmd.WaitDelay = clientWait
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return runner.Stats{}, err
	}
	cmd.Stdout = io.Discard
	group, err := system.Start(ctx, cmd)
	if err != nil {
		return runner.Stats{}, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	defer group.Kill()
	var report yarn.Report
	report.Read(stderr, func() {
		p := runner.Progress{Share: (report.Map + report.Reduce) / 2, State: runner.Accepted, Map: report.Map, Reduce: report.Reduce, Tracking: report.TrackingURL}
		if report.Running {
			p.State = runner.Running
		}
		job.Report(p)
	})
	err = runner.Wait(ctx, cmd)
	if ctx.Err() != nil {
		return runner.Stats{}, r.stopped(ctx, report.App, job.Output)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.Join(report.Messages, "; "))
		app, notFound := r.find(ctx, job.Output)
		if notFound == nil {
			return r.attend(ctx, job, app) // only the client has failed
		}
		if !errors.Is(notFound, errNoApp) {
			return runner.Stats{}, fmt.Errorf("hadoop: %w; %w", err, notFound)
		}
		return runner.Stats{}, r.cause(ctx, report.App, err)
	}
	return r.stats(job, report.App, report.Counters, time.Since(begun)), nil
}

// errLost is the error of a resource manager that does not respond.
var errLost = errors.New("the resource manager is lost")

// watched returns a context that ends, with errLost, if the resource manager is lost.
func (r *Runner) watched(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		answered := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(watchEvery):
			}
			_, err := r.Yarn.Metrics(ctx)
			if err == nil {
				answered = time.Now()
			} else if lost := time.Since(answered); lost > lostAfter && ctx.Err() == nil {
				cancel(fmt.Errorf("no answer for %.0f s: %w: %w", lost.Seconds(), errLost, err))
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stopped returns the cause of the end of ctx. It kills the application, unless the resource manager is lost.
func (r *Runner) stopped(ctx context.Context, app, attempt string) error {
	err := context.Cause(ctx)
	if !errors.Is(err, errLost) {
		r.kill(app, attempt)
	}
	return err
}

// attend waits for a job that the client of another driver has submitted.
func (r *Runner) attend(ctx context.Context, job *runner.Job, app yarn.App) (runner.Stats, error) {
	ctx, stop := r.watched(ctx)
	defer stop()
	begun := time.Now()
	for !app.Ended() {
		p := runner.Progress{Share: app.Progress, State: runner.Accepted, Tracking: app.TrackingURL}
		if app.State == "RUNNING" {
			p.State = runner.Running
		}
		job.Report(p)
		select {
		case <-ctx.Done():
			return runner.Stats{}, r.stopped(ctx, app.ID, job.Output)
		case <-time.After(attendEvery):
		}
		apps, err := r.Yarn.Find(ctx, r.tag(job.Output))
		if err != nil {
			continue // watch ends it if the resource manager is lost
		}
		i := slices.IndexFunc(apps, func(a yarn.App) bool { return a.ID == app.ID })
		if i < 0 {
			return runner.Stats{}, fmt.Errorf("%s: the resource manager does not know it any more: it was restarted", app.ID)
		}
		app = apps[i]
	}
	if app.FinalStatus != "SUCCEEDED" {
		return runner.Stats{}, r.cause(ctx, app.ID, errors.New(strings.ToLower(app.FinalStatus)))
	}
	return r.stats(job, app.ID, r.counters(ctx, app.ID), time.Since(begun)), nil
}

// counters returns the counters of a job that has succeeded. A history server shows them some time after the job's end,
// or never, if the application master could not write the history: then there are none.
func (r *Runner) counters(ctx context.Context, app string) yarn.Counters {
	for range countersTries {
		counters, err := r.Yarn.Counters(ctx, app)
		if err == nil {
			return counters
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(attendEvery):
		}
	}
	return nil
}

// kill ends an application, or that of an attempt, if there is one: its output is no longer needed.
func (r *Runner) kill(app, attempt string) {
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	if app == "" {
		found, err := r.find(ctx, attempt)
		if err != nil || found.Ended() {
			return
		}
		app = found.ID
	}
	r.Yarn.Kill(ctx, app) // if that fails, the output of the attempt is never read
}

// cause returns the reason why an application failed, as far as the cluster knows it;
// otherwise the messages of the client.
func (r *Runner) cause(ctx context.Context, app string, clientErr error) error {
	if app == "" {
		return fmt.Errorf("hadoop: not submitted: %w", clientErr)
	}
	ctx, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	failure, err := r.Yarn.Cause(ctx, app)
	if err != nil {
		return fmt.Errorf("%s: %w", app, clientErr)
	}
	return fmt.Errorf("%s: %s", app, failure)
}

// stats returns the statistics of a job, computed from its counters.
func (r *Runner) stats(job *runner.Job, app string, n yarn.Counters, wall time.Duration) (s runner.Stats) {
	of := func(side, name string) int64 { return n[step.CounterGroup(side)][name] }
	seconds := func(side, name string) float64 { return float64(of(side, name)) / 1000 }
	s.Count(job, of)
	s.Application, s.Shuffled = app, of("map", step.RecordsOut)
	s.Programs = seconds("map", step.CPU) + seconds("reduce", step.CPU)
	for _, group := range n {
		s.Bytes += group["Map output materialized bytes"]
		s.Retries += group["Failed map tasks"] + group["Failed reduce tasks"]
		s.CPU += float64(group["CPU time spent (ms)"]) / 1000
	}
	for _, side := range []string{"map", "reduce"} {
		s.Read += of(side, step.BytesRead)
		tasks := max(1, of(side, step.Tasks))
		s.Working += seconds(side, step.Wall) / float64(min(tasks, int64(max(1, r.Parallel))))
	}
	s.Working = min(s.Working, wall.Seconds())
	s.Waiting = wall.Seconds() - s.Working
	return s
}

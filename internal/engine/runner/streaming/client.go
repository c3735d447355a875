package streaming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
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
	// killTries is how often to look whether a job still runs, and to kill it.
	killTries = 2
)

// submit runs Hadoop's client until the job ends, whose maps must read a number of records.
func (r *Runner) submit(ctx context.Context, job *runner.Job, reads int64, args []string) (runner.Stats, error) {
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
		err = context.Cause(ctx)
		if !errors.Is(err, errLost) {
			_ = r.abandon(job.Output) // if this fails, the next driver ends it
		}
		return runner.Stats{}, err
	}
	if err != nil {
		if len(report.Messages) > 0 {
			err = fmt.Errorf("%w: %s", err, strings.Join(report.Messages, "; "))
		}
		return runner.Stats{}, r.failure(ctx, report.App, job.Output, err)
	}
	if read := report.Counters[step.CounterGroup("map")][step.RecordsIn]; read != reads {
		return runner.Stats{}, fmt.Errorf("%w: %s: its maps have read %s of %d, or their counters are missing", runner.ErrAgain, report.App, numfmt.Count(read, "record"), reads)
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

// abandon kills the application of an attempt whose output is not needed.
func (r *Runner) abandon(attempt string) error {
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	return r.kill(ctx, attempt)
}

// kill kills the applications of an attempt that have not ended.
func (r *Runner) kill(ctx context.Context, attempt string) (err error) {
	for range killTries { // one that has just ended by itself cannot be killed
		apps, unknown := r.Yarn.Running(ctx, r.tag(attempt))
		if unknown != nil {
			return unknown
		}
		err = nil
		for _, app := range apps {
			err = cmp.Or(r.Yarn.Kill(ctx, app), err)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// failure returns the error of a job whose client has failed: with the reason why its application failed, as far as the
// cluster knows it, otherwise with the messages of the client. If only the client has failed, failure kills the application.
func (r *Runner) failure(ctx context.Context, app, attempt string, clientErr error) error {
	if app != "" {
		ctx, cancel := context.WithTimeout(ctx, endWait)
		defer cancel()
		failure, err := r.Yarn.Cause(ctx, app)
		if err == nil {
			return fmt.Errorf("%s: %s", app, failure)
		}
		if errors.Is(err, yarn.ErrSucceeded) {
			return fmt.Errorf("%w: %s has succeeded, but hadoop: %w", runner.ErrAgain, app, clientErr)
		}
	}
	if err := r.abandon(attempt); err != nil {
		return fmt.Errorf("hadoop: %w; %w", clientErr, err)
	}
	if app == "" {
		return fmt.Errorf("hadoop: not submitted: %w", clientErr)
	}
	return fmt.Errorf("%s: hadoop: %w", app, clientErr)
}

// stats returns the statistics of a job, computed from its counters.
func (r *Runner) stats(job *runner.Job, app string, n yarn.Counters, wall time.Duration) (s runner.Stats) {
	of := func(side, name string) int64 { return n[step.CounterGroup(side)][name] }
	seconds := func(side, name string) float64 { return float64(of(side, name)) / 1000 }
	s.Count(job, n[step.CounterGroup("reduce")])
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

package streaming

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// clientOptions reduce the start time of Hadoop's client to two thirds.
	clientOptions = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
	// watchEvery is how often to check that the resource manager responds, lostAfter how long
	// it may not respond before it counts as lost. Hadoop's client would retry for 15 minutes.
	watchEvery = 10 * time.Second
	lostAfter  = 60 * time.Second
	// endWait limits the time to clean up after a job that ended early.
	endWait = 30 * time.Second
	// clientWait is how long a killed client may keep its output open.
	clientWait = 5 * time.Second
	// attendEvery is how often to poll a job that another client submitted.
	attendEvery = 500 * time.Millisecond
)

// Lines that Hadoop's client prints.
var (
	submittedLine = regexp.MustCompile(`Submitted application (application_\d+_\d+)`)
	trackingLine  = regexp.MustCompile(`The url to track the job: (\S+)`)
	progressLine  = regexp.MustCompile(`map (\d+)% reduce (\d+)%`)
	groupLine     = regexp.MustCompile(`^\t(\S.*?)\s*$`)
	counterLine   = regexp.MustCompile(`^\t\t(\S.*)=(\d+)$`)
	errorLine     = regexp.MustCompile(`(?i)error|exception|failed|caused by`)
)

// A client is Hadoop's client, running a job, and the output that was parsed.
type client struct {
	app      string // "" until the application is submitted
	counters yarn.Counters
	messages []string // lines that may contain the cause of a failure
}

// submit runs Hadoop's client until the job ends.
func (r *Runner) submit(ctx context.Context, job *runner.Job, args []string) (runner.Stats, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := time.Now()
	cmd := exec.Command(r.Command, args...)
	cmd.Env = append(kerberos.Environ(), "HADOOP_CLIENT_OPTS="+clientOptions+" "+os.Getenv("HADOOP_CLIENT_OPTS"))
	cmd.WaitDelay = clientWait
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return runner.Stats{}, err
	}
	cmd.Stdout = io.Discard
	group, err := system.Start(ctx, cmd)
	if err != nil {
		return runner.Stats{}, fmt.Errorf("%s: %w", r.Command, err)
	}
	defer group.Kill()
	go r.watch(ctx, cancel)
	c := &client{counters: make(yarn.Counters)}
	c.parse(stderr, job)
	err = runner.Wait(ctx, cmd)
	if ctx.Err() != nil {
		r.kill(job.Output)
		return runner.Stats{}, context.Cause(ctx)
	}
	if err != nil {
		app, notFound := r.findSurely(ctx, job.Output)
		if notFound == nil {
			return r.attend(ctx, job, app) // only the client has failed
		}
		if !errors.Is(notFound, errNoApp) {
			return runner.Stats{}, notFound
		}
		return runner.Stats{}, r.cause(ctx, c.app, fmt.Errorf("%w: %s", err, strings.Join(c.messages, "; ")))
	}
	return r.stats(job, c.app, c.counters, time.Since(begun)), nil
}

// parse parses the client's output until it ends. After a line that is too long for a
// Scanner, it discards the rest, since the client blocks if the output is not read.
func (c *client) parse(stderr io.Reader, job *runner.Job) {
	defer io.Copy(io.Discard, stderr)
	group := ""
	p := runner.Progress{}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := lines.Bytes()
		if m := progressLine.FindSubmatch(line); m != nil {
			p.State, p.Map, p.Reduce = runner.Running, number(m[1])/100, number(m[2])/100
			p.Share = (p.Map + p.Reduce) / 2
			job.Report(p)
		} else if m := submittedLine.FindSubmatch(line); m != nil {
			c.app = string(m[1])
		} else if m := trackingLine.FindSubmatch(line); m != nil {
			p.State, p.Tracking = runner.Accepted, string(m[1])
			job.Report(p)
		} else if m := counterLine.FindSubmatch(line); m != nil {
			if c.counters[group] == nil {
				c.counters[group] = make(map[string]int64)
			}
			n, _ := strconv.ParseInt(string(m[2]), 10, 64) // these are digits; of too many, n is the largest int64
			c.counters[group][string(m[1])] = n
		} else if m := groupLine.FindSubmatch(line); m != nil {
			group = string(m[1])
		} else if errorLine.Match(line) && len(c.messages) < 10 {
			c.messages = append(c.messages, string(bytes.TrimSpace(line)))
		}
	}
}

// number parses digits.
func number(text []byte) float64 {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0
	}
	return n
}

// watch ends a job if the resource manager is lost.
func (r *Runner) watch(ctx context.Context, cancel context.CancelCauseFunc) {
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
			cancel(fmt.Errorf("no answer for %.0f s: %w", lost.Seconds(), err))
			return
		}
	}
}

// attend waits for a job that the client of another driver has submitted.
func (r *Runner) attend(ctx context.Context, job *runner.Job, app yarn.App) (runner.Stats, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go r.watch(ctx, cancel)
	for !app.Ended() {
		if p, err := r.Yarn.Progress(ctx, app); err == nil {
			state := runner.Accepted
			if app.State == "RUNNING" {
				state = runner.Running
			}
			job.Report(runner.Progress{Share: (p.Map + p.Reduce) / 200, State: state, Map: p.Map / 100, Reduce: p.Reduce / 100, Tracking: app.TrackingURL})
		}
		select {
		case <-ctx.Done():
			r.kill(job.Output)
			return runner.Stats{}, context.Cause(ctx)
		case <-time.After(attendEvery):
		}
		if fresh, err := r.Yarn.App(ctx, app.ID); err == nil {
			app = fresh
		} else if _, err := r.find(ctx, job.Output); errors.Is(err, errNoApp) {
			return runner.Stats{}, fmt.Errorf("%s: the resource manager does not know it any more: it was restarted", app.ID)
		}
	}
	if app.FinalStatus != "SUCCEEDED" {
		return runner.Stats{}, r.cause(ctx, app.ID, errors.New(strings.ToLower(app.FinalStatus)))
	}
	// The counters may be missing if the master could not write the history. That is no reason
	// to run the job again.
	counters, err := r.Yarn.Counters(ctx, app.JobID())
	if err != nil {
		counters = nil
	}
	return r.stats(job, app.ID, counters, app.Finished.Sub(app.Started)), nil
}

// kill ends the application of an attempt, if there is one: its output is no longer needed.
func (r *Runner) kill(attempt string) {
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	if app, err := r.find(ctx, attempt); err == nil && !app.Ended() {
		r.Yarn.Kill(ctx, app.ID) // if that fails, the output of the attempt is never read
	}
}

// cause returns the reason why an application failed, as far as the cluster knows it;
// otherwise the messages of the client.
func (r *Runner) cause(ctx context.Context, app string, clientErr error) error {
	if app == "" {
		return fmt.Errorf("hadoop: not submitted: %w", clientErr)
	}
	ctx, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	failure, err := r.Yarn.Cause(ctx, yarn.App{ID: app})
	if err != nil {
		return fmt.Errorf("%s: %w", app, clientErr)
	}
	return fmt.Errorf("%s: %s", app, r.place(failure.String()))
}

// stats returns the statistics of a job, computed from its counters.
func (r *Runner) stats(job *runner.Job, app string, n yarn.Counters, wall time.Duration) (s runner.Stats) {
	of := func(side, name string) int64 { return n[step.CounterGroup(side)][name] }
	seconds := func(side, name string) float64 { return float64(of(side, name)) / 1000 }
	s.Count(job, of)
	s.Application, s.Shuffled = app, of("map", step.RecordsOut)
	s.Programs = seconds("map", step.CPU) + seconds("reduce", step.CPU)
	for _, group := range n { // the client and the history server name Hadoop's counters differently
		s.Bytes += group["Map output materialized bytes"] + group["MAP_OUTPUT_MATERIALIZED_BYTES"]
		s.Retries += group["Failed map tasks"] + group["NUM_FAILED_MAPS"] + group["Failed reduce tasks"] + group["NUM_FAILED_REDUCES"]
		s.CPU += float64(group["CPU time spent (ms)"]+group["CPU_MILLISECONDS"]) / 1000
	}
	for _, side := range []string{"map", "reduce"} {
		s.Read += of(side, step.BytesRead)
		s.Near += of(side, step.BytesNear)
		tasks := max(1, of(side, step.Tasks))
		s.Working += seconds(side, step.Wall) / float64(min(tasks, int64(max(1, r.Parallel))))
	}
	s.Working = min(s.Working, wall.Seconds())
	s.Waiting = wall.Seconds() - s.Working
	return s
}

// Package streaming runs jobs and passes on a cluster by Hadoop Streaming: the same
// mapper and reducer binaries; records as packed blocks (see package task), or as lines
// of text where the directories are text. It knows nothing of games beyond the
// interface, nor what a step does.
package streaming

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
)

// Runner is the runner of a cluster. A job there takes seconds before it works,
// so small ones are given to another runner, which works on the same files.
type Runner struct {
	Command  string   // the hadoop command
	Jar      string   // the streaming jar
	Bin      string   // the directory of mapper and reducer, built for the cluster
	Files    []string // further files for the tasks
	Queue    string   // "": the cluster's default
	Define   []string // further properties, k=v
	Reducers int      // of each job; 0: as many as its size is worth
	Parallel int      // tasks that the cluster runs at a time; Preflight finds out

	FS   *hadoop.FS   // where the jobs' directories are
	Yarn *yarn.Client // where the jobs are asked about

	// Above is how many records a job or a pass must read to go to the cluster;
	// smaller ones are Small's.
	Above int64
	Small runner.Runner

	binaries map[string]string // by name, where they lie in FS
}

var _ runner.Runner = (*Runner)(nil)

const (
	// taskRecords is how many records are worth a task of their own: the time
	// in which one works on them is that in which it starts.
	taskRecords = 16 << 20
	// uberMaps is how many maps an application master runs itself, at most.
	uberMaps = 9
	// poll is how often client, application master and resource manager ask one
	// another for news, in ms; the defaults, 1 to 5 s, are for jobs of hours.
	poll = 200
	// closeDelay is how long, in ms, Hadoop's programs wait to close a file in HDFS
	// anew of whose last block the name node has not heard, then twice as long, at
	// most closeRetries times. By default they wait 400 ms, where a few do: for
	// one in four of the small files that belong to a job.
	closeDelay   = 10
	closeRetries = 11
)

// Run runs a job.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	stats, ran, err := r.run(ctx, &job.Work, func(p *plan) error { return p.ofJob(job) })
	switch {
	case err != nil:
		return stats.Stats, err
	case !ran:
		return r.Small.Run(ctx, job)
	}
	return countJob(job, stats.Stats)
}

// RunPass runs a pass over a game with cycles.
func (r *Runner) RunPass(ctx context.Context, pass *runner.Pass) (runner.PassStats, error) {
	stats, ran, err := r.run(ctx, &pass.Work, func(p *plan) error { return p.ofPass(pass) })
	switch {
	case err != nil:
		return stats, err
	case !ran:
		return r.Small.RunPass(ctx, pass)
	}
	return countPass(pass, stats)
}

// run runs a job or a pass on the cluster, unless it is Small's: then ran is false.
func (r *Runner) run(ctx context.Context, w *runner.Work, fill func(*plan) error) (stats runner.PassStats, ran bool, err error) {
	switch {
	case w.Adopted:
		app, err := r.findSurely(ctx, w.Output)
		if err != nil {
			return stats, true, err
		}
		if stats, err = r.attend(ctx, w, app); err != nil {
			return stats, true, err
		}
	case w.Step == step.Init || w.Step == step.Final:
		return stats, false, nil
	default:
		p := &plan{Runner: r, work: w, dir: planDir(w.Output)}
		if err := fill(p); err != nil {
			return stats, true, err
		}
		if p.small || p.reads <= max(0, r.Above) {
			return stats, false, nil
		}
		files, err := p.files()
		if err == nil {
			err = p.write()
		}
		if err != nil {
			return stats, true, err
		}
		// Hadoop makes the directory, and would refuse one that is there.
		if err := w.FS.RemoveAll(w.Output); err != nil {
			return stats, true, err
		}
		if stats, err = r.submit(ctx, w, p.arguments(files)); err != nil {
			return stats, true, err
		}
	}
	return stats, true, nil
}

// planDir is where the files of a plan lie: beside the attempt's directory, as a
// part of it.
func planDir(attempt string) string { return attempt + ".plan" }

// countJob checks and counts what a job has written. Text it counts only where
// nothing came of the job's counters.
func countJob(job *runner.Job, stats runner.Stats) (runner.Stats, error) {
	g, ok := job.Blocks()
	switch {
	case !ok && stats.Records == 0:
		if err := countLists(job, &stats); err != nil {
			return stats, err
		}
	case ok && (job.Codec == jobdir.Blocks || stats.Records == 0):
		t, err := jobdir.OpenTier(job.FS, job.Output, g, job.Tier)
		if err != nil {
			return stats, err
		}
		defer t.Close()
		counts := t.Counts()
		stats.Records, stats.Finished = int64(counts.Total()), int64(counts.Total()-counts[0])
	}
	if job.Step != step.Possible {
		stats.Finished, stats.Positions = 0, 0
	}
	return stats, nil
}

// countPass checks and counts what is new after a pass, as countJob does.
func countPass(pass *runner.Pass, stats runner.PassStats) (runner.PassStats, error) {
	if pass.Step == step.Mark && stats.Messages == 0 {
		var err error
		if stats.Messages, err = countMessages(pass); err != nil {
			return stats, err
		}
	}
	if pass.Codec == jobdir.Text && stats.Records > 0 {
		return stats, nil
	}
	fresh, err := jobdir.OpenNew(pass.FS, []string{pass.Output}, pass.Game)
	if err != nil {
		return stats, err
	}
	defer fresh.Close()
	stats.New, stats.Records, stats.Finished = game.Tally{}, 0, 0
	var tally game.Tally
	tally.AddValues(fresh.Counts())
	stats.Add(tally)
	return stats, nil
}

// countMessages counts the moves of which the map of a mark told, where nothing came
// of its counters.
func countMessages(pass *runner.Pass) (int64, error) {
	input, err := jobdir.OpenNew(pass.FS, pass.Input, pass.Game)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	p := step.NewPass(pass.Game, pass.Step, pass.Number)
	c := input.Cursor()
	var from block.State
	for i := range input.Len() {
		if err := c.Read(i, &from); err != nil {
			return 0, err
		}
		p.Map(input.Range(i), &from, func(uint64, block.Set, bool) {})
	}
	return p.Messages, nil
}

// Keeps reports whether the cluster is at work for an attempt, or has done its
// work, so that a driver that comes later need only wait. It is asked if the attempt
// has a plan; one without is of work that the driver did itself.
func (r *Runner) Keeps(ctx context.Context, attempt string) (bool, error) {
	_, err := r.FS.Stat(planDir(attempt))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.atWork(ctx, attempt)
}

// atWork reports whether an application is at work for an attempt, or was with
// success.
func (r *Runner) atWork(ctx context.Context, attempt string) (bool, error) {
	_, err := r.findSurely(ctx, attempt)
	if errors.Is(err, errNoApp) {
		return false, nil
	}
	return err == nil, err
}

// errNoApp is returned by find when no application is at work for an attempt.
var errNoApp = errors.New("no job is at work for this attempt")

// find returns the application that is at work for an attempt, or was with
// success.
func (r *Runner) find(ctx context.Context, attempt string) (yarn.App, error) {
	apps, err := r.Yarn.Find(ctx, r.tag(attempt))
	if err != nil {
		return yarn.App{}, err
	}
	for _, app := range apps {
		if !app.Ended() || app.FinalStatus == "SUCCEEDED" {
			return app, nil
		}
	}
	return yarn.App{}, fmt.Errorf("%s: %w", attempt, errNoApp)
}

// findSurely is find, for whoever would take silence for a no: while the resource
// manager does not answer it is asked again, until it counts as lost.
func (r *Runner) findSurely(ctx context.Context, attempt string) (yarn.App, error) {
	for begun := time.Now(); ; {
		app, err := r.find(ctx, attempt)
		if err == nil || errors.Is(err, errNoApp) || time.Since(begun) > lostAfter {
			return app, err
		}
		select {
		case <-ctx.Done():
			return app, context.Cause(ctx)
		case <-time.After(watchEvery):
		}
	}
}

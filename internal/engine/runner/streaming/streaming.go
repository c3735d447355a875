// Package streaming runs jobs on a cluster by Hadoop Streaming: the same
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
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
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

	// Above is how many records a job must read to go to the cluster;
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

// Run runs a job on the cluster, unless it is Small's.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	if job.Adopted {
		app, err := r.findSurely(ctx, job.Output)
		if err != nil {
			return stats, err
		}
		if stats, err = r.attend(ctx, job, app); err != nil {
			return stats, err
		}
		return count(job, stats)
	}
	if job.Step == step.Init || job.Step == step.Final {
		return r.Small.Run(ctx, job)
	}
	p := &plan{Runner: r, job: job, dir: planDir(job.Output)}
	if err := p.fill(); err != nil {
		return stats, err
	}
	if p.small || p.reads <= max(0, r.Above) {
		return r.Small.Run(ctx, job)
	}
	files, err := p.files()
	if err == nil {
		err = p.write()
	}
	if err != nil {
		return stats, err
	}
	// Hadoop makes the directory, and would refuse one that is there.
	if err := job.FS.RemoveAll(job.Output); err != nil {
		return stats, err
	}
	if stats, err = r.submit(ctx, job, p.arguments(files)); err != nil {
		return stats, err
	}
	return count(job, stats)
}

// planDir is where the files of a plan lie: beside the attempt's directory, as a
// part of it.
func planDir(attempt string) string { return attempt + ".plan" }

// count checks and counts what a job has written. Text it counts only where nothing came
// of the job's counters.
func count(job *runner.Job, stats runner.Stats) (runner.Stats, error) {
	counted := job.Codec == jobdir.Text && stats.Records > 0
	switch g := game.ByMethod(job.Game).(type) {
	case game.Tiered:
		if counted {
			break
		}
		t, err := jobdir.OpenTier(job.FS, job.Output, g, job.Tier)
		if err != nil {
			return stats, err
		}
		defer t.Close()
		counts := t.Counts()
		stats.Records, stats.Finished = int64(counts.Total()), int64(counts.Total()-counts[0])
	case game.Cyclic:
		return countStates(job, g, counted, stats)
	case game.Acyclic:
		if stats.Records == 0 {
			if err := countLists(job, g, &stats); err != nil {
				return stats, err
			}
		}
	}
	if job.Step != step.Possible {
		stats.Finished, stats.Positions = 0, 0
	}
	return stats, nil
}

// countStates is count of a pass over a game with cycles.
func countStates(job *runner.Job, g game.Cyclic, counted bool, stats runner.Stats) (_ runner.Stats, err error) {
	if job.Step == step.Mark && stats.Messages == 0 {
		if stats.Messages, err = countMessages(job, g); err != nil {
			return stats, err
		}
	}
	if counted {
		return stats, nil
	}
	fresh, err := jobdir.OpenNew(job.FS, []string{job.Output}, g)
	if err != nil {
		return stats, err
	}
	defer fresh.Close()
	stats.New, stats.Records, stats.Finished = game.Tally{}, 0, 0
	var tally game.Tally
	tally.AddValues(fresh.Counts())
	stats.AddNew(tally)
	return stats, nil
}

// countMessages counts the moves of which the map of a mark told, where nothing came
// of its counters.
func countMessages(job *runner.Job, g game.Cyclic) (int64, error) {
	input, err := jobdir.OpenNew(job.FS, job.Input, g)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	p := step.NewPass(g, job.Step, job.Tier)
	c := input.Cursor()
	var from block.State
	for i := range input.Len() {
		if err := c.Read(i, &from); err != nil {
			return 0, err
		}
		if err := p.Map(input.Range(i), &from, func(uint64, block.Set, bool) {}); err != nil {
			return 0, err
		}
	}
	return p.Messages, nil
}

// Keeps reports whether the cluster is at work for an attempt, or has done its
// work, so that a driver that comes later need only wait. It is asked if the attempt
// has a plan; one without is of work that the driver did itself.
func (r *Runner) Keeps(ctx context.Context, attempt string) (bool, error) {
	_, err := r.FS.Stat(planDir(attempt))
	if err == nil {
		_, err = r.findSurely(ctx, attempt)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoApp) {
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

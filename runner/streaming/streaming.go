// Package streaming runs jobs on a cluster by Hadoop Streaming: the same mapper
// and reducer binaries; records as packed blocks (see package task), or as lines
// of text where the directories are text. It knows nothing of games beyond the
// interface, nor what a step does.
package streaming

import (
	"context"
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/tierio"
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

	// Above is how many records a job must read to go to the cluster; smaller
	// ones are Small's.
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
)

// Run runs a job.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	var stats runner.Stats
	if job.Adopted {
		app, err := r.find(ctx, job.Output)
		if err != nil {
			return stats, err
		}
		if stats, err = r.attend(ctx, job, app); err != nil {
			return stats, err
		}
		return r.finish(job, stats)
	}
	if job.Step == step.Init || job.Step == step.Final {
		return r.Small.Run(ctx, job)
	}
	p := &plan{Runner: r, job: job, dir: planDir(job)}
	if err := p.shares(); err != nil {
		return stats, err
	}
	if p.reads <= r.Above {
		return r.Small.Run(ctx, job)
	}
	args, err := p.arguments()
	if err != nil {
		return stats, err
	}
	// Hadoop makes the directory, and would refuse one that is there.
	if err := job.FS.RemoveAll(job.Output); err != nil {
		return stats, err
	}
	if stats, err = r.submit(ctx, job, args); err != nil {
		return stats, err
	}
	return r.finish(job, stats)
}

// planDir is where the files of a job's plan lie: beside the attempt's
// directory, as a part of it.
func planDir(job *runner.Job) string { return job.Output + ".plan" }

// finish checks and counts what a job has written, and removes its plan. Text it
// counts only where nothing came of the job's counters.
func (r *Runner) finish(job *runner.Job, stats runner.Stats) (runner.Stats, error) {
	if job.Codec == tierio.Blocks || stats.Records == 0 {
		t, err := tierio.Open(job.FS, job.Output, job.Game, job.Tier)
		if err != nil {
			return stats, err
		}
		defer t.Close()
		counts := t.Counts()
		stats.Records, stats.Finished = int64(counts.Total()), int64(counts.Total()-counts[0])
	}
	if job.Step != step.Possible {
		stats.Finished = 0
	}
	return stats, job.FS.RemoveAll(planDir(job))
}

// Keeps reports whether the cluster is at work for an attempt, or has done its
// work, so that a driver that comes later need only wait.
func (r *Runner) Keeps(ctx context.Context, attempt string) bool {
	_, err := r.find(ctx, attempt)
	return err == nil
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

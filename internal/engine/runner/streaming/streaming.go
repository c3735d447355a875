// Package streaming runs jobs on a cluster by Hadoop Streaming, with the same mapper and
// reducer binaries. Records are packed blocks or rows (see step.Split). The package knows nothing of the rules of a game, nor
// what a step does.
package streaming

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// Runner is the runner for a cluster. A job takes seconds to start there, so small jobs are
// executed by another runner, on the same files.
type Runner struct {
	Jar      string   // the streaming JAR
	Bin      string   // the directory of mapper and reducer, built for the cluster
	Files    []string // more files for the tasks
	Queue    string   // "": the cluster's default queue
	Define   []string // more properties, k=v
	Reducers int      // of each job; 0: depends on its size
	Parallel int      // tasks that the cluster runs at a time; set by Preflight

	FS   *hadoop.FS   // the file system of the jobs' directories
	Yarn *yarn.Client // runs the hadoop command

	// A job that reads more than Above records runs on the cluster, a smaller one on Small.
	Above int64
	Small runner.Runner

	binaries map[string]string // the path in FS, by name
}

var _ runner.Runner = (*Runner)(nil)

const (
	// taskRecords is how many records a task must have to be worth starting: processing them
	// takes about as long as the start.
	taskRecords = 16 << 20
	// uberMaps is the maximum number of maps that an application master runs itself.
	uberMaps = 9
	// poll is how often client, application master and resource manager poll one another, in
	// ms; the defaults, 1 to 5 s, are for jobs of hours.
	poll = 200
	// avoidNodes is the percentage of nodes from which on an application master runs tasks again on
	// nodes where three have failed. The default, 33, is one node of three.
	avoidNodes = 51
	// closeDelay is how long, in ms, Hadoop's programs wait before they retry to close a file
	// in HDFS whose last block the name node does not know yet. The delay doubles with each of
	// at most closeRetries retries. The default, 400 ms, delayed one in four of the small
	// files of a job, where a few ms are enough.
	closeDelay   = 10
	closeRetries = 11
)

// Run runs a job on the cluster, or a small one on r.Small.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	if job.Step == step.Init || job.Step == step.Final {
		return r.Small.Run(ctx, job)
	}
	p := &plan{Runner: r, job: job, dir: store.PlanDir(job.Output)}
	if err := p.fill(); err != nil {
		return stats, err
	}
	if p.reads <= max(0, r.Above) {
		return r.Small.Run(ctx, job)
	}
	files, err := p.files()
	if err == nil {
		err = p.write()
	}
	if err != nil {
		return stats, err
	}
	return r.submit(ctx, job, p.reads, p.arguments(files))
}

// End ends what runs on the cluster for an attempt of an earlier driver, which is about to be deleted. An attempt without a
// plan has no job: the driver itself did the work. A stage has jobs that copy.
//
// End does not see a job that Hadoop's client submits later, for a driver that is paused or has died, and a task may go on where
// its node manager cannot be reached. Both do no harm. They write only into the directory of their attempt. Hadoop's output
// committer may make it again, but no other attempt has its name, no driver reads it, and only that of the attempt would rename
// it, which it cannot any more (store.ErrTakenOver). Maps that start after the attempt was deleted fail without its plan.
func (r *Runner) End(ctx context.Context, attempt string) error {
	if !strings.HasPrefix(path.Base(attempt), stagePrefix) {
		_, err := r.FS.Stat(store.PlanDir(attempt))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := r.kill(ctx, attempt); err != nil {
		return fmt.Errorf("a job of an earlier driver may still run, for %s: %w", path.Base(attempt), err)
	}
	return nil
}

// Preflight checks, before anything is started, whether the jobs of a game can run with a data
// directory of that name: that Hadoop accepts the name, that there are a mapper and a reducer,
// that the resource manager has a live node, and that the hadoop command runs.
// It checks nothing if no job can be large enough for the cluster. The name node has been
// checked before, and permissions will be when the data directory is created.
func (r *Runner) Preflight(ctx context.Context, g game.Game, data string) error {
	if method.Of(g).MostRecords() <= float64(r.Above) {
		return nil
	}
	if err := checkName(data); err != nil {
		return err
	}
	for _, binary := range []string{"mapper", "reducer"} {
		if _, err := os.Stat(filepath.Join(r.Bin, binary)); err != nil {
			return fmt.Errorf("%s for the cluster: %w (to build it: %s; --cluster-bin names its directory)", binary, err, step.HowToBuild())
		}
	}
	metrics, err := r.Yarn.Metrics(ctx)
	if err == nil && metrics.ActiveNodes == 0 {
		err = errors.New("the cluster has no live node")
	}
	if err == nil {
		r.Parallel = max(1, metrics.TotalVirtualCores-mastersShare)
		_, err = r.Yarn.Run(ctx, "fs", "-test", "-e", r.FS.Name()+"/")
	}
	return err
}

// checkName returns an error if a directory cannot be named in -input and -files of a job:
// these are comma-separated lists of patterns and URIs.
func checkName(dir string) error {
	if i := strings.IndexFunc(dir, special); i >= 0 {
		return fmt.Errorf("data directory %s: a job of Hadoop's can have no %q in the name of a directory", dir, []rune(dir[i:])[0])
	}
	return nil
}

// special reports whether a letter has a meaning in a list of patterns, or in a URI.
func special(c rune) bool { return strings.ContainsRune(`,{}[]*?\#%"`, c) || unicode.IsSpace(c) }

// mastersShare is how many of a cluster's cores are used by the application masters of a job
// and of the previous job, which may still be ending.
const mastersShare = 2

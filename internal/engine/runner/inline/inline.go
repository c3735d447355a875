// Package inline runs jobs in this process, on all cores, within a limit of memory: tasks in the order of keys, whose
// output is appended to shards. It knows nothing of methods, which say what a task reads and computes (Work), or of the
// loop of jobs.
package inline

import (
	"context"

	"github.com/treereduce/treereduce/internal/engine/runner"
)

// Runner is the inline runner.
type Runner struct {
	// Memory is how many bytes the process may use, see Method.LeastInline; 0 means 2 GiB.
	Memory int

	method runner.Method
	runs   runner.Runner // runs the jobs of the method
}

var _ runner.StoredRunner = (*Runner)(nil)

// RunsStored marks the runner, see runner.StoredRunner.
func (r *Runner) RunsStored() {}

// Run runs a job. What its method caches stays in memory for the next one.
func (r *Runner) Run(ctx context.Context, of *runner.Job) (runner.Stats, error) {
	if r.method != of.Method {
		r.method, r.runs = of.Method, of.Method.Inline(r.Memory)
	}
	if of.OnlyTable() { // only the next job reads the shards, one after the other
		one := *of
		one.Reducers, of = 1, &one
	}
	return r.runs.Run(ctx, of)
}

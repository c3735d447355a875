// Package inline runs jobs in this process, on all cores. It reads and writes a tier a few
// ranges at a time, so its memory does not grow with the tier.
//
// With blocks there is no shuffle: each output range pulls its messages from the input blocks,
// with a few cursors that move forward through the sorted files. With layers, each worker loads
// an interval of the tier's keys from all messages to the tier, and sends its own messages through
// an outbox. The package knows nothing of the loop of jobs.
//
// Each method implements work, twice: for its steps, and for the text of all positions. run
// executes a work.
package inline

import (
	"context"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// Runner is the inline runner.
type Runner struct {
	// Memory is how many bytes the process may use, see Least; 0 means 2 GiB.
	Memory int

	kept     *jobdir.Cache    // has the output of the last job; one of tiers, or nil
	tiers    [2]jobdir.Cache  // for the input and the output of a job
	blocks   block.Memory     // has the blocks that a job keeps until it has sorted the images
	layers   layerMemory      // reused from job to job
	outboxes []*layers.Outbox // empty; reused from job to job
}

var _ runner.Halver = (*Runner)(nil)

// CanHalve returns true.
func (r *Runner) CanHalve() bool { return true }

// keep keeps the output of a job, which is in these shards. k is nil if it is not in memory.
func (r *Runner) keep(k *jobdir.Cache, shards []*jobdir.Writer) {
	if k == nil {
		return
	}
	var sums []uint32
	for _, s := range shards {
		sums = append(sums, s.Sum)
	}
	k.Complete(sums)
	r.kept = k
}

// drop releases the memory for jobs on blocks.
func (r *Runner) drop() {
	r.kept, r.tiers = nil, [2]jobdir.Cache{}
	r.blocks.Reset(0)
}

// Run runs a job.
func (r *Runner) Run(ctx context.Context, of *runner.Job) (runner.Stats, error) {
	if of.Method.Blocks == nil || of.Step == step.Final {
		r.drop()
	}
	if of.OnlyTable() { // only the next job reads the shards, one after the other
		one := *of
		one.Reducers, of = 1, &one
	}
	borders, err := of.Borders()
	if err != nil {
		return runner.Stats{}, err
	}
	j := &job{Job: of, runner: r, borders: borders}
	blocks, final := of.Method.Blocks, of.Step == step.Final
	if of.Half != nil {
		blocks = of.Half
	}
	switch m := of.Method; {
	case blocks != nil && final:
		return run(ctx, j, &blockFinal{text: text{j}, g: blocks})
	case blocks != nil:
		return run(ctx, j, &blockWork{job: j, g: blocks})
	case final:
		return run(ctx, j, &layerFinal{text: text{j}, g: m.Layers})
	default:
		return run(ctx, j, &layerWork{job: j, g: m.Layers})
	}
}

package inline

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// runStatesFinal writes the lines of all positions of a table, in the order of their hashes.
func (r *Runner) runStatesFinal(ctx context.Context, job *jobOf[game.Cyclic]) (stats runner.Stats, err error) {
	table, err := jobdir.OpenStateFile(job.FS, job.Input[0], job.g)
	if err != nil {
		return stats, err
	}
	defer table.Close()
	most := len(step.AppendCyclicFinal(nil, job.g.Positions(), game.Loses.In(game.MaxByteRemoteness)))
	state, size := stateMemory(job.g), job.g.RangeSize()
	plan := r.plan(needs{shared: r.inboxMemory() + table.Len()*placeMemory, worker: state, windows: 1, record: state,
		chunk: func(int) int { return size * most / 4 * 5 }})
	first := func(i int) game.Position { return table.Range(i) * uint64(size) }
	return writeText(ctx, job, plan, numbered(table.Len()), first, func() func(int, *textChunk) error {
		c := table.CursorOf(plan.window)
		var s block.State
		return func(i int, out *textChunk) error {
			if err := c.Read(i, &s); err != nil {
				return err
			}
			out.lines = int64(s.Reached.Count())
			first := first(i)
			for slot := range s.Reached.All() {
				value, _ := s.Value(slot)
				out.text = step.AppendCyclicFinal(out.text, first+uint64(slot), game.Value(value))
			}
			return nil
		}
	})
}

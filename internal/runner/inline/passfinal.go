package inline

import (
	"context"
	"math/bits"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
)

// runCyclicFinal writes the lines of all positions of a table, in the order of the
// hash.
func (r *Runner) runCyclicFinal(ctx context.Context, pass *runner.Pass) (stats runner.PassStats, err error) {
	table, err := jobdir.OpenStateFile(pass.FS, pass.Input[0], pass.Game)
	if err != nil {
		return stats, err
	}
	defer table.Close()
	type chunk struct {
		text []byte
		n    int64
	}
	most := len(step.AppendCyclicFinal(nil, pass.Game.Positions(), game.Loses.In(game.MaxByteRemoteness)))
	state := stateMemory(pass.Game)
	plan := r.plan(needs{shared: r.memory()/4 + table.Len()*placeMemory, worker: state, windows: 1, record: state,
		chunk: func(int) int { return pass.Game.RangeSize() * most / 4 * 5 }})
	parts := parts[textPart]{create: func(n int) (textPart, error) {
		file, err := pass.FS.Create(path.Join(pass.Output, jobdir.PartName(n, jobdir.Text)))
		return textPart{file}, err
	}}
	err = inOrder(ctx, table.Len(), plan, func() *chunk { return new(chunk) },
		func() func(int, *chunk) error {
			c := table.CursorOf(plan.window)
			var s block.State
			return func(i int, out *chunk) error {
				if err := c.Read(i, &s); err != nil {
					return err
				}
				out.text, out.n = out.text[:0], int64(s.Reached.Count())
				first := table.Range(i) * uint64(pass.Game.RangeSize())
				for j, w := range s.Reached {
					for base := j << 6; w != 0; w &= w - 1 {
						slot := base + bits.TrailingZeros64(w)
						value, _ := s.Value(slot)
						out.text = step.AppendCyclicFinal(out.text, first+uint64(slot), game.Value(value))
					}
				}
				return nil
			}
		},
		func(i int, out *chunk) error {
			part, err := parts.upTo(pass.Part(table.Range(i)))
			if err != nil {
				return err
			}
			stats.Records += out.n
			_, err = part.Write(out.text)
			pass.Report(runner.Progress{Share: float64(i+1) / float64(table.Len())})
			return err
		})
	return stats, parts.finish(pass.Reducers, err)
}

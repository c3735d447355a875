package inline

import (
	"context"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/block"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/tierio"
)

// runFinal merges the tiers of a solved game into one list by key: for each
// range, the blocks of all tiers are laid over one another.
func runFinal(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	var tiers []*tierio.Tier
	defer func() {
		for _, t := range tiers {
			t.Close()
		}
	}()
	slots := make(map[uint64]int) // of all tiers, by range
	for i, dir := range job.Input {
		t, err := tierio.Open(job.FS, dir, job.Game, i+1)
		if err != nil {
			return runner.Stats{}, err
		}
		tiers = append(tiers, t)
		for j := range t.Len() {
			rng := t.Range(j)
			slots[rng] += len(job.Game.Low(t.Number(), rng))
		}
	}
	ranges := make([]uint64, 0, len(slots))
	for rng := range slots {
		ranges = append(ranges, rng)
	}
	slices.Sort(ranges)
	ts := tasks(job, ranges, func(rng uint64) int { return slots[rng] })
	return run(ctx, job, ts, func() func(task, *tierio.Chunk) error { return newFinal(job, tiers) })
}

// newFinal returns a function that makes the lines of a task.
func newFinal(job *runner.Job, tiers []*tierio.Tier) func(task, *tierio.Chunk) error {
	g := job.Game
	cursors := make([]*tierio.Cursor, len(tiers))
	for i, t := range tiers {
		cursors[i] = t.Cursor(readAhead)
	}
	var b block.Block
	seen := make(block.Set, block.Words(1<<g.LowBits()))
	values := make([]byte, 1<<g.LowBits()) // by low part, where seen
	return func(t task, out *tierio.Chunk) error {
		for _, rng := range t.ranges {
			clear(seen)
			for _, c := range cursors {
				ok, err := c.Load(&b, rng)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				for i, w := range b.Done {
					for base := i << 6; w != 0; w &= w - 1 {
						slot := base + bits.TrailingZeros64(w)
						low := b.Low[slot]
						seen.Add(int(low))
						values[low] = b.Val[slot]
					}
				}
			}
			out.AddText(seen.Count(), func(dst []byte) []byte {
				for i, w := range seen {
					for base := i << 6; w != 0; w &= w - 1 {
						low := base + bits.TrailingZeros64(w)
						dst = step.AppendFinal(dst, g, rng<<g.LowBits()|uint64(low), game.Value(values[low]))
					}
				}
				return dst
			})
		}
		return nil
	}
}

package solve

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/table"
)

// byBlocks solves a game by blocks. A tier is made from the previous one, and solved from the
// next. All positions of the last tier are terminal, so its data_first already has the values.
// Work is measured in slots.
//
// The table of a game.Halved stores half of the positions. So do the directories of packed jobs,
// if the runner can compute them and they are not kept. Jobs as text, and those of other
// runners, have all positions, and the table drops the others.
type byBlocks struct {
	run   *run
	g     game.Tiered
	half  *game.Half // nil: the game stores all positions
	table *tierTable
}

func newBlocks(r *run, g game.Tiered) *tiers {
	t := newTierTable(r, g)
	b := &byBlocks{r, g, game.HalfOf(g), t}
	for tier := range r.last + 1 {
		r.work += b.weight(step.Possible, tier) + b.weight(step.Solve, tier)
	}
	halver, ok := r.Runner.(runner.Halver)
	if ok && halver.CanHalve() && r.Codec == jobdir.Packed && !r.KeepAll {
		r.half = b.half
	}
	return newTiers(r, g, t, b)
}

// wants reports whether a job must put a tier into the table.
func (b *byBlocks) wants(tier int) bool { return !b.table.tabled[tier] && b.run.UntilTier < 0 }

// whole reports whether jobs need all positions of tiers of which the table stores half.
func (b *byBlocks) whole() bool { return b.half != nil && b.run.half == nil }

func (b *byBlocks) weight(name string, tier int) float64 {
	if name == step.Solve {
		return 2 * b.g.Slots(tier) // the solve step of a tier takes about twice as long as the possible step
	}
	return b.g.Slots(tier)
}

// values returns the directory with the values of a tier.
func (b *byBlocks) values(tier int) string {
	if tier == b.run.last {
		return first(tier)
	}
	return second(tier)
}

func (b *byBlocks) toRun(ctx context.Context, until int) (firsts, seconds []bool, err error) {
	look := func(name func(tier int) string) func(tier int) *output {
		return func(tier int) *output {
			seal, failed := b.run.sealOf(ctx, name(tier))
			if failed == nil && seal != nil && b.whole() {
				var half bool
				if half, failed = jobdir.StoresHalf(b.run.data.FS, b.run.data.Dir(name(tier)), seal); half {
					seal = nil // the runner needs all positions
				}
			}
			if failed != nil {
				err = failed
			}
			if seal == nil {
				return nil
			}
			return new(output)
		}
	}
	firsts, seconds = blocksToRun(tierState{tabled: b.table.tabled, until: until, stop: b.run.UntilTier >= 0, keepAll: b.run.KeepAll,
		whole: b.whole(), first: look(first), second: look(second)})
	return firsts, seconds, err
}

func (b *byBlocks) setPossible(_ context.Context, job *runner.Job) error {
	job.Input = []string{b.run.data.Dir(first(job.Tier - 1))}
	return nil
}

func (b *byBlocks) forwardDone(context.Context, int) error { return nil }

func (b *byBlocks) setSolve(_ context.Context, job *runner.Job) error {
	job.Parts = b.run.KeepAll || b.whole()
	input := table.TierFile(b.g, job.Tier+1)
	if job.Parts {
		input = b.values(job.Tier + 1)
	}
	job.Input = []string{b.run.data.Dir(input)}
	return nil
}

func (b *byBlocks) clean(tier int) error {
	if tier == b.run.last {
		return nil
	}
	if err := b.run.remove(b.values(tier + 1)); err != nil {
		return err
	}
	return b.run.remove(first(tier))
}

func (b *byBlocks) positions(ctx context.Context, tier int) (int64, error) {
	seal, err := b.run.sealOf(ctx, first(tier))
	if err != nil {
		return 0, err
	}
	return int64(seal.Records()), nil
}

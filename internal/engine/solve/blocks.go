package solve

import (
	"context"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/table"
)

// byBlocks solves a game by blocks. A tier is made from the previous one, and solved from the
// next. All positions of the last tier are terminal, so its data_first already has the values.
// Work is measured in slots.
//
// The table may store only some of the positions. So do the directories of jobs, if the runner can compute them and they are
// not kept. Otherwise they have all positions, of which the table drops the others.
type byBlocks struct{ *run }

func newBlocks(r *run) *byBlocks {
	b := &byBlocks{r}
	for tier := range r.last + 1 {
		r.work += b.weight(step.Possible, tier) + b.weight(step.Solve, tier)
	}
	return b
}

func (b *byBlocks) weight(name string, tier int) float64 {
	slots, _ := b.method.Slots(tier)
	if name == step.Solve {
		return 2 * slots // the solve step of a tier takes about twice as long as the possible step
	}
	return slots
}

func (b *byBlocks) weigh(context.Context) error { return nil }

func (b *byBlocks) readers(forward bool, tier int) (first, end int) {
	switch {
	case forward:
		return tier + 1, min(tier+2, b.last+1)
	case !b.stored:
		return max(0, tier-1), tier
	}
	return 0, 0 // they read the table
}

func (b *byBlocks) open(d *dir, forward bool) error {
	if !b.stored {
		whole, err := b.method.Whole(b.data.FS, b.data.Dir(d.name), d.seal)
		if err != nil {
			return err
		}
		d.shards = d.shards && whole
	}
	d.receivers, d.dropped = nil, !d.shards
	for first, end := b.readers(forward, d.stage.Tier()); first < end; first++ {
		d.receivers = append(d.receivers, first)
	}
	return nil
}

func (b *byBlocks) next(_ context.Context, c *chain) (*runner.Job, error) {
	if c.forward {
		job := c.job(step.Possible)
		job.Input = []string{b.data.Dir(first(c.tier - 1))}
		return job, nil
	}
	job, successors := c.job(step.Solve), table.TierFile(c.tier+1)
	job.Parts = job.Parts || !b.stored
	if job.Parts {
		successors = valued(b.method, c.tier+1)
	}
	job.Input, job.Predecessors = []string{b.data.Dir(successors)}, b.data.Dir(first(c.tier))
	return job, nil
}

func (b *byBlocks) positions(o *output) (int64, error) { return int64(o.passes[0].seal.Records()), nil }

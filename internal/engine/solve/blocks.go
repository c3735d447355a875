package solve

import (
	"context"
	"fmt"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// byBlocks solves a game by blocks. A tier is made from the previous one, and solved from the
// next. All positions of the last tier are terminal, so its data_first already has the values.
// Work is measured in slots.
type byBlocks struct {
	*tiers
	g game.Tiered
}

func newBlocks(l *loop, g game.Tiered) *tiers {
	t := newTiers(l, g)
	t.records = &byBlocks{t, g}
	for tier := range t.last + 1 {
		t.work += 2 * g.Slots(tier)
	}
	return t
}

func (b *byBlocks) weightOf(_ string, tier int) float64 { return b.g.Slots(tier) }

// values returns the directory with the values of a tier.
func (b *byBlocks) values(tier int) string {
	if tier == b.last {
		return first(tier)
	}
	return second(tier)
}

func (b *byBlocks) needed(ctx context.Context, until int) ([]bool, error) {
	needed := make([]bool, until+2)
	for tier := until; tier >= 0; tier-- {
		if needed[tier+1] {
			next, err := b.whole(ctx, first(tier+1))
			if err != nil {
				return nil, err
			}
			needed[tier] = !next // because it must be made from this one
		}
		switch {
		case b.KeepAll:
			needed[tier] = true
		case needed[tier] || b.tabled[tier]:
		case b.UntilTier >= 0 || tier == b.last:
			needed[tier] = true
		default:
			solved, err := b.whole(ctx, second(tier))
			if err != nil {
				return nil, err
			}
			needed[tier] = !solved
		}
	}
	return needed, nil
}

func (b *byBlocks) setPossible(_ context.Context, job *runner.Job) error {
	job.Input = []string{b.data.Dir(first(job.Tier - 1))}
	return nil
}

func (b *byBlocks) made(context.Context, int) error { return nil }

func (b *byBlocks) setSolve(ctx context.Context, job *runner.Job) (ok bool, err error) {
	if b.tabled[job.Tier] && !b.KeepAll || job.Tier == b.last {
		return false, nil
	}
	job.Input = []string{b.data.Dir(b.values(job.Tier + 1))}
	if b.tabled[job.Tier+1] { // then its directory may have been deleted
		switch whole, err := b.whole(ctx, b.values(job.Tier+1)); {
		case err != nil:
			return false, err
		case !whole:
			job.Input = []string{b.data.Dir(table.TierFile(b.g, job.Tier+1))}
		}
	}
	return true, nil
}

func (b *byBlocks) write(out io.WriteCloser, tier int) error {
	w := jobdir.NewWriter(out, b.g, tier, jobdir.Blocks)
	from := b.values(tier)
	in, err := jobdir.OpenTier(b.data.FS, b.data.Dir(from), b.g, tier)
	if err != nil {
		return w.Finish(err)
	}
	defer in.Close()
	if n := in.Counts()[streamfmt.Open]; n > 0 {
		err = fmt.Errorf("%s: %d positions have no value", from, n)
	} else {
		err = w.AppendTier(in)
	}
	return w.Finish(err)
}

func (b *byBlocks) letGo(tier int) error {
	if tier == b.last {
		return nil
	}
	if err := b.remove(b.values(tier + 1)); err != nil {
		return err
	}
	return b.remove(first(tier))
}

func (b *byBlocks) positions(ctx context.Context, tier int) (int64, error) {
	seal, err := b.sealOf(ctx, first(tier))
	if err != nil {
		return 0, err
	}
	return int64(seal.Records()), nil
}

func (b *byBlocks) dirs(tier int) []string {
	if tier == b.last {
		return []string{first(tier)}
	}
	return []string{first(tier), second(tier)}
}

package solve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// byLayers solves a game by layers of rows. The messages that a job sends to other stages
// are files in its directory, the outgoing files; they stay until all those stages have read
// them. The forward work is measured in tiers, as the number of positions is not yet known;
// the retrograde work in rows.
//
// When the outgoing files of a directory have been deleted, its seal still lists the stages
// that they were for. So a resumed run knows which jobs must be rerun to send their messages
// again. For the same purpose a data_secondN that is no longer needed stays until the game is
// solved, as a directory with nothing but a seal.
//
// A tier with inner moves has a directory for each pass over it, see passes.
type byLayers struct {
	*run
	g game.Game

	rows []float64 // by tier, number of rows in data_first
	sum  float64   // of rows
}

func newLayers(r *run, g game.Game) *byLayers {
	r.work = 2
	return &byLayers{run: r, g: g, rows: make([]float64, r.last+1)}
}

func (b *byLayers) weight(name string, tier int) float64 {
	all := b.rows[tier] / b.sum // of the retrograde jobs of the tier
	switch {
	case name == step.Possible:
		return 1 / float64(b.last+1)
	case name == step.Solve:
		return all
	case name == step.Ties: // all passes
		return all / 2
	}
	return all / 4 // begin, or values
}

func (b *byLayers) readers(forward bool, tier int) (first, end int) {
	if forward {
		return tier + 1, b.last + 1
	}
	return 0, tier
}

func (b *byLayers) open(d *dir, _ bool) (err error) {
	sends := slices.ContainsFunc(d.seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.OutboxPrefix) })
	if d.dropped = !sends && len(d.receivers) > 0; d.dropped {
		return nil
	}
	if d.box, err = layers.OpenDir(b.data.FS, b.data.Dir(d.name), b.g); err == nil {
		d.receivers = d.box.Receivers()
	}
	return err
}

// send adds to a job's input the messages that the tiers first to end-1 have for pass 0 of its tier.
func (b *byLayers) send(ctx context.Context, job *runner.Job, of *outputs, first, end int) error {
	for tier := first; tier < end; tier++ {
		o, err := of.get(ctx, tier)
		if err != nil {
			return err
		}
		if o == nil {
			continue
		}
		for _, d := range o.passes {
			if !d.sendsTo(layers.At(job.Tier, 0)) {
				continue
			}
			if d.box == nil {
				return fmt.Errorf("%s: its messages to tier %d have been deleted", d.name, job.Tier)
			}
			job.Inbox = append(job.Inbox, d.box)
		}
	}
	return nil
}

func (b *byLayers) setPossible(ctx context.Context, job *runner.Job) error {
	for _, o := range slices.Backward(b.firsts.of[:job.Tier]) { // the last that contains positions
		if o != nil && o.shards && o.passes[0].seal.Records() > 0 {
			job.BordersFrom = b.data.Dir(o.passes[0].name)
			break
		}
	}
	return b.send(ctx, job, &b.firsts, 0, job.Tier)
}

// weigh counts the rows of the tiers or, where these have been deleted, the positions.
func (b *byLayers) weigh(ctx context.Context) error {
	for tier := range b.rows {
		switch o, err := b.firsts.get(ctx, tier); {
		case err != nil:
			return err
		case o != nil && o.shards:
			for _, p := range o.passes {
				b.rows[tier] += float64(p.seal.Records())
			}
		default:
			n, _ := b.tabled(tier)
			b.rows[tier] = float64(n)
		}
		b.sum += b.rows[tier]
	}
	return nil
}

func (b *byLayers) setSolve(ctx context.Context, job *runner.Job) error {
	o, err := b.firsts.get(ctx, job.Tier)
	if err != nil {
		return err
	}
	job.BordersFrom = b.data.Dir(first(job.Tier))
	if game.Loops(b.g, job.Tier) {
		return b.backward(ctx, job, o)
	}
	job.Edges, job.Runs, job.Absorb = []string{job.BordersFrom}, []string{job.BordersFrom}, 1
	return b.send(ctx, job, &b.seconds, job.Tier+1, b.last+1)
}

func (b *byLayers) positions(o *output) (n int64, err error) {
	if last := o.passes[len(o.passes)-1]; game.Loops(b.g, last.stage.Tier()) {
		index, err := b.readIndex(last.name)
		return index.First + index.Positions, err
	}
	return statesIn(o.passes[0].seal), nil
}

// statesIn returns the number of states in the directory of a seal.
func statesIn(seal *store.Seal) (n int64) {
	for _, f := range seal.Files {
		if layers.IsStates(f.Name) {
			n += int64(f.Records)
		}
	}
	return n
}

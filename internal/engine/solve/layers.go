package solve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
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
	case step.IsForward(name):
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

func (b *byLayers) open(d *dir, _ bool) error {
	sends := slices.ContainsFunc(d.seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.OutboxPrefix) })
	if d.dropped = !sends && len(d.receivers) > 0; d.dropped {
		return nil
	}
	box, err := layers.OpenDir(b.data.FS, b.data.Dir(d.name), b.g)
	if err == nil {
		d.box, d.receivers = box, box.Receivers()
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
			if !d.sendsTo(step.At(job.Tier, 0)) {
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

func (b *byLayers) next(ctx context.Context, c *chain) (*runner.Job, error) {
	job, loops := c.job(step.Solve), game.Loops(b.g, c.tier)
	if c.forward && len(c.done) == 0 {
		job.Step = step.Possible
		for _, o := range slices.Backward(b.firsts.of[:c.tier]) { // the last that contains positions
			if o != nil && o.shards && o.passes[0].seal.Records() > 0 {
				job.BordersFrom = b.data.Dir(o.passes[0].name)
				break
			}
		}
		return job, b.send(ctx, job, c.outputs, 0, c.tier)
	}
	job.BordersFrom = b.data.Dir(first(c.tier))
	if !loops {
		job.Edges, job.Runs, job.Absorb = []string{job.BordersFrom}, []string{job.BordersFrom}, 1
		return job, b.send(ctx, job, c.outputs, c.tier+1, b.last+1)
	}
	if len(c.done) == 0 {
		return job, b.setBegin(ctx, c, job)
	}
	at, inbox, err := c.next()
	switch _, reversible := b.g.(game.Reversible); {
	case err != nil:
		return nil, err
	case at == 0 && c.forward:
		b.result.Tiers[c.tier] = c.index.First + c.index.Positions
		b.done += (1 - c.share) * b.weight(step.Possible, c.tier)
		return nil, nil
	case !c.forward && !reversible: // begin has written the edges
		job.Edges = []string{b.data.Dir(c.done[0].name)}
	}
	if at == 0 {
		b.done += (1 - c.share) * b.weight(step.Ties, c.tier)
		if sent, received := c.index.Sent, c.index.Received; sent != received {
			return nil, fmt.Errorf("%s: its passes sent %d messages, but received %d: driver solve --overwrite starts over", job.Name, sent, received)
		}
		job.Step = step.Values
		c.setRuns(job, 0)
		job.Absorb = len(job.Runs)
		return job, nil
	}
	job.Name, job.Pass, job.Inbox, job.Table = passName(c.forward, at), at.Pass(), inbox, false
	if c.forward {
		job.Step = step.Mark
	} else if at.Pass() > step.TiesPass {
		job.Step = step.Ties
	}
	rows := int64(0)
	for _, d := range inbox {
		rows += d.Rows(at)
	}
	c.setRuns(job, rows)
	return job, nil
}

// setBegin sets the input of the first retrograde job of a tier with inner moves.
func (b *byLayers) setBegin(ctx context.Context, c *chain, job *runner.Job) error {
	forward, err := b.firsts.get(ctx, c.tier)
	if err != nil {
		return err
	}
	job.Name, job.Step, job.Table = passName(false, job.Stage()), step.Begin, false
	for _, d := range forward.passes {
		job.Runs = append(job.Runs, b.data.Dir(d.name))
	}
	job.Absorb = len(job.Runs)
	if _, reversible := b.g.(game.Reversible); !reversible {
		job.Edges = job.Runs
	}
	return b.send(ctx, job, c.outputs, c.tier+1, b.last+1)
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

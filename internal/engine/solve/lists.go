package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// byLists solves a game by lists of rows. The messages that a tier's job sends to other tiers
// are files in its directory, the outgoing files; they stay until all those tiers have read
// them. The forward work is measured in tiers, as the number of positions is not yet known;
// the retrograde work in rows.
//
// When the outgoing files of a directory have been deleted, its seal still lists the tiers
// that they were for. So a resumed run knows which jobs must be rerun to send their messages
// again. For the same purpose a data_secondN that is no longer needed stays until the game is
// solved, as a directory with nothing but a seal.
type byLists struct {
	run   *run
	g     game.Layered
	table *tierTable

	rows []float64 // by tier, number of rows in data_first
	sum  float64   // of rows
	like string    // the last data_first that contains positions

	firsts, seconds outputs
}

// minDrop is the default of Options.MinDrop: writing the seal again costs as much as writing
// about this many bytes.
const minDrop = 256 << 10

// A listOutput is a complete directory of a job.
type listOutput struct {
	output
	seal *store.Seal
	dir  *lists.Dir // nil if dropped
}

// outputs are the directories of one step, one for each tier.
type outputs struct {
	run  *run
	g    game.Layered
	name func(tier int) string

	mu sync.Mutex
	of []*listOutput // by tier; nil if not complete or not checked yet
}

func newLists(r *run, g game.Layered) *tiers {
	t := newTierTable(r, g)
	r.work = 2
	n := r.last + 1
	return newTiers(r, g, t, &byLists{run: r, g: g, table: t, rows: make([]float64, n),
		firsts: outputs{run: r, g: g, name: first, of: make([]*listOutput, n)}, seconds: outputs{run: r, g: g, name: second, of: make([]*listOutput, n)}})
}

func (b *byLists) weight(name string, tier int) float64 {
	if name != step.Solve {
		return 1 / float64(b.run.last+1)
	}
	return b.rows[tier] / b.sum
}

// get returns the directory of a tier; nil: it is not complete.
func (d *outputs) get(ctx context.Context, tier int) (*listOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.of[tier]; o != nil {
		return o, nil
	}
	seal, err := d.run.sealOf(ctx, d.name(tier))
	if err != nil || seal == nil {
		return nil, err
	}
	o := &listOutput{seal: seal}
	o.shards = slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.PartPrefix) })
	if o.dropped = len(seal.Deleted) > 0; o.dropped {
		o.receivers = seal.Receivers
	} else {
		if o.dir, err = lists.OpenDir(d.run.data.FS, d.run.data.Dir(d.name(tier)), d.g); err != nil {
			return nil, err
		}
		o.receivers = o.dir.Receivers()
	}
	d.of[tier] = o
	return o, nil
}

// send adds to a job's input the messages that the tiers first to end-1 have for its tier.
func (d *outputs) send(ctx context.Context, job *runner.Job, first, end int) error {
	for tier := first; tier < end; tier++ {
		o, err := d.get(ctx, tier)
		if err != nil {
			return err
		}
		if o == nil {
			continue
		}
		if _, found := slices.BinarySearch(o.receivers, job.Tier); !found {
			continue
		}
		if o.dropped {
			return fmt.Errorf("%s: its messages to tier %d have been deleted", o.seal.Job, job.Tier)
		}
		job.Inbox = append(job.Inbox, o.dir)
	}
	return nil
}

// remove deletes the directory of a tier.
func (d *outputs) remove(tier int) error {
	d.mu.Lock()
	d.of[tier] = nil
	d.mu.Unlock()
	return d.run.remove(d.name(tier))
}

// drop deletes the files of a directory whose names begin with prefix, if they are large
// enough. They include all messages.
func (d *outputs) drop(tier int, prefix string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.of[tier]
	var bytes int64
	for _, f := range o.seal.Files {
		if strings.HasPrefix(f.Name, prefix) {
			bytes += f.Length
		}
	}
	if bytes < cmp.Or(d.run.MinDrop, minDrop) {
		return nil
	}
	o.dropped, o.dir, o.seal.Receivers = true, nil, o.receivers
	return o.seal.Drop(d.run.data.FS, d.run.data.Dir(d.name(tier)), func(file string) bool { return strings.HasPrefix(file, prefix) })
}

func (b *byLists) toRun(ctx context.Context, until int) (firsts, seconds []bool, err error) {
	look := func(d *outputs) func(tier int) *output {
		return func(tier int) *output {
			o, failed := d.get(ctx, tier)
			if failed != nil {
				err = failed
			}
			if o == nil {
				return nil
			}
			return &o.output
		}
	}
	firsts, seconds = listsToRun(tierState{tabled: b.table.tabled, until: until, stop: b.run.UntilTier >= 0, keepAll: b.run.KeepAll,
		first: look(&b.firsts), second: look(&b.seconds)})
	for tier := range firsts {
		if err == nil && firsts[tier] && b.firsts.of[tier] != nil {
			err = b.firsts.remove(tier)
		}
		if err == nil && seconds[tier] && b.seconds.of[tier] != nil {
			err = b.seconds.remove(tier)
		}
	}
	return firsts, seconds, err
}

func (b *byLists) setPossible(ctx context.Context, job *runner.Job) error {
	job.BordersFrom = b.like
	return b.firsts.send(ctx, job, 0, job.Tier)
}

// forwardDone deletes the outgoing files of all tiers whose receiving tiers have been made.
func (b *byLists) forwardDone(ctx context.Context, tier int) error {
	o, err := b.firsts.get(ctx, tier)
	if err != nil {
		return err
	}
	if o != nil && o.shards && o.seal.Records() > 0 {
		b.like = b.run.data.Dir(first(tier))
	}
	for from, o := range b.firsts.of[:tier+1] {
		if b.run.KeepAll || o == nil || o.dropped || len(o.receivers) == 0 || o.receivers[len(o.receivers)-1] > tier {
			continue
		}
		if err := b.firsts.drop(from, store.OutboxPrefix); err != nil {
			return err
		}
	}
	if tier == b.run.last {
		return b.weigh(ctx)
	}
	return nil
}

// weigh counts the rows of the tiers or, where these have been deleted, the positions.
func (b *byLists) weigh(ctx context.Context) error {
	for tier := range b.rows {
		switch o, err := b.firsts.get(ctx, tier); {
		case err != nil:
			return err
		case o != nil && o.shards:
			b.rows[tier] = float64(o.seal.Records())
		case b.table.tabled[tier]:
			n, _ := b.table.positions(tier)
			b.rows[tier] = float64(n)
		}
		b.sum += b.rows[tier]
	}
	return nil
}

func (b *byLists) setSolve(ctx context.Context, job *runner.Job) error {
	job.BordersFrom = job.Predecessors
	return b.seconds.send(ctx, job, job.Tier+1, b.run.last+1)
}

func (b *byLists) write(_ context.Context, out io.WriteCloser, tier int) error {
	w := lists.NewPartWriter(out, b.g, tier, lists.Values, jobdir.Coded)
	in, err := b.open(second(tier), tier, lists.Values)
	if err == nil {
		err = errors.Join(in.Each(w.Append), in.Close())
	}
	return w.Finish(err)
}

// open opens the shards of a directory.
func (b *byLists) open(name string, tier int, kind lists.Kind) (*lists.Source, error) {
	d, err := lists.OpenDir(b.run.data.FS, b.run.data.Dir(name), b.g)
	if err != nil {
		return nil, err
	}
	return lists.OpenPart(d, tier, kind)
}

// clean deletes the positions of a tier, and the messages from later tiers, if all tiers that
// they were for have been solved.
func (b *byLists) clean(tier int) error {
	if err := b.firsts.remove(tier); err != nil {
		return err
	}
	for from := tier; from <= b.run.last; from++ {
		b.seconds.mu.Lock()
		o := b.seconds.of[from]
		b.seconds.mu.Unlock()
		if o == nil || len(o.seal.Files) == 0 || len(o.receivers) > 0 && o.receivers[0] < tier {
			continue
		}
		if err := b.seconds.drop(from, ""); err != nil {
			return err
		}
	}
	return nil
}

func (b *byLists) positions(_ context.Context, tier int) (n int64, err error) {
	in, err := b.open(first(tier), tier, lists.Predecessors)
	if err != nil {
		return 0, err
	}
	return n, errors.Join(in.EachKey(func(game.Position) { n++ }), in.Close())
}

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

// byLists solves a game by lists of rows: what the job of a tier tells others lies in
// the outboxes of its directory, until all of them have read it. Forward the work is
// measured in tiers, as what will come is not known; backward in rows.
//
// The seal of a directory whose outboxes have gone says for which tiers they were. So
// a run that is resumed knows which jobs must be run again for the sake of another, and
// which need not. For that a data_secondN that is needed no more stays, as a seal of
// nothing, until all is solved.
type byLists struct {
	*tiers

	solves []bool    // by tier, whether data_second is to be made
	rows   []float64 // by tier, of data_first
	sum    float64   // of rows; 0: not counted yet
	like   string    // the last data_first in which positions lie

	firsts, seconds tellers // the directories data_first and data_second
}

// worthIt is Options.WorthIt where it is 0: to write the seal anew is as much work as
// to make so much.
const worthIt = 256 << 10

// told is what a directory tells other tiers, or has told.
type told struct {
	seal  *store.Seal
	tells []int      // the tiers, ascending
	dir   *lists.Dir // nil: its outboxes have gone
	part  bool       // its parts are there
}

// to reports whether it is for a tier.
func (t *told) to(tier int) bool {
	_, found := slices.BinarySearch(t.tells, tier)
	return found
}

// tellers are the directories of one step, of all tiers.
type tellers struct {
	*tiers
	name func(tier int) string

	mu sync.Mutex
	of []*told // by tier, if it is whole and was looked at
}

func newLists(l *loop, g game.Acyclic) *tiers {
	t := newTiers(l, g)
	t.work = 2
	n := t.last + 1
	t.records = &byLists{tiers: t, solves: make([]bool, n), rows: make([]float64, n),
		firsts: tellers{tiers: t, name: first, of: make([]*told, n)}, seconds: tellers{tiers: t, name: second, of: make([]*told, n)}}
	return t
}

func (b *byLists) weightOf(name string, tier int) float64 {
	if name != step.Solve {
		return 1 / float64(b.last+1)
	}
	return b.rows[tier] / b.sum
}

// look looks at the directory of a tier; nil: it is not whole.
func (d *tellers) look(ctx context.Context, tier int) (*told, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.of[tier]; t != nil {
		return t, nil
	}
	seal, err := d.sealOf(ctx, d.name(tier))
	if err != nil || seal == nil {
		return nil, err
	}
	t := &told{seal: seal, tells: seal.Told}
	t.part = slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.PartPrefix) })
	if len(seal.Gone) == 0 {
		if t.dir, err = lists.OpenDir(d.data.FS, d.data.Dir(d.name(tier)), d.g); err != nil {
			return nil, err
		}
		t.tells = t.dir.Tells()
	}
	d.of[tier] = t
	return t, nil
}

// tell has a job read what the tiers from a first one to the one before end tell its own.
func (d *tellers) tell(ctx context.Context, job *runner.Job, first, end int) error {
	for tier := first; tier < end; tier++ {
		switch t, err := d.look(ctx, tier); {
		case err != nil:
			return err
		case t == nil || !t.to(job.Tier):
		case t.dir == nil:
			return fmt.Errorf("%s told tier %d something, which has been let go", t.seal.Job, job.Tier)
		default:
			job.Told = append(job.Told, t.dir)
		}
	}
	return nil
}

// toMake reports whether the job of a tier is to be run: its part is wanted and not there,
// or one of the tiers that are made, from a first one on, must be told again what its
// directory told it, or may have, and tells no more. What is there then is removed.
func (d *tellers) toMake(ctx context.Context, tier int, wanted bool, made []bool, first int) (bool, error) {
	t, err := d.look(ctx, tier)
	if err != nil || t == nil {
		return wanted || slices.Contains(made, true), err
	}
	again := func(to int) bool { return first <= to && to < first+len(made) && made[to-first] }
	if wanted && !t.part || t.dir == nil && slices.ContainsFunc(t.tells, again) {
		return true, d.forget(tier)
	}
	return false, nil
}

// forget removes the directory of a tier.
func (d *tellers) forget(tier int) error {
	d.mu.Lock()
	d.of[tier] = nil
	d.mu.Unlock()
	return d.remove(d.name(tier))
}

// strip removes those files of a directory that nobody needs any more, if it is worth
// it.
func (d *tellers) strip(tier int, goes func(file string) bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.of[tier]
	var bytes int64
	for _, f := range t.seal.Files {
		if goes(f.Name) {
			bytes += f.Length
		}
	}
	if bytes < cmp.Or(d.WorthIt, worthIt) {
		return nil
	}
	t.dir, t.seal.Told = nil, t.tells
	return t.seal.LetGo(d.data.FS, d.data.Dir(d.name(tier)), goes)
}

// needed works out which jobs are to be run, backward first: for the sake of a tier
// that has no values, all that told it something, or may have, and can tell it no more.
func (b *byLists) needed(ctx context.Context, until int) (needed []bool, err error) {
	for tier := 0; tier <= b.last && b.UntilTier < 0; tier++ {
		if b.solves[tier], err = b.seconds.toMake(ctx, tier, !b.tabled[tier] || b.KeepAll, b.solves[:tier], 0); err != nil {
			return nil, err
		}
	}
	needed = make([]bool, until+1)
	for tier := until; tier >= 0; tier-- {
		wanted := b.solves[tier] || b.KeepAll || b.UntilTier >= 0 && !b.tabled[tier]
		if needed[tier], err = b.firsts.toMake(ctx, tier, wanted, needed[tier+1:], tier+1); err != nil {
			return nil, err
		}
	}
	return needed, nil
}

func (b *byLists) setPossible(ctx context.Context, job *runner.Job) error {
	job.Like = b.like
	return b.firsts.tell(ctx, job, 0, job.Tier)
}

// made lets those outboxes go whose tiers have all been made.
func (b *byLists) made(ctx context.Context, tier int) error {
	t, err := b.firsts.look(ctx, tier)
	if err != nil {
		return err
	}
	if t != nil && t.part && t.seal.Records() > 0 {
		b.like = b.data.Dir(first(tier))
	}
	if b.KeepAll {
		return nil
	}
	for from, t := range b.firsts.of[:tier+1] {
		if t == nil || t.dir == nil || len(t.tells) == 0 || t.tells[len(t.tells)-1] > tier {
			continue
		}
		if err := b.firsts.strip(from, func(file string) bool { return strings.HasPrefix(file, store.OutboxPrefix) }); err != nil {
			return err
		}
	}
	return nil
}

func (b *byLists) setSolve(ctx context.Context, job *runner.Job) (ok bool, err error) {
	if b.sum == 0 {
		if err := b.weigh(ctx); err != nil {
			return false, err
		}
	}
	if !b.solves[job.Tier] {
		return false, nil
	}
	job.Like = job.Parents
	return true, b.seconds.tell(ctx, job, job.Tier+1, b.last+1)
}

// weigh counts the rows of the tiers, or where these have gone the positions.
func (b *byLists) weigh(ctx context.Context) error {
	for tier := range b.rows {
		switch t, err := b.firsts.look(ctx, tier); {
		case err != nil:
			return err
		case t != nil && t.part:
			b.rows[tier] = float64(t.seal.Records())
		case b.tabled[tier]:
			b.rows[tier] = float64(b.inTable(tier).Records)
		}
		b.sum += b.rows[tier]
	}
	return nil
}

func (b *byLists) write(out io.WriteCloser, tier int) error {
	w := lists.NewPartWriter(out, b.g, tier, lists.Values, jobdir.Blocks)
	in, err := b.open(second(tier), tier, lists.Values)
	if err == nil {
		err = errors.Join(in.Each(w.Append), in.Close())
	}
	return w.Finish(err)
}

// open opens the parts of a directory.
func (b *byLists) open(name string, tier int, kind lists.Kind) (*lists.Source, error) {
	d, err := lists.OpenDir(b.data.FS, b.data.Dir(name), b.g)
	if err != nil {
		return nil, err
	}
	return lists.OpenPart(d, tier, kind)
}

// letGo removes the positions of a tier, and what later tiers told those that are
// solved.
func (b *byLists) letGo(tier int) error {
	if err := b.firsts.forget(tier); err != nil {
		return err
	}
	for from := tier; from <= b.last; from++ {
		b.seconds.mu.Lock()
		t := b.seconds.of[from]
		b.seconds.mu.Unlock()
		if t == nil || len(t.seal.Files) == 0 || len(t.tells) > 0 && t.tells[0] < tier {
			continue
		}
		if err := b.seconds.strip(from, func(string) bool { return true }); err != nil {
			return err
		}
	}
	return nil
}

func (b *byLists) positions(_ context.Context, tier int) (n int64, err error) {
	in, err := b.open(first(tier), tier, lists.Parents)
	if err != nil {
		return 0, err
	}
	return n, errors.Join(in.EachKey(func(game.Position) { n++ }), in.Close())
}

func (b *byLists) dirs(tier int) []string { return []string{first(tier), second(tier)} }

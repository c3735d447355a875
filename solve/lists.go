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
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/lists"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
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

	mu      sync.Mutex // of what follows
	firsts  []*told    // by tier: data_first, if it is whole and was looked at
	seconds []*told    // data_second
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

// tell has a job read it, if it is for its tier.
func (t *told) tell(job *runner.Job) error {
	switch {
	case t == nil || !t.to(job.Tier):
	case t.dir == nil:
		return fmt.Errorf("%s told tier %d something, which has been let go", t.seal.Job, job.Tier)
	default:
		job.Told = append(job.Told, t.dir)
	}
	return nil
}

func newLists(l *loop, g game.Acyclic) *tiers {
	t := newTiers(l, g)
	t.work = 2
	n := t.last + 1
	t.records = &byLists{tiers: t, solves: make([]bool, n), rows: make([]float64, n), firsts: make([]*told, n), seconds: make([]*told, n)}
	return t
}

func (b *byLists) weightOf(name string, tier int) float64 {
	if name != step.Solve {
		return 1 / float64(b.last+1)
	}
	return b.rows[tier] / b.sum
}

// first and second look at a directory of a tier; nil: it is not whole.
func (b *byLists) first(ctx context.Context, tier int) (*told, error) {
	return b.look(ctx, &b.firsts[tier], func() string { return first(tier) })
}

func (b *byLists) second(ctx context.Context, tier int) (*told, error) {
	return b.look(ctx, &b.seconds[tier], func() string { return second(tier) })
}

func (b *byLists) look(ctx context.Context, at **told, name func() string) (*told, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *at != nil {
		return *at, nil
	}
	seal, err := b.sealOf(ctx, name())
	if err != nil || seal == nil {
		return nil, err
	}
	t := &told{seal: seal, tells: seal.Told}
	t.part = slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.PartPrefix) })
	if len(seal.Gone) == 0 {
		if t.dir, err = lists.OpenDir(b.data.FS, b.data.Dir(name()), b.g); err != nil {
			return nil, err
		}
		t.tells = t.dir.Tells()
	}
	*at = t
	return t, nil
}

// forget removes a directory.
func (b *byLists) forget(at **told, name string) error {
	b.mu.Lock()
	*at = nil
	b.mu.Unlock()
	return b.remove(name)
}

// strip removes those files of a directory that nobody needs any more, if it is worth
// it.
func (b *byLists) strip(at **told, name string, goes func(file string) bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := *at
	var bytes int64
	for _, f := range t.seal.Files {
		if goes(f.Name) {
			bytes += f.Length
		}
	}
	if bytes < cmp.Or(b.WorthIt, worthIt) {
		return nil
	}
	t.dir, t.seal.Told = nil, t.tells
	return t.seal.LetGo(b.data.FS, b.data.Dir(name), goes)
}

// needed works out which jobs are to be run, backward first: for the sake of a tier
// that has no values, all that told it something, or may have, and can tell it no more.
// What is there and is to be made again is removed.
func (b *byLists) needed(ctx context.Context, until int) ([]bool, error) {
	if b.UntilTier < 0 {
		for tier := range b.last + 1 {
			t, err := b.second(ctx, tier)
			if err != nil {
				return nil, err
			}
			b.solves[tier] = !b.tabled[tier] && (t == nil || !t.part) || b.lacking(t, b.solves[:tier], 0)
			if b.solves[tier] && t != nil {
				if err := b.forget(&b.seconds[tier], second(tier)); err != nil {
					return nil, err
				}
			}
		}
	}
	needed := make([]bool, until+1)
	for tier := until; tier >= 0; tier-- {
		t, err := b.first(ctx, tier)
		if err != nil {
			return nil, err
		}
		wanted := b.solves[tier] || b.UntilTier >= 0 && !b.tabled[tier]
		needed[tier] = wanted && (t == nil || !t.part) || b.lacking(t, needed[tier+1:], tier+1)
		if needed[tier] && t != nil {
			if err := b.forget(&b.firsts[tier], first(tier)); err != nil {
				return nil, err
			}
		}
	}
	return needed, nil
}

// lacking reports whether one of the tiers from a first one that are made must be told
// again what a directory told it, or may have.
func (b *byLists) lacking(t *told, made []bool, first int) bool {
	if t != nil && t.dir != nil {
		return false
	}
	for i, again := range made {
		if again && (t == nil || t.to(first+i)) {
			return true
		}
	}
	return false
}

func (b *byLists) setPossible(ctx context.Context, job *runner.Job) error {
	job.Like = b.like
	for tier := range job.Tier {
		t, err := b.first(ctx, tier)
		if err != nil {
			return err
		}
		if err := t.tell(job); err != nil {
			return err
		}
	}
	return nil
}

// made lets those outboxes go whose tiers have all been made.
func (b *byLists) made(ctx context.Context, tier int) error {
	t, err := b.first(ctx, tier)
	if err != nil {
		return err
	}
	if t != nil && t.part && t.seal.Records() > 0 {
		b.like = b.data.Dir(first(tier))
	}
	if b.KeepAll {
		return nil
	}
	for from, t := range b.firsts[:tier+1] {
		if t == nil || t.dir == nil || len(t.tells) == 0 || t.tells[len(t.tells)-1] > tier {
			continue
		}
		err := b.strip(&b.firsts[from], first(from), func(file string) bool { return strings.HasPrefix(file, store.OutboxPrefix) })
		if err != nil {
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
	for tier := job.Tier + 1; tier <= b.last; tier++ {
		t, err := b.second(ctx, tier)
		if err != nil {
			return false, err
		}
		if err := t.tell(job); err != nil {
			return false, err
		}
	}
	return true, nil
}

// weigh counts the rows of the tiers, or where these have gone the positions.
func (b *byLists) weigh(ctx context.Context) error {
	for tier := range b.rows {
		t, err := b.first(ctx, tier)
		switch {
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
	if err := b.forget(&b.firsts[tier], first(tier)); err != nil {
		return err
	}
	for from := tier; from <= b.last; from++ {
		b.mu.Lock()
		t := b.seconds[from]
		b.mu.Unlock()
		if t == nil || len(t.seal.Files) == 0 || len(t.tells) > 0 && t.tells[0] < tier {
			continue
		}
		if err := b.strip(&b.seconds[from], second(from), func(string) bool { return true }); err != nil {
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

func (b *byLists) canKeepTier(ctx context.Context, tier int) error {
	for _, name := range []string{first(tier), second(tier)} {
		seal, err := b.sealOf(ctx, name)
		if err != nil {
			return err
		}
		if seal != nil && len(seal.Gone) > 0 {
			return fmt.Errorf("--keep all comes too late: of %s, %s has been let go: --overwrite begins anew", name, seal.Gone[0])
		}
		if err := b.canKeepDir(ctx, name, b.tabled[tier]); err != nil {
			return err
		}
	}
	return nil
}

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
	*tiers

	solves []bool    // by tier, whether the job of data_second must run
	rows   []float64 // by tier, number of rows in data_first
	sum    float64   // of rows; 0: not computed yet
	like   string    // the last data_first that contains positions

	firsts, seconds tellers // the directories data_first and data_second
}

// worthIt is the default of Options.WorthIt: writing the seal again costs as much as writing
// about this many bytes.
const worthIt = 256 << 10

// sentMessages describes the messages that a directory has for other tiers, or had before they were
// deleted.
type sentMessages struct {
	seal  *store.Seal
	tells []int      // the tiers that they are for, ascending
	dir   *lists.Dir // nil: the outgoing files have been deleted
	part  bool       // whether its parts exist
}

// to reports whether there are messages for a tier.
func (t *sentMessages) to(tier int) bool {
	_, found := slices.BinarySearch(t.tells, tier)
	return found
}

// tellers are the directories of one step, one for each tier.
type tellers struct {
	*tiers
	name func(tier int) string

	mu sync.Mutex
	of []*sentMessages // by tier; nil if not complete or not checked yet
}

func newLists(l *loop, g game.Acyclic) *tiers {
	t := newTiers(l, g)
	t.work = 2
	n := t.last + 1
	t.records = &byLists{tiers: t, solves: make([]bool, n), rows: make([]float64, n),
		firsts: tellers{tiers: t, name: first, of: make([]*sentMessages, n)}, seconds: tellers{tiers: t, name: second, of: make([]*sentMessages, n)}}
	return t
}

func (b *byLists) weightOf(name string, tier int) float64 {
	if name != step.Solve {
		return 1 / float64(b.last+1)
	}
	return b.rows[tier] / b.sum
}

// look describes the directory of a tier; nil: it is not complete.
func (d *tellers) look(ctx context.Context, tier int) (*sentMessages, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.of[tier]; t != nil {
		return t, nil
	}
	seal, err := d.sealOf(ctx, d.name(tier))
	if err != nil || seal == nil {
		return nil, err
	}
	t := &sentMessages{seal: seal, tells: seal.Told}
	t.part = slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.PartPrefix) })
	if len(seal.Gone) == 0 {
		if t.dir, err = lists.OpenDir(d.data.FS, d.data.Dir(d.name(tier)), d.g); err != nil {
			return nil, err
		}
		t.tells = t.dir.Receivers()
	}
	d.of[tier] = t
	return t, nil
}

// tell adds to a job's input the messages that the tiers first to end-1 have for its tier.
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

// toMake reports whether the job of a tier must run: because its part is wanted and missing;
// because a tier that will be made needs messages from it that have been deleted; or, if the
// directory is missing, because such a tier may need messages from it. The slice made reports
// which tiers, from first on, will be made. If the job must run, toMake deletes an existing
// directory.
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

// forget deletes the directory of a tier.
func (d *tellers) forget(tier int) error {
	d.mu.Lock()
	d.of[tier] = nil
	d.mu.Unlock()
	return d.remove(d.name(tier))
}

// strip deletes the files of a directory that goes selects, if they are large enough.
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
	return t.seal.Drop(d.data.FS, d.data.Dir(d.name(tier)), goes)
}

// needed determines which jobs must run, the retrograde ones first: the jobs of tiers without
// values, and those whose messages another job needs or may need, if these messages have been
// deleted.
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

// made deletes the outgoing files of all tiers whose receiving tiers have been made.
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

// weigh counts the rows of the tiers or, where these have been deleted, the positions.
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

// letGo deletes the positions of a tier, and the messages from later tiers, if all tiers that
// they were for have been solved.
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

package table

import (
	"errors"
	"path"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// blocks is the contents of the table of a tiered game: a block file for each tier, or shards of one.
type blocks struct {
	g     game.Tiered
	half  *game.Half // nil: the files store all positions
	fsys  store.FS
	data  string // the data directory
	tiers []*openTier

	mu    sync.Mutex // protects views, and the cursors of the tiers for it
	views recent[viewKey, tierView]

	claims int // memory for the claims of an imageCheck; 0: claimsMemory
}

// An openTier is a tier with its ranges, which it reads as they are needed.
type openTier struct {
	*jobdir.Tier
	name   string // path of the tier's file, which may exist as shards only
	counts Counts
	slots  func(rng uint64) int
	views  *jobdir.TierCursor

	mu    sync.Mutex // guards index
	index *jobdir.TierCursor
}

// A viewKey is the tier and range of a block.
type viewKey struct {
	tier int
	rng  uint64
}

// recentViews is the number of blocks that look-ups cache. The moves of neighbouring positions
// lead into a few blocks for each column of the board.
const recentViews = 64

func openBlocks(fsys store.FS, data string, g game.Tiered, seal *store.Seal) (c contents, err error) {
	t := &blocks{g: g, fsys: fsys, data: data, views: recent[viewKey, tierView]{most: recentViews}}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	tiers, err := sealedTiers(seal, data, g)
	if err != nil {
		return c, err
	}
	stores := jobdir.Stored(g)
	var seals jobdir.Seals
	for tier, files := range tiers {
		var names []string
		for _, f := range files {
			names = append(names, path.Join(data, Dir, f.Name))
		}
		opened, err := seals.OpenTier(fsys, names, stores, tier)
		if err != nil {
			return c, err
		}
		o := &openTier{Tier: opened, name: path.Join(data, TierFile(g, tier)), counts: CountsOf(opened.Counts()),
			slots: func(rng uint64) int { return len(g.Low(tier, rng)) }, views: opened.Cursor(0), index: opened.Cursor(0)}
		t.tiers = append(t.tiers, o)
		if tier == 0 {
			t.half = o.Half()
		}
		if (o.Half() != nil) != (t.half != nil) {
			return c, &store.DamageError{Name: o.name, Reason: "it stores half of the positions, and other files do not, or the reverse"}
		}
	}
	return t.contents(), nil
}

// Close closes the files.
func (t *blocks) Close() error {
	var errs []error
	for _, tier := range t.tiers {
		errs = append(errs, tier.Close())
	}
	return errors.Join(errs...)
}

func (t *blocks) counts(tier int) (Counts, error) { return t.tiers[tier].counts, nil }

// lookup reads a page of the index and one block, unless they are cached.
func (t *blocks) lookup(p game.Position) (v game.Value, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(p)
}

// find looks up a valid position. The caller holds mu.
func (t *blocks) find(p game.Position) (v game.Value, ok bool, err error) {
	p = t.kept(p)
	tier, rng := t.g.Tier(p), p>>t.g.LowBits()
	b, err := t.view(tier, rng)
	if err != nil {
		return 0, false, err
	}
	slot, ok := slices.BinarySearch(b.low, uint32(p-rng<<t.g.LowBits()))
	if !ok {
		return 0, false, nil
	}
	value, ok, err := b.Value(slot)
	return game.Value(value), ok, t.damaged(tier, err)
}

// damaged returns the error of a View of a tier with the name of its file.
func (t *blocks) damaged(tier int, err error) error {
	if err == nil {
		return nil
	}
	return &streamfmt.FormatError{File: t.tiers[tier].name, Reason: err.Error()}
}

// kept returns p or its mirror image: the one that is stored.
func (t *blocks) kept(p game.Position) game.Position {
	if t.half != nil && !t.half.IsStored(p) {
		return t.half.Mirror(p)
	}
	return p
}

// view returns the block of a range. It is valid until the next call. The caller holds mu.
func (t *blocks) view(tier int, rng uint64) (*tierView, error) {
	return t.views.get(viewKey{tier, rng}, func(v *tierView) (err error) {
		v.low, err = t.tiers[tier].views.View(&v.View, rng)
		return err
	})
}

// A tierView is the view of a range, with the low parts of the keys of its slots; low is nil
// if the table does not contain the block.
type tierView struct {
	streamfmt.View
	low []uint32
}

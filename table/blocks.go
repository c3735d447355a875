package table

import (
	"errors"
	"path"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A blockTable is the contents of the table of a tiered game: a pack file for each tier, or shards of one.
type blockTable struct {
	g     game.Tiered
	half  *game.Half // nil: the files store all positions
	fsys  store.FS
	data  string // the data directory
	tiers []*openTier
	views *recent[viewKey, tierView]

	claims int // memory for the claims of an imageCheck; 0: claimsMemory
}

// An openTier is a tier with its ranges, which it reads as they are needed.
type openTier struct {
	*blocks.Tier
	name   string // path of the tier's file, which may exist as shards only
	counts Counts
	slots  func(rng uint64) int
	random chan *blocks.TierCursor // free cursors that read nothing ahead
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
	t := &blockTable{g: g, fsys: fsys, data: data, views: newRecent[viewKey, tierView](recentViews)}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	tiers, err := sealedTiers(seal, data, g)
	if err != nil {
		return c, err
	}
	stores := blocks.Stored(g)
	var seals jobdir.Seals
	for tier, files := range tiers {
		var names []string
		for _, f := range files {
			names = append(names, path.Join(data, Dir, f.Name))
		}
		opened, err := blocks.OpenTierFiles(&seals, fsys, names, stores, tier)
		if err != nil {
			return c, err
		}
		o := &openTier{Tier: opened, name: path.Join(data, TierFile(tier)), counts: CountsOf(opened.Counts()),
			slots: func(rng uint64) int { return len(g.Low(tier, rng)) }, random: make(chan *blocks.TierCursor, maxFree)}
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
func (t *blockTable) Close() error {
	var errs []error
	for _, tier := range t.tiers {
		errs = append(errs, tier.Close())
	}
	return errors.Join(errs...)
}

func (t *blockTable) counts(tier int) (Counts, error) { return t.tiers[tier].counts, nil }

// with calls do with a cursor that no other goroutine uses.
func (t *openTier) with(do func(*blocks.TierCursor) error) error {
	var c *blocks.TierCursor
	select {
	case c = <-t.random:
	default:
		c = t.Cursor(0)
	}
	defer func() {
		select {
		case t.random <- c:
		default:
		}
	}()
	return do(c)
}

// lookup reads a page of the index and one block, unless they are cached.
func (t *blockTable) lookup(p game.Position) (v game.Value, ok bool, err error) {
	p = t.kept(p)
	tier, rng := t.g.Tier(p), p>>t.g.LowBits()
	t.views.Lock()
	defer t.views.Unlock()
	b, err := t.views.get(viewKey{tier, rng}, func(v *tierView) error {
		return t.tiers[tier].with(func(c *blocks.TierCursor) error { return v.read(c, rng) })
	})
	if err != nil {
		return 0, false, err
	}
	_, v, ok, err = b.find(p - rng<<t.g.LowBits())
	return v, ok, t.damaged(tier, err)
}

// damaged returns the error of a View of a tier with the name of its file.
func (t *blockTable) damaged(tier int, err error) error {
	if err == nil {
		return nil
	}
	return &streamfmt.FormatError{File: t.tiers[tier].name, Reason: err.Error()}
}

// kept returns p or its mirror image: the one that is stored.
func (t *blockTable) kept(p game.Position) game.Position {
	if t.half != nil && !t.half.IsStored(p) {
		return t.half.Mirror(p)
	}
	return p
}

// A tierView is the view of a range, with the low parts of the keys of its slots; low is nil
// if the table does not contain the block.
type tierView struct {
	streamfmt.View
	low []uint32
}

// read reads the view of a range.
func (v *tierView) read(c *blocks.TierCursor, rng uint64) (err error) {
	v.low, err = c.View(&v.View, rng)
	return err
}

// find returns the slot and the value of the position with this low part; ok is false if there is none.
func (v *tierView) find(low uint64) (slot int, _ game.Value, ok bool, err error) {
	slot, ok = slices.BinarySearch(v.low, uint32(low))
	if !ok {
		return 0, 0, false, nil
	}
	value, ok, err := v.Value(slot)
	return slot, game.Value(value), ok, err
}

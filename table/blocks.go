//go:build !js

package table

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
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

func (t *openTier) at(i int) (rng uint64, most int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.index.Entry(i)
	if err != nil {
		return 0, 0, err
	}
	return e.Range, min(e.MostRecords(), t.slots(e.Range)), nil
}

// A viewKey is the tier and range of a block.
type viewKey struct {
	tier int
	rng  uint64
}

// recentViews is the number of blocks that look-ups cache. The moves of neighbouring positions
// lead into a few blocks for each column of the board.
const recentViews = 64

func openBlocks(fsys store.FS, data string, g game.Tiered, seal *store.Seal) (_ *blocks, err error) {
	t := &blocks{g: g, fsys: fsys, data: data, views: recent[viewKey, tierView]{most: recentViews}}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	tiers, err := sealedTiers(seal, data, g)
	if err != nil {
		return nil, err
	}
	stores := jobdir.Stored(g)
	var seals jobdir.Seals
	for tier, files := range tiers {
		var names []string
		for _, f := range files {
			names = append(names, filepath.Join(data, Dir, f.Name))
		}
		opened, err := seals.OpenTier(fsys, names, stores, tier)
		if err != nil {
			return nil, err
		}
		o := &openTier{Tier: opened, name: filepath.Join(data, TierFile(g, tier)), counts: CountsOf(opened.Counts()),
			slots: func(rng uint64) int { return len(g.Low(tier, rng)) }, views: opened.Cursor(0), index: opened.Cursor(0)}
		t.tiers = append(t.tiers, o)
		if tier == 0 {
			t.half = o.Half()
		}
		if (o.Half() != nil) != (t.half != nil) {
			return nil, &store.DamageError{Name: o.name, Reason: "it stores half of the positions, and other files do not, or the reverse"}
		}
	}
	return t, nil
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

// game returns the game with the positions that the files store.
func (t *blocks) game() game.Tiered {
	if t.half != nil {
		return t.half
	}
	return t.g
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

// parts returns a part for each tier.
func (t *blocks) parts() (parts []*rulesPart, most int, err error) {
	for i, tier := range t.tiers {
		next := i < len(t.tiers)-1
		part := &rulesPart{
			ranges: tier,
			files:  []rulesFile{{tier.name, tier.counts, tier.Len()}},
			slots:  tier.slots,
			reader: func(ahead int) rulesReader {
				r := &tierReader{blocks: t, tier: i, here: tier.Cursor(ahead)}
				if next {
					r.next = t.tiers[i+1].Cursor(ahead)
				}
				return r
			},
		}
		if t.half != nil {
			part.half = &halfPart{g: t.half, tier: i, place: t.temporary(), stored: tier, reader: tier.Cursor}
			part.ranges = part.half
		}
		part.picker = func(ahead int) picker {
			r := &viewPicker{blocks: t, tier: i, part: part.half, here: tier.Cursor(ahead), successors: recent[uint64, tierView]{most: recentViews}}
			if next {
				r.next = t.tiers[i+1].Cursor(0)
			}
			return r
		}
		parts = append(parts, part)
	}
	return parts, game.MaxByteRemoteness, nil
}

// A tierReader reads a tier of a tiered game.
type tierReader struct {
	*blocks
	tier       int
	here, next *jobdir.TierCursor // next is nil in the last tier
	block      block.Block
	successors []tierValues // ranges of the next tier that have been read
}

// tierValues contains the positions and values of a range.
type tierValues struct {
	rng    uint64
	low    []uint32
	there  block.Set
	values []byte
}

func (r *tierReader) load(slots []uint32, rng uint64) ([]uint32, error) {
	r.successors = r.successors[:0]
	if ok, err := r.here.Load(&r.block, rng); err != nil || !ok {
		return slots, err
	}
	r.block.Open.Union(r.block.Done) // an open position counts too, with value 0
	return r.block.Open.Append(slots), nil
}

func (r *tierReader) at(slot int) (game.Position, game.Value) {
	return r.block.Key(slot), game.Value(r.block.Val[slot])
}

func (r *tierReader) find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	if r.next == nil || r.g.Tier(p) != r.tier+1 {
		return 0, 0, 0, false, nil
	}
	p = r.kept(p)
	rng = p >> r.g.LowBits()
	i := slices.IndexFunc(r.successors, func(c tierValues) bool { return c.rng == rng })
	if i < 0 {
		i = len(r.successors)
		if err := r.add(rng); err != nil {
			return 0, 0, 0, false, err
		}
	}
	c := &r.successors[i]
	slot, ok = slices.BinarySearch(c.low, uint32(p-rng<<r.g.LowBits()))
	if !ok || !c.there.Has(slot) {
		return 0, 0, 0, false, nil
	}
	return rng, slot, game.Value(c.values[slot]), true, nil
}

// add reads a range of the next tier into successors.
func (r *tierReader) add(rng uint64) error {
	b, err := r.next.Block(r.block.Range, rng)
	if err != nil {
		return err
	}
	r.successors = slices.Grow(r.successors, 1)[:len(r.successors)+1]
	c := &r.successors[len(r.successors)-1]
	c.rng, c.low = rng, nil
	if b != nil {
		c.low, c.values = b.Low, append(c.values[:0], b.Val...)
		c.there = append(c.there[:0], b.Done...)
		c.there.Union(b.Open)
	}
	return nil
}

// A viewPicker picks positions of a tier of a tiered game. It decodes only the values that it
// needs.
type viewPicker struct {
	*blocks
	tier       int
	here, next *jobdir.TierCursor // next is nil in the last tier
	part       *halfPart          // nil: the table stores all positions
	viewed     streamfmt.View
	successors recent[uint64, tierView] // ranges of the next tier
}

// A tierView is the view of a range, with the low parts of the keys of its slots; low is nil
// if the table does not contain the block.
type tierView struct {
	streamfmt.View
	low []uint32
}

func (r *viewPicker) pick(rng uint64, most int, numbers []uint64, take func(i int, p game.Position, v game.Value)) error {
	low, err := r.here.View(&r.viewed, rng)
	if err != nil || low == nil {
		return err
	}
	position := func(slot int) game.Position { return rng<<r.g.LowBits() | game.Position(low[slot]) }
	own, images := r.part.split(most, numbers)
	err = r.viewed.Pick(own, func(i, slot int, value byte) { take(i, position(slot), game.Value(value)) })
	if err != nil {
		return r.damaged(r.tier, err)
	}
	return r.damaged(r.tier, r.viewed.Pick(images, func(i, slot int, value byte) {
		if image, ok := r.part.image(position(slot), rng, slot); ok {
			take(len(own)+i, image, game.Value(value))
		}
	}))
}

func (r *viewPicker) find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	if r.next == nil || r.g.Tier(p) != r.tier+1 {
		return 0, 0, 0, false, nil
	}
	p = r.kept(p)
	rng = p >> r.g.LowBits()
	c, err := r.successors.get(rng, func(c *tierView) (err error) {
		c.low, err = r.next.View(&c.View, rng)
		return err
	})
	if err != nil {
		return 0, 0, 0, false, err
	}
	if slot, ok = slices.BinarySearch(c.low, uint32(p-rng<<r.g.LowBits())); !ok {
		return 0, 0, 0, false, nil
	}
	value, ok, err := c.Value(slot)
	return rng, slot, game.Value(value), ok, r.damaged(r.tier+1, err)
}

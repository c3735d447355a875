package table

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// blocks is the contents of the table of a tiered game: one block file for each tier.
type blocks struct {
	g     game.Tiered
	half  *game.Half // nil: the files store all positions
	fsys  store.FS
	data  string // the data directory
	files []*tierFile

	mu    sync.Mutex // protects the fields below, and the cursors of files
	views recent[viewKey, tierView]
	tiers []*tierRanges // the same tiers, opened for reading completely

	claims int // memory for the claims of an imageCheck; 0: claimsMemory
}

// A tierRanges is a tier with its ranges, which it reads as they are needed.
type tierRanges struct {
	*jobdir.Tier
	slots func(rng uint64) int

	mu    sync.Mutex // guards index
	index *jobdir.TierCursor
}

func (t *tierRanges) at(i int) (rng uint64, most int, err error) {
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

// A tierFile is the file of a tier.
type tierFile struct {
	name   string
	counts Counts
	closer store.File
	file   *streamfmt.File
	cursor *streamfmt.Cursor
	half   bool   // whether it stores half of the positions
	number uint64 // of positions that it stores
}

func openBlocks(fsys store.FS, data string, g game.Tiered, seal *store.Seal) (_ *blocks, err error) {
	t := &blocks{g: g, fsys: fsys, data: data, views: recent[viewKey, tierView]{most: recentViews}}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	for tier := range g.Tiers() + 1 {
		name, sealed, err := sealOf(seal, data, g, tier)
		if err != nil {
			return nil, err
		}
		f := &tierFile{name: name}
		t.files = append(t.files, f)
		if f.closer, err = fsys.Open(name); err != nil {
			return nil, err
		}
		file, err := jobdir.OpenPacked(f.closer, name, sealed, streamfmt.OpenFile)
		if err != nil {
			return nil, err
		}
		if file.Spec() != g.Spec() || file.Tier() != tier {
			return nil, fmt.Errorf("%s: expected tier %d of %q, found tier %d of %q", name, tier, g.Spec(), file.Tier(), file.Spec())
		}
		if tier == g.Tiers() && file.Half() {
			t.half = game.HalfOf(g)
		}
		f.file, f.half = file, file.Half()
		f.number = file.Stored()
		f.counts, f.cursor = CountsOf(file.Counts()), file.Cursor(0)
	}
	rules := game.DeducerOf(t.game())
	for _, f := range t.files {
		if f.half != (t.half != nil) {
			return nil, &store.DamageError{Name: f.name, Reason: "it stores half of the positions, and other files or the game do not, or the reverse"}
		}
		f.file.SetRules(rules)
	}
	return t, nil
}

// Close closes the files.
func (t *blocks) Close() error {
	var errs []error
	for _, f := range t.files {
		if f.closer != nil {
			errs = append(errs, f.closer.Close())
		}
	}
	for _, tier := range t.tiers {
		errs = append(errs, tier.Close())
	}
	return errors.Join(errs...)
}

func (t *blocks) counts(tier int) (Counts, error) { return t.files[tier].counts, nil }

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
	return &streamfmt.FormatError{File: t.files[tier].name, Reason: err.Error()}
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
	return t.views.get(viewKey{tier, rng}, func(v *tierView) error {
		v.low = nil
		cursor := t.files[tier].cursor
		e, ok, err := cursor.Find(rng)
		if err != nil || !ok {
			return err
		}
		low := t.g.Low(tier, rng)
		if err = cursor.View(e, t.g.LowBits(), low, &v.View); err == nil {
			v.low = low
		}
		return err
	})
}

// openTiers opens the files as tiers, unless they are open.
func (t *blocks) openTiers() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.tiers); i < len(t.files); i++ {
		opened, err := jobdir.OpenTierFiles(t.fsys, []string{t.files[i].name}, t.game(), i)
		if err != nil {
			return err
		}
		t.tiers = append(t.tiers, &tierRanges{Tier: opened, slots: func(rng uint64) int { return len(t.g.Low(i, rng)) }, index: opened.Cursor(0)})
	}
	return nil
}

// parts returns a part for each tier.
func (t *blocks) parts() (parts []*rulesPart, most int, err error) {
	if err := t.openTiers(); err != nil {
		return nil, 0, err
	}
	for i, tier := range t.tiers {
		next := i < len(t.tiers)-1
		part := &rulesPart{
			ranges: tier,
			files:  []rulesFile{{t.files[i].name, t.files[i].counts, tier.Len()}},
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

//go:build !js

package table

import (
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/streamfmt"
)

func (t *openTier) at(i int) (rng uint64, most int, err error) {
	err = t.with(func(c *blocks.TierCursor) error {
		e, err := c.Entry(i)
		if err == nil {
			rng, most = e.First, int(e.Records)
		}
		return err
	})
	return rng, most, err
}

// game returns the game with the positions that the files store.
func (t *blockTable) game() game.Tiered {
	if t.half != nil {
		return t.half
	}
	return t.g
}

// parts returns a part for each tier.
func (t *blockTable) parts() (parts []*rulesPart, most int, err error) {
	for i, tier := range t.tiers {
		next, cache := i < len(t.tiers)-1, blocks.NewCache(verifyCache)
		part := &rulesPart{
			ranges: tier,
			files:  []rulesFile{{tier.name, tier.counts, tier.Len()}},
			slots:  tier.slots,
			reader: func(ahead int) rulesReader {
				r := &tierReader{blockTable: t, tier: i, here: tier.Cursor(ahead)}
				if next {
					r.next = t.tiers[i+1].Cached(cache, ahead)
				}
				return r
			},
		}
		if t.half != nil {
			part.half = &halfPart{g: t.half, tier: i, place: t.temporary(), stored: tier}
			part.ranges = part.half
		}
		part.picker = func(ahead int) picker {
			r := &viewPicker{blockTable: t, tier: i, part: part.half, here: tier.Cursor(ahead), successors: newRecent[uint64, tierView](recentViews)}
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
	*blockTable
	tier       int
	here, next *blocks.TierCursor // next is nil in the last tier
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
	*blockTable
	tier       int
	here, next *blocks.TierCursor // next is nil in the last tier
	part       *halfPart          // nil: the table stores all positions
	viewed     streamfmt.View
	successors *recent[uint64, tierView] // ranges of the next tier
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
	r.successors.Lock()
	defer r.successors.Unlock()
	c, err := r.successors.get(rng, func(c *tierView) error { return c.read(r.next, rng) })
	if err != nil {
		return 0, 0, 0, false, err
	}
	slot, v, ok, err = c.find(p - rng<<r.g.LowBits())
	return rng, slot, v, ok, r.damaged(r.tier+1, err)
}

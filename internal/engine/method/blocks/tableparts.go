package blocks

import (
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// Parts returns a part for each tier.
func (t *Table) Parts(wanted func(tier int) bool) (parts []*stored.Part, err error) {
	images := 1
	if t.half != nil {
		images = 2
	}
	for i, tier := range t.tiers {
		if !wanted(i) {
			continue
		}
		cache := NewCache(true, verifyCache)
		parts = append(parts, &stored.Part{
			Files: []stored.File{{Name: tier.name, Tier: i, Counts: tier.counts(), End: tier.Len()}},
			Len:   tier.Len(),
			Range: func(n int) (rng uint64, most int, err error) {
				err = tier.with(func(c *TierCursor) error {
					e, err := c.Entry(n)
					rng, most = e.First, images*int(e.Records)
					return err
				})
				return rng, most, err
			},
			Slots: func(rng uint64) int { return len(t.g.Low(i, rng)) },
			Reader: func(ahead int) stored.Reader {
				r := &partReader{Table: t, tier: i, here: tier.Cursor(ahead)}
				if i < len(t.tiers)-1 {
					r.next = t.tiers[i+1].Cached(ahead, cache)
				}
				return r
			},
		})
	}
	return parts, nil
}

// balancedIn returns the balanced slots of a range; nil if there are none.
func (t *Table) balancedIn(tier int, rng uint64) block.Set {
	if t.half == nil {
		return nil
	}
	_, balanced := t.half.Stored(tier, rng)
	return balanced
}

// times returns how many positions a slot of a range stands for; balanced are the balanced slots.
func (t *Table) times(slot int, balanced block.Set) uint64 {
	if t.half == nil || balanced != nil && balanced.Has(slot) {
		return 1
	}
	return 2
}

// Image returns the mirror image of a position that is in the table, if both are stored.
func (t *Table) Image(p game.Position) (image game.Position, ok bool) {
	rng := p >> t.g.LowBits()
	balanced := t.balancedIn(t.g.Tier(p), rng)
	if balanced == nil || !balanced.Has(t.half.Slot(uint32(p-rng<<t.g.LowBits()))) {
		return 0, false
	}
	return t.half.Mirror(p), true
}

// A partReader reads the stored positions of a tier.
type partReader struct {
	*Table
	tier       int
	here, next *TierCursor // next is nil in the last tier
	block      block.Block
	balanced   block.Set
	successors []block.Block // ranges of the next tier that have been read; without slots if they have no positions
}

// Load reads a range. An open position counts too, with value 0.
func (r *partReader) Load(slots []uint32, i int) (uint64, []uint32, error) {
	r.successors = r.successors[:0]
	err := r.here.loadAt(&r.block, i)
	if err == nil {
		r.block.Open.Union(r.block.Done)
		slots, r.balanced = r.block.Open.Append(slots), r.balancedIn(r.tier, r.block.Range)
	}
	return r.block.Range, slots, err
}

// At returns the position and the value of a slot.
func (r *partReader) At(slot int) (game.Position, game.Value) {
	return r.block.Key(slot), game.Value(r.block.Val[slot])
}

// Times returns how many positions a slot stands for.
func (r *partReader) Times(slot int) uint64 { return r.times(slot, r.balanced) }

// Find looks up a position of the next tier.
func (r *partReader) Find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	if r.next == nil || r.g.Tier(p) != r.tier+1 {
		return 0, 0, 0, false, nil
	}
	p = r.canonical(p)
	rng = p >> r.g.LowBits()
	i := slices.IndexFunc(r.successors, func(b block.Block) bool { return b.Range == rng })
	if i < 0 {
		i = len(r.successors)
		if err := r.add(rng); err != nil {
			return 0, 0, 0, false, err
		}
	}
	b := &r.successors[i]
	slot, ok = slices.BinarySearch(b.Low, uint32(p-rng<<r.g.LowBits()))
	if !ok || b.Val[slot] == 0 && !b.Open.Has(slot) {
		return 0, 0, 0, false, nil
	}
	return rng, slot, game.Value(b.Val[slot]), true, nil
}

// add reads a range of the next tier into successors.
func (r *partReader) add(rng uint64) error {
	b, err := r.next.Block(r.block.Range, rng)
	if err != nil {
		return err
	}
	r.successors = slices.Grow(r.successors, 1)[:len(r.successors)+1]
	if into := &r.successors[len(r.successors)-1]; b != nil {
		into.Copy(b)
	} else {
		into.Reset(r.tier+1, rng, r.g.LowBits(), nil)
	}
	return nil
}

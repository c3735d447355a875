package mirror

import (
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A Half is a Halved game restricted to the positions that are stored. Ranges without such
// positions have no slots; the slots of all others are those of the whole game.
type Half struct {
	game.Halved
	images sync.Map // by *uint32, the first of a list of low parts: *lowImages
}

var _ game.Deduced = (*Half)(nil)

// HalfOf returns the stored half of a game; nil if the game stores all its positions.
func HalfOf(g game.Blockwise) *Half {
	if h, ok := g.(game.Halved); ok {
		return &Half{Halved: h}
	}
	return nil
}

// Low returns nil if no position of the range is stored.
func (h *Half) Low(tier int, rng uint64) []uint32 {
	if stored, _ := h.Stored(tier, rng); stored == nil {
		return nil
	}
	return h.Halved.Low(tier, rng)
}

// Sources appends only ranges with stored positions.
func (h *Half) Sources(dst []uint64, tier int, rng uint64) []uint64 {
	return h.stored(h.Halved.Sources(dst, tier, rng), len(dst), tier-1)
}

// Targets appends only ranges with stored positions.
func (h *Half) Targets(dst []uint64, tier int, rng uint64) []uint64 {
	return h.stored(h.Halved.Targets(dst, tier, rng), len(dst), tier+1)
}

// stored removes the ranges without stored positions from ranges, from index i on.
func (h *Half) stored(ranges []uint64, i, tier int) []uint64 {
	kept := ranges[:i]
	for _, rng := range ranges[i:] {
		if stored, _ := h.Stored(tier, rng); stored != nil {
			kept = append(kept, rng)
		}
	}
	return kept
}

// Finish also removes the positions that are not stored.
func (h *Half) Finish(b *block.Block) {
	h.Keep(b)
	h.Halved.Finish(b)
}

// Deduce also removes the slots that are not stored.
func (h *Half) Deduce(d *block.Deduced, tier int, rng uint64, from, to int) {
	stored, _ := h.Stored(tier, rng)
	if stored == nil {
		clear(d.Unknown[from:to])
		return
	}
	d.Unknown[from:to].Intersect(d.Unknown[from:to], stored[from:to])
	h.Halved.Deduce(d, tier, rng, from, to)
}

// Keep removes the positions that are not stored from b.
func (h *Half) Keep(b *block.Block) {
	stored, _ := h.Stored(b.Tier, b.Range)
	b.Keep(stored)
}

// lowImages are the mirror images of a list of low parts: what each adds to the range and to the low
// part of the image of its position.
type lowImages struct {
	ranges  []uint64 // different parts of ranges
	rangeOf []uint32 // by slot, the index in ranges
	low     []uint32 // by slot, the part of the low part; nil if all are 0
}

// lowImages returns the images of a list that Low returned. The caller must not modify them.
func (h *Half) lowImages(low []uint32) *lowImages {
	if found, ok := h.images.Load(&low[0]); ok {
		return found.(*lowImages)
	}
	m := &lowImages{rangeOf: make([]uint32, len(low)), low: make([]uint32, len(low))}
	ranges, none := make(map[uint64]uint32), true
	for slot, l := range low {
		image := h.Mirror(game.Position(l))
		rng, part := image>>h.LowBits(), uint32(image&(1<<h.LowBits()-1)) // LowBits is at most 31
		r, ok := ranges[rng]
		if !ok {
			r = uint32(len(m.ranges)) // at most len(low)
			ranges[rng] = r
			m.ranges = append(m.ranges, rng)
		}
		m.rangeOf[slot], m.low[slot] = r, part
		none = none && part == 0
	}
	if none {
		m.low = nil
	}
	first, _ := h.images.LoadOrStore(&low[0], m)
	return first.(*lowImages)
}

// Tables returns the approximate size of the tables of the game, and of lowImages.
func (h *Half) Tables() int { return h.Halved.Tables() / 4 * 5 }

// Slots returns the number of stored slots.
func (h *Half) Slots(tier int) float64 { return h.HalfSlots(tier) }

// IsStored reports whether a position is stored.
func (h *Half) IsStored(p game.Position) bool {
	rng := p >> h.LowBits()
	stored, _ := h.Stored(h.Tier(p), rng)
	if stored == nil {
		return false
	}
	h.Halved.Low(h.Tier(p), rng)
	return stored.Has(h.Slot(uint32(p - rng<<h.LowBits())))
}

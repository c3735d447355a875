package game

import (
	"sync"

	"github.com/treereduce/treereduce/game/block"
)

// Halved is a Tiered game that stores only about half of its positions: at least one of each
// position and its mirror image. If both are stored, the position is called balanced.
//
//   - A move from a stored position that is not balanced leads to a stored position.
//   - A move to a stored position that is not balanced comes from a stored position.
//
// So forward, a stored position has a stored predecessor, or it is balanced and its mirror image
// has one; and the value of a balanced position is the better of two: what its moves to stored
// positions lead to, and what those of its mirror image lead to.
//
// Mirror reflects range and low part separately: Mirror(range<<LowBits | low) is
// Mirror(range<<LowBits) | Mirror(low), which have no bits in common. So these, which are no
// positions, are valid arguments as well. LowBits is at most 30.
type Halved interface {
	Tiered
	Mirrored
	// Stored returns the slots of a range of a tier that are stored, and those of them that are
	// balanced; nil if there are none. The caller must not modify the sets.
	Stored(tier int, rng uint64) (stored, balanced block.Set)
	// Slot returns the slot of a low part in every list returned by Low that contains it. It may
	// be called only after Low has returned such a list.
	Slot(low uint32) int
	// HalfSlots, HalfRanges and HalfBorder are like Slots, Ranges and Border, but count only
	// slots that are stored, and ranges with such slots.
	HalfSlots(tier int) float64
	HalfRanges(tier int) float64
	HalfBorder(tier int, f float64) uint64
}

// A Half is a Halved game restricted to the positions that are stored. Ranges without such
// positions have no slots; the slots of all others are those of the whole game.
type Half struct {
	Halved
	images sync.Map // by *uint32, the first of a list of low parts: *LowImages
}

var _ Tiered = (*Half)(nil)

// HalfOf returns the stored half of a game; nil if the game stores all its positions.
func HalfOf(g Tiered) *Half {
	if h, ok := g.(Halved); ok {
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

// Keep removes the positions that are not stored from b.
func (h *Half) Keep(b *block.Block) {
	stored, _ := h.Stored(b.Tier, b.Range)
	b.Keep(stored)
}

// LowImages are the mirror images of a list of low parts: what each adds to the range and to the low
// part of the image of its position.
type LowImages struct {
	Ranges []uint64 // different parts of ranges
	Range  []uint32 // by slot, the index in Ranges
	Low    []uint32 // by slot, the part of the low part; nil if all are 0
}

// LowImages returns the images of a list that Low returned. The caller must not modify them.
func (h *Half) LowImages(low []uint32) *LowImages {
	if found, ok := h.images.Load(&low[0]); ok {
		return found.(*LowImages)
	}
	m := &LowImages{Range: make([]uint32, len(low)), Low: make([]uint32, len(low))}
	ranges, none := make(map[uint64]uint32), true
	for slot, l := range low {
		image := h.Mirror(Position(l))
		rng, part := image>>h.LowBits(), uint32(image&(1<<h.LowBits()-1)) // LowBits is at most 31
		r, ok := ranges[rng]
		if !ok {
			r = uint32(len(m.Ranges)) // at most len(low)
			ranges[rng] = r
			m.Ranges = append(m.Ranges, rng)
		}
		m.Range[slot], m.Low[slot] = r, part
		none = none && part == 0
	}
	if none {
		m.Low = nil
	}
	first, _ := h.images.LoadOrStore(&low[0], m)
	return first.(*LowImages)
}

// Tables returns the approximate size of the tables of the game, and of LowImages.
func (h *Half) Tables() int { return h.Halved.Tables() / 4 * 5 }

// Slots returns the number of stored slots.
func (h *Half) Slots(tier int) float64 { return h.HalfSlots(tier) }

// Ranges returns an upper bound on the ranges with stored positions.
func (h *Half) Ranges(tier int) float64 { return h.HalfRanges(tier) }

// Border returns the range that begins after the fraction f of a tier's stored slots.
func (h *Half) Border(tier int, f float64) uint64 { return h.HalfBorder(tier, f) }

// IsStored reports whether a position is stored.
func (h *Half) IsStored(p Position) bool {
	rng := p >> h.LowBits()
	stored, _ := h.Stored(h.Tier(p), rng)
	if stored == nil {
		return false
	}
	h.Halved.Low(h.Tier(p), rng)
	return stored.Has(h.Slot(uint32(p - rng<<h.LowBits())))
}

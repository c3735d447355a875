// Package images computes the mirror images of the positions of a tier, for games that store
// half of their positions (game.Halved). An image has another range and another slot than its
// position, so this is a transposition of the tier: ranges become slots, and slots ranges.
package images

import (
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A Kind selects the positions whose images are wanted.
type Kind int

const (
	// Reached selects the open balanced positions.
	Reached Kind = iota
	// Scores selects the open balanced positions, with a byte each; the greater one is better.
	Scores
	// Values selects the positions with a value that are stored and not balanced.
	Values
)

// Images are the mirror images of positions of a tier, in some ranges. They have a byte for each slot
// of these ranges, or a bit if the kind is Reached.
type Images struct {
	g    *game.Half
	tier int
	kind Kind
	at   map[uint64]int // by range, the index of its first byte or word; or that in Balanced.kept
	// One of these, by slot, has 0 where there is no image of a selected position.
	bytes []byte
	words []uint64

	mu     sync.RWMutex
	places map[placesKey]*places
}

// New returns Images in the given ranges of a tier, which have slots.
func New(g *game.Half, tier int, kind Kind, ranges []uint64) *Images {
	m := &Images{g: g, tier: tier, kind: kind, at: make(map[uint64]int, len(ranges)), places: make(map[placesKey]*places)}
	n := 0
	for _, rng := range ranges {
		m.at[rng] = n
		slots := len(g.Halved.Low(tier, rng))
		if kind == Reached {
			slots = block.Words(slots)
		}
		n += slots
	}
	if kind == Reached {
		m.words = make([]uint64, n)
	} else {
		m.bytes = make([]byte, n)
	}
	return m
}

// Of returns a set of slots of a range that has all slots with selected positions; nil if there
// are none.
func (k Kind) Of(g *game.Half, tier int, rng uint64) block.Set {
	stored, balanced := g.Stored(tier, rng)
	switch {
	case k != Values:
		return balanced
	case balanced != nil && &balanced[0] == &stored[0]:
		return nil
	}
	return stored
}

// places says where the images of the slots of a range are. Ranges with the same slots share it,
// unless their mirror images differ in the bits that become part of a range.
type places struct {
	row  []int    // by slot, Images.at of the range of its image; -1: none
	part []uint16 // by slot, the index in low; nil: 0 for all
	low  []uint32 // parts of the low part of an image
}

type placesKey struct {
	low  *uint32 // the first of the list
	of   *uint64 // the first word of the set
	high uint64  // the range of the mirror image of the range alone
}

// Add adds the images of the selected positions of a block. Several goroutines may call it, with
// different blocks.
func (m *Images) Add(b *block.Block) {
	of := m.kind.Of(m.g, m.tier, b.Range)
	if of == nil {
		return
	}
	var few [maxFew]int
	at, slots := m.placesOf(b, of, few[:0])
	from, without := b.Open, block.Set(nil)
	if m.kind == Values {
		from = b.Done
		_, without = m.g.Stored(m.tier, b.Range)
	}
	for i, w := range from {
		w &= of[i]
		if without != nil {
			w &^= without[i]
		}
		for ; w != 0; w &= w - 1 {
			s := i<<6 + bits.TrailingZeros64(w)
			row := at.row[s]
			if row < 0 {
				continue
			}
			slot := slots[0]
			if at.part != nil {
				slot = slots[at.part[s]]
			}
			if m.kind == Reached {
				atomic.OrUint64(&m.words[row+slot>>6], 1<<(slot&63))
			} else {
				m.bytes[row+slot] = b.Val[s] // no other goroutine writes this byte
			}
		}
	}
}

// maxFew is a number of parts whose slots fit on the stack.
const maxFew = 128

// placesOf returns the places of the images of a block's slots, and appends the slot of each of
// their parts.
func (m *Images) placesOf(b *block.Block, of block.Set, slots []int) (*places, []int) {
	image := m.g.Mirror(b.Range << m.g.LowBits())
	at := m.sharedPlaces(b.Low, of, image>>m.g.LowBits())
	for _, low := range at.low {
		slots = append(slots, m.g.Slot(uint32(image)&(1<<m.g.LowBits()-1)|low))
	}
	return at, slots
}

// sharedPlaces returns the places for a list of low parts, and makes them the first time.
func (m *Images) sharedPlaces(low []uint32, of block.Set, high uint64) *places {
	key := placesKey{&low[0], &of[0], high}
	m.mu.RLock()
	at := m.places[key]
	m.mu.RUnlock()
	if at != nil {
		return at
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at = m.places[key]; at == nil {
		at = m.newPlaces(low, of, high)
		m.places[key] = at
	}
	return at
}

// newPlaces makes places.
func (m *Images) newPlaces(low []uint32, of block.Set, high uint64) *places {
	at := &places{row: make([]int, len(low)), part: make([]uint16, len(low))}
	parts := make(map[uint32]uint16)
	shift := m.g.LowBits()
	for s, l := range low {
		at.row[s] = -1
		if !of.Has(s) {
			continue
		}
		image := m.g.Mirror(uint64(l))
		row, ok := m.at[high|image>>shift]
		if !ok {
			continue
		}
		own := uint32(image & (1<<shift - 1))
		part, ok := parts[own]
		if !ok {
			part = uint16(len(at.low))
			parts[own] = part
			at.low = append(at.low, own)
		}
		at.row[s], at.part[s] = row, part
	}
	if len(at.low) < 2 {
		at.part = nil
	}
	if len(at.low) == 0 {
		at.low = []uint32{0} // no image is in the ranges
	}
	return at
}

// Merge merges the images in the range of a block into it, after all have been added: as open
// positions (Reached), as better scores of its open positions (Scores), or as positions with a
// value (Values).
func (m *Images) Merge(b *block.Block) {
	at, ok := m.at[b.Range]
	if !ok {
		return
	}
	switch m.kind {
	case Reached:
		b.Open.Union(m.words[at : at+len(b.Open)])
	case Scores:
		row := m.bytes[at : at+b.Len()]
		_, balanced := m.g.Stored(m.tier, b.Range)
		for i, w := range balanced {
			for w &= b.Open[i]; w != 0; w &= w - 1 {
				slot := i<<6 + bits.TrailingZeros64(w)
				b.Val[slot] = max(b.Val[slot], row[slot])
			}
		}
	case Values:
		for slot, v := range m.bytes[at : at+b.Len()] {
			if v != 0 {
				b.Done.Add(slot)
				b.Val[slot] = v
			}
		}
	}
}

// Ranges returns the ranges of the images of all slots in the given ranges that may contain
// selected positions, ascending.
func Ranges(g *game.Half, tier int, kind Kind, ranges []uint64) []uint64 {
	found, known := make(map[uint64]bool), make(map[placesKey]bool)
	shift := g.LowBits()
	for _, rng := range ranges {
		of := kind.Of(g, tier, rng)
		if of == nil {
			continue
		}
		low := g.Halved.Low(tier, rng)
		key := placesKey{&low[0], &of[0], g.Mirror(rng<<shift) >> shift}
		if known[key] {
			continue
		}
		known[key] = true
		for s := range of.All() {
			found[key.high|g.Mirror(uint64(low[s]))>>shift] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

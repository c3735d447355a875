// Package images computes the mirror images of the positions of a tier, for games that store
// half of their positions (game.Halved). An image has another range and another slot than its
// position, so this is a transposition of the tier: ranges become slots, and slots ranges.
package images

import (
	"maps"
	"math/bits"
	"slices"
	"sync"

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

// Images are the mirror images of positions of a tier, in an interval of ranges. They have a
// byte for each slot of these ranges.
type Images struct {
	g           *game.Half
	tier        int
	kind        Kind
	first, last uint64

	mu     sync.RWMutex
	places map[placesKey]*places
	row    map[uint64]int32 // by range, the index in rows
	rows   [][]byte         // by slot: 0 if it is not the image of a selected position
}

// New returns Images in ranges first to last (inclusive) of a tier.
func New(g *game.Half, tier int, kind Kind, first, last uint64) *Images {
	return &Images{g: g, tier: tier, kind: kind, first: first, last: last,
		places: make(map[placesKey]*places), row: make(map[uint64]int32)}
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
	row []int32  // by slot, the index in rows; -1: not in the interval
	low []uint32 // by slot, its part of the low part of its image; nil: 0 for all
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
	high := m.g.Mirror(b.Range << m.g.LowBits())
	at, rows := m.placesOf(b.Low, of, high>>m.g.LowBits())
	low := uint32(high & (1<<m.g.LowBits() - 1))
	from, without := b.Open, block.Set(nil)
	if m.kind == Values {
		from = b.Done
		_, without = m.g.Stored(m.tier, b.Range)
	}
	slot, value := m.g.Slot(low), byte(1)
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
			if at.low != nil {
				slot = m.g.Slot(low | at.low[s])
			}
			if m.kind != Reached {
				value = b.Val[s]
			}
			rows[row][slot] = value
		}
	}
}

// placesOf returns the places of the images of a list of low parts, and the rows that they refer
// to.
func (m *Images) placesOf(low []uint32, of block.Set, high uint64) (*places, [][]byte) {
	key := placesKey{&low[0], &of[0], high}
	m.mu.RLock()
	at, rows := m.places[key], m.rows
	m.mu.RUnlock()
	if at != nil {
		return at, rows
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at = m.places[key]; at == nil {
		at = m.newPlaces(low, of, high)
		m.places[key] = at
	}
	return at, m.rows
}

// newPlaces makes places, and the rows of the ranges that are in the interval.
func (m *Images) newPlaces(low []uint32, of block.Set, high uint64) *places {
	at := &places{row: make([]int32, len(low)), low: make([]uint32, len(low))}
	shift, none := m.g.LowBits(), true
	for s, l := range low {
		at.row[s] = -1
		image := m.g.Mirror(uint64(l))
		rng := high | image>>shift
		if !of.Has(s) || rng < m.first || rng > m.last {
			continue
		}
		if at.low[s] = uint32(image & (1<<shift - 1)); at.low[s] != 0 {
			none = false
		}
		row, ok := m.row[rng]
		if !ok {
			row = int32(len(m.rows))
			m.row[rng] = row
			m.rows = append(m.rows, make([]byte, len(m.g.Halved.Low(m.tier, rng))))
		}
		at.row[s] = row
	}
	if none {
		at.low = nil
	}
	return at
}

// Merge merges the images in the range of a block into it, after all have been added: as open
// positions (Reached), as better scores of its open positions (Scores), or as positions with a
// value (Values).
func (m *Images) Merge(b *block.Block) {
	i, ok := m.row[b.Range]
	if !ok {
		return
	}
	row := m.rows[i]
	switch m.kind {
	case Reached:
		for slot, v := range row {
			b.Open[slot>>6] |= uint64(v) << (slot & 63)
		}
	case Scores:
		for _, slot := range b.OpenSlots() {
			b.Val[slot] = max(b.Val[slot], row[slot])
		}
	case Values:
		for slot, v := range row {
			if v != 0 {
				b.Done.Add(slot)
				b.Val[slot] = v
			}
		}
	}
}

// Ranges returns the ranges that have images, ascending.
func (m *Images) Ranges() []uint64 { return slices.Sorted(maps.Keys(m.row)) }

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

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

	mu   sync.RWMutex
	rows map[rowsKey][]int
}

// New returns Images in the given ranges of a tier, which have slots.
func New(g *game.Half, tier int, kind Kind, ranges []uint64) *Images {
	m := &Images{g: g, tier: tier, kind: kind, at: make(map[uint64]int, len(ranges)), rows: make(map[rowsKey][]int)}
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

// places says where the images of the slots of a block are.
type places struct {
	*game.LowImages
	rows  []int // Images.at of each of Ranges; -1: none
	slots []int // the slot in its range of an image with each of Lows
}

// of returns the row of the image of a slot, and its slot there; the row is -1 if there is none.
func (p *places) of(slot int) (row, at int) {
	if p.Low == nil {
		return p.rows[p.Range[slot]], p.slots[0]
	}
	return p.rows[p.Range[slot]], p.slots[p.Low[slot]]
}

// A rowsKey identifies rows: they depend on the list of low parts, and on the range of the mirror
// image of the range alone.
type rowsKey struct {
	low  *uint32
	high uint64
}

// Add adds the images of the selected positions of a block. Several goroutines may call it, with
// different blocks.
func (m *Images) Add(b *block.Block) {
	of := m.kind.Of(m.g, m.tier, b.Range)
	if of == nil {
		return
	}
	var few [maxFew]int
	at := m.placesOf(b, few[:0])
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
			row, slot := at.of(s)
			switch {
			case row < 0:
			case m.kind == Reached:
				atomic.OrUint64(&m.words[row+slot>>6], 1<<(slot&63))
			default:
				m.bytes[row+slot] = b.Val[s] // no other goroutine writes this byte
			}
		}
	}
}

// maxFew is a number of slots that fit on the stack.
const maxFew = 128

// placesOf returns the places of the images of a block's slots, in the memory of slots.
func (m *Images) placesOf(b *block.Block, slots []int) places {
	image := m.g.Mirror(b.Range << m.g.LowBits())
	of := m.g.LowImages(b.Low)
	for _, low := range of.Lows {
		slots = append(slots, m.g.Slot(uint32(image)&(1<<m.g.LowBits()-1)|low))
	}
	return places{of, m.rowsOf(rowsKey{&b.Low[0], image >> m.g.LowBits()}, of.Ranges), slots}
}

// rowsOf returns the rows of ranges.
func (m *Images) rowsOf(key rowsKey, ranges []uint64) []int {
	m.mu.RLock()
	rows := m.rows[key]
	m.mu.RUnlock()
	if rows != nil {
		return rows
	}
	rows = make([]int, len(ranges))
	for i, rng := range ranges {
		row, ok := m.at[key.high|rng]
		if !ok {
			row = -1
		}
		rows[i] = row
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[key] = rows
	return rows
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
	type key struct {
		rowsKey
		of *uint64 // the first word of the slots
	}
	found, known := make(map[uint64]bool), make(map[key]bool)
	shift := g.LowBits()
	for _, rng := range ranges {
		of := kind.Of(g, tier, rng)
		if of == nil {
			continue
		}
		low := g.Halved.Low(tier, rng)
		k := key{rowsKey{&low[0], g.Mirror(rng<<shift) >> shift}, &of[0]}
		if known[k] {
			continue
		}
		known[k] = true
		images := g.LowImages(low)
		for s := range of.All() {
			found[k.high|images.Ranges[images.Range[s]]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

package images

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// A transposed is the images of a collection, by class and column.
type transposed struct {
	columns []column
	bytes   []byte
}

// A column is the images of a column of a class. Columns of different classes are in different ranges;
// those of one class may be in the same range, but have different slots there.
type column struct {
	rng  uint64
	at   uint32 // offset of its bytes
	form uint32 // the number of its bytes, and whether they are dense, see bandWriter.append
}

// add adds the images of a class.
func (t *transposed) add(s *sorter, of *class) {
	slices.SortFunc(of.rows, func(a, b blockRow) int { return cmp.Compare(a.low, b.low) }) // so that slots ascend in each column
	groups := (len(of.rows) + 63) / 64
	tiles, slots := make([][64]uint64, groups), make([]int, len(of.rows))
	words := block.Words(len(of.images.Range))
	last := -1 // the index in Lows that slots belongs to
	for w := range words {
		taken := uint64(0)
		for i := range tiles {
			clear(tiles[i][:])
		}
		for i, row := range of.rows {
			word := binary.LittleEndian.Uint64(row.bytes[8*w:])
			tiles[i/64][i%64] = word
			taken |= word
		}
		if taken == 0 {
			continue
		}
		for i := range tiles {
			transpose(&tiles[i])
		}
		for ; taken != 0; taken &= taken - 1 {
			k := bits.TrailingZeros64(taken)
			slot := w<<6 + k
			rng, begin := of.high|of.images.Ranges[of.images.Range[slot]], len(t.bytes)
			there := block.Words(len(s.g.Halved.Low(s.tier, rng))) // after that, Slot can be called
			which := 0
			if of.images.Low != nil {
				which = int(of.images.Low[slot])
			}
			if which != last {
				for i, row := range of.rows {
					slots[i] = s.g.Slot(row.low | of.images.Lows[which])
				}
				last = which
			}
			n := 0
			for i := range tiles {
				n += bits.OnesCount64(tiles[i][k])
			}
			val := 8*words + slot
			t.bytes = slices.Grow(t.bytes, 8*there+n*s.kind.size())
			dense, next := isDense(n, there), 0
			var set []byte
			if dense {
				set = t.bytes[begin : begin+8*there]
				clear(set)
				t.bytes = t.bytes[:begin+len(set)]
			}
			for i := range tiles {
				for word := tiles[i][k]; word != 0; word &= word - 1 {
					row := i<<6 + bits.TrailingZeros64(word)
					at := slots[row]
					if dense {
						set[at>>3] |= 1 << (at & 7)
					} else {
						t.bytes = appendGap(t.bytes, at-next)
						next = at + 1
					}
					if s.kind != Reached {
						t.bytes = append(t.bytes, of.rows[row].bytes[val])
					}
				}
			}
			t.columns = append(t.columns, column{rng, uint32(begin), formOf(len(t.bytes)-begin, dense)})
		}
	}
}

// transpose transposes a matrix of bits: bit j of word i becomes bit i of word j.
func transpose(m *[64]uint64) {
	mask := uint64(1<<32 - 1)
	for j := 32; j > 0; j >>= 1 {
		for i := 0; i < 64; i = (i + j + 1) &^ j {
			swap := (m[i]>>j ^ m[i+j]) & mask
			m[i] ^= swap << j
			m[i+j] ^= swap
		}
		mask ^= mask << (j >> 1)
	}
}

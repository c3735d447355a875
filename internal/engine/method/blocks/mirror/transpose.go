package mirror

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
	rng     uint64
	at, end uint32 // offsets of its bytes, and of those after it
}

// compareColumns orders columns by range, and those of a range as they were added.
func compareColumns(a, b column) int {
	if a.rng != b.rng {
		return cmp.Compare(a.rng, b.rng)
	}
	return cmp.Compare(a.at, b.at)
}

// add adds the images of a class.
func (t *transposed) add(s *sorter, of *class) {
	slices.SortFunc(of.rows, func(a, b blockRow) int { return cmp.Compare(a.low, b.low) }) // so that slots ascend in each column
	tiles, slots := make([][64]uint64, (len(of.rows)+63)/64), make([]int, len(of.rows))
	words := block.Words(len(of.images.rangeOf))
	last := int64(-1) // the part of the low parts of images that slots belongs to
	for w := range words {
		for taken := of.load(tiles, w); taken != 0; taken &= taken - 1 {
			k := bits.TrailingZeros64(taken)
			slot := w<<6 + k
			rng := of.high | of.images.ranges[of.images.rangeOf[slot]]
			s.g.Halved.Low(s.tier, rng) // after that, Slot can be called
			low := uint32(0)
			if of.images.low != nil {
				low = of.images.low[slot]
			}
			if int64(low) != last {
				for i, row := range of.rows {
					slots[i] = s.g.Slot(row.low | low)
				}
				last = int64(low)
			}
			val := 8*words + slot
			if s.kind == Reached {
				val = 0
			}
			at := len(t.bytes)
			t.addColumn(of.rows, tiles, k, slots, val)
			t.columns = append(t.columns, column{rng, uint32(at), uint32(len(t.bytes))})
		}
	}
}

// load sets tiles to a word of each row, transposed: word k of the tiles is column k. It returns the
// set of columns that are not empty.
func (c *class) load(tiles [][64]uint64, w int) (taken uint64) {
	clear(tiles[len(tiles)-1][:]) // it may have words without a row
	for i, row := range c.rows {
		word := binary.LittleEndian.Uint64(row.bytes[8*w:])
		tiles[i/64][i%64] = word
		taken |= word
	}
	if taken != 0 {
		for i := range tiles {
			transpose(&tiles[i])
		}
	}
	return taken
}

// addColumn adds the bytes of column k of the tiles. slots are the slots of its images by row; val is the offset of their values
// in the rows, 0 if they have none.
func (t *transposed) addColumn(rows []blockRow, tiles [][64]uint64, k int, slots []int, val int) {
	next := 0
	for i := range tiles {
		for word := tiles[i][k]; word != 0; word &= word - 1 {
			row := i<<6 + bits.TrailingZeros64(word)
			t.bytes = appendGap(t.bytes, slots[row]-next)
			next = slots[row] + 1
			if val != 0 {
				t.bytes = append(t.bytes, rows[row].bytes[val])
			}
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

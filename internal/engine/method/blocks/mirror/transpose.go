package mirror

import (
	"cmp"
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
	last := int64(-1) // the part of the low parts of images that slots belongs to
	for w := range block.Words(len(of.images.rangeOf)) {
		for taken := of.load(tiles, w); taken != 0; taken &= taken - 1 {
			slot := w<<6 + bits.TrailingZeros64(taken)
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
			at := len(t.bytes)
			t.addColumn(of.rows, tiles, slot, slots)
			t.columns = append(t.columns, column{rng, uint32(at), uint32(len(t.bytes))})
		}
	}
}

// load sets tiles to a word of each row, transposed: word k of the tiles is column k. It returns the
// set of columns that are not empty.
func (c *class) load(tiles [][64]uint64, w int) (taken uint64) {
	clear(tiles[len(tiles)-1][:]) // it may have words without a row
	for i, row := range c.rows {
		tiles[i/64][i%64] = row.set[w]
		taken |= row.set[w]
	}
	if taken != 0 {
		for i := range tiles {
			transpose(&tiles[i])
		}
	}
	return taken
}

// addColumn adds the bytes of the column of a slot. slots are the slots of its images by row.
func (t *transposed) addColumn(rows []blockRow, tiles [][64]uint64, slot int, slots []int) {
	next := 0
	for i := range tiles {
		for word := tiles[i][slot%64]; word != 0; word &= word - 1 {
			row := i<<6 + bits.TrailingZeros64(word)
			t.bytes = appendGap(t.bytes, slots[row]-next)
			next = slots[row] + 1
			if val := rows[row].val; val != nil {
				t.bytes = append(t.bytes, val[slot])
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

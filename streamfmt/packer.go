package streamfmt

import (
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// Counts contains the number of records of each value. Index 0 counts the open ones.
type Counts [256]uint64

// Add adds numbers of records by value, of which there are at most 256.
func (c *Counts) Add(o []uint64) {
	for v, n := range o {
		c[v] += n
	}
}

// Total returns the number of records of all values.
func (c *Counts) Total() uint64 {
	var n uint64
	for _, k := range c {
		n += k
	}
	return n
}

// A Packer packs blocks or rows into cells, one after the other, which a Writer appends.
type Packer struct {
	Bytes  []byte
	Cells  []Cell // their offsets are relative to Bytes
	Counts Counts // records of blocks by value, with the mirror images for which those of HalfBlocks stand

	content uint64   // see File.Content
	values  []uint64 // rows by value, see CountValues
	encoder Encoder
	compact *compact   // nil: blocks are not compact
	coder   *cellCoder // nil: cells of rows are not coded
}

// SetCompact makes p pack blocks of a game in their compact form: with all values, coded by a model, or if that is nil, with
// the values of terminal positions only.
func (p *Packer) SetCompact(deduce block.Deducer, m *Model) { p.compact = &compact{deduce, m} }

// Reset empties p.
func (p *Packer) Reset() {
	p.Bytes, p.Cells, p.Counts, p.content = p.Bytes[:0], p.Cells[:0], Counts{}, 0
	clear(p.values)
}

// Add packs b, which must contain at least one record.
func (p *Packer) Add(b *block.Block) { p.add(b, 1) }

// add packs b, whose records count a number of times, and reports whether it is compact.
func (p *Packer) add(b *block.Block, times uint64) (ok bool) {
	from, counts := len(p.Bytes), [256]uint64{}
	if p.compact != nil {
		p.Bytes, ok = p.encoder.appendCompact(p.Bytes, b, p.compact, &counts)
	}
	if !ok {
		counts = [256]uint64{}
		p.Bytes = p.encoder.AppendBlock(p.Bytes, b, &counts)
	}
	for v, n := range counts {
		p.Counts[v] += times * n
	}
	p.end(Cell{First: b.Range, Last: b.Range, Records: uint32(b.Count()), Stage: uint32(b.Tier)}, from)
	if p.compact != nil {
		sum := p.encoder.content
		if !ok {
			sum = p.Cells[len(p.Cells)-1].Sum
		}
		p.content += mix(mix(uint64(b.Tier)<<32|uint64(sum)) ^ b.Range)
	}
	return ok
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014): a permutation that spreads each bit over all.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// AddHalf packs b, for HalfBlocks. Each record counts twice, for itself and its mirror image, except the balanced ones,
// whose mirror images are stored.
func (p *Packer) AddHalf(b *block.Block, balanced block.Set) {
	var deduced *block.Deduced
	if p.add(b, 2) {
		deduced = b.Deduce(p.compact.Deduce)
	}
	for i, w := range balanced {
		p.once(w&b.Open[i], 0)
		w &= b.Done[i]
		if deduced != nil {
			for j, known := range deduced.Known {
				p.once(w&known[i], deduced.Values[j])
				w &^= known[i]
			}
		}
		values := b.Word(i)
		for ; w != 0; w &= w - 1 {
			p.Counts[values[bits.TrailingZeros64(w)&63]]--
		}
	}
}

// once corrects the number of records of a value that are counted twice, but stand for themselves.
func (p *Packer) once(records uint64, v byte) { p.Counts[v] -= uint64(bits.OnesCount64(records)) }

// end adds a cell, whose bytes begin at from and end at the end of p.Bytes. Their number
// has 32 bits: a block has at most 1<<31 slots, of ten bits each, and a cell of rows CellRows.
func (p *Packer) end(c Cell, from int) {
	packed := p.Bytes[from:]
	c.Offset, c.Length, c.Sum = uint64(from), uint32(len(packed)), crc32.Checksum(packed, castagnoli)
	p.Cells = append(p.Cells, c)
}

// AddRows packs sorted rows of a tier, or of a pass over one, whose number has at most 32 bits, into cells of CellRows rows; the last may have fewer.
func (p *Packer) AddRows(tier int, rows []Row) {
	for cell := range slices.Chunk(rows, CellRows) {
		from := len(p.Bytes)
		coded := p.coder != nil
		if coded {
			p.Bytes, coded = p.coder.append(p.Bytes, cell)
		}
		if !coded {
			p.Bytes = appendCell(p.Bytes, cell)
		}
		p.end(Cell{First: cell[0].Key, Last: cell[len(cell)-1].Key, Records: uint32(len(cell)), Stage: uint32(tier)}, from)
	}
}

// SetCoded makes p code cells of Values: they are smaller, but take more time.
func (p *Packer) SetCoded() { p.coder = new(cellCoder) }

// CountValues counts rows of Values by value; words have at most 16 bits, as ParseRow and RowReader return them.
func (p *Packer) CountValues(rows []Row) {
	for _, r := range rows {
		v := uint16(r.Word)
		if int(v) >= len(p.values) {
			p.values = append(p.values, make([]uint64, int(v)+1-len(p.values))...)
		}
		p.values[v]++
	}
}

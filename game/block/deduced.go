package block

import (
	"encoding/binary"
	"math/bits"
)

// Deduced is what the rules of a game say of the slots of one range of a tier, without any other
// range; see game.Deduced. Its sets are disjoint. A slot in none of them cannot be a position.
type Deduced struct {
	Unknown Set              // slots whose values the rules do not say
	Known   [KnownValues]Set // slots that have a value if they are positions
	Values  [KnownValues]byte

	slots int
}

// A Deducer sets the words from to to-1 of d, which belong to a range of a tier.
type Deducer func(d *Deduced, tier int, rng uint64, from, to int)

// KnownValues is the number of values of a Deduced.
const KnownValues = 2

// Reset assigns d to n slots. Its sets have no meaning until Begin.
func (d *Deduced) Reset(n int) {
	d.slots = n
	d.Unknown = d.Unknown.grow(n)
	for i := range d.Known {
		d.Known[i] = d.Known[i].grow(n)
	}
}

// Begin adds the slots in the words from to to-1 to d.Unknown, and removes them from d.Known.
func (d *Deduced) Begin(from, to int) {
	d.Unknown[from:to].Fill(min(to*wordSlots, d.slots) - from*wordSlots)
	for i := range d.Known {
		clear(d.Known[i][from:to])
	}
}

// Deduce returns what the rules say of the slots of b. It calls deduce once: until Reset or Keep, later calls
// return the same. The caller must not modify it.
func (b *Block) Deduce(deduce Deducer) *Deduced {
	if !b.isDeduced {
		b.isDeduced = true
		b.deduced.Reset(b.Len())
		deduce(&b.deduced, b.Tier, b.Range, 0, len(b.deduced.Unknown))
	}
	return &b.deduced
}

// Settle gives the open slots of b the values that d says.
func (b *Block) Settle(d *Deduced) {
	for j, known := range d.Known {
		for i, w := range known {
			b.Finish(i, w&b.Open[i], d.Values[j])
		}
	}
}

// Finish gives the open slots of set in word i, whose values are 0, the value v.
func (b *Block) Finish(i int, set uint64, v byte) {
	b.Open[i] &^= set
	b.Done[i] |= set
	b.SetValues(i, set, v)
}

// spread is, by byte, eight bytes: all ones for each bit that is set, in ascending order.
var spread = func() (words [256]uint64) {
	for b := range words {
		for w := b; w != 0; w &= w - 1 {
			words[b] |= 0xff << (8 * bits.TrailingZeros(uint(w)))
		}
	}
	return words
}()

const everyByte = 0x0101010101010101

// SetValues sets the values of the slots of set, which are 0, in word i to v.
func (b *Block) SetValues(i int, set uint64, v byte) {
	to, all := b.Word(i)[:], uint64(v)*everyByte
	for ; set != 0; set >>= 8 {
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)|all&spread[byte(set)])
		to = to[8:]
	}
}

// HaveValue reports whether all slots of set in word i have the value v.
func (b *Block) HaveValue(i int, set uint64, v byte) bool {
	from, all, differ := b.Word(i)[:], uint64(v)*everyByte, uint64(0)
	for ; set != 0; set >>= 8 {
		differ |= (binary.LittleEndian.Uint64(from) ^ all) & spread[byte(set)]
		from = from[8:]
	}
	return differ == 0
}

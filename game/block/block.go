// Package block stores positions by the thousand: the records of one tier whose keys are in
// one range, as bitmaps and a byte array over the range's slots.
//
// A key is a range and a low part:
//
//	key = range << LowBits | low
//
// Not every low part can occur. The slots of a block number those that can, in
// ascending order, so a block is a section of the sorted key space in which nearly
// every slot may be used:
//
//	slot   0     1     2     3    ...
//	low    0x07  0x0b  0x0d  0x13 ...     (Low; the game knows them)
//	Open   1     0     1     0            a record, its value not known yet
//	Done   0     0     0     1            a record with a value
//	Val    .     .     .     6            the value where Done
//
// The package knows nothing of games, files or jobs.
package block

import (
	"math/bits"
	"slices"
)

// A Block contains the records of one tier in one range of keys. Reset re-uses its
// memory.
type Block struct {
	Tier    int
	Range   uint64
	LowBits uint     // number of low bits of a key, which the slot determines
	Low     []uint32 // low part of the key of each slot, ascending; shared, must not be modified

	Open Set    // records whose value is not known yet
	Done Set    // records with a value
	Val  []byte // values by slot, and one extra zero byte, so that slot Len is «no such position»

	deduced   Deduced // see Deduce
	isDeduced bool
}

// Reset empties b and assigns it to a range.
func (b *Block) Reset(tier int, rng uint64, lowBits uint, low []uint32) {
	b.Assign(tier, rng, lowBits, low)
	b.Clear(0, len(b.Done))
}

// Assign is like Reset, but the contents of b have no meaning until Clear.
func (b *Block) Assign(tier int, rng uint64, lowBits uint, low []uint32) {
	b.ResetOpen(tier, rng, lowBits, low)
	n := len(low)
	b.Done = b.Done.grow(n)
	if cap(b.Val) < n+1+wordSlots {
		b.Val = make([]byte, n+1, n+1+wordSlots)
	}
	b.Val = b.Val[:n+1]
}

// Clear empties the words from to to-1 of the sets of b, and clears the values of their slots.
func (b *Block) Clear(from, to int) {
	clear(b.Open[from:to])
	clear(b.Done[from:to])
	clear(b.Val[from*wordSlots : min(to*wordSlots, len(b.Low))])
	b.Val[len(b.Low)] = 0
}

// ResetOpen is like Reset, but b can then contain open records only: Done and Val are empty.
func (b *Block) ResetOpen(tier int, rng uint64, lowBits uint, low []uint32) {
	b.Tier, b.Range, b.LowBits, b.Low = tier, rng, lowBits, low
	b.isDeduced = false
	b.Open, b.Done, b.Val = b.Open.grow(len(low)), b.Done[:0], b.Val[:0]
	clear(b.Open)
}

// Len returns the number of slots.
func (b *Block) Len() int { return len(b.Low) }

// Key returns the key of slot i.
func (b *Block) Key(i int) uint64 { return b.Range<<b.LowBits | uint64(b.Low[i]) }

// Copy resets b to the range and the records of another block, with what Deduce has returned for it.
func (b *Block) Copy(from *Block) {
	b.Assign(from.Tier, from.Range, from.LowBits, from.Low)
	copy(b.Open, from.Open)
	copy(b.Done, from.Done)
	copy(b.Val, from.Val)
	if b.isDeduced = from.isDeduced; b.isDeduced {
		b.deduced.Reset(b.Len())
		copy(b.deduced.Unknown, from.deduced.Unknown)
		for i, known := range from.deduced.Known {
			copy(b.deduced.Known[i], known)
		}
		b.deduced.Values = from.deduced.Values
	}
}

// Close marks all open records as done; their values must be in Val.
func (b *Block) Close() {
	b.Done.Union(b.Open)
	clear(b.Open)
}

// Keep removes the records that are not in s, all if it is nil. Deduce then calls its Deducer again.
func (b *Block) Keep(s Set) {
	b.isDeduced = false
	if s == nil {
		clear(b.Open)
		clear(b.Done)
		return
	}
	b.Open.Intersect(b.Open, s)
	b.Done.Intersect(b.Done, s)
}

// AppendValues appends the values of the done slots in ascending order.
func (b *Block) AppendValues(dst []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(b.Val)+wordSlots)
	for i, w := range b.Done {
		from, to, k := b.Word(i), (*[wordSlots]byte)(dst[n:n+wordSlots]), 0
		for ; w != 0; w &= w - 1 {
			to[k&63] = from[bits.TrailingZeros64(w)&63]
			k++
		}
		n += k
	}
	return dst[:n]
}

// wordSlots is the number of slots in a word of a Set.
const wordSlots = 64

// Word returns the values of the slots in word i of a set, for loops that need not check
// each index. Values past the last slot are of no meaning.
func (b *Block) Word(i int) *[wordSlots]byte {
	return (*[wordSlots]byte)(b.Val[i*wordSlots : (i+1)*wordSlots])
}

// Empty reports whether the block contains no record.
func (b *Block) Empty() bool { return b.Open.Empty() && b.Done.Empty() }

// Count returns the number of records.
func (b *Block) Count() int { return b.Open.Count() + b.Done.Count() }

// Slot returns the slot of the low part low, and whether there is one. It searches
// from slot hint onwards first, so that look-ups in ascending order are cheap.
func (b *Block) Slot(low uint32, hint int) (slot int, ok bool) {
	n := len(b.Low)
	if hint >= n || b.Low[hint] > low {
		hint = 0
	}
	lo, step := hint, 1 // all slots before lo have low parts below low
	for lo < n && b.Low[lo] < low {
		next := lo + step
		if next >= n || b.Low[next] >= low {
			hi := min(next, n)
			for lo++; lo < hi; {
				if mid := (lo + hi) / 2; b.Low[mid] < low {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			break
		}
		lo, step = next, step*2
	}
	return lo, lo < n && b.Low[lo] == low
}

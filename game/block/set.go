package block

import (
	"iter"
	"math/bits"
)

// A Set has one bit for each slot of a block, slot 0 in the lowest bit of word 0. Bits
// past the last slot are always zero.
type Set []uint64

// Words returns the number of words of a Set of n slots.
func Words(n int) int { return (n + 63) / 64 }

// Add adds slot i to the set.
func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

// Remove removes slot i from the set.
func (s Set) Remove(i int) { s[i>>6] &^= 1 << (i & 63) }

// Has reports whether slot i is in the set.
func (s Set) Has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

// Union adds every slot of t, a set of the same length.
func (s Set) Union(t Set) {
	for i, w := range t {
		s[i] |= w
	}
}

// Count returns the number of slots in the set.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether no slot is in the set.
func (s Set) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Fill adds all slots, 0 to n-1, to the set; n must be the set's number of slots.
func (s Set) Fill(n int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if n&63 != 0 {
		s[len(s)-1] = 1<<(n&63) - 1
	}
}

// Append appends the slots of the set, which are below 1<<32, to dst in ascending order.
func (s Set) Append(dst []uint32) []uint32 {
	for i, w := range s {
		for base := uint32(i) << 6; w != 0; w &= w - 1 {
			dst = append(dst, base+uint32(bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// All returns the slots of the set in ascending order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 | bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// grow returns a set of n slots with any contents, in the memory of s if it is large enough.
func (s Set) grow(n int) Set {
	w := Words(n)
	if cap(s) < w {
		return make(Set, w)
	}
	return s[:w]
}

// Intersect sets s to the slots that are in both t and u, sets of the same length.
func (s Set) Intersect(t, u Set) {
	for i, w := range t {
		s[i] = w & u[i]
	}
}

package block

import (
	"iter"
	"math/bits"
)

// A Set holds one bit for each slot of a block, slot 0 in the lowest bit of
// word 0. Bits past the last slot are kept zero.
type Set []uint64

// Words returns how many words a Set of n slots has.
func Words(n int) int { return (n + 63) / 64 }

// Add puts slot i into the set.
func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

// Remove takes slot i out of the set.
func (s Set) Remove(i int) { s[i>>6] &^= 1 << (i & 63) }

// Has reports whether slot i is in the set.
func (s Set) Has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

// HasAny reports whether one of the slots from a first to a last one is in the set.
func (s Set) HasAny(first, last int) bool {
	from, to := first>>6, last>>6
	low, high := ^uint64(0)<<(first&63), ^uint64(0)>>(63-last&63)
	if from == to {
		return s[from]&low&high != 0
	}
	return s[from]&low != 0 || s[to]&high != 0 || !s[from+1:to].Empty()
}

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

// Fill puts the slots 0 to n-1 into the set, n being its number of slots.
func (s Set) Fill(n int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if n&63 != 0 {
		s[len(s)-1] = 1<<(n&63) - 1
	}
}

// Append appends the slots of the set to dst in ascending order.
func (s Set) Append(dst []uint32) []uint32 {
	for i, w := range s {
		for base := uint32(i) << 6; w != 0; w &= w - 1 {
			dst = append(dst, base+uint32(bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// All are the slots of the set, ascending.
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

// resize returns a set of n slots, all out, in the memory of s where it fits.
func (s Set) resize(n int) Set {
	w := Words(n)
	if cap(s) < w {
		return make(Set, w)
	}
	s = s[:w]
	clear(s)
	return s
}

// Subtract takes every slot of t, a set of the same length, out of s.
func (s Set) Subtract(t Set) {
	for i, w := range t {
		s[i] &^= w
	}
}

// Intersect makes s the slots that are in both t and u, sets of the same length.
func (s Set) Intersect(t, u Set) {
	for i, w := range t {
		s[i] = w & u[i]
	}
}

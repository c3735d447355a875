package block

import "math/bits"

// A State is what is known of the positions in a range of a game with cycles, as nine
// bit planes:
//
//	slot       0  1  2  3
//	Reached    0  1  1  1    play can reach it
//	Result 0   0  0  1  0    bit 0 of the result
//	Result 1   0  0  0  1    bit 1 of the result; both bits 0: open
//	Number     0  9  0  3    if open: its number of undecided moves; else its remoteness
//
// Slot 0 is not reachable, as far as is known; slot 1 is open.
type State struct {
	Reached Set
	Result  [2]Set
	Number  Counter

	// Odd is the positions that play can reach in an odd number of moves. The forward passes of a game.Batched set it
	// if game.MustAlternate; otherwise it is empty.
	Odd Set
}

// StatePlanes is the number of sets in a State without Odd.
const StatePlanes = 3 + CounterPlanes

// Reset sets s to a state of n slots, none of them reached.
func (s *State) Reset(n int) {
	s.Reached = s.Reached.resize(n)
	for i := range s.Result {
		s.Result[i] = s.Result[i].resize(n)
	}
	s.Number.Reset(n)
	s.Odd = s.Odd[:0]
}

// MakeOdd makes Odd a set of as many slots as Reached, unless it is one.
func (s *State) MakeOdd() {
	if len(s.Odd) < len(s.Reached) {
		s.Odd = s.Odd.resize(64 * len(s.Reached))
	}
}

// Planes returns the sets of s without Odd, in the order above.
func (s *State) Planes() [StatePlanes]Set {
	planes := [StatePlanes]Set{s.Reached, s.Result[0], s.Result[1]}
	copy(planes[3:], s.Number[:])
	return planes
}

// Open sets dst to the positions that are reached and have no result.
func (s *State) Open(dst Set) {
	for i, w := range s.Reached {
		dst[i] = w &^ (s.Result[0][i] | s.Result[1][i])
	}
}

// With sets dst to the positions that have this result, 1 to 3.
func (s *State) With(dst Set, result uint8) {
	ones, twos := -uint64(result&1), -uint64(result>>1&1)
	for i, w := range s.Reached {
		dst[i] = w &^ (s.Result[0][i] ^ ones) &^ (s.Result[1][i] ^ twos)
	}
}

// Decide sets the result, 1 to 3, and the remoteness of the open positions in of.
func (s *State) Decide(result uint8, remoteness int, of Set) {
	for bit := range s.Result {
		if result>>bit&1 != 0 {
			s.Result[bit].Union(of)
		}
	}
	s.Number.PutAll(remoteness, of)
}

// Keep removes all positions except those with a result and this remoteness.
func (s *State) Keep(remoteness int) {
	for i := range s.Reached {
		w := s.Result[0][i] | s.Result[1][i]
		for p, plane := range s.Number {
			w &= plane[i] ^ (uint64(remoteness>>p&1) - 1)
		}
		s.Reached[i] &= w
		for _, plane := range s.Planes() {
			plane[i] &= w
		}
	}
}

// Value returns the value of a slot, remoteness<<2 | result, or 0 if it is open; and
// whether it is reached.
func (s *State) Value(i int) (value byte, reached bool) {
	if !s.Reached.Has(i) {
		return 0, false
	}
	for bit := range s.Result {
		if s.Result[bit].Has(i) {
			value |= 1 << bit
		}
	}
	if value != 0 {
		value |= byte(s.Number.Get(i) << 2) // at most MaxCount<<2, 252
	}
	return value, true
}

// Count adds the number of reached positions to counts, by value.
func (s *State) Count(counts *[256]uint64) {
	for i, w := range s.Reached {
		if w == 0 {
			continue
		}
		open := w &^ (s.Result[0][i] | s.Result[1][i])
		counts[0] += uint64(bits.OnesCount64(open))
		// Neighbours often have the same value: count all of one value at a time.
		for w &^= open; w != 0; {
			bit := bits.TrailingZeros64(w)
			same, value := w, byte(0)
			for p, plane := range [...]Set{s.Result[0], s.Result[1], s.Number[0], s.Number[1],
				s.Number[2], s.Number[3], s.Number[4], s.Number[5]} {
				if plane[i]>>bit&1 != 0 {
					same &= plane[i]
					value |= 1 << p
				} else {
					same &^= plane[i]
				}
			}
			counts[value] += uint64(bits.OnesCount64(same))
			w &^= same
		}
	}
}

// Inbox is the inbox of a range: the messages that its positions receive in a pass.
type Inbox struct {
	Some  Set     // the positions that have received a message, once or several times
	Times Counter // the number of messages, where it matters

	counted Set // see Add
}

// InboxPlanes is the number of sets in an Inbox.
const InboxPlanes = 1 + CounterPlanes

// Reset empties h and gives it n slots.
func (h *Inbox) Reset(n int) {
	h.Some = h.Some.resize(n)
	h.Times.Reset(n)
}

// Planes returns the sets of h.
func (h *Inbox) Planes() [InboxPlanes]Set {
	planes := [InboxPlanes]Set{h.Some}
	copy(planes[1:], h.Times[:])
	return planes
}

// Add adds the messages of t, which must have the same number of slots. It reports whether
// all counts are at most MaxCount.
func (h *Inbox) Add(t *Inbox) (ok bool) {
	h.Some.Union(t.Some)
	t.counted = t.counted.resize(64 * len(t.Some)) // in t, which callers re-use
	for _, plane := range t.Times {
		t.counted.Union(plane)
	}
	return h.Times.AddCounter(&t.Times, 0, t.counted)
}

// Count returns the number of positions in Some plus the number of those with a count in
// Times.
func (h *Inbox) Count() int {
	n := h.Some.Count()
	for i := range h.Some {
		var w uint64
		for _, plane := range h.Times {
			w |= plane[i]
		}
		n += bits.OnesCount64(w)
	}
	return n
}

// InboxBytes returns the approximate memory of an Inbox of n slots.
func InboxBytes(n int) int { return InboxPlanes * 8 * Words(n) }

package block

import "math/bits"

// A State is what is known of the positions of a range of a game with cycles, in
// nine bit planes:
//
//	slot       0  1  2  3
//	Reached    0  1  1  1    play comes to it
//	Result 0   0  0  1  0    ones of the result
//	Result 1   0  0  0  1    twos of the result; 0 of both: open
//	Number     0  9  0  3    open: its moves that are undecided; else its remoteness
//
// Slot 0 cannot be reached, as far as is known; slot 1 is open.
type State struct {
	Reached Set
	Result  [2]Set
	Number  Counter
}

// StatePlanes is how many sets a State has.
const StatePlanes = 3 + CounterPlanes

// Reset makes s the state of n slots of which none is reached.
func (s *State) Reset(n int) {
	s.Reached = s.Reached.resize(n)
	for i := range s.Result {
		s.Result[i] = s.Result[i].resize(n)
	}
	s.Number.Reset(n)
}

// Planes are the sets of s, in the order in which they stand above.
func (s *State) Planes() [StatePlanes]Set {
	planes := [StatePlanes]Set{s.Reached, s.Result[0], s.Result[1]}
	copy(planes[3:], s.Number[:])
	return planes
}

// Open makes dst the positions that are reached and have no result.
func (s *State) Open(dst Set) {
	for i, w := range s.Reached {
		dst[i] = w &^ (s.Result[0][i] | s.Result[1][i])
	}
}

// With makes dst the positions that have a result, 1 to 3.
func (s *State) With(dst Set, result uint8) {
	ones, twos := -uint64(result&1), -uint64(result>>1&1)
	for i, w := range s.Reached {
		dst[i] = w &^ (s.Result[0][i] ^ ones) &^ (s.Result[1][i] ^ twos)
	}
}

// Decide gives a result, 1 to 3, and a remoteness to the open positions in of.
func (s *State) Decide(result uint8, remoteness int, of Set) {
	for bit := range s.Result {
		if result>>bit&1 != 0 {
			s.Result[bit].Union(of)
		}
	}
	s.Number.PutAll(remoteness, of)
}

// Keep takes out the positions that are open or have another remoteness.
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

// Value returns the number of a slot above its result, remoteness<<2 | result, and
// whether it is reached; 0 if it is open.
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
		value |= byte(s.Number.Get(i) << 2)
	}
	return value, true
}

// Count adds to counts, by value, the positions that are reached.
func (s *State) Count(counts *[256]uint64) {
	for i, w := range s.Reached {
		if w == 0 {
			continue
		}
		open := w &^ (s.Result[0][i] | s.Result[1][i])
		counts[0] += uint64(bits.OnesCount64(open))
		// Neighbours often have the same value: take all of one at a time.
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

// Heard is what the positions of a range hear in a pass.
type Heard struct {
	Some  Set     // those that hear, be it once or often
	Times Counter // how often, where that counts

	counted Set // see Add
}

// HeardPlanes is how many sets a Heard has.
const HeardPlanes = 1 + CounterPlanes

// Reset makes h what n slots have heard that have heard nothing.
func (h *Heard) Reset(n int) {
	h.Some = h.Some.resize(n)
	h.Times.Reset(n)
}

// Planes are the sets of h.
func (h *Heard) Planes() [HeardPlanes]Set {
	planes := [HeardPlanes]Set{h.Some}
	copy(planes[1:], h.Times[:])
	return planes
}

// Add adds what t has heard, of as many slots. It reports whether no count became
// more than MaxCount.
func (h *Heard) Add(t *Heard) (ok bool) {
	h.Some.Union(t.Some)
	t.counted = t.counted.resize(64 * len(t.Some)) // t's: it is read again and again into the same one
	for _, plane := range t.Times {
		t.counted.Union(plane)
	}
	return h.Times.AddCounter(&t.Times, 0, t.counted)
}

// Count is the number of positions that hear, twice those that hear of both kinds.
func (h *Heard) Count() int {
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

// HeardBytes is about how much memory a Heard of n slots takes.
func HeardBytes(n int) int { return HeardPlanes * 8 * Words(n) }

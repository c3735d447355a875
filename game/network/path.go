package network

import "math/bits"

// This file finds networks. A network is a path from chip to chip, each the nearest to the
// one before in its direction: from one goal, through chips outside the goals, to the other
// goal. No chip occurs twice, the path turns at each, and it has at least six chips.

// network reports whether a player's chips contain a network.
func (c *color) network(chips, all uint64) bool {
	if !c.enough(chips, 0) {
		return false
	}
	var w web
	w.weave(c, chips, all)
	for begin := w.ends[0]; begin != 0; begin &= begin - 1 {
		if w.from(bits.TrailingZeros32(begin), none, w.chips()&^w.ends[0], 1) {
			return true
		}
	}
	return false
}

// enough reports whether chips, and more chips added, can form a network, judging by their
// number and by the goals they are in.
func (c *color) enough(chips uint64, more int) bool {
	goals := 0
	for _, goal := range c.goals {
		if chips&goal != 0 {
			goals++
		}
	}
	in := bits.OnesCount64(chips &^ (c.goals[0] | c.goals[1]))
	return max(2-goals, 0)+max(least-2-in, 0) <= more
}

// winning returns the winning squares among some empty squares, for a player without a
// network; and spoil: a chip of the opponent that removes all of them must be on one of
// the squares of spoil.
func (c *color) winning(chips, all, squares uint64) (wins, spoil uint64) {
	spoil = ^uint64(0)
	if !c.enough(chips, 1) {
		return 0, spoil
	}
	if chips&c.goals[0] == 0 {
		squares &= c.goals[0]
	} else if chips&c.goals[1] == 0 {
		squares &= c.goals[1]
	}
	maybe := squares & c.useful(chips, all)
	if maybe == 0 {
		return 0, spoil
	}
	var w web
	w.weave(c, chips, all)
	for ; maybe != 0; maybe &= maybe - 1 {
		one := maybe & -maybe
		if w.winsBy(bits.TrailingZeros64(one), all, one&c.goals[0] != 0, one&c.goals[1] != 0) {
			wins |= one
			spoil &= one | w.lines
		}
	}
	return wins, spoil
}

// A web contains the chips of a player, by number, and which of them see one another. One more
// chip can be added temporarily.
type web struct {
	n      int // at most Chips
	square [Chips + 1]uint8
	links  [Chips + 1][8]int8 // the chip that a chip sees in each direction
	number [64]int8           // the number of the chip on a square
	own    uint64             // the chips as a bitboard
	ends   [2]uint32          // the chips in the goal where paths begin, and in the one where they end
	lines  uint64             // the squares between the chips of the network that was found
}

// none stands for no chip, and for no direction.
const none = -1

// unlinked are the links of a chip that sees no other chip.
var unlinked = [8]int8{none, none, none, none, none, none, none, none}

// weave builds the web of a player.
func (w *web) weave(c *color, chips, all uint64) {
	w.own = chips
	for rest := chips; rest != 0; rest &= rest - 1 {
		at := bits.TrailingZeros64(rest)
		w.square[w.n], w.number[at&63], w.links[w.n] = uint8(at), int8(w.n), unlinked
		for i, goal := range c.goals {
			w.ends[i] |= uint32(goal>>at&1) << w.n
		}
		w.n++
	}
	for i := range w.n {
		for d := range 4 {
			if chip := nearest(int(w.square[i]), d, all); chip&chips != 0 {
				j := w.number[bits.TrailingZeros64(chip)&63]
				w.links[i][d], w.links[j][d+4] = j, int8(i)
			}
		}
	}
}

// chips returns all chips except the added one.
func (w *web) chips() uint32 { return 1<<w.n - 1 }

// winsBy reports whether a chip on an empty square completes a network.
func (w *web) winsBy(at int, all uint64, begins, ends bool) (wins bool) {
	added, links := int8(w.n), unlinked
	var cut [8]int8
	for d := range 8 {
		if chip := nearest(at, d, all); chip&w.own != 0 {
			j := w.number[bits.TrailingZeros64(chip)&63]
			links[d] = j
			cut[d], w.links[j][d^4] = w.links[j][d^4], added
		}
	}
	w.square[added], w.links[added], w.lines = uint8(at), links, 0
	switch {
	case begins:
		wins = w.from(w.n, none, w.chips()&^w.ends[0], 1)
	case ends:
		w.ends[0], w.ends[1] = w.ends[1], w.ends[0]
		wins = w.from(w.n, none, w.chips()&^w.ends[0], 1)
		w.ends[0], w.ends[1] = w.ends[1], w.ends[0]
	default:
		wins = w.through(w.n, none, 0, w.chips(), 1)
	}
	for d, j := range links {
		if j != none {
			w.links[j][d^4] = cut[d]
		}
	}
	return wins
}

// from reports whether a path of length chips can be continued to a network with the free
// chips. Its last chip was reached in the given direction.
func (w *web) from(chip, direction int, free uint32, length int) bool {
	if length+bits.OnesCount32(free) < least {
		return false
	}
	for d, next := range w.links[chip] {
		if next == none || free>>next&1 == 0 || d == direction {
			continue
		}
		if w.ends[1]>>next&1 != 0 {
			if length+1 < least {
				continue
			}
		} else if !w.from(int(next), d, free&^(1<<next), length+1) {
			continue
		}
		w.lines |= lines[w.square[chip]&63][d&7] & lines[w.square[next]&63][d&7^4]
		return true
	}
	return false
}

// through reports whether a path that began at the added chip, in direction first, can be
// continued to the first goal, and from the added chip to the other goal.
func (w *web) through(chip, direction, first int, free uint32, length int) bool {
	if length+bits.OnesCount32(free) < least {
		return false
	}
	for d, next := range w.links[chip] {
		if next == none || free>>next&1 == 0 || w.ends[1]>>next&1 != 0 || d == direction {
			continue
		}
		if length == 1 {
			first = d
		}
		after := free &^ (1 << next)
		if w.ends[0]>>next&1 != 0 {
			// In a path from that goal, the added chip is reached in the opposite direction.
			if !w.from(w.n, first^4, after&^w.ends[0], length+1) {
				continue
			}
		} else if !w.through(int(next), d, first, after, length+1) {
			continue
		}
		w.lines |= lines[w.square[chip]&63][d&7] & lines[w.square[next]&63][d&7^4]
		return true
	}
	return false
}

package network

import "math/bits"

// This file finds networks. A network is a path from chip to chip, each the nearest to
// the one before in its direction: from one goal, through chips that lie in none, to the
// other; no chip twice, a turn at each; six chips at least.

// network reports whether a player's chips hold a network.
func (c *color) network(chips, all uint64) bool {
	if !c.enough(chips, 0) {
		return false
	}
	p := paths{all: all, goals: [2]uint64{c.goals[0] & chips, c.goals[1] & chips}}
	free := chips &^ p.goals[0]
	for begin := c.goals[0] & chips; begin != 0; begin &= begin - 1 {
		if p.from(bits.TrailingZeros64(begin), -1, free, 1) {
			return true
		}
	}
	return false
}

// enough reports whether chips and so many more may be a network by their number and goals.
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

// paths looks for paths among chips.
type paths struct {
	all   uint64    // chips of both
	goals [2]uint64 // chips in the goal where paths begin, and where they end
	at    int       // of through: the square
}

// from reports whether a path of so many chips, of which the last one was reached in a
// direction, -1 if it is the first, can go on to a network over free chips.
func (p *paths) from(at, direction int, free uint64, length int) bool {
	for d := range 8 {
		chip, _ := nearest(at, d, p.all)
		if chip&free == 0 || d == direction {
			continue
		}
		if chip&p.goals[1] != 0 {
			if length+1 >= least {
				return true
			}
			continue
		}
		if p.from(bits.TrailingZeros64(chip), d, free&^chip, length+1) {
			return true
		}
	}
	return false
}

// winning are those of some empty squares on which one chip more makes a network, of a
// player who has none.
func (c *color) winning(chips, all, squares uint64) (wins uint64) {
	if !c.enough(chips, 1) {
		return 0
	}
	if chips&c.goals[0] == 0 {
		squares &= c.goals[0]
	} else if chips&c.goals[1] == 0 {
		squares &= c.goals[1]
	}
	for maybe := squares & c.useful(chips, all); maybe != 0; maybe &= maybe - 1 {
		one := maybe & -maybe
		at := bits.TrailingZeros64(one)
		p := paths{all: all | one, goals: [2]uint64{c.goals[0] & chips, c.goals[1] & chips}, at: at}
		found := false
		switch {
		case one&c.goals[0] != 0:
			found = p.from(at, -1, chips&^c.goals[0], 1)
		case one&c.goals[1] != 0:
			p.goals[1] = p.goals[0]
			found = p.from(at, -1, chips&^c.goals[1], 1)
		default:
			found = p.through(at, -1, 0, chips, 1)
		}
		if found {
			wins |= one
		}
	}
	return wins
}

// through reports whether a path that began on a square between the goals, and left it in
// a direction first, can go on to the first goal, and from the square on to the other.
func (p *paths) through(at, direction, first int, free uint64, length int) bool {
	for d := range 8 {
		chip, _ := nearest(at, d, p.all)
		if chip&free == 0 || chip&p.goals[1] != 0 || d == direction {
			continue
		}
		if length == 1 {
			first = d
		}
		if chip&p.goals[0] != 0 {
			// Seen from that side, the path comes to the square in the opposite direction.
			if p.from(p.at, first^4, free&^(chip|p.goals[0]), length+1) {
				return true
			}
			continue
		}
		if p.through(bits.TrailingZeros64(chip), d, first, free&^chip, length+1) {
			return true
		}
	}
	return false
}

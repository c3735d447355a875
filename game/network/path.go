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
	p := paths{all: all, end: c.goals[1] & chips}
	free := chips&^(c.goals[0]|c.goals[1]) | p.end
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
	all uint64 // chips of both
	end uint64 // chips in the goal where paths end
}

// from reports whether a path of so many chips, of which the last one was reached in a
// direction, -1 if it is the first, can go on to a network over free chips.
func (p *paths) from(at, direction int, free uint64, length int) bool {
	for d := range 8 {
		chip, _ := nearest(at, d, p.all)
		if chip&free == 0 || d == direction {
			continue
		}
		if chip&p.end != 0 {
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

package network

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// This file computes what chips see, for all chips of a player at once.

// wraps are, by direction, the squares that a step from the other end of a column would reach.
var wraps = [8]uint64{row0, row7, 0, row0, row7, row0, 0, row7}

// look returns the empty squares that chips see in a direction, and the chips of either player
// that they see, by a Kogge-Stone fill.
func look(chips, all uint64, direction int) (seen, met uint64) {
	step, board := uint(steps[direction&3])&63, ^wraps[direction&7]
	if direction < 4 {
		seen = fill(chips, board&^all, step)
		return seen &^ chips, seen << step & board & all
	}
	seen = fillBack(chips, board&^all, step)
	return seen &^ chips, seen >> step & board & all
}

func fill(x, open uint64, step uint) uint64 {
	x |= open & (x << step)
	open &= open << step
	x |= open & (x << (2 * step))
	open &= open << (2 * step)
	return x | open&(x<<(4*step))
}

func fillBack(x, open uint64, step uint) uint64 {
	x |= open & (x >> step)
	open &= open >> step
	x |= open & (x >> (2 * step))
	open &= open >> (2 * step)
	return x | open&(x>>(4*step))
}

// useful returns the empty squares where a chip may become part of a network: in a goal, it
// must see a chip; elsewhere, chips in two different lines.
func (c *color) useful(chips, all uint64) uint64 {
	var one, two uint64
	for d := range 4 {
		there, _ := look(chips, all, d)
		back, _ := look(chips, all, d+4)
		line := there | back
		two |= one & line
		one |= line
	}
	return two | one&(c.goals[0]|c.goals[1])
}

// views are what the chips of a board see. They are used to rank moves.
type views struct {
	own, other [8]uint64 // empty squares that see a chip of the player to move, or of the other, by direction
	goals      [2]uint64 // the goals of the player to move in which he has no chip
}

func (b *Board) views() (v views) {
	own, other, all := b.Chips[b.Mover], b.Chips[b.Mover.Other()], b.all()
	for d := range 8 {
		v.own[d], _ = look(own, all, d)
		v.other[d], _ = look(other, all, d)
	}
	for i, goal := range colors[b.Mover].goals {
		if own&goal == 0 {
			v.goals[i] = goal
		}
	}
	return v
}

// The ranks of adds.
const (
	linkRank  = 64 // for each chip of one's own that it sees
	blockRank = 96 // for each line of the other player that it cuts
	goalRank  = 64 // for the first chip in a goal
)

// rank returns the rank of an add.
func (v *views) rank(to int) (rank int32) {
	for d := range 8 {
		rank += linkRank * int32(v.own[d]>>to&1)
	}
	for d := range 4 {
		rank += blockRank * int32(v.other[d]&v.other[d+4]>>to&1)
	}
	for _, goal := range v.goals {
		rank += goalRank * int32(goal>>to&1)
	}
	return rank
}

// links returns the number of lines in which two chips of a player see one another, except for
// two chips in the same goal.
func (c *color) links(chips, all uint64) (n int) {
	for d := range 4 {
		from := chips
		if d == c.along {
			from &= inside
		}
		_, met := look(from, all, d)
		n += bits.OnesCount64(met & chips)
	}
	return n
}

// Assess evaluates links, goals and mobility.
func (r *Rules) Assess(n *game.Node) int {
	b := boardOf(&n.State)
	return max(1-game.MostAssessed, min(b.worth(b.Mover)-b.worth(b.Mover.Other())+tempoWorth, game.MostAssessed-1))
}

// Evaluate returns Assess for a position.
func (r *Rules) Evaluate(p game.Position) int {
	return r.Assess(&game.Node{State: stateOf(r.Board(p))})
}

// The weights of Assess; docs/notes/search.md describes the matches that they come from.
const (
	linkWorth  = 10
	goalWorth  = 20 // each goal with a chip
	spareWorth = -8 // each chip in a goal except the first
	roomWorth  = 3  // two squares on which a chip may be put
	tempoWorth = 5  // being the player to move
)

// worth evaluates the position of a player.
func (b *Board) worth(p game.Player) (worth int) {
	c, chips, all := &colors[p], b.Chips[p], b.all()
	worth = linkWorth*c.links(chips, all) + roomWorth*bits.OnesCount64(c.adds(chips, all))/2
	for _, goal := range c.goals {
		if in := bits.OnesCount64(chips & goal); in > 0 {
			worth += goalWorth + spareWorth*(in-1)
		}
	}
	return worth
}

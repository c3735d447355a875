package gametest

import (
	"math/rand/v2"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// checkBackward checks the predecessors that a game computes, on the positions of a random
// game. Each move must appear among the predecessors as often as it exists, and each
// predecessor that is valid and not terminal must have the move. For a game with its own
// sets, which may be expensive, it checks a few positions only.
func (c contract) checkBackward(r *rand.Rand, walk []game.Position) {
	c.Helper()
	if plain, ok := c.Game.(game.Reversible); ok {
		for _, p := range walk {
			c.checkPredecessors(p, plain.Predecessors)
		}
		return
	}
	g := c.States
	if g == nil {
		return
	}
	back, ok := g.NewMover().(game.Backward)
	if !ok {
		return
	}
	predecessors := func(dst []game.Position, p game.Position) []game.Position {
		size := uint64(g.RangeSize())
		set := make(block.Set, block.Words(game.RangeLen(g, p/size)))
		set.Add(int(p % size))
		back.Predecessors(p/size, set, func(rng uint64, from block.Set) {
			for slot := range from.All() {
				dst = append(dst, rng*size+uint64(slot))
			}
		})
		return dst
	}
	for range looks {
		c.checkPredecessors(walk[r.IntN(len(walk))], predecessors)
	}
}

// checkPredecessors checks the predecessors of a position, and that the position is a predecessor
// of each of its successors.
func (c contract) checkPredecessors(p game.Position, predecessors func([]game.Position, game.Position) []game.Position) {
	c.Helper()
	moves := func(from, to game.Position) (n int) {
		for _, m := range c.Game.Moves(nil, from) {
			if m.To == to {
				n++
			}
		}
		return n
	}
	found := predecessors([]game.Position{p}, p)
	if len(found) == 0 || found[0] != p {
		c.failf(p, "Predecessors does not append")
	}
	found = found[1:]
	slices.Sort(found)
	for len(found) > 0 {
		from, n := found[0], 1
		for n < len(found) && found[n] == from {
			n++
		}
		found = found[n:]
		if c.States != nil && from >= c.States.Positions() {
			c.failf(p, "Predecessors has %d, but the last hash is %d", from, c.States.Positions()-1)
		}
		if c.Game.Check(from) != nil || c.Game.Primitive(from) != 0 {
			continue
		}
		if has := moves(from, p); n != has {
			c.failf(p, "Predecessors has %d (%q) %d times, but it has %d moves there", from, c.Game.AppendText(nil, from), n, has)
		}
	}
	for _, m := range c.Game.Moves(nil, p) {
		has, n := moves(p, m.To), 0
		for _, from := range predecessors(nil, m.To) {
			if from == p {
				n++
			}
		}
		if n != has {
			c.failf(p, "it has %d moves to %d (%q), but is among the Predecessors there %d times", has, m.To, c.Game.AppendText(nil, m.To), n)
		}
	}
}

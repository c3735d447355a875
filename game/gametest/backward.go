package gametest

import (
	"math"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// checkBackward checks the predecessors that a game computes, on the positions of a random game.
func (c contract) checkBackward(walk []game.Position) {
	c.Helper()
	if g, ok := c.Game.(game.Reversible); ok {
		for _, p := range walk {
			c.checkPredecessors(p, g.Predecessors)
		}
	}
}

// checkPredecessors checks the predecessors of a position, and that the position is a predecessor of each of its
// successors: as often as there are moves. In a Symmetric game an image may stand for a predecessor, and how often is
// not checked.
func (c contract) checkPredecessors(p game.Position, predecessors func([]game.Position, game.Position) []game.Position) {
	c.Helper()
	canonical, most := func(p game.Position) game.Position { return p }, math.MaxInt
	if g, ok := c.Game.(game.Symmetric); ok {
		canonical, most = g.Canonical, 1
	}
	times := func(all []game.Position, p game.Position) (n int) {
		for _, q := range all {
			if canonical(q) == canonical(p) {
				n++
			}
		}
		return min(n, most)
	}
	successors := func(p game.Position) (to []game.Position) {
		for _, m := range c.Game.Moves(nil, p) {
			to = append(to, m.To)
		}
		return to
	}
	found := predecessors([]game.Position{p}, p)
	if len(found) == 0 || found[0] != p {
		c.failf(p, "Predecessors does not append")
	}
	found = found[1:]
	slices.Sort(found)
	for i, from := range found {
		if i > 0 && from == found[i-1] {
			continue
		}
		if err := c.Game.Check(from); err != nil {
			c.failf(p, "Predecessors has %d, which is no position: %v", from, err)
		}
		if before, tier := game.TierOf(c.Game, from), game.TierOf(c.Game, p); before > tier || before == tier && !game.Loops(c.Game, tier) {
			c.failf(p, "Predecessors has %d, of tier %d: no move leads from there to tier %d", from, before, tier)
		}
		if c.Game.Primitive(from) != 0 {
			continue
		}
		if n, has := times(found, from), times(successors(from), p); n != has {
			c.failf(p, "Predecessors has %d (%q) %d times, but it has %d moves there", from, c.Game.AppendText(nil, from), n, has)
		}
	}
	to := successors(p)
	for _, after := range to {
		if has, n := times(to, after), times(predecessors(nil, after), p); n != has {
			c.failf(p, "it has %d moves to %d (%q), but is among the Predecessors there %d times", has, after, c.Game.AppendText(nil, after), n)
		}
	}
}

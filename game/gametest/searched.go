package gametest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
)

// CheckSearched checks the contract of game.Searched on the positions of a small game without
// cycles. If there are more than the given number of positions, about as many are chosen at
// random. It checks that the value is within the bounds for any window; that at least one of
// the children is as good as the best move; that each child is the result of its move; and
// that no two positions with the same key have different values.
func CheckSearched(t testing.TB, g game.Searched, most int) {
	t.Helper()
	c := searched{newContract(t, g), g, g.Traits()}
	c.checkTraits()
	values := Search(g)
	r := rand.New(rand.NewPCG(3, 4))
	keys := make(map[uint64]int)
	for _, p := range slices.Sorted(maps.Keys(values)) {
		if g.Primitive(p) != 0 || r.IntN(len(values)) >= most {
			continue
		}
		want := c.worth(p, values[p])
		if left := game.LastTier(g) - game.TierOf(g, p); c.traits.TiesLast && want == 0 && values[p].Remoteness() != left {
			c.failf(p, "it is a tie in %d, Traits has %d", values[p].Remoteness(), left)
		}
		n := c.checkExact(p)
		if other, ok := keys[n.Key]; ok && other != want {
			c.failf(p, "it is worth %d, another position with the key %#x %d", want, n.Key, other)
		}
		keys[n.Key] = want
		after := func(p game.Position) span {
			v := c.worth(p, values[p])
			return span{v, v}
		}
		for _, asked := range windows(want) {
			c.checkBounds(p, asked, span{want, want}, after)
		}
	}
}

// windows returns several options for a position with this value.
func windows(worth int) []game.Asked {
	return []game.Asked{
		{Alpha: -infinite, Beta: infinite},
		{Alpha: -infinite, Beta: infinite, NoBounds: true, NoFold: true},
		{Alpha: worth - 1, Beta: worth},
		{Alpha: worth, Beta: worth + 1},
		{Alpha: -1, Beta: 0, NoFold: true},
		{Alpha: 0, Beta: 1, NoBounds: true},
	}
}

// infinite is greater than every value.
const infinite = 1 << 16

// searched checks a game.Searched.
type searched struct {
	contract
	g      game.Searched
	traits game.Traits
}

// checkTraits checks everything that does not depend on a position.
func (c searched) checkTraits() {
	c.Helper()
	t := c.traits
	acyclic := game.IsAcyclic(c.g)
	if t.MaxMoves < 1 || t.MaxMoves > 1<<16 || t.KeyBits > 64 || t.Squares < 0 || t.MaxPlies < 0 || t.MaxPlies > game.MaxRemoteness ||
		acyclic && (t.MaxPlies == 0 || t.MaxPlies > max(game.LastTier(c.g), 1)) || !acyclic && t.TiesLast {
		c.Fatalf("%s: the traits are %+v", c.g.Spec(), t)
	}
}

// root returns the expanded node of a position.
func (c searched) root(p game.Position, asked game.Asked) *game.Node {
	n := &game.Node{Asked: asked}
	c.g.Root(n, p)
	bits := c.traits.KeyBits
	if bits == 0 {
		bits = c.g.KeyBits()
	}
	if bits < 64 && n.Key>>bits != 0 {
		c.failf(p, "the key %#x has more than %d bits", n.Key, bits)
	}
	c.g.Expand(n)
	return n
}

// again reports whether the same player moves again after the move from p to next.
func (c searched) again(p, next game.Position) bool {
	return !c.g.Values().OfMover && c.g.ToMove(p) == c.g.ToMove(next)
}

// childOf returns the expanded node of a child.
func (c searched) childOf(child game.Child, asked game.Asked) *game.Node {
	n := &game.Node{State: child.State, Key: child.Key, Asked: asked}
	if k, ok := c.g.(game.Keyed); ok {
		n.Key = k.KeyOf(&n.State)
	}
	c.g.Expand(n)
	return n
}

// exact asks for the bare rules.
var exact = game.Asked{Alpha: -infinite, Beta: infinite, Exact: true}

// checkExact checks the expansion of an unfinished position with Exact: its children must
// be its moves, and each child must be the position after the move.
func (c searched) checkExact(p game.Position) *game.Node {
	c.Helper()
	n := c.root(p, exact)
	if n.Low > game.LostIn(1) || n.High < game.WonIn(1) {
		c.failf(p, "by the bare rules it is worth %d to %d, but play goes on", n.Low, n.High)
	}
	moves := c.g.Moves(nil, p)
	if len(moves) > c.traits.MaxMoves {
		c.failf(p, "it has %d moves, Traits has %d at most", len(moves), c.traits.MaxMoves)
	}
	missing := make(map[game.Move]bool)
	for _, m := range moves {
		missing[m] = true
	}
	keys := make(map[uint64]bool)
	for _, child := range n.Children {
		m := c.g.MoveOf(p, child.Move)
		if !missing[m] || int(child.Move) >= c.traits.MaxMoves {
			c.failf(p, "child %d is the move %v, which is no move or comes twice", child.Move, m)
		}
		delete(missing, m)
		next := c.childOf(child, exact)
		keys[next.Key] = true
		c.checkChild(p, m, child, next)
	}
	for m := range missing {
		if c.g.Primitive(m.To) != 0 || !keys[c.root(m.To, exact).Key] {
			c.failf(p, "by the bare rules there is no move %s", m.Name)
		}
	}
	c.checkMade(p)
	return n
}

// checkChild checks a child of p, and its expanded node next, which must be the position after move m.
func (c searched) checkChild(p game.Position, m game.Move, child game.Child, next *game.Node) {
	c.Helper()
	if squares := c.traits.Squares; squares > 0 && int(child.Square) >= squares || squares == 0 && child.Square > 255 {
		c.failf(p, "move %s is counted by square %d of %d", m.Name, child.Square, squares)
	}
	if child.Again != c.again(p, m.To) {
		c.failf(p, "after move %s the same player is to move: %v", m.Name, child.Again)
	}
	if v := c.g.Primitive(m.To); v != 0 {
		if want := worthTo(v, c.g.ToMove(m.To)); next.Low != want || next.High != want {
			c.failf(p, "after move %s it is over and worth %d, by the bare rules %d to %d", m.Name, want, next.Low, next.High)
		}
		return
	}
	if next.Low > game.LostIn(1) || next.High < game.WonIn(1) {
		c.failf(p, "after move %s it is worth %d to %d by the bare rules, but play goes on", m.Name, next.Low, next.High)
	}
	if a, b := c.g.Assess(next), c.g.Assess(c.root(m.To, exact)); a != b || a <= -game.MostAssessed || a >= game.MostAssessed {
		c.failf(p, "after move %s it looks like %d, as a root like %d", m.Name, a, b)
	}
}

// checkMade checks that nodes that are made from their parent p equal those made by Root.
func (c searched) checkMade(p game.Position) {
	c.Helper()
	plain := game.Asked{Alpha: -infinite, Beta: infinite, NoFold: true}
	for _, child := range c.root(p, plain).Children {
		m := c.g.MoveOf(p, child.Move)
		if c.g.Primitive(m.To) != 0 {
			continue
		}
		got, want := c.childOf(child, plain), c.root(m.To, plain)
		if got.Key != want.Key || got.Low != want.Low || got.High != want.High || !slices.EqualFunc(got.Children, want.Children,
			func(a, b game.Child) bool { return a.Key == b.Key && a.Move == b.Move }) {
			c.failf(p, "after move %s: key %#x, %d to %d, %d children; as a root: %#x, %d to %d, %d", m.Name,
				got.Key, got.Low, got.High, len(got.Children), want.Key, want.Low, want.High, len(want.Children))
		}
	}
}

// A span contains the bounds of a value, from the view of the player to move.
type span struct{ low, high int }

// meets reports whether the spans overlap.
func (s span) meets(t span) bool { return s.low <= t.high && t.low <= s.high }

// checkBounds checks the bounds of a position whose value is in known, and its children, whose
// values are in the spans that after returns.
func (c searched) checkBounds(p game.Position, asked game.Asked, known span, after func(game.Position) span) {
	c.Helper()
	n := c.root(p, asked)
	node := span{c.rounded(n.Low), c.rounded(n.High)}
	if !node.meets(known) {
		c.failf(p, "%+v: it is worth %d to %d, the bounds are %d to %d", asked, known.low, known.high, n.Low, n.High)
	}
	if n.Low >= asked.Beta || n.High <= asked.Alpha || n.Low == n.High {
		return
	}
	best := -infinite
	for _, child := range n.Children {
		best = max(best, c.before(p, c.g.MoveOf(p, child.Move).To, after).high)
	}
	if best = max(best, node.low); best < known.low {
		c.failf(p, "%+v: it is worth %d or more, its children %d at most", asked, known.low, best)
	}
}

// before returns the value of a move from p to next.
func (c searched) before(p, next game.Position, after func(game.Position) span) span {
	s := after(next)
	if !c.again(p, next) {
		s = span{-s.high, -s.low}
	}
	return span{c.rounded(further(s.low)), c.rounded(further(s.high))}
}

// further returns a value as seen one ply earlier.
func further(worth int) int {
	switch {
	case worth > 0:
		return worth - 1
	case worth < 0:
		return worth + 1
	}
	return 0
}

// rounded maps values that the game does not distinguish to the same value.
func (c searched) rounded(worth int) int {
	switch {
	case c.traits.OnlyWho && worth > 0:
		return game.WonIn(0)
	case c.traits.OnlyWho && worth < 0:
		return game.LostIn(0)
	}
	return worth
}

// worth returns the value of a position from the view of the player to move.
func (c searched) worth(p game.Position, v game.Value) int {
	mover := c.g.ToMove(p)
	if c.g.Values().OfMover && c.g.Primitive(p) == 0 {
		mover = game.First
	}
	return c.rounded(worthTo(v, mover))
}

// worthTo returns a value from the view of a player.
func worthTo(v game.Value, to game.Player) int {
	switch v.Outcome().For(to) {
	case game.Wins:
		return game.WonIn(v.Remoteness())
	case game.Loses:
		return game.LostIn(v.Remoteness())
	}
	return 0
}

// look returns the bounds of a position's value that a search of this many plies proves.
func (c searched) look(p game.Position, plies int) span {
	if v := c.g.Primitive(p); v != 0 {
		w := c.rounded(worthTo(v, c.g.ToMove(p)))
		return span{w, w}
	}
	if plies == 0 {
		return span{c.rounded(game.LostIn(1)), c.rounded(game.WonIn(1))}
	}
	s := span{-infinite, -infinite}
	for _, m := range c.g.Moves(nil, p) {
		after := c.before(p, m.To, func(p game.Position) span { return c.look(p, plies-1) })
		s.low, s.high = max(s.low, after.low), max(s.high, after.high)
	}
	return s
}

// Limits of a search by the contract: plies, and positions, if each has as many moves as the
// first.
const (
	lookMoves     = 3
	lookPositions = 2000
)

// checkSearched checks an unfinished position of any game, using a search of a few plies.
func (c searched) checkSearched(p game.Position) {
	c.Helper()
	if c.g.Primitive(p) != 0 {
		return
	}
	c.checkExact(p)
	plies := 1
	moves := len(c.g.Moves(nil, p))
	for n := moves * moves; plies < lookMoves && n <= lookPositions; n *= max(moves, 2) {
		plies++
	}
	known := c.look(p, plies)
	for _, worth := range []int{known.low, known.high} {
		for _, asked := range windows(worth) {
			c.checkBounds(p, asked, known, func(p game.Position) span { return c.look(p, plies-1) })
		}
	}
}

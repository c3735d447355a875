package search

import "github.com/treereduce/treereduce/game"

// expander is how a worker sees a game: game.Searched, or plain.
type expander interface {
	Root(n *game.Node, p game.Position)
	Expand(n *game.Node)
	Assess(n *game.Node) int
	MoveOf(p game.Position, move uint16) game.Move
}

// plain adapts any game to expander, using its plain moves: nothing is known of a position
// except whether it is terminal. The first word of a State is the position, which is also
// its key; moves are numbered in the order of Moves. A plain serves one worker.
type plain struct {
	game.Game
	mover    bool // values are of the player to move: every move passes the turn
	evaluate func(p game.Position) int
	moves    []game.Move
}

// plainTraits returns the traits of any game, as far as they are known. acyclic is nil if play may have cycles.
func plainTraits(acyclic game.Tiered) game.Traits {
	t := game.Traits{MaxMoves: 1 << 16}
	if acyclic != nil {
		t.MaxPlies = clamp(acyclic.Tiers(), 1, game.MaxRemoteness)
	}
	return t
}

func newPlain(g game.Game) *plain {
	p := &plain{Game: g, mover: g.Values().OfMover, evaluate: func(game.Position) int { return 0 }}
	if e, ok := g.(game.Evaluator); ok {
		p.evaluate = e.Evaluate
	}
	return p
}

func (g *plain) Root(n *game.Node, p game.Position) { n.State[0], n.Key = p, p }

func (g *plain) Expand(n *game.Node) {
	p := n.State[0]
	n.Children = n.Children[:0]
	mover := g.ToMove(p)
	if v := g.Primitive(p); v != 0 {
		n.Low = finished(v, mover)
		n.High = n.Low
		return
	}
	n.Low, n.High = game.LostIn(1), game.WonIn(1)
	if n.Leaf {
		return
	}
	g.moves = g.Moves(g.moves[:0], p)
	for i, m := range g.moves {
		n.Children = append(n.Children, game.Child{
			State:  game.State{m.To},
			Key:    m.To,
			Move:   uint16(i),
			Square: uint16(uint8(i)),
			Again:  !g.mover && g.ToMove(m.To) == mover,
		})
	}
}

func (g *plain) Assess(n *game.Node) int { return g.evaluate(n.State[0]) }

func (g *plain) MoveOf(p game.Position, move uint16) game.Move { return g.Moves(nil, p)[move] }

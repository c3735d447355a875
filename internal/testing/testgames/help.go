package testgames

import "github.com/treereduce/treereduce/game"

// Help adapts any game to game.Searched with the given traits, by its moves. Its
// evaluations are pseudo-random, but always the same for the same position.
func Help(g game.Game, t game.Traits) game.Searched {
	h := helped{g, t}
	if a, ok := g.(game.Tiered); ok {
		return helpedAcyclic{h, a}
	}
	return h
}

// helped stores a position in the first word of its State.
type helped struct {
	game.Game
	traits game.Traits
}

func (h helped) Traits() game.Traits { return h.traits }

func (h helped) Root(n *game.Node, p game.Position) { n.State, n.Key = game.State{p}, p }

func (h helped) Expand(n *game.Node) {
	p := n.State[0]
	n.Children = n.Children[:0]
	mover := h.ToMove(p)
	if v := h.Primitive(p); v != 0 {
		switch n.Low = 0; v.Outcome().For(mover) {
		case game.Wins:
			n.Low = game.WonIn(v.Remoteness())
		case game.Loses:
			n.Low = game.LostIn(v.Remoteness())
		}
		n.High = n.Low
		return
	}
	n.Low, n.High = game.LostIn(1), game.WonIn(1)
	for i, m := range h.Moves(nil, p) {
		n.Children = append(n.Children, game.Child{
			State:  game.State{m.To},
			Key:    m.To,
			Move:   uint16(i), // games have some dozens of moves
			Square: uint16(i % max(h.traits.Squares, 1)),
			Again:  !h.Values().OfMover && h.ToMove(m.To) == mover,
		})
	}
}

func (h helped) Assess(n *game.Node) int { return h.Evaluate(n.State[0]) }

// Evaluate returns Assess for a position.
func (h helped) Evaluate(p game.Position) int {
	return int(p*0x9e3779b97f4a7c15>>32%(2*game.MostAssessed-1)) - game.MostAssessed + 1
}

func (h helped) MoveOf(p game.Position, move uint16) game.Move { return h.Moves(nil, p)[move] }

// helpedAcyclic is a helped game that is Acyclic.
type helpedAcyclic struct {
	helped
	acyclic game.Tiered
}

func (h helpedAcyclic) Tiers() int               { return h.acyclic.Tiers() }
func (h helpedAcyclic) Tier(p game.Position) int { return h.acyclic.Tier(p) }

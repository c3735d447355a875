package gametest

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
)

// RulesOnly returns a game that has the rules of g, but none of its extensions.
func RulesOnly(g game.Game) game.Game { return struct{ game.Game }{g} }

// Search returns the value of every reachable position of a small game; 0 is a draw. If players
// prefer the farthest tie, the game must have no cycles. Search does not use tiers, sets or
// predecessors.
func Search(g game.Game) map[game.Position]game.Value {
	s := search{g, g.Values(), make(map[game.Position]game.Value)}
	if s.values.TiesSoon {
		s.backward()
	} else {
		s.value(g.Start())
	}
	return s.known
}

type search struct {
	g      game.Game
	values game.Values
	known  map[game.Position]game.Value
}

// value is a recursive search with memoization.
func (s *search) value(p game.Position) game.Value {
	if v, ok := s.known[p]; ok {
		if v == 0 {
			panic(fmt.Sprintf("gametest: %s: play comes back to %d: a game with cycles must have TiesSoon", s.g.Spec(), p))
		}
		return v
	}
	s.known[p] = 0 // until the value is known
	mover := s.g.ToMove(p)
	best := s.values.Ended(s.g.Primitive(p), mover)
	if best == 0 {
		for _, m := range s.g.Moves(nil, p) {
			if v := s.value(m.To); best == 0 || s.values.Better(mover, v, best) {
				best = v
			}
		}
		best = s.values.Before(best)
	}
	s.known[p] = best
	return best
}

// backward computes values from the terminal positions backward: first wins and losses until there
// are no more, then ties, each in the order of the remoteness.
func (s *search) backward() {
	predecessors := map[game.Position][]game.Position{s.g.Start(): nil} // each as often as it has moves
	undecided := make(map[game.Position]int)                            // number of moves not known to lead to a loss of the player who makes them
	var decided, ties []game.Position                                   // not yet sent to their predecessors
	for next := []game.Position{s.g.Start()}; len(next) > 0; next = next[1:] {
		p := next[0]
		v := s.values.Ended(s.g.Primitive(p), s.g.ToMove(p))
		switch s.known[p] = v; v.Outcome() {
		case game.Undecided:
		case game.Tie:
			ties = append(ties, p)
			continue
		default:
			decided = append(decided, p)
			continue
		}
		moves := s.g.Moves(nil, p)
		undecided[p] = len(moves)
		for _, m := range moves {
			if _, reached := predecessors[m.To]; !reached {
				next = append(next, m.To)
			}
			predecessors[m.To] = append(predecessors[m.To], p)
		}
	}
	for ; len(decided) > 0; decided = decided[1:] {
		v := s.known[decided[0]]
		for _, p := range predecessors[decided[0]] {
			undecided[p]--
			if s.known[p] == 0 && (undecided[p] == 0 || s.values.Better(s.g.ToMove(p), v, 0)) {
				s.known[p] = s.values.Before(v)
				decided = append(decided, p)
			}
		}
	}
	for ; len(ties) > 0; ties = ties[1:] {
		for _, p := range predecessors[ties[0]] {
			if s.known[p] == 0 {
				s.known[p] = s.values.Before(s.known[ties[0]])
				ties = append(ties, p)
			}
		}
	}
}

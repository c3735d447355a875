package gametest

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
)

// Search returns the value of every reachable position of a small game; in a game with cycles,
// 0 is a draw. It does not use tiers, sets or predecessors.
func Search(g game.Game) map[game.Position]game.Value {
	s := search{g, g.Values(), make(map[game.Position]game.Value)}
	if _, tiers := g.(game.Acyclic); !tiers && s.values.OfMover && s.values.TiesSoon {
		s.cyclic()
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
			panic(fmt.Sprintf("gametest: %s: play comes back to %d: a game with cycles must have no tiers, values of the mover and TiesSoon", s.g.Spec(), p))
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

// cyclic computes values from the terminal positions backward, first wins and losses until
// there are no more, then ties: pass n decides the positions that are n plies from the end.
func (s *search) cyclic() {
	var open []game.Position
	moves := map[game.Position][]game.Move{s.g.Start(): nil}
	for next := []game.Position{s.g.Start()}; len(next) > 0; next = next[1:] {
		p := next[0]
		if s.known[p] = s.values.Ended(s.g.Primitive(p), s.g.ToMove(p)); s.known[p] != 0 {
			continue
		}
		open = append(open, p)
		moves[p] = s.g.Moves(nil, p)
		for _, m := range moves[p] {
			if _, reached := moves[m.To]; !reached {
				moves[m.To] = nil
				next = append(next, m.To)
			}
		}
	}
	pass := func(n int, decide func(seen [game.Ties + 1]int, moves int) game.Result) (more bool) {
		fresh := make(map[game.Position]game.Value)
		for _, p := range open {
			var seen [game.Ties + 1]int // number of successors by result
			for _, m := range moves[p] {
				seen[game.Result(s.known[m.To].Outcome())]++
			}
			if result := decide(seen, len(moves[p])); s.known[p] == 0 && result != game.Draws {
				fresh[p] = result.In(n)
			}
		}
		for p, v := range fresh {
			s.known[p] = v
		}
		return len(fresh) > 0
	}
	for n := 1; pass(n, func(seen [game.Ties + 1]int, moves int) game.Result {
		switch {
		case seen[game.Loses] > 0:
			return game.Wins
		case seen[game.Wins] == moves:
			return game.Loses
		}
		return game.Draws
	}); n++ {
	}
	for n := 1; pass(n, func(seen [game.Ties + 1]int, _ int) game.Result {
		if seen[game.Ties] > 0 {
			return game.Ties
		}
		return game.Draws
	}); n++ {
	}
}

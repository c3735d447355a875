package gametest

import "github.com/treereduce/treereduce/game"

// Search returns the value of every position that can be reached, of a game without
// cycles that is small: by plain search with a memory.
func Search(g game.Game) map[game.Position]game.Value {
	s := search{g, g.Values(), make(map[game.Position]game.Value)}
	s.value(g.Start())
	return s.known
}

type search struct {
	g      game.Game
	values game.Values
	known  map[game.Position]game.Value
}

func (s *search) value(p game.Position) game.Value {
	if v, ok := s.known[p]; ok {
		return v
	}
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

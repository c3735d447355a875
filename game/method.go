package game

import "fmt"

// A Method is a game and how it is solved: one of Blocks and Layers is not nil.
type Method struct {
	Game   Game
	Blocks Tiered
	Layers Game
}

// MethodOf returns the method of a game: Blocks if it is Tiered, otherwise Layers.
func MethodOf(g Game) Method {
	m := Method{Game: g}
	switch g := g.(type) {
	case Tiered:
		m.Blocks = g
	default:
		m.Layers = g
	}
	return m
}

// Outcomes returns the outcomes that positions of the game can have.
func (m Method) Outcomes() []Outcome {
	all := []Outcome{FirstWins, SecondWins, Tie}
	if m.Game.Values().Puzzle {
		all = all[2:]
	}
	if !IsAcyclic(m.Game) {
		all = append(all, Undecided)
	}
	return all
}

// CheckLength returns an error if a game can last longer than its values can express: the
// values of its first positions would be wrong. The length of a game with inner moves is known
// only when it is solved, which fails when it exceeds the limit.
func (m Method) CheckLength() error {
	most := MaxRemoteness
	if m.Blocks != nil {
		most = MaxByteRemoteness
	}
	if last := LastTier(m.Game); last > most {
		return fmt.Errorf("%s: it can last %d moves, at most %d are provided for", m.Game.Spec(), last, most)
	}
	return nil
}

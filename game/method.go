package game

import "fmt"

// A Method is a game and how it is solved: exactly one of Blocks, States and Lists is not nil.
type Method struct {
	Game   Game
	Blocks Tiered
	States Cyclic
	Lists  Layered
}

// MethodOf returns the method of a game. A game that is Tiered, Cyclic or Layered (checked in
// this order) is solved as it is. Any other game is adapted to Cyclic, see WithRanges.
func MethodOf(g Game) Method {
	m := Method{Game: g}
	switch g := g.(type) {
	case Tiered:
		m.Blocks = g
	case Cyclic:
		m.States = g
	case Layered:
		m.Lists = g
	default:
		m.States = WithRanges(g, 1<<max(leastRangeBits, min(mostRangeBits, int(g.KeyBits())-rangesBits)))
	}
	return m
}

// Tiers returns the game if it has tiers, which are solved by blocks or by lists; otherwise nil.
func (m Method) Tiers() Layered {
	if m.Blocks != nil {
		return m.Blocks
	}
	return m.Lists
}

// Outcomes returns the outcomes that positions of the game can have.
func (m Method) Outcomes() []Outcome {
	all := []Outcome{FirstWins, SecondWins, Tie}
	if m.Game.Values().Puzzle {
		all = all[2:]
	}
	if m.States != nil {
		all = append(all, Undecided)
	}
	return all
}

// CheckLength returns an error if a game can last longer than its values can express: the
// values of its first positions would be wrong. The length of a game solved by states is known
// only when it is solved; step.Pass fails when it exceeds the limit.
func (m Method) CheckLength() error {
	most := MaxRemoteness
	if m.Blocks != nil {
		most = MaxByteRemoteness
	}
	if g := m.Tiers(); g != nil && g.Tiers() > most {
		return fmt.Errorf("%s: it can last %d moves, at most %d are provided for", g.Spec(), g.Tiers(), most)
	}
	return nil
}

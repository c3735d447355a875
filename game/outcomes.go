package game

import "fmt"

// Outcomes returns the outcomes that positions of a game can have.
func Outcomes(g Game) []Outcome {
	all := []Outcome{FirstWins, SecondWins, Tie}
	if g.Values().Puzzle {
		all = all[2:]
	}
	if !IsAcyclic(g) {
		all = append(all, Undecided)
	}
	return all
}

// MostRemoteness returns the greatest remoteness that the table of a game can store.
func MostRemoteness(g Game) int {
	if _, bytes := g.(Blockwise); bytes { // a block has a value byte for a position
		return MaxByteRemoteness
	}
	return MaxRemoteness
}

// CheckLength returns an error if a game can last longer than its values can express: the
// values of its first positions would be wrong. The length of a game with inner moves is known
// only when it is solved, which fails when it exceeds the limit.
func CheckLength(g Game) error {
	most := MostRemoteness(g)
	if last := LastTier(g); last > most {
		return fmt.Errorf("%s: it can last %d moves, at most %d are provided for", g.Spec(), last, most)
	}
	return nil
}

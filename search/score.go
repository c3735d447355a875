package search

import "github.com/treereduce/treereduce/game"

// A score is a value as the player to move sees it, where a sooner win is higher, or an
// evaluation. Scores of a search count moves from its root; scores of games and of the
// table count from the position itself. So a line of play has the same score at every node
// on it, except for the sign.

// mate is below every proven win, and above every evaluation.
const mate = 1 << 14

// infinite is above every score.
const infinite = 1 << 16

// finished returns the score of a terminal position of value v, for mover, the player whose
// turn it would be.
func finished(v game.Value, mover game.Player) int {
	switch v.Outcome().For(mover) {
	case game.Wins:
		return game.WonIn(0)
	case game.Loses:
		return game.LostIn(0)
	}
	return 0
}

// fromRoot converts a score relative to a position at ply to one relative to the root.
func fromRoot(score, ply int) int {
	switch {
	case score > mate:
		return score - ply
	case score < -mate:
		return score + ply
	}
	return score
}

// fromHere is the inverse of fromRoot.
func fromHere(score, ply int) int { return fromRoot(score, -ply) }

func clamp(score, low, high int) int { return max(low, min(score, high)) }

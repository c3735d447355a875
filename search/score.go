package search

import "github.com/treereduce/treereduce/game"

// A score is a value as the player to move sees it, a win the higher the sooner, or an
// evaluation; all scores of a search count moves from its root, those of games and of the
// table from the position itself. So a line of play is worth the same to every node on
// it, but for the sign.

// mate is below every proven win, and above every evaluation.
const mate = 1 << 14

// infinite is above every score.
const infinite = 1 << 16

// finished is the score of a finished position of value v, for mover, whose turn it would
// be.
func finished(v game.Value, mover game.Player) int {
	switch v.Outcome().For(mover) {
	case game.Wins:
		return game.WonIn(0)
	case game.Loses:
		return game.LostIn(0)
	}
	return 0
}

// fromRoot is a score of a position ply moves from the root, as of the root.
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

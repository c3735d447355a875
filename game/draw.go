package game

// A DrawRule defines when a game between players that has not ended is declared a draw. It
// does not affect the values of positions.
type DrawRule struct {
	// Repetitions is the number of times a position may occur, with the same player to move,
	// before the game is a draw; 0: no limit.
	Repetitions int
	// Plies is the number of plies after which the game is a draw; 0: no limit.
	Plies int
}

// Drawn is a game with its own DrawRule.
type Drawn interface {
	Game
	DrawRule() DrawRule
}

// The rule of a game that may have cycles and has no DrawRule of its own.
const (
	drawRepetitions = 3
	drawPlies       = 1000
)

// DrawRuleOf returns the draw rule of a game: its own; none for an Acyclic game, which
// always ends; for any other game, a draw at the third repetition or after 1,000 plies.
func DrawRuleOf(g Game) DrawRule {
	switch g := g.(type) {
	case Drawn:
		return g.DrawRule()
	case Acyclic:
		return DrawRule{}
	}
	return DrawRule{Repetitions: drawRepetitions, Plies: drawPlies}
}

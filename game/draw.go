package game

// A DrawRule says when play that goes on is called a draw. It ends what is played at a
// table; values know nothing of it.
type DrawRule struct {
	// Repetitions is how often a position may stand on the board, with the same player
	// to move, until it is a draw; 0: as often as it likes.
	Repetitions int
	// Plies is after how many of them play is a draw; 0: after any number it is none.
	Plies int
}

// Drawn is a game that says its DrawRule itself.
type Drawn interface {
	Game
	DrawRule() DrawRule
}

// The rule of a game that may go on for ever and says none.
const (
	drawRepetitions = 3
	drawPlies       = 1000
)

// DrawRuleOf is the rule of a game: its own; none of an Acyclic one, which ends anyhow;
// of any other a draw at the third repetition, or after 1,000 plies.
func DrawRuleOf(g Game) DrawRule {
	switch g := g.(type) {
	case Drawn:
		return g.DrawRule()
	case Acyclic:
		return DrawRule{}
	}
	return DrawRule{Repetitions: drawRepetitions, Plies: drawPlies}
}

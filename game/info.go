package game

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Info describes a game. Fields that do not apply to the game keep their zero values.
type Info struct {
	// Title is the name of the game and its parameters for people: "Connect 3 on 4×5".
	// Without it, people read the Spec.
	Title string
	// Rules are the rules as text for people: the goal, the moves, the end, and an example. Paragraphs
	// have an empty line between them; the lines of a board begin with four blanks. {name} is the value of
	// a parameter, see RulesOf.
	Rules string
	// TierUnit is what the tiers of a game count: "pieces on the board".
	TierUnit string

	// Hashes is an upper bound of the hashes: all are below it. 0: 1<<KeyBits().
	Hashes uint64
	// Boards returns an upper bound on the positions of a tier of a Tiered game. Without it,
	// the bound is the number of hashes.
	Boards func(tier int) float64
	// Vast is the approximate number of positions of a game with too many to enumerate: it
	// can be played and searched, but not solved. 0: the game can be solved.
	Vast float64
	// Decimal means that messages write positions as decimal numbers, not as hexadecimal keys.
	Decimal bool
	// OmitsStart means that final, the text of all positions, has no line for the initial
	// position.
	OmitsStart bool

	// MoveName returns the name of the move that text stands for, or text itself if the game
	// does not know this notation. The move need not be legal. It is for games whose moves
	// people write in more than one way.
	MoveName func(text string) string
	// Draw is the game's own DrawRule.
	Draw DrawRule
	// MoveTime is the default time limit per move of a machine or a program; 0: one second.
	MoveTime time.Duration
	// NamedFirst means that the player who is named first on the command line plays first;
	// otherwise, a human is asked.
	NamedFirst bool
	// Look defines how a page draws the game.
	Look Look
}

// TitleOf returns the title of a game, or its Spec if it has no title.
func TitleOf(g Game) string {
	if title := g.Info().Title; title != "" {
		return title
	}
	return g.Spec()
}

// Key returns a position of a game as messages write it, see Info.Decimal.
func Key(g Game, p Position) string {
	if g.Info().Decimal {
		return strconv.FormatUint(p, 10)
	}
	return fmt.Sprintf("%#x", p)
}

// RulesOf returns the rules of a game for people, with the values of its parameters; "" if it has none.
func RulesOf(g Game) string {
	var values []string
	for word := range strings.FieldsSeq(g.Spec()) {
		if name, value, ok := strings.Cut(word, "="); ok {
			values = append(values, "{"+name+"}", value)
		}
	}
	return strings.NewReplacer(values...).Replace(g.Info().Rules)
}

// A Paragraph is a part of the rules of a game.
type Paragraph struct {
	Text  string // the lines of a board, without the blanks before them
	Board bool   // the lines stay as they are
}

// Paragraphs returns the parts of rules, see Info.Rules.
func Paragraphs(rules string) (all []Paragraph) {
	const indent = "    "
	for text := range strings.SplitSeq(strings.TrimSuffix(rules, "\n"), "\n\n") {
		lines, board := strings.CutPrefix(text, indent)
		if board {
			lines = strings.ReplaceAll(lines, "\n"+indent, "\n")
		}
		if lines != "" {
			all = append(all, Paragraph{lines, board})
		}
	}
	return all
}

// Listed reports whether a position of a game has a line in final.
func Listed(g Game, p Position) bool { return p != g.Start() || !g.Info().OmitsStart }

// A DrawRule defines when a game between players that has not ended is declared a draw. It
// does not affect the values of positions.
type DrawRule struct {
	// Repetitions is the number of times a position may occur, with the same player to move,
	// before the game is a draw; 0: no limit.
	Repetitions int
	// Plies is the number of plies after which the game is a draw; 0: no limit.
	Plies int
}

// DrawRuleOf returns the draw rule of a game: its own; none for a game that always ends; for any
// other game, a draw at the third repetition or after 1,000 plies.
func DrawRuleOf(g Game) DrawRule {
	if rule := g.Info().Draw; rule != (DrawRule{}) {
		return rule
	}
	if IsAcyclic(g) {
		return DrawRule{}
	}
	return DrawRule{Repetitions: 3, Plies: 1000}
}

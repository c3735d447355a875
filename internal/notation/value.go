package notation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// A Value is the value of a position from the view of the player to move.
//
// Answers about a position address that player: "you win in 7". Statements about a game, a tier
// or a file, in which there is no player to move, name the player instead: "X wins in 7"
// (game.Values).
type Value struct {
	Result     game.Result
	Remoteness int  // plies to the end; 0 for a draw
	puzzle     bool // see game.Values.Puzzle
}

// ValueOf converts a value of a position to the view of the player to move.
func ValueOf(g game.Game, p game.Position, v game.Value) Value {
	values := g.Values()
	if values.OfMover {
		return Value{game.Result(v.Outcome()), v.Remoteness(), values.Puzzle}
	}
	return Value{v.Outcome().For(g.ToMove(p)), v.Remoteness(), values.Puzzle}
}

// A wording is a result as text for the player: during play, and after its end.
type wording struct{ you, over string }

// results contains the results of games, puzzles those of puzzles.
var results = [...]wording{
	game.Draws: {"draw: play never ends", ""},
	game.Loses: {"you lose", "you have lost"},
	game.Wins:  {"you win", "you have won"},
	game.Ties:  {"you tie", "a tie"},
}

var puzzles = map[game.Result]wording{
	game.Draws: {"unsolvable", ""},
	game.Ties:  {"solvable", "solved"},
}

// wording returns the words for the result.
func (v Value) wording() wording {
	if v.puzzle {
		return puzzles[v.Result]
	}
	return results[v.Result]
}

// Word returns the result for programs: win, lose, tie or draw; in a puzzle the word of game.Values.
func (v Value) Word() string {
	if v.puzzle {
		return game.Values{Puzzle: true}.Word(game.Outcome(v.Result))
	}
	return strings.ToLower(v.Result.String())
}

// Does returns the result as what a move does: loses, wins, ties or draws; in a puzzle "is solved" or "is unsolvable".
func (v Value) Does() string {
	if v.puzzle {
		return "is " + v.Word()
	}
	return v.Word() + "s"
}

// Number returns the remoteness for programs; "" for a draw.
func (v Value) Number() string {
	if v.Result == game.Draws {
		return ""
	}
	return fmt.Sprint(v.Remoteness)
}

// You returns the result without the remoteness, addressed to the player: "you win".
func (v Value) You() string { return v.wording().you }

// String returns the result and the remoteness, addressed to the player: "you win in 7".
func (v Value) String() string {
	if v.Result == game.Draws {
		return v.You()
	}
	return fmt.Sprintf("%s in %d", v.You(), v.Remoteness)
}

// Ended returns the line about a terminal position, in two pieces: the position, and how play
// ended.
func (v Value) Ended(g game.Game, p game.Position) (which, how string) {
	if values := g.Values(); !values.OfMover {
		return fmt.Sprintf("%q is finished: ", g.AppendText(nil, p)), values.Word(g.Primitive(p).Outcome())
	}
	return Heading(g, p) + ": ", v.wording().over
}

// A ValueJSON is the JSON form of a Value.
type ValueJSON struct {
	Value      string `json:"value"`                // see Value.Word
	Remoteness *int   `json:"remoteness,omitempty"` // plies to the end; absent for a draw
}

// JSON returns the JSON form of v.
func (v Value) JSON() ValueJSON {
	if v.Result == game.Draws {
		return ValueJSON{Value: v.Word()}
	}
	return ValueJSON{v.Word(), &v.Remoteness}
}

// Summary returns the value of the initial position as text.
func Summary(values game.Values, v game.Value) string {
	words := values.Word(v.Outcome())
	switch {
	case values.Puzzle:
	case !v.Valid():
		words = "a draw, play never ends"
	case values.OfMover:
		words = [...]string{
			game.Loses: "the first player loses",
			game.Wins:  "the first player wins",
			game.Ties:  "a tie",
		}[v.Outcome()]
	}
	if !v.Valid() {
		return words
	}
	return words + " in " + numfmt.Count(v.Remoteness(), "move")
}

// Heading returns the beginning of a line about a position: its text, and the player to move if
// one needs that to interpret the value, or else its hash.
func Heading(g game.Game, p game.Position) string {
	values, board := g.Values(), g.AppendText(nil, p)
	if values.OfMover {
		return fmt.Sprintf("%q, hash %d", board, p)
	}
	return fmt.Sprintf("%q, %s to move", board, values.Players[g.ToMove(p)])
}

// Meaning describes a value of a game.
func Meaning(g game.Game, v game.Value) string {
	values := g.Values()
	if v == 0 && game.IsAcyclic(g) {
		return "not known yet"
	}
	if err := CheckValue(g, v); err != nil {
		return "no value: " + err.Error()
	}
	switch {
	case !v.Valid():
		return values.Word(v.Outcome()) + ": play never ends"
	case v.Remoteness() == 0:
		return values.Word(v.Outcome()) + ", and play has ended"
	}
	return values.Word(v.Outcome()) + " in " + numfmt.Count(v.Remoteness(), "move")
}

// CheckValue returns an error with the reason if no position of a game can have a value.
func CheckValue(g game.Game, v game.Value) error {
	most := game.MostRemoteness(g)
	switch {
	case !v.Valid() && (v != 0 || game.IsAcyclic(g)):
		return errors.New("its outcome is missing")
	case !slices.Contains(game.Outcomes(g), v.Outcome()):
		return errors.New("a puzzle has no winner")
	case v.Remoteness() > most:
		return fmt.Errorf("expected at most %d moves to the end, found %d", most, v.Remoteness())
	}
	return nil
}

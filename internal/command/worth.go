package command

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// A Worth is the value of a position from the view of the player to move.
//
// Answers about a position address that player: "you win in 7". Statements about a game, a tier
// or a file, in which there is no player to move, name the player instead: "X wins in 7"
// (game.Values).
type Worth struct {
	Result     game.Result
	Remoteness int // plies to the end; 0 for a draw
}

// WorthOf converts a value of a position to the view of the player to move.
func WorthOf(g game.Game, p game.Position, v game.Value) Worth {
	if g.Values().OfMover {
		return Worth{game.Result(v.Outcome()), v.Remoteness()}
	}
	return Worth{v.Outcome().For(g.ToMove(p)), v.Remoteness()}
}

// results contains the results as a word for programs, and as text for the player: during play,
// and after its end.
var results = [...]struct{ word, you, over string }{
	game.Draws: {"draw", "draw: play never ends", ""},
	game.Loses: {"lose", "you lose", "you have lost"},
	game.Wins:  {"win", "you win", "you have won"},
	game.Ties:  {"tie", "you tie", "a tie"},
}

// Word returns the result for programs: win, lose, tie or draw.
func (w Worth) Word() string { return results[w.Result].word }

// Number returns the remoteness for programs; "" for a draw.
func (w Worth) Number() string {
	if w.Result == game.Draws {
		return ""
	}
	return fmt.Sprint(w.Remoteness)
}

// You returns the result without the remoteness, addressed to the player: "you win".
func (w Worth) You() string { return results[w.Result].you }

// String returns the result and the remoteness, addressed to the player: "you win in 7".
func (w Worth) String() string {
	if w.Result == game.Draws {
		return w.You()
	}
	return fmt.Sprintf("%s in %d", w.You(), w.Remoteness)
}

// Ended returns the line about a terminal position, in two pieces: the position, and how play
// ended.
func (w Worth) Ended(g game.Game, p game.Position) (which, how string) {
	if values := g.Values(); !values.OfMover {
		return fmt.Sprintf("%q is finished: ", g.AppendText(nil, p)), values.Word(g.Primitive(p).Outcome())
	}
	return Heading(g, p) + ": ", results[w.Result].over
}

// A WorthJSON is the JSON form of a Worth.
type WorthJSON struct {
	Value      string `json:"value"`                // win, lose, tie or draw
	Remoteness *int   `json:"remoteness,omitempty"` // plies to the end; absent for a draw
}

// JSON returns the JSON form of w.
func (w Worth) JSON() WorthJSON {
	if w.Result == game.Draws {
		return WorthJSON{Value: w.Word()}
	}
	return WorthJSON{w.Word(), &w.Remoteness}
}

// Summary returns the value of the initial position as text.
func Summary(values game.Values, v game.Value) string {
	words := values.Word(v.Outcome())
	if values.OfMover {
		words = [...]string{
			game.Draws: "a draw, play never ends",
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

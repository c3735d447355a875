package command

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
)

// A Worth is what a position is worth to the player whose turn it is.
//
// A question about a position is answered so, in words to whoever asks: "you win in 7".
// What is said of a game, a tier or a file, where nobody is to move, names the player: "X
// wins in 7" (game.Values).
type Worth struct {
	Result     game.Result
	Remoteness int // moves to the end; 0 of a draw
}

// WorthOf is a value of a position as the player to move there sees it.
func WorthOf(g game.Game, p game.Position, v game.Value) Worth {
	if g.Values().OfMover {
		return Worth{game.Result(v.Outcome()), v.Remoteness()}
	}
	return Worth{v.Outcome().For(g.ToMove(p)), v.Remoteness()}
}

// results are the results in words of programs, and to the player who asks: while play
// goes on, and when it is over.
var results = [...]struct{ word, you, over string }{
	game.Draws: {"draw", "draw: play need never end", ""},
	game.Loses: {"lose", "you lose", "you have lost"},
	game.Wins:  {"win", "you win", "you have won"},
	game.Ties:  {"tie", "you tie", "a tie"},
}

// Word is the result for programs: win, lose, tie or draw.
func (w Worth) Word() string { return results[w.Result].word }

// Number is the number of moves to the end for programs; a draw has none.
func (w Worth) Number() string {
	if w.Result == game.Draws {
		return ""
	}
	return fmt.Sprint(w.Remoteness)
}

// You is the result alone, said to the player who asks: "you win".
func (w Worth) You() string { return results[w.Result].you }

// String is all of it, said to the player who asks: "you win in 7".
func (w Worth) String() string {
	if w.Result == game.Draws {
		return w.You()
	}
	return fmt.Sprintf("%s in %d", w.You(), w.Remoteness)
}

// Ended is the line about a position in which play has ended: of which one, and how, as
// two pieces.
func (w Worth) Ended(g game.Game, p game.Position) (which, how string) {
	if values := g.Values(); !values.OfMover {
		return fmt.Sprintf("%q is finished: ", g.AppendText(nil, p)), values.Word(g.Primitive(p).Outcome())
	}
	return Heading(g, p) + ": ", results[w.Result].over
}

// A WorthJSON is a Worth in answers for programs.
type WorthJSON struct {
	Value      string `json:"value"`                // win, lose, tie or draw
	Remoteness *int   `json:"remoteness,omitempty"` // moves to the end; a draw has none
}

// JSON is the worth in an answer for programs.
func (w Worth) JSON() WorthJSON {
	if w.Result == game.Draws {
		return WorthJSON{Value: w.Word()}
	}
	return WorthJSON{w.Word(), &w.Remoteness}
}

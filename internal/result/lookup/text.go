package lookup

import (
	"fmt"
	"io"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
)

// colours contains the colours of results on a terminal, as ANSI codes.
var colours = [...]string{game.Draws: "33", game.Loses: "31", game.Wins: "32", game.Ties: "33"}

// WriteText writes the board of an answer, its value, and the moves; moves with equal values share a line. Results may
// have colours.
func (a *Answer) WriteText(out io.Writer, g game.Game, coloured bool) error {
	paint := func(r game.Result, text string) string {
		if !coloured {
			return text
		}
		return "\x1b[" + colours[r] + "m" + text + "\x1b[0m"
	}
	fmt.Fprint(out, marked(g, a.asked))
	head, output := notation.Heading(g, a.Hash)+": ", a.value.String()
	if len(a.Moves) == 0 {
		head, output = a.value.Ended(g, a.Hash)
	}
	fmt.Fprintf(out, "%s%s\n", head, paint(a.value.Result, output))
	for i := 0; i < len(a.Moves); {
		equal, names := a.Moves[i].value, []string(nil)
		mark := " "
		if i == 0 {
			mark = "*" // the best
		}
		for ; i < len(a.Moves) && a.Moves[i].value == equal; i++ {
			names = append(names, a.Moves[i].Move)
		}
		output := equal.String()
		if equal.Remoteness == 1 && equal.Result != game.Draws {
			output = equal.You() + " at once"
		}
		fmt.Fprintf(out, "%s %s: %s\n", mark, strings.Join(names, " "), paint(equal.Result, output))
	}
	if len(a.Line) > 0 {
		more := ""
		if a.value.Result == game.Draws {
			more = " …"
		}
		fmt.Fprintf(out, "best play: %s%s\n", strings.Join(a.Line, " "), more)
	}
	for _, p := range a.Parents {
		fmt.Fprintf(out, "from %q, hash %d, by %s; there %s\n", p.Position, p.Hash, p.Move, p.value)
	}
	return nil
}

// marked returns the picture of a position, with the winning lines marked, or else the squares
// that the last move changed.
func marked(g game.Game, a notation.Parsed) game.Picture {
	picture := g.Picture(a.Position)
	for _, at := range picture.Won {
		picture.Rows[at[1]][at[0]].Marked = true
	}
	if len(a.Moves) > 0 && len(picture.Won) == 0 {
		markChanges(picture, g.Picture(a.Before))
	}
	return picture
}

// mostMarked is the maximum number of changed squares that are marked: if a move sows stones
// around the whole board, marks do not show which move it was.
const mostMarked = 2

// markChanges marks the squares that differ from the previous picture.
func markChanges(now, before game.Picture) {
	var changed []*game.Square
	for y, row := range now.Rows {
		for x := range row {
			if s := &row[x]; *s != before.Rows[y][x] {
				changed = append(changed, s)
			}
		}
	}
	if len(changed) > mostMarked {
		return
	}
	for _, s := range changed {
		s.Marked = s.Text != "."
	}
}

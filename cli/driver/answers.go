package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/notation"
)

// textAnswers writes answers as text for people.
type textAnswers struct {
	g       game.Game
	colours bool
}

// colours contains the colours of results on a terminal, as ANSI codes.
var colours = [...]string{game.Draws: "33", game.Loses: "31", game.Wins: "32", game.Ties: "33"}

// coloursOf reports whether a stream is a terminal and colours are not disabled.
func coloursOf(out io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && command.IsTerminal(out)
}

// paint adds the colour of a result to a text.
func (t *textAnswers) paint(r game.Result, text string) string {
	if !t.colours {
		return text
	}
	return "\x1b[" + colours[r] + "m" + text + "\x1b[0m"
}

// write writes the board, its value, and the moves; moves with equal values share a line.
func (t *textAnswers) write(out io.Writer, a *answer) error {
	fmt.Fprint(out, marked(t.g, a.asked))
	head, output := notation.Heading(t.g, a.Hash)+": ", a.value.String()
	if len(a.Moves) == 0 {
		head, output = a.value.Ended(t.g, a.Hash)
	}
	fmt.Fprintf(out, "%s%s\n", head, t.paint(a.value.Result, output))
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
		fmt.Fprintf(out, "%s %s: %s\n", mark, strings.Join(names, " "), t.paint(equal.Result, output))
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

// writeJSON writes an answer as a line of JSON.
func writeJSON(out io.Writer, a *answer) error { return json.NewEncoder(out).Encode(a) }

// refuseJSON writes the reason why there is no answer, as a line of JSON.
func refuseJSON(out io.Writer, input string, why error) error {
	return json.NewEncoder(out).Encode(struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{input, why.Error()})
}

// unTab escapes backslashes, tabs, newlines and other control characters of a field.
func unTab(field string) string { return command.Printable(strings.ReplaceAll(field, `\`, `\\`)) }

// writeTSV writes an answer as tab-separated fields.
func (l *looker) writeTSV(out io.Writer, a *answer) error {
	var moves, parents []string
	for _, m := range a.Moves {
		moves = append(moves, m.Move+":"+m.colon())
	}
	for _, p := range a.Parents {
		parents = append(parents, fmt.Sprintf("#%d:%s", p.Hash, p.colon()))
	}
	return l.fields(out, unTab(a.Input), a.Position, fmt.Sprint(a.Hash), a.value.Word(), a.value.Number(), strings.Join(moves, " "),
		strings.Join(a.Line, " "), strings.Join(parents, " "), "")
}

// refuseTSV writes the reason why there is no answer as the last field.
func (l *looker) refuseTSV(out io.Writer, input string, why error) error {
	return l.fields(out, unTab(input), "", "", "", "", "", "", "", unTab(why.Error()))
}

// fields writes the fields of an answer, without those of the line, of the parents and of the error that are not asked
// for.
func (l *looker) fields(out io.Writer, all ...string) error {
	var fields []string
	for i, field := range all {
		if i < 6 || i == 6 && l.line || i == 7 && l.parents || i == 8 && field != "" {
			fields = append(fields, field)
		}
	}
	_, err := fmt.Fprintln(out, strings.Join(fields, "\t"))
	return err
}

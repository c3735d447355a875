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
	fmt.Fprint(out, marked(t.g, a.Parsed))
	head, output := notation.Heading(t.g, a.Position)+": ", a.value.String()
	if len(a.moves) == 0 {
		head, output = a.value.Ended(t.g, a.Position)
	}
	fmt.Fprintf(out, "%s%s\n", head, t.paint(a.value.Result, output))
	for i := 0; i < len(a.moves); {
		equal, names := a.moves[i].Value, []string(nil)
		mark := " "
		if i == 0 {
			mark = "*" // the best
		}
		for ; i < len(a.moves) && a.moves[i].Value == equal; i++ {
			names = append(names, a.moves[i].name)
		}
		output := equal.String()
		if equal.Remoteness == 1 && equal.Result != game.Draws {
			output = equal.You() + " at once"
		}
		fmt.Fprintf(out, "%s %s: %s\n", mark, strings.Join(names, " "), t.paint(equal.Result, output))
	}
	if len(a.line) > 0 {
		more := ""
		if a.value.Result == game.Draws {
			more = " …"
		}
		fmt.Fprintf(out, "best play: %s%s\n", strings.Join(a.line, " "), more)
	}
	for _, p := range a.parents {
		fmt.Fprintf(out, "from %q, hash %d, by %s; there %s\n", p.text, p.position, p.move, p.Value)
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

// An answerJSON is the JSON form of an answer.
type answerJSON struct {
	Input              string        `json:"input"`
	Position           string        `json:"position"`
	Hash               game.Position `json:"hash"`
	notation.ValueJSON               // for the player to move
	Outcome            string        `json:"outcome"` // in the game's words
	Moves              []choiceJSON  `json:"moves"`
	Line               []string      `json:"line,omitempty"`
	Parents            []parentJSON  `json:"parents,omitempty"`
}

type choiceJSON struct {
	Move string `json:"move"`
	notation.ValueJSON
}

type parentJSON struct {
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	Move     string        `json:"move"`
	notation.ValueJSON
}

// writeJSON writes an answer as a line of JSON.
func writeJSON(out io.Writer, a *answer) error {
	j := answerJSON{Input: a.Text, Position: a.text, Hash: a.Position, ValueJSON: a.value.JSON(), Outcome: a.outcome, Moves: []choiceJSON{}, Line: a.line}
	for _, m := range a.moves {
		j.Moves = append(j.Moves, choiceJSON{m.name, m.JSON()})
	}
	for _, p := range a.parents {
		j.Parents = append(j.Parents, parentJSON{p.text, p.position, p.move, p.JSON()})
	}
	return json.NewEncoder(out).Encode(j)
}

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
	fields := []string{unTab(a.Text), a.text, fmt.Sprint(a.Position), a.value.Word(), a.value.Number()}
	var moves, parents []string
	for _, m := range a.moves {
		moves = append(moves, m.name+":"+colon(m.Value))
	}
	for _, p := range a.parents {
		parents = append(parents, fmt.Sprintf("#%d:%s", p.position, colon(p.Value)))
	}
	fields = append(fields, strings.Join(moves, " "))
	if l.line {
		fields = append(fields, strings.Join(a.line, " "))
	}
	if l.parents {
		fields = append(fields, strings.Join(parents, " "))
	}
	_, err := fmt.Fprintln(out, strings.Join(fields, "\t"))
	return err
}

// refuseTSV writes the reason why there is no answer as the last field.
func (l *looker) refuseTSV(out io.Writer, input string, why error) error {
	empty := 6
	for _, wanted := range []bool{l.line, l.parents} {
		if wanted {
			empty++
		}
	}
	_, err := fmt.Fprintf(out, "%s%s%s\n", unTab(input), strings.Repeat("\t", empty), unTab(why.Error()))
	return err
}

// colon returns a value and its remoteness with a colon between them: "win:3", "draw:".
func colon(w notation.Value) string { return w.Word() + ":" + w.Number() }

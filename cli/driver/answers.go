package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
)

// textAnswers writes answers for people.
type textAnswers struct {
	g       game.Game
	colours bool
}

// The colours of results on a terminal.
var colours = [...]string{game.Draws: "33", game.Loses: "31", game.Wins: "32", game.Ties: "33"}

// coloursOf reports whether a stream is a terminal, and colours are wanted on it.
func coloursOf(out io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && command.IsTerminal(out)
}

// paint colours a text as a result is.
func (t *textAnswers) paint(r game.Result, text string) string {
	if !t.colours {
		return text
	}
	return "\x1b[" + colours[r] + "m" + text + "\x1b[0m"
}

// write writes the board, what it is worth, and the moves: those that are worth as much
// in one line.
func (t *textAnswers) write(out io.Writer, a *answer) error {
	fmt.Fprint(out, marked(t.g, a.Asked))
	head, said := command.Heading(t.g, a.Position)+": ", a.value.String()
	if len(a.moves) == 0 {
		head, said = a.value.Ended(t.g, a.Position)
	}
	fmt.Fprintf(out, "%s%s\n", head, t.paint(a.value.Result, said))
	for i := 0; i < len(a.moves); {
		equal, names := a.moves[i].Worth, []string(nil)
		mark := " "
		if i == 0 {
			mark = "*" // the best
		}
		for ; i < len(a.moves) && a.moves[i].Worth == equal; i++ {
			names = append(names, a.moves[i].name)
		}
		said := equal.String()
		if equal.Remoteness == 1 && equal.Result != game.Draws {
			said = equal.You() + " at once"
		}
		fmt.Fprintf(out, "%s %s: %s\n", mark, strings.Join(names, " "), t.paint(equal.Result, said))
	}
	if len(a.line) > 0 {
		more := ""
		if a.value.Result == game.Draws {
			more = " …"
		}
		fmt.Fprintf(out, "best play: %s%s\n", strings.Join(a.line, " "), more)
	}
	for _, p := range a.parents {
		fmt.Fprintf(out, "from %q, hash %d, by %s; there %s\n", p.text, p.position, p.move, p.Worth)
	}
	return nil
}

// marked is the picture of a position, with the lines that have won marked, or else what
// the last move has laid.
func marked(g game.Game, a command.Asked) game.Picture {
	picture := g.Picture(a.Position)
	for _, at := range picture.Won {
		picture.Rows[at[1]][at[0]].Marked = true
	}
	if a.Moved && len(picture.Won) == 0 {
		markChanges(picture, g.Picture(a.Before))
	}
	return picture
}

// mostMarked is how many squares a move may change that are marked: of one that sows
// stones all round the board nobody would see which it was.
const mostMarked = 2

// markChanges marks where something lies in a picture that did not in the one before.
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

// An answerJSON is an answer for programs.
type answerJSON struct {
	Input             string        `json:"input"`
	Position          string        `json:"position"`
	Hash              game.Position `json:"hash"`
	command.WorthJSON               // of the player to move
	Outcome           string        `json:"outcome"`
	Moves             []choiceJSON  `json:"moves"`
	Line              []string      `json:"line,omitempty"`
	Parents           []parentJSON  `json:"parents,omitempty"`
}

type choiceJSON struct {
	Move string `json:"move"`
	command.WorthJSON
}

type parentJSON struct {
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	Move     string        `json:"move"`
	command.WorthJSON
}

// writeJSON writes an answer as a line of JSON.
func writeJSON(out io.Writer, a *answer) error {
	j := answerJSON{Input: a.Text, Position: a.text, Hash: a.Position, WorthJSON: a.value.JSON(), Outcome: a.outcome, Moves: []choiceJSON{}, Line: a.line}
	for _, m := range a.moves {
		j.Moves = append(j.Moves, choiceJSON{m.name, m.JSON()})
	}
	for _, p := range a.parents {
		j.Parents = append(j.Parents, parentJSON{p.text, p.position, p.move, p.JSON()})
	}
	return json.NewEncoder(out).Encode(j)
}

// refuseJSON writes why there is no answer, as a line of JSON.
func refuseJSON(out io.Writer, input string, why error) error {
	return json.NewEncoder(out).Encode(struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{input, why.Error()})
}

// unTab keeps a field in its line, and its control characters from a terminal.
func unTab(field string) string { return command.Printable(strings.ReplaceAll(field, `\`, `\\`)) }

// writeTSV writes an answer as fields between tabs.
func (l *looker) writeTSV(out io.Writer, a *answer) error {
	fields := []string{unTab(a.Text), a.text, fmt.Sprint(a.Position), a.value.Word(), a.value.Number()}
	var moves, parents []string
	for _, m := range a.moves {
		moves = append(moves, m.name+":"+colon(m.Worth))
	}
	for _, p := range a.parents {
		parents = append(parents, fmt.Sprintf("#%d:%s", p.position, colon(p.Worth)))
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

// refuseTSV writes why there is no answer as the last field.
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

// colon is value and remoteness, a colon between them: "win:3", "draw:".
func colon(w command.Worth) string { return w.Word() + ":" + w.Number() }

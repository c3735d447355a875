// Package lookup finds everything that is known about a position of a table. An answer is text, a line of JSON or a
// line of fields. The package knows no command lines.
package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

// ErrUnreachable is the error for a position that is not in the table because play cannot reach
// it.
var ErrUnreachable = errors.New("cannot be reached from the initial position")

// Options are what to look up besides the value of a position and of its moves.
type Options struct{ Line, Parents bool }

// An Answer is everything that is known about a position, with the fields of its JSON. Values are from the view of the
// player to move: win means that this player wins.
type Answer struct {
	Input    string        `json:"input"`
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	worth
	Outcome string   `json:"outcome"`           // in the game's words
	Moves   []option `json:"moves"`             // the best one first
	Line    []string `json:"line,omitempty"`    // best play to the end; in a draw, until a position repeats
	Parents []parent `json:"parents,omitempty"` // the predecessors

	asked notation.Parsed
	of    Options
}

// A worth is a value in both of its forms.
type worth struct {
	notation.ValueJSON
	value notation.Value
}

// worthOf returns the worth of a position with a value.
func worthOf(g game.Game, p game.Position, v game.Value) worth {
	value := notation.ValueOf(g, p, v)
	return worth{value.JSON(), value}
}

// colon returns a value and its remoteness with a colon between them: "win:3", "draw:".
func (w worth) colon() string { return w.value.Word() + ":" + w.value.Number() }

// An option is a move and its value for the player who makes it. The remoteness counts from the
// position before the move.
type option struct {
	Move string `json:"move"`
	worth
}

// A parent is a predecessor of the position, with its value for the player to move there.
type parent struct {
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	Move     string        `json:"move"`
	worth
}

// Of looks up a position. The error is ErrUnreachable if play cannot reach it, and a
// *table.Fault if play can, but the table does not contain it.
func Of(t *table.Table, asked notation.Parsed, o Options) (*Answer, error) {
	g, p := t.Game(), asked.Position
	v, ok, err := t.Lookup(p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, t.Unreached(p, ErrUnreachable)
	}
	a := &Answer{
		Input: asked.Text, Position: string(g.AppendText(nil, p)), Hash: p, worth: worthOf(g, p, v),
		Outcome: g.Values().Word(v.Outcome()), Moves: []option{}, asked: asked, of: o,
	}
	choices, err := t.Choices(p)
	if err != nil {
		return nil, err
	}
	for _, m := range choices {
		a.Moves = append(a.Moves, option{m.Name, worthOf(g, p, g.Values().Before(m.Value))})
	}
	if o.Line {
		for c, err := range t.Line(p) {
			if err != nil {
				return nil, err
			}
			a.Line = append(a.Line, c.Name)
		}
	}
	if !o.Parents {
		return a, nil
	}
	parents, err := t.Predecessors(p)
	for _, q := range parents {
		a.Parents = append(a.Parents, parent{string(g.AppendText(nil, q.Position)), q.Position, q.Move, worthOf(g, q.Position, q.Value)})
	}
	return a, err
}

// WriteJSON writes an answer as a line of JSON.
func (a *Answer) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(a) }

// RefuseJSON writes the reason why there is no answer, as a line of JSON.
func RefuseJSON(out io.Writer, input string, why error) error {
	return json.NewEncoder(out).Encode(struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{input, why.Error()})
}

// WriteTSV writes an answer as tab-separated fields.
func (a *Answer) WriteTSV(out io.Writer) error {
	var moves, parents []string
	for _, m := range a.Moves {
		moves = append(moves, m.Move+":"+m.colon())
	}
	for _, p := range a.Parents {
		parents = append(parents, fmt.Sprintf("#%d:%s", p.Hash, p.colon()))
	}
	return a.of.fields(out, unTab(a.Input), a.Position, fmt.Sprint(a.Hash), a.value.Word(), a.value.Number(), strings.Join(moves, " "),
		strings.Join(a.Line, " "), strings.Join(parents, " "), "")
}

// RefuseTSV writes the reason why there is no answer as the last field.
func (o Options) RefuseTSV(out io.Writer, input string, why error) error {
	return o.fields(out, unTab(input), "", "", "", "", "", "", "", unTab(why.Error()))
}

// fields writes the fields of an answer, without those of the line, of the parents and of the error that are not asked
// for.
func (o Options) fields(out io.Writer, all ...string) error {
	var fields []string
	for i, field := range all {
		if i < 6 || i == 6 && o.Line || i == 7 && o.Parents || i == 8 && field != "" {
			fields = append(fields, field)
		}
	}
	_, err := fmt.Fprintln(out, strings.Join(fields, "\t"))
	return err
}

// unTab escapes backslashes, tabs, newlines and other control characters of a field.
func unTab(field string) string { return command.Printable(strings.ReplaceAll(field, `\`, `\\`)) }

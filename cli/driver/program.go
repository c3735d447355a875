package driver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner/trial"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/result/compare"
	"github.com/treereduce/treereduce/streamfmt"
)

// The suffixes of program names.
const (
	mapEnd    = "_map"
	reduceEnd = "_reduce"
)

// Validate implements RunnerOptions: it checks that the programs replace steps of the game.
func (p *pipeOptions) Validate(g game.Game) error {
	if p.compare && len(p.words.Value()) == 0 {
		return command.Usagef("--compare requires --program")
	}
	m := game.MethodOf(g)
	steps, cyclic := step.NamesOf(m), m.States != nil
	var known []string
	for _, name := range steps {
		known = append(known, name+mapEnd)
		if !cyclic || name == step.Final {
			known = append(known, name+reduceEnd)
		}
	}
	p.programs = make(map[string]string)
	for _, word := range p.words.Value() {
		name, line, ok := strings.Cut(word, "=")
		of, reduces := strings.CutSuffix(name, reduceEnd)
		like := command.Like(name, known)
		switch {
		case !ok:
			return command.Usagef("--program %q: expected STEP=COMMAND, such as possible_map='python3 my_map.py'", word)
		case strings.TrimSpace(line) == "":
			return command.Usagef("--program %s: the command is missing", word)
		case p.programs[name] != "":
			return command.Usagef("--program %s: it is given twice", name)
		case slices.Contains(known, name):
		case reduces && cyclic && slices.Contains(steps, of):
			return command.Usagef("--program %s: this reducer writes packed states: expected one of %s", name, strings.Join(known, ", "))
		case like != "":
			return command.Usagef("--program %s: no such step: did you mean %s?", name, like)
		default:
			return command.Usagef("--program %s: no such step: expected one of %s", name, strings.Join(known, ", "))
		}
		p.programs[name] = line
	}
	return nil
}

// printWrong prints a wrong line and its input as boards and in words. It returns err.
func (r *run) printWrong(err error) error {
	var w *trial.WrongLine
	if !errors.As(err, &w) {
		return err
	}
	g, out := r.Game, r.Context.App.Writer
	if r.flags.json {
		out = r.Context.App.ErrWriter
	}
	fmt.Fprintf(out, "%s is wrong. Its input:\n", w.Program)
	before := ""
	for i, line := range w.Input {
		if i == mostInput {
			fmt.Fprintf(out, "… and %s more lines\n", numfmt.Number(len(w.Input)-i))
			break
		}
		board := pictureOf(g, line)
		if board != before { // show the board once for consecutive lines of a position
			fmt.Fprint(out, board)
		}
		before = board
		fmt.Fprintf(out, "%q: %s\n", line, inWords(g, line))
	}
	if len(w.Input) == 0 {
		fmt.Fprintln(out, "  no related line")
	}
	fmt.Fprintf(out, "\n%s\n%s\n", beside(boardOf(g, w.Expected, "expected"), boardOf(g, w.Found, "found")), verdict(g, w.Expected, w.Found))
	return err
}

// mostInput is the maximum number of input lines to print.
const mostInput = 4

// boardOf returns a line of a step below a heading and the picture of its position.
func boardOf(g game.Game, line, heading string) string {
	if line == "" {
		return heading + "\nnothing\n"
	}
	return fmt.Sprintf("%s\n%s%s\n", heading, pictureOf(g, line), strconv.Quote(line))
}

// pictureOf returns the picture of the position of a step's line; "" if the line has none.
func pictureOf(g game.Game, line string) string {
	asked, err := notation.Parse(g, line, notation.FromFinal)
	if err != nil {
		return ""
	}
	return g.Picture(asked.Position).String()
}

// inWords returns a line of a step in words: the value of its position, or the message to it.
func inWords(g game.Game, line string) string {
	if v, err := compare.ParseLine(g, line); err == nil {
		return meaning(g.Values(), v.Value)
	}
	key, rest, _ := strings.Cut(line, "\t")
	switch {
	case pictureOf(g, key) == "":
		return "not a line of this step"
	case rest == "":
		return "a position without a value"
	}
	row, kind, want := streamfmt.ParseRow([]byte(line), len(key))
	value, moves := meaning(g.Values(), lists.ValueOf(row.Word)), lists.TimesOf(row.Word)
	switch {
	case want != "":
		return "not a line of this step"
	case kind == streamfmt.Predecessors:
		return "a move leads to it from " + rest[1:]
	case moves == 1:
		return "after one of its moves: " + value
	}
	return fmt.Sprintf("after %d of its moves: %s", moves, value)
}

// verdict compares the line that a program should print with the one that it prints, in words.
func verdict(g game.Game, expected, found string) string {
	ours, theirs := inWords(g, expected), inWords(g, found)
	key, _, _ := strings.Cut(expected, "\t")
	other, _, _ := strings.Cut(found, "\t")
	switch {
	case expected == "":
		return "Yours prints a line that is not expected: " + theirs + "."
	case found == "":
		return "Yours does not print the line: " + ours + "."
	case key == other:
		return fmt.Sprintf("%s, yours says %s.", ours, theirs)
	case pictureOf(g, found) == "":
		return "Yours prints a line without a position."
	}
	return "Yours prints a line of another position."
}

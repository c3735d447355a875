package compare

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/trial"
	"github.com/treereduce/treereduce/streamfmt"
)

// WriteText writes a difference between two results with these names.
func (d *Difference) WriteText(out io.Writer, names [2]string) error {
	if !d.Any {
		_, err := fmt.Fprintf(out, "%s and %s are the same: %s\n", names[0], names[1], numfmt.Count(d.All[0], "position"))
		return err
	}
	var boards [2]string
	for i, name := range names {
		fmt.Fprintf(out, "%s: %s, %s not in %s\n", name, numfmt.Count(d.All[i], "position"), numfmt.Number(d.Alone[i]), names[1-i])
		boards[i] = name + "\nmissing\n"
		if v := d.First.Values[i]; d.First.There[i] {
			boards[i] = fmt.Sprintf("%s\n%s%s (%d)\n", name, d.Game.Picture(d.First.Position), d.Game.Values().Text(v), v)
		}
	}
	fmt.Fprintf(out, "different values: %s\n\nfirst difference, %s:\n\n%s", numfmt.Number(d.Unequal), notation.Heading(d.Game, d.First.Position), beside(boards[0], boards[1]))
	_, err := fmt.Fprintf(out, "\n%s, %s\n", d.claim(0, names[0]), d.claim(1, names[1]))
	return err
}

// claim returns what a result of this name says about the first difference.
func (d *Difference) claim(result int, name string) string {
	if !d.First.There[result] {
		return name + " does not have the position"
	}
	return name + " says " + d.Game.Values().Text(d.First.Values[result])
}

// besideGap is the number of columns between two texts.
const besideGap = 4

// beside formats two texts side by side.
func beside(left, right string) string {
	texts := [2][]string{strings.Split(strings.TrimSuffix(left, "\n"), "\n"), strings.Split(strings.TrimSuffix(right, "\n"), "\n")}
	width := 0
	for _, line := range texts[0] {
		width = max(width, utf8.RuneCountInString(line))
	}
	var b strings.Builder
	for y := range max(len(texts[0]), len(texts[1])) {
		var line [2]string
		for i, text := range texts {
			if y < len(text) {
				line[i] = text[y]
			}
		}
		gap := strings.Repeat(" ", width-utf8.RuneCountInString(line[0])+besideGap)
		fmt.Fprintln(&b, strings.TrimRight(line[0]+gap+line[1], " "))
	}
	return b.String()
}

// Explain writes a wrong line of a step and its input, as boards and in words.
func Explain(out io.Writer, g game.Game, w *trial.WrongLine) {
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
	if _, v, err := ParseLine(g, line); err == nil {
		return notation.Meaning(g, v)
	}
	key, rest, _ := strings.Cut(line, "\t")
	switch {
	case pictureOf(g, key) == "":
		return "not a line of this step"
	case rest == "":
		return "a position without a value"
	}
	row, kind, want := streamfmt.ParseRow([]byte(line), len(key))
	value, moves := notation.Meaning(g, layers.ValueOf(row.Word)), layers.TimesOf(row.Word)
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

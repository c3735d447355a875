package driver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// The suffixes of program names.
const (
	mapEnd    = "_map"
	reduceEnd = "_reduce"
)

// programsOf returns the programs of the command line, keyed by the step that they replace
// (such as possible_map); nil if there are none.
func programsOf(c *cli.Context) (programs map[string]string, err error) {
	for _, word := range command.ListOf(c, "program") {
		name, line, ok := strings.Cut(word, "=")
		if programs == nil {
			programs = make(map[string]string)
		}
		switch _, twice := programs[name]; {
		case !ok:
			return nil, command.Usagef("--program %q: expected STEP=COMMAND, such as possible_map='python3 my_map.py'", word)
		case strings.TrimSpace(line) == "":
			return nil, command.Usagef("--program %s: the command is missing", word)
		case twice:
			return nil, command.Usagef("--program %s: it is given twice", name)
		}
		programs[name] = line
	}
	return programs, nil
}

// checkPrograms checks that the programs of the command line replace steps of the game, and
// that the runner can run them. It reports whether there are any.
func checkPrograms(c *cli.Context, g game.Game) (any bool, err error) {
	programs, err := programsOf(c)
	switch {
	case err != nil:
		return false, err
	case len(programs) == 0 && c.Bool("compare"):
		return false, command.Usagef("--compare: --compare requires --program")
	case len(programs) > 0 && c.String("runner") != onPipe:
		return false, command.Usagef("--program: requires --runner %s, found --runner %s", onPipe, c.String("runner"))
	}
	steps := step.Names()
	_, cyclic := game.ByMethod(g).(game.Cyclic)
	if cyclic {
		steps = step.CyclicNames()
	}
	var known []string
	for _, name := range steps {
		known = append(known, name+mapEnd)
		if !cyclic || name == step.Final {
			known = append(known, name+reduceEnd)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if slices.Contains(known, name) {
			continue
		}
		if of, reduces := strings.CutSuffix(name, reduceEnd); reduces && cyclic && slices.Contains(steps, of) {
			return false, command.Usagef("--program %s: this reducer writes packed states: expected one of %s", name, strings.Join(known, ", "))
		}
		if like := command.Like(name, known); like != "" {
			return false, command.Usagef("--program %s: no such step: did you mean %s?", name, like)
		}
		return false, command.Usagef("--program %s: no such step: expected one of %s", name, strings.Join(known, ", "))
	}
	return len(programs) > 0, nil
}

// A checked runner runs jobs with the programs of the command line, and compares their output
// with the output of our own programs.
type checked struct {
	theirs *pipe.Runner
	ours   *pipe.Runner // the same runner without these programs
	fs     store.FS
}

var _ runner.Runner = (*checked)(nil)

// A wrongLine is the error that describes the first wrong line.
type wrongLine struct {
	program  string   // the one that printed the line or omitted it, such as possible_map
	input    []string // the lines of its input that should produce the expected line
	expected string   // "" if no line was expected
	found    string   // "" if no line was found
	why      error    // the error of the job, if the job failed
}

func (w *wrongLine) Error() string {
	text := fmt.Sprintf("%s is wrong: expected %s, found %s", w.program, quoted(w.expected), quoted(w.found))
	if w.why != nil {
		text += fmt.Sprintf(" (%v)", w.why)
	}
	return text
}

// quoted returns a line as it appears in an error.
func quoted(line string) string {
	if line == "" {
		return "no line"
	}
	return strconv.Quote(line)
}

// Run runs a job; if programs of the command line take part in it, Run runs it a second time
// with ours and compares. The error is a *wrongLine if the outputs differ.
func (c *checked) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	stats, failed := c.theirs.Run(ctx, job)
	_, maps := c.theirs.Programs[job.Step+mapEnd]
	_, reduces := c.theirs.Programs[job.Step+reduceEnd]
	if !maps && !reduces || ctx.Err() != nil {
		return stats, failed
	}
	t := &trial{checked: c, Job: job, all: func(string) bool { return true }}
	if failed != nil { // perhaps because the mapper is wrong
		var w *wrongLine
		if maps {
			w, err = t.wrongMap(ctx, t.all)
		}
		if err != nil || w == nil {
			return stats, failed
		}
		w.why = failed
		return stats, w
	}
	ours, err := t.make(ctx, c.ours, ".ours")
	defer func() { err = errors.Join(err, c.fs.RemoveAll(ours)) }()
	if err != nil {
		return stats, err
	}
	expected, found, err := c.differ(ours, job.Output)
	if err != nil || expected == found {
		return stats, err
	}
	if maps && reduces {
		if maps, err = t.mapsWrong(ctx, ours); err != nil {
			return stats, err
		}
	}
	w, err := t.blame(ctx, maps, expected, found)
	if err != nil {
		return stats, err
	}
	return stats, w
}

// A trial is a job that failed, or whose output differs from ours.
type trial struct {
	*checked
	*runner.Job
	all func(line string) bool // always returns true
}

// make runs the job with its output in a directory next to its own, whose name has the suffix.
func (t *trial) make(ctx context.Context, by *pipe.Runner, suffix string) (dir string, err error) {
	job := *t.Job
	job.Output, job.FS, job.Progress = t.Output+suffix, t.fs, nil
	if err := t.fs.MkdirAll(job.Output); err != nil {
		return job.Output, err
	}
	_, err = by.Run(ctx, &job)
	return job.Output, err
}

// mapsWrong reports whether their mapper with our reducer gives a different output than ours,
// i.e. whether the mapper is at fault.
func (t *trial) mapsWrong(ctx context.Context, ours string) (wrong bool, err error) {
	half := *t.ours
	half.Programs = map[string]string{t.Step + mapEnd: t.theirs.Programs[t.Step+mapEnd]}
	dir, failed := t.make(ctx, &half, ".half")
	defer func() { err = errors.Join(err, t.fs.RemoveAll(dir)) }()
	if failed != nil {
		return true, ctx.Err()
	}
	expected, found, err := t.differ(ours, dir)
	return expected != found, err
}

// blame finds the input lines, of the mapper or of the reducer, that lead to the wrong line.
func (t *trial) blame(ctx context.Context, maps bool, expected, found string) (*wrongLine, error) {
	w := &wrongLine{program: t.Step + reduceEnd, expected: expected, found: found}
	of := sameKey(t.Game, cmp.Or(expected, found))
	if !maps {
		all, err := t.lines(ctx)
		if err != nil {
			return nil, err
		}
		heard, err := t.theirs.Map(ctx, t.Job, joined(all))
		w.input = slices.Sorted(filtered(heard, of))
		return w, err
	}
	for _, of := range []func(string) bool{of, t.all} {
		if byLine, err := t.wrongMap(ctx, of); err != nil || byLine != nil {
			return byLine, err
		}
	}
	w.program = t.Step + mapEnd
	return w, nil
}

// lines returns the lines that the mappers of the job read.
func (t *trial) lines(ctx context.Context) ([]string, error) {
	var input bytes.Buffer
	err := t.ours.MapInput(ctx, t.Job, &input)
	return slices.Collect(filtered(input.Bytes(), t.all)), err
}

// wrongMap finds an input line for which their mapper prints something else than ours,
// comparing only the wanted lines; nil if there is none.
func (t *trial) wrongMap(ctx context.Context, wanted func(line string) bool) (*wrongLine, error) {
	all, err := t.lines(ctx)
	if err != nil {
		return nil, err
	}
	printed := func(by *pipe.Runner, of []string) (map[string]bool, error) {
		out, err := by.Map(ctx, t.Job, joined(of))
		set := make(map[string]bool)
		for line := range filtered(out, wanted) {
			set[line] = true
		}
		return set, err
	}
	var sets [2]map[string]bool
	by := [2]*pipe.Runner{t.ours, t.theirs}
	for i, r := range by {
		if sets[i], err = printed(r, all); err != nil {
			return nil, err
		}
	}
	for i, r := range by {
		line := without(sets[i], sets[1-i])
		if line == "" {
			continue
		}
		// Bisect the input: keep the half that produces the line.
		input := all
		for len(input) > 1 {
			half := input[:len(input)/2]
			set, err := printed(r, half)
			if err != nil {
				return nil, err
			}
			if input = input[len(half):]; set[line] {
				input = half
			}
		}
		var of [2]map[string]bool
		for i, r := range by {
			if of[i], err = printed(r, input); err != nil {
				return nil, err
			}
		}
		w := &wrongLine{program: t.Step + mapEnd, input: input, expected: without(of[0], of[1]), found: without(of[1], of[0])}
		if w.expected != w.found {
			return w, nil
		}
	}
	return nil, nil
}

// without returns the first line, in sorted order, that is not in others; "" if there is none.
func without(lines, others map[string]bool) (first string) {
	for line := range lines {
		if !others[line] && (first == "" || line < first) {
			first = line
		}
	}
	return first
}

// joined returns the lines as one text.
func joined(lines []string) (text []byte) {
	for _, line := range lines {
		text = append(append(text, line...), '\n')
	}
	return text
}

// filtered yields the wanted lines of a text. It removes a tab without a value after it at the
// end of a line, as every reader of these lines does.
func filtered(text []byte, wanted func(line string) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(text) {
			if l := trimmed(line); wanted(l) && !yield(l) {
				return
			}
		}
	}
}

func trimmed(line []byte) string {
	return string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\t'}))
}

// sameKey returns a function that reports whether another line has the same key as line, or is
// for the same position.
func sameKey(g game.Game, line string) func(other string) bool {
	p, err := command.ParseAsked(g, line, command.FromFinal)
	key, _, _ := strings.Cut(line, "\t")
	return func(other string) bool {
		field, _, _ := strings.Cut(other, "\t")
		q, notOne := strconv.ParseUint(field, 16, 64)
		return field == key || err == nil && notOne == nil && q == p.Position
	}
}

// differ finds the first line in which the text files of two directories differ. found is "" if
// the expected line is missing, and expected is "" if there is an additional line. They are
// equal if nothing differs.
func (c *checked) differ(ours, theirs string) (expected, found string, err error) {
	entries, err := c.fs.ReadDir(ours)
	if err != nil {
		return "", "", err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "_") || !jobdir.IsText(e.Name()) {
			continue
		}
		if expected, found, err = c.differIn(path.Join(ours, e.Name()), path.Join(theirs, e.Name())); err != nil || expected != found {
			return expected, found, err
		}
	}
	return "", "", nil
}

// differIn is differ for one file.
func (c *checked) differIn(ours, theirs string) (expected, found string, err error) {
	var readers [2]*bufio.Reader
	for i, name := range []string{ours, theirs} {
		f, err := c.fs.Open(name)
		if errors.Is(err, fs.ErrNotExist) && i == 1 {
			readers[i] = bufio.NewReader(strings.NewReader(""))
			continue
		}
		if err != nil {
			return "", "", err
		}
		defer f.Close()
		readers[i] = bufio.NewReader(f)
	}
	for {
		var lines [2]string
		ended := 0
		for i, r := range readers {
			line, err := r.ReadBytes('\n')
			if err != nil && err != io.EOF {
				return "", "", err
			}
			if len(line) == 0 {
				ended++
			}
			lines[i] = trimmed(line)
		}
		if lines[0] != lines[1] || ended == 2 {
			return c.alone(lines, readers)
		}
	}
}

// alone decides which of two differing lines to report. If one of them comes later in the other
// file, only the other line is wrong, and that one is returned.
func (c *checked) alone(lines [2]string, readers [2]*bufio.Reader) (expected, found string, err error) {
	if lines[0] == lines[1] {
		return "", "", nil
	}
	var later [2]bool // whether this file contains the other file's line further on
	for i, r := range readers {
		for !later[i] && lines[1-i] != "" {
			line, err := r.ReadBytes('\n')
			if len(line) == 0 || err != nil && err != io.EOF {
				break
			}
			later[i] = trimmed(line) == lines[1-i]
		}
	}
	switch {
	case later[0] && !later[1]: // the found line is expected later, so the expected one is missing
		return lines[0], "", nil
	case later[1] && !later[0]:
		return "", lines[1], nil
	}
	return lines[0], lines[1], nil
}

// tellWrong prints a wrong line and its input as boards. It returns err.
func tellWrong(c *cli.Context, g game.Game, err error) error {
	var w *wrongLine
	if !errors.As(err, &w) {
		return err
	}
	out := c.App.Writer
	if c.Bool("json") {
		out = c.App.ErrWriter
	}
	fmt.Fprintf(out, "%s is wrong. Its input:\n", w.program)
	before := ""
	for i, line := range w.input {
		if i == mostInput {
			fmt.Fprintf(out, "… and %d lines more\n", len(w.input)-i)
			break
		}
		board := pictureOf(g, line)
		if board != before { // show the board once for consecutive lines of a position
			fmt.Fprint(out, board)
		}
		before = board
		fmt.Fprintln(out, strconv.Quote(line))
	}
	if len(w.input) == 0 {
		fmt.Fprintln(out, "  no line related to it")
	}
	fmt.Fprintf(out, "\n%s", beside(boardOf(g, w.expected, "expected"), boardOf(g, w.found, "found")))
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
	asked, err := command.ParseAsked(g, line, command.FromFinal)
	if err != nil {
		return ""
	}
	return g.Picture(asked.Position).String()
}

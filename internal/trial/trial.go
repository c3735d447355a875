// Package trial runs jobs with programs of a user, which replace the map or the reduce of a step, compares them with ours, and
// finds the first line that they get wrong. It prints nothing.
package trial

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
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
)

// A Runner runs jobs with the programs of a user, those of the pipe runner.
type Runner struct{ pipe.Runner }

// A WrongLine is the error that describes the first wrong line.
type WrongLine struct {
	Program  string   // the one that printed the line or omitted it, such as possible_map
	Input    []string // the lines of its input that should produce the expected line
	Expected string   // "" if no line was expected
	Found    string   // "" if no line was found
	Why      error    // the error of the job, if the job failed
}

func (w *WrongLine) Error() string {
	text := fmt.Sprintf("%s is wrong: expected %s, found %s", w.Program, quoted(w.Expected), quoted(w.Found))
	if w.Why != nil {
		text += fmt.Sprintf(" (%v)", w.Why)
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

// Run runs a job. If programs of the command line take part in it, Run runs it a second time with ours. The error is a
// *WrongLine if the outputs differ.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	stats, failed := r.Runner.Run(ctx, job)
	_, maps := r.Programs[job.Step+"_map"]
	_, reduces := r.Programs[job.Step+"_reduce"]
	if !maps && !reduces || ctx.Err() != nil {
		return stats, failed
	}
	defer func() { err = errors.Join(err, removeLines(job)) }()
	ours := r.Runner
	ours.Programs = nil
	t := &trial{job, &r.Runner, &ours}
	w := &WrongLine{Program: job.Step + "_map"}
	if failed == nil {
		if w.Expected, w.Found, err = t.differ(ctx); err != nil || w.Expected == w.Found {
			return stats, err
		}
	}
	if maps {
		wrong, err := t.wrongMap(ctx)
		switch {
		case failed != nil && (err != nil || wrong == nil):
			return stats, failed
		case err != nil:
			return stats, err
		case wrong != nil:
			wrong.Why = failed // perhaps for that reason
			return stats, wrong
		}
	}
	if failed != nil {
		return stats, failed
	}
	if reduces {
		w.Program = job.Step + "_reduce"
		w.Input, err = t.messages(ctx, cmp.Or(w.Expected, w.Found))
	}
	return stats, cmp.Or(err, error(w))
}

// mapped returns the output of a job's mapper for these lines, without merging.
func mapped(ctx context.Context, by *pipe.Runner, job *runner.Job, lines []byte) ([]byte, error) {
	alone := *job
	alone.Combine = false
	return by.Map(ctx, &alone, lines)
}

// A trial is a job that failed, or whose output differs from ours.
type trial struct {
	*runner.Job
	theirs, ours *pipe.Runner
}

// differ runs the job with our programs, and finds the first line in which the text files of its output differ from those of
// theirs. found is "" if the expected line is missing, and expected is "" if there is an additional line. They are
// equal if nothing differs.
func (t *trial) differ(ctx context.Context) (expected, found string, err error) {
	job := *t.Job
	job.Output, job.Progress = t.Output+".ours", nil
	defer func() { err = errors.Join(err, job.FS.RemoveAll(job.Output)) }()
	if err := job.FS.MkdirAll(job.Output); err != nil {
		return "", "", err
	}
	if _, err := t.ours.Run(ctx, &job); err != nil {
		return "", "", err
	}
	if err := errors.Join(withLines(&job), withLines(t.Job)); err != nil {
		return "", "", err
	}
	entries, err := job.FS.ReadDir(job.Output)
	for _, e := range entries {
		if err == nil && expected == found && store.IsLines(e.Name()) {
			expected, found, err = t.differIn(path.Join(job.Output, e.Name()), path.Join(t.Output, e.Name()))
		}
	}
	return expected, found, err
}

// withLines writes the records of a job that has run as lines, unless they are lines.
func withLines(job *runner.Job) error {
	if job.Step == step.Final {
		return nil
	}
	return job.Method.WriteLines(job)
}

// removeLines deletes what withLines has written.
func removeLines(job *runner.Job) error {
	if job.Step == step.Final {
		return nil
	}
	entries, err := job.FS.ReadDir(job.Output)
	for _, e := range entries {
		if store.IsLines(e.Name()) {
			err = errors.Join(err, job.FS.RemoveAll(path.Join(job.Output, e.Name())))
		}
	}
	return err
}

// messages returns what their mapper prints with the key of a line, in the order of the reducer's input.
func (t *trial) messages(ctx context.Context, line string) ([]string, error) {
	all, err := t.lines(ctx)
	if err != nil {
		return nil, err
	}
	printed, err := mapped(ctx, t.theirs, t.Job, joined(all))
	messages, same := slices.Sorted(trimmed(printed)), sameKey(t.Method.Game(), line)
	return slices.DeleteFunc(messages, func(message string) bool { return !same(message) }), err
}

// lines returns the lines that the mappers of the job read.
func (t *trial) lines(ctx context.Context) ([]string, error) {
	var input bytes.Buffer
	err := t.ours.MapInput(ctx, t.Job, &input)
	return slices.Collect(trimmed(input.Bytes())), err
}

// wrongMap finds an input line for which their mapper prints something else than ours; nil if there is none.
func (t *trial) wrongMap(ctx context.Context) (*WrongLine, error) {
	all, err := t.lines(ctx)
	if err != nil {
		return nil, err
	}
	printed := func(by *pipe.Runner, of []string) (map[string]bool, error) {
		out, err := mapped(ctx, by, t.Job, joined(of))
		set := make(map[string]bool)
		for line := range trimmed(out) {
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
		w := &WrongLine{Program: t.Step + "_map", Input: input, Expected: without(of[0], of[1]), Found: without(of[1], of[0])}
		if w.Expected != w.Found {
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

// trimmed yields the lines of a text. It removes a tab without a value after it at the end of a line, as every reader of these
// lines does.
func trimmed(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(text) {
			if !yield(trim(line)) {
				return
			}
		}
	}
}

func trim(line []byte) string {
	return string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\t'}))
}

// sameKey returns a function that reports whether another line has the same key as line, or is
// for the same position.
func sameKey(g game.Game, line string) func(other string) bool {
	p, err := notation.Parse(g, line, notation.FromFinal)
	key, _, _ := strings.Cut(line, "\t")
	return func(other string) bool {
		field, _, _ := strings.Cut(other, "\t")
		q, notOne := strconv.ParseUint(field, 16, 64)
		return field == key || err == nil && notOne == nil && q == p.Position
	}
}

// differIn is differ for one file.
func (t *trial) differIn(ours, theirs string) (expected, found string, err error) {
	var readers [2]*bufio.Reader
	for i, name := range []string{ours, theirs} {
		f, err := t.FS.Open(name)
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
	for ended := false; expected == found && !ended; {
		var lines [2]string
		ended = true
		for i, r := range readers {
			line, err := r.ReadBytes('\n')
			if err != nil && err != io.EOF {
				return "", "", err
			}
			ended = ended && len(line) == 0
			lines[i] = trim(line)
		}
		expected, found = lines[0], lines[1]
	}
	if t.Step != step.Final && expected != "" && found != "" && !sameKey(t.Method.Game(), expected)(found) { // both are in the order of keys
		if expected < found {
			found = ""
		} else {
			expected = ""
		}
	}
	return expected, found, nil
}

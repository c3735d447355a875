package pipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
)

// Limits of the search for the line at which a program fails.
const (
	blameTime  = 30 * time.Second // for all runs of the program
	blameBytes = 64 << 20         // the input of the task
)

// A programError is the error of a program of the user that failed by itself.
type programError struct {
	error
	child *child
}

func (e *programError) Unwrap() error { return e.error }

// blame returns the error of a job. If it is a programError, blame adds the line at which the program fails: the
// last one of the shortest beginning of its input with which it fails again. It finds the line by running the
// program on beginnings of its input. If the program fails without input too, or does not fail again, err stays
// as it is.
func (r *Runner) blame(ctx context.Context, job *runner.Job, err error) error {
	failed := new(programError)
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return err
	}
	again := *job
	again.Warn, again.Output = nil, job.Output+".again" // a reducer may write files into it
	if job.FS.MkdirAll(again.Output) != nil {
		return err
	}
	defer job.FS.RemoveAll(again.Output)
	ctx, cancel := context.WithTimeout(ctx, blameTime)
	defer cancel()
	r.with(ctx, &again, func(p *pipeline) error { // its error leaves err as it is
		lines, failing := p.input(failed.child)
		if failing != nil {
			return failing
		}
		fails := func(n int) bool { return p.fails(failed.child, bytes.Join(lines[:n], nil)) }
		if fails(0) || !fails(len(lines)) {
			return nil
		}
		n := sort.Search(len(lines), func(i int) bool { return fails(i + 1) })
		if ctx.Err() == nil {
			err = fmt.Errorf("%w; it fails at line %d of its input, %q", err, n+1, bytes.TrimSuffix(lines[n], []byte{'\n'}))
		}
		return nil
	})
	return err
}

// errLarge is the error of input for an input of more than blameBytes.
var errLarge = errors.New("the input is too large")

// input returns the lines that a task read.
func (p *pipeline) input(of *child) ([][]byte, error) {
	splits := p.splits
	if of.maps {
		splits = splits[of.number : of.number+1]
	}
	text := new(limited)
	for _, s := range splits {
		if err := s.Write(text); err != nil {
			return nil, err
		}
	}
	if of.maps {
		return slices.Collect(bytes.Lines(text.Bytes())), nil
	}
	messages, err := p.Map(p.ctx, p.Job, text.Bytes())
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for line := range bytes.Lines(messages) {
		if p.partition.Reducer(line) == of.number {
			lines = append(lines, line)
		}
	}
	slices.SortStableFunc(lines, func(a, b []byte) int { return bytes.Compare(keyOf(a), keyOf(b)) })
	return lines, nil
}

// keyOf returns the key of a line.
func keyOf(line []byte) []byte {
	key, _, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\t'})
	return key
}

// A limited is a buffer of at most blameBytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > blameBytes {
		return 0, errLarge
	}
	return l.Buffer.Write(b)
}

// fails reports whether the program of a task fails with an input.
func (p *pipeline) fails(of *child, input []byte) bool {
	kind := "reduce"
	if of.maps {
		kind = "map"
	}
	c := p.task(kind, of.number)
	started, _, _ := p.converse(c, func(w io.Writer) error {
		_, err := w.Write(input)
		return err
	}, func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	})
	return started == nil && errors.As(c.err, new(*programError))
}

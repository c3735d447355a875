package pipe

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/treereduce/treereduce/internal/engine/runner"
)

// shell executes Runner.Programs.
const shell = "/bin/sh"

// A lineCount counts the output of a reducer that reports no counters: each line is a record.
type lineCount struct {
	records int64
	within  bool // in the middle of a line
}

func (c *lineCount) Write(b []byte) (int, error) {
	c.records += int64(bytes.Count(b, []byte{'\n'}))
	c.within = !bytes.HasSuffix(b, []byte{'\n'})
	return len(b), nil
}

// MapInput writes the lines that the mappers of a job read.
func (r *Runner) MapInput(ctx context.Context, job *runner.Job, out io.Writer) error {
	return r.with(ctx, job, func(p *pipeline) error {
		for _, s := range p.splits {
			if err := s.Write(out); err != nil {
				return err
			}
		}
		return nil
	})
}

// Map returns what the first mapper of a job prints for these lines.
func (r *Runner) Map(ctx context.Context, job *runner.Job, lines []byte) ([]byte, error) {
	var printed bytes.Buffer
	err := r.with(ctx, job, func(p *pipeline) error {
		c := p.task("map", 0)
		started, _, err := p.converse(c, func(w io.Writer) error {
			_, err := w.Write(lines)
			return err
		}, func(r io.Reader) error {
			_, err := printed.ReadFrom(r)
			return err
		})
		return cmp.Or(started, c.err, err)
	})
	return printed.Bytes(), err
}

package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// This file converts between packed records and lines, for runners whose mappers and reducers read and print lines, and
// for people.

// An Input is the input of the maps of a job as lines, in pieces. Pieces may be read concurrently.
type Input struct {
	Pieces []Piece
	Open   []io.Closer // the files of the input
}

// A Piece is consecutive lines of one source.
type Piece struct {
	Source string // its name, for errors
	Size   int64  // approximate number of bytes
	Write  func(w io.Writer) error
}

// Close closes the files of the input.
func (in *Input) Close() error {
	var errs []error
	for _, c := range in.Open {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// OpenLines opens the input of the maps of the job.
func (j *Job) OpenLines() (in *Input, err error) {
	in = new(Input)
	if j.Step == step.Init {
		in.Pieces = []Piece{{Source: "start", Write: func(w io.Writer) error {
			_, err := io.WriteString(w, "start\n") // any line
			return err
		}}}
	} else {
		err = j.Method.AddInput(j, in)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// WriteShard writes shard i of the job from the sorted lines of a reducer.
func (j *Job) WriteShard(i int, lines io.Reader) error {
	if j.Step != step.Final {
		return j.Method.WriteShard(j, i, lines, fmt.Sprintf("output of reducer %d of %s", i, j.Name))
	}
	out, err := j.Create(jobdir.LinesName(i))
	if err != nil {
		return err
	}
	_, err = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{lines})
	return cmp.Or(err, out.Close())
}

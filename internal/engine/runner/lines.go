package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// This file converts between packed records and lines, for runners whose mappers and reducers read and print lines, and
// for people.

// An Input is the input of the maps of a job as lines, in pieces. Pieces may be read concurrently.
type Input struct {
	Pieces []Piece
	open   []io.Closer
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
	for _, c := range in.open {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// OpenLines opens the input of the maps of the job.
func (j *Job) OpenLines() (in *Input, err error) {
	in = new(Input)
	switch {
	case j.Step == step.Init:
		in.Pieces = []Piece{{Source: j.Input[0], Write: func(w io.Writer) error { return copyFile(w, j, j.Input[0]) }}}
	case j.Method.Blocks != nil:
		err = in.addBlocks(j, j.Method.Blocks)
	default:
		err = in.addRows(j, j.Method.Layers)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// copyFile copies a file as it is.
func copyFile(w io.Writer, j *Job, name string) error {
	f, err := j.FS.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(struct{ io.Writer }{w}, f)
	return err
}

const (
	// pieceRanges is the number of ranges, and pieceRows that of rows, of a piece.
	pieceRanges = 64
	pieceRows   = 1 << 14
)

// addBlocks adds the tiers that a job by blocks reads. The table has half of the positions, the final job reads all.
func (in *Input) addBlocks(j *Job, g game.Tiered) error {
	dirs := j.Input
	switch half := game.HalfOf(g); {
	case j.Step == step.Solve:
		dirs = append(slices.Clone(dirs), j.Predecessors)
	case j.Step == step.Final && half != nil:
		g = half
	}
	for i, dir := range dirs {
		tier := j.Tier // of the predecessors
		if i < len(j.Input) {
			tier = j.InputTier(i)
		}
		t, err := jobdir.OpenTier(j.FS, dir, g, tier)
		if err != nil {
			return err
		}
		in.open = append(in.open, t)
		for from := 0; from < t.Len(); from += pieceRanges {
			to := min(from+pieceRanges, t.Len())
			in.Pieces = append(in.Pieces, Piece{dir, int64(to-from) * pieceRanges, func(w io.Writer) error { return t.WriteLines(w, from, to) }})
		}
	}
	return nil
}

// addRows adds the rows that a job by layers reads.
func (in *Input) addRows(j *Job, g game.Game) error {
	sources, err := j.Rows(g)
	width := streamfmt.KeyWidth(g.KeyBits())
	for _, s := range sources {
		in.open = append(in.open, s)
		if s.Rows() == 0 {
			continue
		}
		for _, interval := range layers.Cut(pieceRows, s) {
			in.Pieces = append(in.Pieces, Piece{fmt.Sprintf("%s of tier %d", s.Kind(), s.Tier()), interval.Rows * int64(2*width), func(w io.Writer) error {
				rows, err := new(layers.Loader).Load(nil, s, interval)
				if err != nil {
					return err
				}
				var text []byte
				for _, row := range rows {
					text = streamfmt.AppendRow(text, row, s.Kind(), width)
				}
				_, err = w.Write(text)
				return err
			}})
		}
	}
	return err
}

// WriteShard writes shard i of the job from the sorted lines of a reducer.
func (j *Job) WriteShard(i int, lines io.Reader) error {
	source := fmt.Sprintf("output of reducer %d of %s", i, j.Name)
	if j.Step == step.Final {
		out, err := j.create(jobdir.LinesName(i))
		if err != nil {
			return err
		}
		_, err = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{lines})
		return cmp.Or(err, out.Close())
	}
	if g := j.Method.Blocks; g != nil {
		out, err := j.create(jobdir.PartName(i))
		if err != nil {
			return err
		}
		w := jobdir.NewWriter(out, g, j.Tier)
		return w.Finish(w.AppendLines(lines, source))
	}
	writes := layers.WritesOf(j.Step, j.Method.Layers, j.Tier)
	if !writes.Shards {
		if text, err := io.ReadAll(io.LimitReader(lines, 1)); err != nil || len(text) > 0 {
			return cmp.Or(err, fmt.Errorf("%s: expected no line", source))
		}
		return nil
	}
	out, err := j.create(jobdir.PartName(i))
	if err != nil {
		return err
	}
	w := layers.NewPartWriter(out, j.Method.Layers, j.Tier, writes.Shard)
	return w.Finish(w.AppendLines(lines, source))
}

// create creates a file in the directory of the job.
func (j *Job) create(name string) (io.WriteCloser, error) {
	return j.FS.Create(path.Join(j.Output, name))
}

// WriteLines writes the records in the directory of a job that has run as lines, too: shards, and messages to other jobs.
// No job reads them.
func (j *Job) WriteLines() error {
	g := j.Method.Blocks
	if g == nil {
		return layers.WriteLines(j.FS, j.Output, j.Method.Layers, j.create)
	}
	for i := range j.Reducers {
		name := path.Join(j.Output, jobdir.PartName(i))
		if _, err := j.FS.Stat(name); errors.Is(err, fs.ErrNotExist) {
			continue // a cluster may have fewer reducers
		}
		t, err := jobdir.OpenTierFiles(j.FS, []string{name}, g, j.Tier)
		if err != nil {
			return err
		}
		out, err := j.create(jobdir.LinesName(i))
		if err == nil {
			err = errors.Join(t.WriteLines(out, 0, t.Len()), out.Close())
		}
		if err = errors.Join(err, t.Close()); err != nil {
			return err
		}
	}
	return nil
}

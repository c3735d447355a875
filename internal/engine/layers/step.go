package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lines"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// RowMemory is the approximate number of bytes that a step needs for each row in memory.
const RowMemory = 80

// Special values of rowCheck.tier: the tier of the first row, and rows of all tiers.
const (
	unknownTier = -1
	anyTier     = -2
)

// A filter is one run of a step from in to out.
type filter struct {
	*step.Writer
	g      game.Game
	o      step.Options
	rows   int // limit of rows in memory, and in the outbox
	check  rowCheck
	sorter sorter
}

func newFilter(g game.Game, out io.Writer, o step.Options) *filter {
	o.Codec = cmp.Or(o.Codec, jobdir.Text)
	rows := max(1, cmp.Or(o.Memory, step.DefaultMemory)/RowMemory)
	return &filter{Writer: step.NewWriter(out, g), g: g, o: o, rows: rows, check: newRowCheck(g, o.Tier)}
}

// Map runs the map of a step (step.Init, Possible, Solve or Final) from in to out, line by
// line: it passes valid lines on. That of Final adds lines for the images of each position.
func Map(name string, g game.Game, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	f := newFilter(g, out, o)
	var err error
	switch name {
	case step.Init:
		err = f.MapStart(g, in, o.Source)
	case step.Possible:
		err = f.mapRows(in, Predecessors)
	case step.Solve:
		err = f.mapRows(in, Predecessors, Messages)
	case step.Final:
		err = f.mapFinal(in)
	default:
		err = step.Unknown(name)
	}
	return f.Counters, cmp.Or(err, f.Flush())
}

// Reduce runs the reduce of a step from in, sorted by key, to out.
func Reduce(name string, g game.Game, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	if name == step.Init {
		o.Tier = 0
	}
	f := newFilter(g, out, o)
	var err error
	switch name {
	case step.Init, step.Possible, step.Solve:
		if o.Tier < 0 {
			return f.Counters, fmt.Errorf("%s: the tier of the job must be given", name)
		}
		err = f.reduceRows(name, in)
	case step.Final:
		f.check.tier = anyTier
		final := step.NewFinalLines(f.Writer, game.Method{Game: g, Layers: g})
		err = f.each(in, []Kind{Values}, func(row Row, _ Kind) (string, error) {
			return final.Add(row.Key, ValueOf(row.Word)), f.Spill()
		})
	default:
		err = step.Unknown(name)
	}
	return f.Counters, cmp.Or(err, f.Flush())
}

// write prints rows as lines.
func (f *filter) write(rows []Row, kind Kind) error {
	for _, r := range rows {
		f.Buf = streamfmt.AppendRow(f.Buf, r, kind, f.Width)
		f.Records++
		if err := f.Spill(); err != nil {
			return err
		}
	}
	return nil
}

// each calls do for every row of in, which must be valid and of one of the given kinds. do
// returns a description of what it expected instead, or an error.
func (f *filter) each(in io.Reader, kinds []Kind, do func(row Row, kind Kind) (want string, err error)) error {
	return eachRow(in, f.o.Source, f.Width, &f.check, kinds, func(_ []byte, row Row, kind Kind) (string, error) {
		f.In++
		return do(row, kind)
	})
}

// mapRows passes rows on. If Options.Combine is set, it merges them and prints them in
// sorted runs.
func (f *filter) mapRows(in io.Reader, kinds ...Kind) error {
	var held [Values + 1][]Row // by kind
	n := 0
	emit := func() (err error) {
		for kind := range held {
			rows := held[kind]
			f.sorter.sort(rows)
			if err == nil {
				err = f.write(merge(rows, Kind(kind)), Kind(kind))
			}
			held[kind] = rows[:0]
		}
		n = 0
		return err
	}
	err := f.each(in, kinds, func(row Row, kind Kind) (string, error) {
		if !f.o.Combine {
			return "", f.write([]Row{row}, kind)
		}
		held[kind] = append(held[kind], row)
		if n++; n < f.rows {
			return "", nil
		}
		return "", emit()
	})
	if err != nil {
		return err
	}
	return emit()
}

// mapFinal passes rows on, and prints rows with the same values for the images of their positions.
func (f *filter) mapFinal(in io.Reader) error {
	f.check.tier = anyTier
	symmetric, _ := f.g.(game.Symmetric)
	images := make([]game.Position, 1)
	return f.each(in, []Kind{Values}, func(row Row, kind Kind) (string, error) {
		images[0] = row.Key
		if symmetric != nil {
			images = symmetric.Images(images[:0], row.Key)
		}
		for _, image := range images {
			if err := f.write([]Row{{Key: image, Word: row.Word}}, kind); err != nil {
				return "", err
			}
		}
		return "", nil
	})
}

// A batch is consecutive rows of sorted input. All rows of a key are in the same batch.
type batch struct {
	Rows
	first int64    // number of the first line
	keys  []uint64 // the key of each line
}

// reduceRows reads rows in batches and passes them to the kernel of the step.
func (f *filter) reduceRows(name string, in io.Reader) error {
	kinds := []Kind{Predecessors}
	if name == step.Solve {
		kinds = append(kinds, Messages)
	}
	writes := WritesOf(name, f.g, f.o.Tier)
	outbox := NewReducerOutbox(f.o.Create, f.o.Part, f.g, writes.Sent, f.o.Codec, f.rows)
	kernel := NewKernel(name, f.g, At(f.o.Tier, 0), outbox.Outbox, false)
	b := batch{first: 1}
	reduce := func() (err error) {
		f.sorter.sort(b.Predecessors)
		f.sorter.sort(b.Messages)
		if err = kernel.Do(&b.Rows); err != nil {
			return f.located(&b, err)
		}
		err = f.write(b.Made(writes.Shard), writes.Shard)
		b.first += int64(len(b.keys))
		b.keys, b.Predecessors, b.Messages = b.keys[:0], b.Predecessors[:0], b.Messages[:0]
		return err
	}
	err := f.each(in, kinds, func(row Row, kind Kind) (string, error) {
		if name == step.Init && row.Key != Start(f.g)[0].Key {
			return "the initial position", nil
		}
		if n := len(b.keys); n > 0 {
			last := b.keys[n-1]
			if row.Key < last {
				return lines.WantSorted, nil
			}
			if row.Key > last && n >= f.rows {
				if err := reduce(); err != nil {
					return "", err
				}
			}
		}
		b.keys = append(b.keys, row.Key)
		if kind == Messages {
			b.Messages = append(b.Messages, row)
		} else {
			b.Predecessors = append(b.Predecessors, row)
		}
		return "", nil
	})
	if err == nil {
		err = reduce()
	}
	n := kernel.Counted()
	f.Positions, f.Finished, f.Messages = n.Positions, n.Finished, n.Messages
	return outbox.Finish(err)
}

// located adds the line number to an error of a kernel. An error about a position gets the
// number of the first line of that position in the batch. Lines are sorted by key, but
// lines with the same key may come in any order.
func (f *filter) located(b *batch, err error) error {
	var wrong *PositionError
	if !errors.As(err, &wrong) {
		return err
	}
	i, _ := slices.BinarySearch(b.keys, wrong.Key)
	return fmt.Errorf("%s:%d: position %s: %s", f.o.Source, b.first+int64(i),
		streamfmt.AppendKey(nil, wrong.Key, f.Width), wrong.Reason)
}

package lists

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// StepOptions are what a step on lines needs to know beside the game.
type StepOptions struct {
	Source string // what the input is called in errors
	// Tier is that of the job; -1: not said. Reduce must know it, but for Init and
	// Final; what Final reads is of all tiers.
	Tier int
	Part int // the number of the reducer, for the names of what it tells
	// Combine merges equal rows in the map before they are printed.
	Combine bool
	// Rows bounds how many rows are held at a time, and how many wait to be told; 0
	// means DefaultRows. Each takes RowMemory.
	Rows int
	// Create makes a file of the outbox in the directory of the job, for Reduce of Init,
	// Possible and Solve.
	Create func(name string) (io.WriteCloser, error)
	// Told is the form of these files; "": text.
	Told jobdir.Codec
}

// RowMemory is about how many bytes a row takes of those that a step holds.
const RowMemory = 80

// DefaultRows is how many rows a step holds if it is not told: of 20 MB.
const DefaultRows = 1 << 18

// Instead of the tier of rows: it is that of the first one, or there are of all.
const (
	unknownTier = -1
	anyTier     = -2
)

// flushSize is how many bytes of output are gathered before they are written.
const flushSize = 64 << 10

// A filter is one run of a step.
type filter struct {
	g        game.Acyclic
	out      io.Writer
	o        StepOptions
	width    int
	check    rowCheck
	buf      []byte
	sorter   sorter
	counters step.Counters
}

func newFilter(g game.Acyclic, out io.Writer, o StepOptions) *filter {
	if o.Rows <= 0 {
		o.Rows = DefaultRows
	}
	if o.Told == "" {
		o.Told = jobdir.Text
	}
	return &filter{g: g, out: out, o: o, width: streamfmt.KeyWidth(g.KeyBits()), check: rowCheck{g: g, tier: o.Tier}}
}

// Map runs the map of a step (step.Init, Possible, Solve, Final) from in to out, line by
// line: it passes on what the rules allow.
func Map(name string, g game.Acyclic, in io.Reader, out io.Writer, o StepOptions) (step.Counters, error) {
	f := newFilter(g, out, o)
	var err error
	switch name {
	case step.Init:
		err = f.mapInit(in)
	case step.Possible:
		err = f.mapRows(in, Parents)
	case step.Solve:
		err = f.mapRows(in, Parents, Messages)
	case step.Final:
		f.check.tier, f.o.Combine = anyTier, false
		err = f.mapRows(in, Values)
	default:
		err = unknown(name)
	}
	return f.counters, f.finish(err)
}

// Reduce runs the reduce of a step from in, sorted by key, to out.
func Reduce(name string, g game.Acyclic, in io.Reader, out io.Writer, o StepOptions) (step.Counters, error) {
	if name == step.Init {
		o.Tier = 0
	}
	f := newFilter(g, out, o)
	var err error
	switch name {
	case step.Init, step.Possible, step.Solve:
		if o.Tier < 0 {
			return f.counters, fmt.Errorf("%s: the tier of the job must be given", name)
		}
		err = f.reduceRows(name, in)
	case step.Final:
		f.check.tier = anyTier
		err = f.reduceFinal(in)
	default:
		err = unknown(name)
	}
	return f.counters, f.finish(err)
}

func unknown(name string) error { return fmt.Errorf("unknown step %q", name) }

// write prints rows as lines.
func (f *filter) write(rows []Row, kind Kind) error {
	for _, r := range rows {
		f.buf = streamfmt.AppendRow(f.buf, r, kind, f.width)
		f.counters.Out++
		if err := f.spill(); err != nil {
			return err
		}
	}
	return nil
}

// spill writes the output that was gathered, once it is worth it.
func (f *filter) spill() error {
	if len(f.buf) < flushSize {
		return nil
	}
	return f.flush()
}

func (f *filter) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	_, err := f.out.Write(f.buf)
	f.buf = f.buf[:0]
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// finish writes what is left: also before a wrong line, as it says how far the step
// came.
func (f *filter) finish(err error) error {
	flushed := f.flush()
	if err == nil {
		err = flushed
	}
	return err
}

// mapInit prints the start if there is a line at all.
func (f *filter) mapInit(in io.Reader) error {
	r := streamfmt.NewLineReader(in, f.o.Source)
	for {
		if _, err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		f.counters.In++
	}
	if f.counters.In == 0 {
		return nil
	}
	return f.write(Start(f.g), Parents)
}

// each calls do for every row of in that the rules allow, which is of one of some kinds.
// do returns what it expected instead, or an error.
func (f *filter) each(in io.Reader, kinds []Kind, do func(row Row, kind Kind) (want string, err error)) error {
	r := streamfmt.NewLineReader(in, f.o.Source)
	for {
		line, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f.counters.In++
		row, kind, want := streamfmt.ParseRow(line, f.width)
		if want == "" && !slices.Contains(kinds, kind) {
			want = wantKind(kinds[0])
			for _, k := range kinds[1:] {
				want += ", or " + wantKind(k)
			}
		}
		if want == "" {
			want = f.check.row(row, kind)
		}
		if want == "" {
			want, err = do(row, kind)
		}
		if want != "" {
			err = r.Errorf(want, line)
		}
		if err != nil {
			return err
		}
	}
}

// mapRows passes rows on. Those that are gathered to be merged are printed sorted.
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
		if n++; n < f.o.Rows {
			return "", nil
		}
		return "", emit()
	})
	if err != nil {
		return err
	}
	return emit()
}

// A batch is rows that follow one another in sorted lines, all of their keys.
type batch struct {
	first    int64    // its first line
	keys     []uint64 // of its lines
	parents  []Row
	messages []Row
}

// reduceRows gathers rows into batches, and gives them to the kernel of the step.
func (f *filter) reduceRows(name string, in io.Reader) error {
	kinds := []Kind{Parents}
	if name == step.Solve {
		kinds = append(kinds, Messages)
	}
	_, tells := KindsOf(name)
	writer := NewOutboxWriter(f.o.Create, f.o.Part, f.g, tells, f.o.Told)
	box := NewOutbox(f.g, tells, f.o.Told, f.o.Rows, writer.Append)
	do := f.possible(box)
	if name == step.Solve {
		do = f.solve(box)
	}
	b := batch{first: 1}
	err := f.each(in, kinds, func(row Row, kind Kind) (string, error) {
		if name == step.Init && row.Key != f.g.Start() {
			return "the position before the first move", nil
		}
		if n := len(b.keys); n > 0 {
			last := b.keys[n-1]
			if row.Key < last {
				return jobdir.WantSorted, nil
			}
			if row.Key > last && n >= f.o.Rows {
				if err := f.reduceBatch(&b, do); err != nil {
					return "", err
				}
			}
		}
		b.keys = append(b.keys, row.Key)
		if kind == Messages {
			b.messages = append(b.messages, row)
		} else {
			b.parents = append(b.parents, row)
		}
		return "", nil
	})
	if err == nil {
		err = f.reduceBatch(&b, do)
	}
	if err == nil {
		err = box.Flush()
	}
	return writer.Finish(err)
}

// reduceBatch gives a batch to a kernel, and empties it. Whoever sorted its lines by key
// need not have looked at what comes after the tab. What is wrong with a position is told
// of its first line.
func (f *filter) reduceBatch(b *batch, do func(b *batch) error) error {
	err := do(b)
	var wrong *PositionError
	if errors.As(err, &wrong) {
		i, _ := slices.BinarySearch(b.keys, wrong.Key)
		return fmt.Errorf("%s:%d: position %s: %s", f.o.Source, b.first+int64(i),
			streamfmt.AppendKey(nil, wrong.Key, f.width), wrong.Reason)
	}
	b.first += int64(len(b.keys))
	b.keys, b.parents, b.messages = b.keys[:0], b.parents[:0], b.messages[:0]
	return err
}

// possible is Possible for batches.
func (f *filter) possible(box *Outbox) func(*batch) error {
	k := NewPossible(f.g, f.o.Tier, box)
	return func(b *batch) error {
		f.sorter.sort(b.parents)
		rows, err := k.Do(b.parents)
		if err != nil {
			return err
		}
		f.count(k.Counters)
		return f.write(rows, Parents)
	}
}

// solve is Solve for batches.
func (f *filter) solve(box *Outbox) func(*batch) error {
	k := NewSolve(f.g, f.o.Tier, box)
	var values []Row
	return func(b *batch) (err error) {
		f.sorter.sort(b.parents)
		f.sorter.sort(b.messages)
		if values, err = k.Do(values, b.parents, b.messages); err != nil {
			return err
		}
		f.count(k.Counters)
		return f.write(values, Values)
	}
}

// count takes over what a kernel has counted so far.
func (f *filter) count(c Counters) {
	f.counters.Positions, f.counters.Done, f.counters.Messages = c.Positions, c.Done, c.Told
}

// reduceFinal prints each position once.
func (f *filter) reduceFinal(in io.Reader) error {
	var last Row
	return f.each(in, []Kind{Values}, func(row Row, _ Kind) (string, error) {
		before := last
		last = row
		switch first := f.counters.In == 1; {
		case first:
		case row.Key < before.Key:
			return jobdir.WantSorted, nil
		case row == before:
			return "", nil
		case row.Key == before.Key:
			return fmt.Sprintf("the value %d that another line gave this key", before.Word), nil
		}
		n := len(f.buf)
		f.buf = step.AppendFinal(f.buf, f.g, row.Key, ValueOf(row.Word))
		if len(f.buf) > n {
			f.counters.Out++
		}
		return "", f.spill()
	})
}

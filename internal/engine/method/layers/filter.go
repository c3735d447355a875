package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
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
	limit  int  // the most rows in memory, and in the outbox
	pairs  bool // mapper and reducer exchange pairs, see mapInputs, and a shard is a packed file
	check  rowCheck
	sorter sorter
}

func newFilter(g game.Game, out io.Writer, o step.Options) *filter {
	limit := max(1, cmp.Or(o.Memory, step.DefaultMemory)/RowMemory)
	return &filter{Writer: step.NewWriter(out, g), g: g, o: o, limit: limit, pairs: o.Packed, check: rowCheck{g: g, tier: o.Tier, draws: !game.IsAcyclic(g)}}
}

// Map runs the map of a step from in to out, line by line: it passes valid lines on. That of Final adds lines for the images of
// each position.
func (m *Method) Map(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	f := newFilter(m.g, out, o)
	var err error
	switch {
	case name == step.Init:
		err = f.MapStart(Start(m.g)[0].Key, in, o.Source)
	case name == step.Final:
		err = f.mapFinal(in)
	case f.pairs:
		err = f.mapSplits(name, in)
	default:
		err = f.mapRows(in, reads(name, false)...)
	}
	return f.Counters, cmp.Or(err, f.Flush())
}

// reads returns the kinds of the rows that the job of a step reads, on a tier with inner moves if loops is set.
func reads(name string, loops bool) []Kind {
	switch {
	case name == step.Ties || name == step.Solve && loops:
		return []Kind{Messages}
	case name == step.Solve || name == step.Begin:
		return []Kind{Predecessors, Messages}
	}
	return []Kind{Predecessors}
}

// Reduce runs the reduce of a step from in, sorted by key, to out.
func (m *Method) Reduce(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	if name == step.Init {
		o.Tier = 0
	}
	f := newFilter(m.g, out, o)
	var err error
	switch {
	case name == step.Final:
		f.check.tier = anyTier
		final := step.NewFinalLines(f.Writer, m.g)
		err = f.each(in, []Kind{Values}, func(row Row, _ Kind) (string, error) {
			return final.Add(row.Key, ValueOf(row.Word)), f.Spill()
		})
	case o.Tier < 0:
		return f.Counters, fmt.Errorf("%s: the tier of the job must be given", name)
	default:
		err = f.reduceRows(name, in)
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
	return eachRow(in, f.o.Source, f.Width, &f.check, kinds, func(row Row, kind Kind) (string, error) {
		f.In++
		return do(row, kind)
	})
}

// mapRows passes rows on. If Options.Combine is set, it merges them and prints them in
// sorted runs.
func (f *filter) mapRows(in io.Reader, kinds ...Kind) error {
	if !f.o.Combine {
		f.limit = 1
	}
	add, emit := f.collect(f.write)
	err := f.each(in, kinds, func(row Row, kind Kind) (string, error) { return "", add(row, kind) })
	if err != nil {
		return err
	}
	return emit()
}

// collect returns a function that adds a row, and one that passes those that wait to write, merged and sorted; it is also
// called whenever the memory is full.
func (f *filter) collect(write func(rows []Row, kind Kind) error) (add func(row Row, kind Kind) error, emit func() error) {
	var held [Values + 1][]Row // by kind
	n := 0
	emit = func() (err error) {
		for kind := range held {
			rows := held[kind]
			f.sorter.sort(rows)
			if err == nil {
				err = write(merge(rows, Kind(kind)), Kind(kind))
			}
			held[kind] = rows[:0]
		}
		n = 0
		return err
	}
	add = func(row Row, kind Kind) error {
		held[kind] = append(held[kind], row)
		if n++; n < f.limit {
			return nil
		}
		return emit()
	}
	return add, emit
}

// mapFinal passes rows on, and prints rows with the same values for the images of their positions.
func (f *filter) mapFinal(in io.Reader) error {
	f.check.tier = anyTier
	var images []game.Position
	return f.each(in, []Kind{Values}, func(row Row, kind Kind) (string, error) {
		images = game.ImagesOf(images[:0], f.g, row.Key)
		for _, image := range images {
			if err := f.write([]Row{{Key: image, Word: row.Word}}, kind); err != nil {
				return "", err
			}
		}
		return "", nil
	})
}

// A reducer is the reduce of a step that writes rows. It passes its input to the kernel in batches: intervals of the keys of
// its partition, which together are all of these keys.
type reducer struct {
	*filter
	worker
	shard shard
	out   chunk
	cuts  []Interval // the rest of the partition; a batch ends where one of them does

	held Rows   // received, and not yet in a batch
	last uint64 // the key of the last line
}

// reduceRows reads rows in batches, adds the stored states, and passes them to the kernel of the step.
func (f *filter) reduceRows(name string, in io.Reader) error {
	at, writes := step.At(f.o.Tier, f.o.Pass), WritesOf(name, f.g, f.o.Tier)
	r := &reducer{filter: f}
	stored, err := openStored(f.o.FS, f.o.Edges, f.o.Runs, f.o.Absorb, f.g, f.o.Tier)
	if err != nil {
		return err
	}
	box := NewOutboxWriter(func() (io.WriteCloser, error) { return f.o.Create(OutboxName(f.o.Part)) }, f.g, writes.Sent)
	var outbox Outbox
	outbox.Reset(f.g, writes.Sent, f.limit, box.Append)
	r.worker = worker{writes: writes, stored: stored, kernel: NewKernel(name, f.g, at, &outbox)}
	for _, in := range cutAt(f.o.Borders, max(1, f.limit/4), stored.absorbed...) { // a position has several other rows beside its state
		if part := sort.Search(len(f.o.Borders), func(i int) bool { return in.First < f.o.Borders[i] }); part == f.o.Part || len(f.o.Borders) == 0 {
			r.cuts = append(r.cuts, in)
		}
	}
	r.shard, err = newShard(f.o.Create, f.g, f.o.Tier, writes, f.o.Part, forms{part: f.pairs || f.o.ByHand, table: f.pairs})
	switch {
	case err != nil:
	case f.pairs:
		err = r.readPairs(in)
	default:
		err = r.readLines(name, in)
	}
	if err == nil {
		err = r.flush(math.MaxUint64)
	}
	if err = r.shard.Finish(err); err == nil {
		err = outbox.Flush()
	}
	if err = box.Finish(err); err == nil && f.o.ByHand {
		err = f.writeSentLines()
	}
	n := r.kernel.Counted()
	n.In, n.Records = f.In, f.Records
	f.Counters = n
	return errors.Join(err, CloseAll(stored.all()))
}

// place returns a description of what was expected if not all keys from first to last are in the rest of the partition.
func (r *reducer) place(first, last uint64) (want string) {
	if n := len(r.cuts); n > 0 && r.cuts[0].First <= first && last <= r.cuts[n-1].Last {
		return ""
	}
	return fmt.Sprintf("a key of partition %d (see --borders), in ascending order", r.o.Part)
}

// readLines reads rows as lines.
func (r *reducer) readLines(name string, in io.Reader) error {
	return r.each(in, reads(name, game.Loops(r.g, r.o.Tier)), func(row Row, kind Kind) (string, error) {
		switch want := r.place(row.Key, row.Key); {
		case name == step.Init && row.Key != Start(r.g)[0].Key:
			return "the initial position", nil
		case row.Key < r.last:
			return step.WantSorted, nil
		case want != "":
			return want, nil
		case r.rowsHeld() >= r.limit && row.Key > r.last:
			if err := r.flush(row.Key - 1); err != nil {
				return "", err
			}
		}
		of := r.held.of(kind)
		r.last, *of = row.Key, append(*of, row)
		return "", nil
	})
}

// rowsHeld returns the number of rows in held.
func (r *reducer) rowsHeld() int { return len(r.held.Predecessors) + len(r.held.Messages) }

// flush passes all rows with keys up to last to the kernel, and writes what it makes of them.
func (r *reducer) flush(last uint64) error {
	rest := r.held
	r.loader.sorter.sort(rest.Predecessors)
	r.loader.sorter.sort(rest.Messages)
	for len(r.cuts) > 0 && r.cuts[0].First <= last {
		in := r.cuts[0]
		if in.Last <= last {
			r.cuts = r.cuts[1:]
		} else {
			in.Last, r.cuts[0].First = last, last+1
		}
		r.rows.Predecessors, r.rows.Messages = upTo(&rest.Predecessors, in.Last), upTo(&rest.Messages, in.Last)
		if err := r.do(in, &r.out); err != nil {
			return fmt.Errorf("%s: %w", r.o.Source, err)
		}
		if err := r.shard.Append(&r.out); err != nil {
			return err
		}
		if r.pairs || !r.writes.Shards {
			r.Records += r.out.records(r.writes)
		} else if err := r.write(r.out.rows, r.writes.Shard); err != nil {
			return err
		}
	}
	r.held.Predecessors = append(r.held.Predecessors[:0], rest.Predecessors...)
	r.held.Messages = append(r.held.Messages[:0], rest.Messages...)
	return nil
}

// writeSentLines writes the messages of a reducer, if there are any, as lines.
func (f *filter) writeSentLines() error {
	box := &file{fsys: f.o.FS, File: jobdir.File{Name: path.Join(f.o.Output, OutboxName(f.o.Part))}, g: f.g, sent: true}
	if _, err := f.o.FS.Stat(box.Name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return box.writeLines(f.o.Create)
}

package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"

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
	rows   int  // limit of rows in memory, and in the outbox
	pairs  bool // mapper and reducer exchange pairs, see mapInputs, and a shard is a packed file
	check  rowCheck
	sorter sorter
}

func newFilter(g game.Game, out io.Writer, o step.Options) *filter {
	rows := max(1, cmp.Or(o.Memory, step.DefaultMemory)/RowMemory)
	return &filter{Writer: step.NewWriter(out, g), g: g, o: o, rows: rows, pairs: o.Packed(), check: newRowCheck(g, o.Tier)}
}

// Map runs the map of a step from in to out, line by line: it passes valid lines on. That of Final adds lines for the images of
// each position.
func (m *Method) Map(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	f := newFilter(m.g, out, o)
	err := step.Check(name, m.g)
	switch {
	case err != nil:
	case name == step.Init:
		err = f.MapStart(m.g, in, o.Source)
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
	err := step.Check(name, m.g)
	switch {
	case err != nil:
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
	return eachRow(in, f.o.Source, f.Width, &f.check, kinds, func(_ []byte, row Row, kind Kind) (string, error) {
		f.In++
		return do(row, kind)
	})
}

// mapRows passes rows on. If Options.Combine is set, it merges them and prints them in
// sorted runs.
func (f *filter) mapRows(in io.Reader, kinds ...Kind) error {
	add, emit := f.collect(f.write)
	err := f.each(in, kinds, func(row Row, kind Kind) (string, error) {
		if !f.o.Combine {
			return "", f.write([]Row{row}, kind)
		}
		return "", add(row, kind)
	})
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
		if n++; n < f.rows {
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
	name   string
	writes Writes
	kernel Kernel
	shard  *PartWriter // nil: the output is the only form of it, or the step writes none
	table  *PartWriter // the shard of the table; nil: the step writes none
	states *PartWriter // nil: the step writes none
	stored storedRows
	loader Loader
	cuts   []Interval // the rest of the partition; a batch ends where one of them does
	union  []Row

	// The batch.

	rows  Rows
	first int64    // number of the first line
	keys  []uint64 // the key of each line
}

// reduceRows reads rows in batches, adds the stored states, and passes them to the kernel of the step.
func (f *filter) reduceRows(name string, in io.Reader) error {
	writes := WritesOf(name, f.g, f.o.Tier)
	box := NewOutboxWriter(func() (io.WriteCloser, error) { return f.o.Create(OutboxName(f.o.Part)) }, f.g, writes.Sent)
	outbox := NewOutbox(f.g, writes.Sent, f.rows, box.Append)
	r := &reducer{filter: f, name: name, writes: writes, first: 1}
	err := r.open(outbox)
	if err == nil {
		err = r.reduce(in)
	}
	for _, file := range []*PartWriter{r.shard, r.table, r.states} {
		if file != nil {
			err = file.Finish(err)
		}
	}
	if err == nil {
		err = outbox.Flush()
	}
	if err = box.Finish(err); err == nil && f.o.ByHand {
		err = f.writeSentLines()
	}
	if r.kernel != nil {
		n := r.kernel.Counted()
		n.In, n.Records = f.In, f.Records
		f.Counters = n
	}
	return errors.Join(err, r.stored.Close())
}

// open opens what the reducer reads and writes beside its input and output.
func (r *reducer) open(out *Outbox) (err error) {
	at := step.At(r.o.Tier, r.o.Pass)
	if r.stored, err = openStored(r.o.FS, r.o.Edges, r.o.Runs, r.o.Absorb, r.g, r.o.Tier); err != nil {
		return err
	}
	r.kernel = NewKernel(r.name, r.g, at, out)
	r.rows.Edges = func(decided []Row, do func(i int, predecessor game.Position) error) error {
		return r.stored.EachEdge(&r.loader, decided, do)
	}
	first, last, empty := r.partition()
	for _, cut := range Cut(r.rowsAtOnce(), r.stored.Absorbed...) {
		if !empty && cut.Last >= first && cut.First <= last {
			r.cuts = append(r.cuts, Interval{First: max(cut.First, first), Last: min(cut.Last, last)})
		}
	}
	if r.writes.States {
		r.states, err = r.create(statesName(r.o.Part), States)
	}
	if r.writes.Shards && (r.pairs || r.o.ByHand) && err == nil {
		r.shard, err = r.create(jobdir.PartName(r.o.Part), r.writes.Shard)
	}
	if r.writes.Shards && r.writes.Shard == Values && r.pairs && err == nil {
		var file io.WriteCloser
		if file, err = r.o.Create(jobdir.ShardName(jobdir.TablePart, r.o.Part)); err == nil {
			r.table = newTableWriter(file, r.g, r.o.Tier)
		}
	}
	return err
}

// create creates a file of rows of a kind.
func (r *reducer) create(name string, kind Kind) (*PartWriter, error) {
	file, err := r.o.Create(name)
	if err != nil {
		return nil, err
	}
	return NewPartWriter(file, r.g, r.o.Tier, kind), nil
}

// rowsAtOnce returns how many absorbed states a batch has at most: a position has several other rows.
func (r *reducer) rowsAtOnce() int { return max(1, r.filter.rows/4) }

// partition returns the keys of the reducer, from first to last; empty: it has none.
func (r *reducer) partition() (first, last uint64, empty bool) {
	borders, part := r.o.Borders, r.o.Part
	last = math.MaxUint64
	if part > 0 && part <= len(borders) {
		first = borders[part-1]
	}
	if part < len(borders) {
		last = borders[part] - 1
		empty = borders[part] == 0
	}
	return first, last, empty
}

// reduce reads all batches.
func (r *reducer) reduce(in io.Reader) error {
	each := func(do func(row Row, kind Kind) (want string, err error)) error {
		if r.pairs {
			return r.eachPaired(in, do)
		}
		return r.each(in, reads(r.name, game.Loops(r.g, r.o.Tier)), do)
	}
	err := each(func(row Row, kind Kind) (string, error) {
		if r.name == step.Init && row.Key != Start(r.g)[0].Key {
			return "the initial position", nil
		}
		n := len(r.keys)
		if n > 0 && row.Key < r.keys[n-1] {
			return step.WantSorted, nil
		}
		for len(r.cuts) > 0 && row.Key > r.cuts[0].Last {
			if err := r.do(r.cuts[0].Last); err != nil {
				return "", err
			}
			n = 0
		}
		if len(r.cuts) == 0 || row.Key < r.cuts[0].First {
			return fmt.Sprintf("a key of partition %d (see --borders), in ascending order", r.o.Part), nil
		}
		if n >= r.filter.rows && row.Key > r.keys[n-1] {
			if err := r.do(r.keys[n-1]); err != nil {
				return "", err
			}
		}
		r.keys = append(r.keys, row.Key)
		if kind == Messages {
			r.rows.Messages = append(r.rows.Messages, row)
		} else {
			r.rows.Predecessors = append(r.rows.Predecessors, row)
		}
		return "", nil
	})
	for len(r.cuts) > 0 && err == nil {
		err = r.do(r.cuts[0].Last)
	}
	return err
}

// do reduces the batch, which ends with the key last of the next interval.
func (r *reducer) do(last uint64) (err error) {
	rows, in := &r.rows, Interval{First: r.cuts[0].First, Last: last}
	if r.cuts[0].Last == last {
		r.cuts = r.cuts[1:]
	} else {
		r.cuts[0].First = last + 1
	}
	r.sorter.sort(rows.Predecessors)
	r.sorter.sort(rows.Messages)
	of := rows.Messages
	if r.writes.Sent == Predecessors {
		of = rows.Predecessors
	}
	if err := r.stored.Load(&r.loader, in, of); err != nil {
		return err
	}
	rows.Known = r.stored.Known
	if err := r.kernel.Do(rows); err != nil {
		return r.located(err)
	}
	if r.writes.States {
		r.union = r.stored.With(r.union[:0], rows.States)
		if !r.writes.Shards {
			r.Records += int64(len(r.union))
		}
		if err := r.states.Append(r.union); err != nil {
			return err
		}
	}
	made := rows.Made(r.writes.Shard)
	for _, file := range []*PartWriter{r.shard, r.table} {
		if err == nil && file != nil {
			err = file.Append(made)
		}
	}
	switch {
	case err != nil || !r.writes.Shards:
	case r.pairs:
		r.Records += int64(len(made))
	default:
		err = r.write(made, r.writes.Shard)
	}
	r.first += int64(len(r.keys))
	r.keys, rows.Predecessors, rows.Messages = r.keys[:0], rows.Predecessors[:0], rows.Messages[:0]
	return err
}

// located adds the line number to an error of a kernel. An error about a position gets the
// number of the first line of that position in the batch. Lines are sorted by key, but
// lines with the same key may come in any order.
func (r *reducer) located(err error) error {
	var wrong *PositionError
	if !errors.As(err, &wrong) {
		return err
	}
	place := r.o.Source
	if i, found := slices.BinarySearch(r.keys, wrong.Key); found && !r.pairs {
		place = fmt.Sprintf("%s:%d", place, r.first+int64(i))
	}
	return fmt.Errorf("%s: position %s: %s", place, streamfmt.AppendKey(nil, wrong.Key, r.Width), wrong.Reason)
}

// writeSentLines writes the messages of a reducer, if there are any, as lines.
func (f *filter) writeSentLines() error {
	box := &file{fsys: f.o.FS, name: path.Join(f.o.Output, OutboxName(f.o.Part)), g: f.g}
	if _, err := f.o.FS.Stat(box.name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return box.writeSent(f.o.Create)
}

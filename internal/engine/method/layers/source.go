package layers

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// MaxOpen is the number of files that a Source, or a table, keeps open. Further files are
// opened for each interval that is read. Some systems allow a process only 256 open files.
const MaxOpen = 64

// A Source is rows of one kind in several files: of tiers, or the messages that a stage has received. A Source is safe for
// concurrent use.
type Source struct {
	kind  Kind
	files []*file
	rows  int64
}

// Open opens rows of a game: Predecessors or States of a tier, in the directories of jobs, or Values of consecutive tiers,
// each in the directory of a job or in files of the table.
func Open(fsys store.FS, g game.Game, kind Kind, tier int, names ...string) (*Source, error) {
	s, prefix := &Source{kind: kind}, store.PartPrefix
	if kind == States {
		prefix = store.StatesPrefix
	}
	for i, name := range names {
		at := tier
		if kind == Values {
			at += i
		}
		files, err := filesOf(fsys, name, prefix, g)
		if err == nil {
			err = s.add(step.At(at, 0), files...)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// OpenValues opens the values of a tier, which are in some files, in the order of their keys.
func OpenValues(fsys store.FS, of []jobdir.File, g game.Game, tier int) (*Source, error) {
	var files []*file
	for _, f := range of {
		files = append(files, &file{fsys: fsys, File: f, g: g})
	}
	return openFiles(step.At(tier, 0), Values, files...)
}

// OpenInbox opens the messages that the outboxes of some directories contain for a stage.
func OpenInbox(dirs []*Dir, to step.Stage, kind Kind) (*Source, error) {
	var boxes []*file
	for _, d := range dirs {
		for _, b := range d.boxes {
			if b.pack.StageRecords(int(to)) > 0 {
				boxes = append(boxes, b)
			}
		}
	}
	return openFiles(to, kind, boxes...)
}

// openFiles opens the rows of a stage in files.
func openFiles(at step.Stage, kind Kind, files ...*file) (*Source, error) {
	s := &Source{kind: kind}
	if err := s.add(at, files...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// add adds the rows of a stage in files. It opens those that are not open, and closes them again if they have none, or are
// too many to stay open.
func (s *Source) add(at step.Stage, files ...*file) error {
	var before *file
	for _, of := range files {
		f, err := of.open()
		if err != nil {
			return err
		}
		err = f.locate(at, s.kind, before)
		if !of.isOpen && (err != nil || len(f.cells) == 0 || len(s.files) >= MaxOpen) {
			err = errors.Join(err, f.close())
		}
		if err != nil {
			return err
		}
		if len(f.cells) > 0 {
			s.files, before = append(s.files, f), f
		}
		for _, c := range f.cells {
			s.rows += int64(c.Records)
		}
	}
	return nil
}

// Close closes the files.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// Rows returns the number of rows.
func (s *Source) Rows() int64 { return s.rows }

// Cells returns the number of cells in all files.
func (s *Source) Cells() (n int) {
	for range s.cells() {
		n++
	}
	return n
}

// cells yields the cells of all files.
func (s *Source) cells() iter.Seq[*streamfmt.Cell] {
	return func(yield func(*streamfmt.Cell) bool) {
		for _, f := range s.files {
			for i := range f.cells {
				if !yield(&f.cells[i]) {
					return
				}
			}
		}
	}
}

// Counts returns the number of rows by value, for Values.
func (s *Source) Counts() map[game.Value]uint64 {
	counts := make(map[game.Value]uint64)
	for _, f := range s.files {
		for v, n := range f.pack.Counts {
			if n > 0 {
				counts[game.Value(v)] += n
			}
		}
	}
	return counts
}

// Each calls do with consecutive rows until it has passed all rows. If the source is a
// shard or a file of the table, they are in the order of keys. The rows are valid only
// during the call.
func (s *Source) Each(do func(rows []Row) error) error {
	var l Loader
	var rows []Row
	for _, f := range s.files {
		err := f.with(func(f *file) (err error) {
			for i := range f.cells {
				if rows, err = l.cells.Append(rows, f.pack, f.cells[i:], math.MaxUint64); err != nil {
					return err
				}
				if len(rows) > pieceRows-streamfmt.CellRows || i == len(f.cells)-1 {
					if err := do(rows); err != nil {
						return err
					}
					rows = rows[:0]
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// find returns the file and the number of the only cell that can contain a key, in a source of sorted Values (shards
// or files of the table). f is nil if no cell can.
func (s *Source) find(key uint64) (f *file, cell int) {
	for _, f := range s.files {
		for i := range f.touching(Interval{First: key, Last: key}) {
			return f, i
		}
	}
	return nil, 0
}

// An Interval is the keys from First to Last, both included.
type Interval struct {
	First, Last uint64
	Rows        int64 // estimated, in all sources
}

// Cut divides all keys into intervals with about most rows each, counted over all sources. A
// interval may exceed that by 1,024 rows for each stretch of their files, and because all
// rows of one key are in the same interval. Cut returns at least one interval.
func Cut(most int, sources ...*Source) []Interval {
	var all int64
	for _, s := range sources {
		all += s.rows
	}
	most = max(1, most)
	if all <= int64(most) {
		return []Interval{{0, math.MaxUint64, all}}
	}
	type end struct {
		last uint64
		rows uint32
	}
	var ends []end
	for _, s := range sources {
		for c := range s.cells() {
			ends = append(ends, end{c.Last, c.Records})
		}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.last, b.last) })
	n := (all + int64(most) - 1) / int64(most)
	each := (all + n - 1) / n // gives intervals of about the same size
	intervals := make([]Interval, 0, n)
	interval := Interval{}
	for _, e := range ends {
		if interval.Rows += int64(e.rows); interval.Rows >= each && e.last < math.MaxUint64 {
			if e.last < interval.First {
				continue // belongs to the key that ended the previous interval
			}
			interval.Last = e.last
			intervals = append(intervals, interval)
			interval = Interval{First: e.last + 1}
		}
	}
	interval.Last = math.MaxUint64
	return append(intervals, interval)
}

// cutAt is Cut, and divides the intervals at borders, the first keys of all shards but the first.
func cutAt(borders []game.Position, most int, sources ...*Source) (all []Interval) {
	for _, in := range Cut(most, sources...) {
		for ; len(borders) > 0 && borders[0] <= in.Last; borders = borders[1:] {
			if border := borders[0]; border > in.First {
				before := in
				before.Last = border - 1
				all = append(all, before)
				in.First = border
			}
		}
		all = append(all, in)
	}
	return all
}

// A Loader loads intervals. It is used by one goroutine, and reuses its memory.
type Loader struct {
	cells    streamfmt.RowReader
	touching []int // numbers of cells
	sorter   sorter

	newer, union, wanted, picked []Row // see runs.go
}

// Load returns the rows of an interval, sorted by Key, then Word, in the memory of dst.
// Duplicates are kept.
func (l *Loader) Load(dst []Row, s *Source, in Interval) ([]Row, error) {
	most := 0
	for _, f := range s.files {
		for i := range f.touching(in) {
			most += in.rowsOf(&f.cells[i])
		}
	}
	if dst = dst[:0]; cap(dst) < most {
		dst = make([]Row, 0, most)
	}
	err := l.each(s, in, nil, func(f *file, cells []streamfmt.Cell) (err error) {
		n := len(dst)
		if dst, err = l.cells.Append(dst, f.pack, cells, in.Last); err != nil {
			return err
		}
		if c := &cells[0]; c.First < in.First || c.Last > in.Last {
			dst = append(dst[:n], slices.DeleteFunc(dst[n:], func(r Row) bool { return r.Key < in.First || r.Key > in.Last })...)
		}
		return nil
	})
	if err == nil {
		l.sorter.sort(dst)
	}
	return dst, err
}

// each calls do for each cell of a source that may contain keys of an interval, and for which wanted, unless it is nil, returns
// true. It opens only files that have such cells. The first of cells is the cell; the others are those of them that follow
// without another cell between, to be read ahead.
func (l *Loader) each(s *Source, in Interval, wanted func(c *streamfmt.Cell) bool, do func(f *file, cells []streamfmt.Cell) error) error {
	for _, f := range s.files {
		l.touching = l.touching[:0]
		for i := range f.touching(in) {
			if wanted == nil || wanted(&f.cells[i]) {
				l.touching = append(l.touching, i)
			}
		}
		if len(l.touching) == 0 {
			continue
		}
		err := f.with(func(f *file) error {
			next := 0
			for n, at := range l.touching {
				for next = max(next, n+1); next < len(l.touching) && l.touching[next] == at+next-n; {
					next++
				}
				if err := do(f, f.cells[at:at+next-n]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf estimates how many rows of a cell belong to the interval, of which it may contain keys.
func (in Interval) rowsOf(c *streamfmt.Cell) int {
	if c.First >= in.First && c.Last <= in.Last {
		return int(c.Records)
	}
	both := float64(min(c.Last, in.Last)-max(c.First, in.First)) + 1
	return int(both/(float64(c.Last-c.First)+1)*float64(c.Records)) + 1
}

// CloseAll closes sources.
func CloseAll(all []*Source) error {
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Pick calls do for each row of a source whose key is that of one of wanted, whose keys ascend; i is its index. It reads only
// cells that may contain these keys. The rows of a key are in any order.
func (l *Loader) Pick(s *Source, wanted []Row, do func(i int, row Row) error) error {
	if len(wanted) == 0 {
		return nil
	}
	// within returns which of wanted a cell may contain.
	within := func(c *streamfmt.Cell) (first, end int) {
		first = sort.Search(len(wanted), func(i int) bool { return wanted[i].Key >= c.First })
		return first, first + sort.Search(len(wanted)-first, func(i int) bool { return wanted[first+i].Key > c.Last })
	}
	in := Interval{First: wanted[0].Key, Last: wanted[len(wanted)-1].Key}
	some := func(c *streamfmt.Cell) bool {
		first, end := within(c)
		return first < end
	}
	return l.each(s, in, some, func(f *file, cells []streamfmt.Cell) (err error) {
		i, end := within(&cells[0])
		if l.picked, err = l.cells.Append(l.picked[:0], f.pack, cells, wanted[end-1].Key); err != nil {
			return err
		}
		for _, row := range l.picked {
			for i < end && wanted[i].Key < row.Key {
				i++
			}
			if i < end && wanted[i].Key == row.Key {
				if err := do(i, row); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

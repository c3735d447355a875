package layers

import (
	"cmp"
	"errors"
	"math"
	"path"
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

// A Source is the rows of one tier and kind in several files: its shards or states, or the messages
// that a stage of the tier has received. A Source is safe for concurrent use.
type Source struct {
	tier  int // or the number of the stage
	kind  Kind
	files []*file
	rows  int64
}

// OpenPart opens the shards of a directory: of a data_firstN as Predecessors, of a data_secondN
// as Values.
func OpenPart(d *Dir, tier int, kind Kind) (*Source, error) {
	return openSource(d.parts, tier, kind, true)
}

// openStates opens the states in a directory; nil: it has none.
func openStates(d *Dir, tier int) (*Source, error) {
	if len(d.states) == 0 {
		return nil, nil
	}
	return openSource(d.states, tier, States, true)
}

// OpenFile opens one file that does not belong to the directory of a job, such as a file of
// the table. seal may be nil.
func OpenFile(fsys store.FS, name string, g game.Game, tier int, kind Kind, seal *store.SealedFile) (*Source, error) {
	return openSource([]*file{{fsys: fsys, name: name, seal: seal, g: g}}, tier, kind, true)
}

// OpenTableTier opens a tier of the table, which is in some files of a directory, in the order of their keys.
func OpenTableTier(fsys store.FS, dir string, g game.Game, tier int, sealed []store.SealedFile) (*Source, error) {
	var files []*file
	for i := range sealed {
		files = append(files, &file{fsys: fsys, name: path.Join(dir, sealed[i].Name), seal: &sealed[i], g: g})
	}
	return openSource(files, tier, Values, true)
}

// OpenInbox opens the messages that the outboxes of some directories contain for a stage.
func OpenInbox(dirs []*Dir, to step.Stage, kind Kind) (*Source, error) {
	var boxes []*file
	for _, d := range dirs {
		for _, b := range d.boxes {
			if b.sendsTo(to) {
				boxes = append(boxes, b)
			}
		}
	}
	return openSource(boxes, int(to), kind, false)
}

// openSource opens the rows of a tier in some files. If parts is set, they are shards, and
// the keys of each must come after those of the previous one; otherwise they are outbox
// files.
func openSource(files []*file, tier int, kind Kind, parts bool) (*Source, error) {
	s := &Source{tier: tier, kind: kind}
	for _, f := range files {
		if err := s.addFile(f, parts); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// eachTier opens files of the table, or their shards, and calls do for each tier. The files belong to consecutive
// tiers, beginning with tier first. do must close the source.
func eachTier(fsys store.FS, names []string, g game.Game, first int, do func(*Source) error) error {
	var seals jobdir.Seals
	for i, name := range names {
		var files []store.SealedFile
		parts, err := seals.Parts(fsys, name, g.Spec())
		for _, part := range parts {
			if err == nil {
				var f *store.SealedFile
				if f, err = seals.Sealed(fsys, part); err == nil {
					files = append(files, *f)
				}
			}
		}
		var s *Source
		if err == nil {
			s, err = OpenTableTier(fsys, path.Dir(name), g, first+i, files)
		}
		if err == nil {
			err = do(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openTiers opens files of the table, as eachTier does, as one source, in order to load the
// rows of several tiers sorted by key.
func openTiers(fsys store.FS, names []string, g game.Game, first int) (*Source, error) {
	all := &Source{tier: first, kind: Values}
	if err := eachTier(fsys, names, g, first, all.Take); err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return all, nil
}

// Take moves the files of another source to s, which must close them. On an error it closes
// those that it has not moved.
func (s *Source) Take(other *Source) error {
	for i, f := range other.files {
		if err := s.add(f); err != nil {
			other.files = other.files[i+1:]
			return errors.Join(err, other.Close())
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

// add adds an open file. A file without cells is closed at once.
func (s *Source) add(f *file) error {
	if len(f.cells) == 0 {
		return f.close()
	}
	for _, c := range f.cells {
		s.rows += int64(c.Records)
	}
	f.findRuns()
	if s.files = append(s.files, f); len(s.files) > MaxOpen {
		return f.close()
	}
	return nil
}

// addFile adds the rows of the tier in a file.
func (s *Source) addFile(f *file, part bool) error {
	f, err := f.open()
	if err != nil {
		return err
	}
	if f.cells, err = s.cellsOf(f, part); err != nil {
		return errors.Join(err, f.close())
	}
	if err := s.add(f); err != nil || !part {
		return err
	}
	return s.ascends()
}

// cellsOf returns the cells of the tier in a packed file. A shard may contain no other
// tier.
func (s *Source) cellsOf(f *file, part bool) ([]streamfmt.Cell, error) {
	stage := -1
	if part {
		stage = s.tier
	}
	if err := jobdir.Expect(f.pack, f.g, stage, s.kind); err != nil {
		return nil, err
	}
	return f.pack.Cells(s.tier)
}

// ascends checks that the cells of the last file are in order, and that they come after
// those of the previous file. The rows of one position may span several cells if it has
// many predecessors.
func (s *Source) ascends() error {
	n := len(s.files)
	if n == 0 {
		return nil
	}
	f := s.files[n-1]
	if n > 1 {
		before := s.files[n-2]
		if f.cells[0].First <= before.cells[len(before.cells)-1].Last {
			return &store.DamageError{Name: f.name, Reason: "its keys do not come after those of the previous shard"}
		}
	}
	for i, c := range f.cells[1:] {
		if last := f.cells[i].Last; c.First < last || c.First == last && (s.kind == Values || s.kind == States) {
			return &store.DamageError{Name: f.name, Reason: "its keys do not ascend"}
		}
	}
	return nil
}

// Kind returns the kind of the rows.
func (s *Source) Kind() Kind { return s.kind }

// Rows returns the number of rows.
func (s *Source) Rows() int64 { return s.rows }

// Files returns the number of files that contain rows.
func (s *Source) Files() int { return len(s.files) }

// Runs returns the number of sorted runs in all files.
func (s *Source) Runs() (n int) {
	for _, f := range s.files {
		n += len(f.runs)
	}
	return n
}

// Cells returns the number of cells in all files.
func (s *Source) Cells() (n int) {
	for _, f := range s.files {
		n += len(f.cells)
	}
	return n
}

// Tier returns the tier of all keys.
func (s *Source) Tier() int { return step.Stage(s.tier).Tier() }

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
	for _, at := range s.stretches(pieceRows) {
		var err error
		if rows, err = l.stretch(rows, at); err == nil {
			err = do(rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A stretch is consecutive cells of a file of a source.
type stretch struct {
	*Source
	file, from, to int
}

// stretches divides all cells into stretches of about most rows.
func (s *Source) stretches(most int) (all []stretch) {
	cells := max(1, most/streamfmt.CellRows)
	for i, f := range s.files {
		for from := 0; from < len(f.cells); from += cells {
			all = append(all, stretch{s, i, from, min(from+cells, len(f.cells))})
		}
	}
	return all
}

// stretch returns the rows of a stretch in the order of the file, in the memory of dst.
func (l *Loader) stretch(dst []Row, at stretch) ([]Row, error) {
	dst = slices.Grow(dst[:0], (at.to-at.from)*streamfmt.CellRows)
	err := at.files[at.file].with(func(f *file) (err error) {
		part := *f
		part.cells = f.cells[:at.to] // the reader reads no further cells
		for i := at.from; i < at.to && err == nil; i++ {
			dst, err = l.cell(dst, &part, i, math.MaxUint64)
		}
		return err
	})
	return dst, err
}

// find returns the only cell that can contain a key, in a source of sorted Values (shards
// or files of the table). ok is false if no cell can.
func (s *Source) find(key uint64) (at stretch, ok bool) {
	n := sort.Search(len(s.files), func(i int) bool { cells := s.files[i].cells; return cells[len(cells)-1].Last >= key })
	if n == len(s.files) {
		return at, false
	}
	cells := s.files[n].cells
	i := sort.Search(len(cells), func(i int) bool { return cells[i].Last >= key })
	return stretch{s, n, i, i + 1}, cells[i].First <= key
}

// An Interval is the keys from First to Last, both included.
type Interval struct {
	First, Last uint64
	Rows        int64 // estimated, in all sources
}

// Cut divides all keys into intervals with about most rows each, counted over all sources. A
// interval may exceed that by 1,024 rows for each sorted run of the sources, and because all
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
		for _, f := range s.files {
			for _, c := range f.cells {
				ends = append(ends, end{c.Last, c.Records})
			}
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

// A Loader loads intervals. It is used by one goroutine, and reuses its memory.
type Loader struct {
	cells    streamfmt.RowReader
	touching []int // numbers of cells
	sorter   sorter

	newer, union, wanted, picked []Row // see runs.go
}

// Load returns the rows of an interval, sorted by Key, then Word, in the memory of dst.
// Duplicates are kept.
func (l *Loader) Load(dst []Row, s *Source, sh Interval) ([]Row, error) {
	dst, err := l.load(dst, s, sh)
	if err == nil {
		l.sorter.sort(dst)
	}
	return dst, err
}

// load returns the rows of an interval in any order, in the memory of dst.
func (l *Loader) load(dst []Row, s *Source, sh Interval) ([]Row, error) {
	most := 0
	for _, f := range s.files {
		for i := range f.touching(sh) {
			most += sh.rowsOf(&f.cells[i])
		}
	}
	if dst = dst[:0]; cap(dst) < most {
		dst = make([]Row, 0, most)
	}
	for _, f := range s.files {
		var err error
		if dst, err = l.loadFile(dst, f, sh); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// rowsOf estimates how many rows of a cell belong to the interval, of which it may contain keys.
func (sh Interval) rowsOf(c *streamfmt.Cell) int {
	if c.First >= sh.First && c.Last <= sh.Last {
		return int(c.Records)
	}
	both := float64(min(c.Last, sh.Last)-max(c.First, sh.First)) + 1
	return int(both/(float64(c.Last-c.First)+1)*float64(c.Records)) + 1
}

// loadFile appends the rows of an interval in a file, cell by cell.
func (l *Loader) loadFile(dst []Row, f *file, sh Interval) ([]Row, error) {
	l.touching = slices.AppendSeq(l.touching[:0], f.touching(sh))
	if len(l.touching) == 0 {
		return dst, nil // the file need not be opened
	}
	err := f.with(func(f *file) (err error) {
		for _, i := range l.touching {
			c := &f.cells[i]
			n := len(dst)
			if dst, err = l.cell(dst, f, i, sh.Last); err != nil {
				return err
			}
			if c.First < sh.First || c.Last > sh.Last {
				dst = append(dst[:n], slices.DeleteFunc(dst[n:], func(r Row) bool { return r.Key < sh.First || r.Key > sh.Last })...)
			}
		}
		return nil
	})
	return dst, err
}

// cell appends the rows of cell i of a file. It may leave out rows with keys above until.
func (l *Loader) cell(dst []Row, f *file, i int, until uint64) ([]Row, error) {
	return l.cells.Append(dst, f.pack, f.cells[i:], until)
}

// CloseAll closes sources.
func CloseAll(all []*Source) error {
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// openParts opens the shards of several directories as one source, to be loaded by intervals.
func openParts(fsys store.FS, dirs []string, g game.Game, tier int, kind Kind) (*Source, error) {
	all := &Source{tier: tier, kind: kind}
	for _, dir := range dirs {
		d, err := OpenDir(fsys, dir, g)
		var s *Source
		if err == nil {
			s, err = OpenPart(d, tier, kind)
		}
		if err == nil {
			err = all.Take(s)
		}
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	return all, nil
}

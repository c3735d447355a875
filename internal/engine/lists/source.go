package lists

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// MaxOpen is how many files a Source, or a table, keeps open; those after them are opened
// for each share that is read. A process may have 256 on some systems.
const MaxOpen = 64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Source is the rows of one tier and kind in several files: those of its parts, or
// of what is told to it. Of a text, a cell is neighbouring lines, in any order; their
// checksum was made when they were read through, so that nobody is given other ones. It is
// safe for concurrent use.
type Source struct {
	tier  int
	kind  Kind
	files []*file
	rows  int64
}

// OpenPart opens the parts of a directory: of a data_firstN Parents, of a
// data_secondN Values. A part of text is read through, line by line, and what is wrong
// there is a *streamfmt.LineError.
func OpenPart(d *Dir, tier int, kind Kind) (*Source, error) {
	return openSource(d.parts, tier, kind, true)
}

// OpenFile opens one file, as of the table, that is part of no directory of a job; seal
// may be nil.
func OpenFile(fsys store.FS, name string, g game.Acyclic, tier int, kind Kind, seal *store.SealedFile) (*Source, error) {
	return openSource([]*file{{fsys: fsys, name: name, seal: seal, g: g}}, tier, kind, true)
}

// OpenTold opens what the outboxes of some directories tell to a tier.
func OpenTold(dirs []*Dir, tier int, kind Kind) (*Source, error) {
	var boxes []*file
	for _, d := range dirs {
		for _, b := range d.boxes {
			if b.tells(tier) {
				boxes = append(boxes, b)
			}
		}
	}
	return openSource(boxes, tier, kind, false)
}

// openSource opens the rows of a tier in some files: of outboxes, or parts, whose keys
// come after those of the part before.
func openSource(files []*file, tier int, kind Kind, parts bool) (*Source, error) {
	s := &Source{tier: tier, kind: kind}
	for _, f := range files {
		if err := s.addFile(f, parts); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// EachTier opens files of the table of tiers that follow one another, from a first one
// on, and calls do for each, which takes it over.
func EachTier(fsys store.FS, names []string, g game.Acyclic, first int, do func(*Source) error) error {
	var seals jobdir.Seals
	for i, name := range names {
		seal, err := seals.Of(fsys, name)
		if err != nil {
			return err
		}
		s, err := OpenFile(fsys, name, g, first+i, Values, seal)
		if err == nil {
			err = do(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// OpenTiers opens such files as one source: to load their rows in the order of keys.
func OpenTiers(fsys store.FS, names []string, g game.Acyclic, first int) (*Source, error) {
	all := &Source{tier: first, kind: Values}
	if err := EachTier(fsys, names, g, first, all.Take); err != nil {
		return nil, errors.Join(err, all.Close())
	}
	return all, nil
}

// Take adds the rows of another source, which it takes over.
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

// add adds a file that is open. What it has no cells of is closed at once.
func (s *Source) add(f *file) error {
	if len(f.cells) == 0 {
		return f.close()
	}
	for _, c := range f.cells {
		s.rows += int64(c.Rows)
	}
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
	if f.isText() {
		f.cells, err = s.readThrough(f, part)
	} else {
		f.cells, err = s.cellsOf(f, part)
	}
	if err != nil {
		return errors.Join(err, f.close())
	}
	if err := s.add(f); err != nil || !part {
		return err
	}
	return s.ascends()
}

// cellsOf are the cells of the tier in a packed file. A part is of that tier alone.
func (s *Source) cellsOf(f *file, part bool) ([]streamfmt.Cell, error) {
	damaged := func(format string, args ...any) ([]streamfmt.Cell, error) {
		return nil, &store.DamageError{Name: f.name, Reason: fmt.Sprintf(format, args...)}
	}
	for _, p := range f.list.Pages() {
		if part && p.Tier != s.tier {
			return damaged("of tier %d, expected tier %d", p.Tier, s.tier)
		}
	}
	if f.list.Kind() != s.kind {
		return damaged("a list of %s, expected one of %s", f.list.Kind(), s.kind)
	}
	if p, ok := f.list.Page(s.tier); ok {
		return f.list.Cells(p)
	}
	return nil, nil
}

// ascends wants the cells of the last file to be in order, and to come after those of
// the one before. The parents of a position may be so many that they take several.
func (s *Source) ascends() error {
	n := len(s.files)
	if n == 0 {
		return nil
	}
	f := s.files[n-1]
	if n > 1 {
		before := s.files[n-2]
		if f.cells[0].First <= before.cells[len(before.cells)-1].Last {
			return &store.DamageError{Name: f.name, Reason: "its keys do not come after those of the part before"}
		}
	}
	for i, c := range f.cells[1:] {
		if last := f.cells[i].Last; c.First < last || c.First == last && s.kind == Values {
			return &store.DamageError{Name: f.name, Reason: "its keys do not ascend"}
		}
	}
	return nil
}

// readThrough holds the lines of a text against the rules, and to be sorted.
func (s *Source) readThrough(f *file, sorted bool) (cells []streamfmt.Cell, err error) {
	check := &rowCheck{g: f.g, tier: s.tier}
	var cell streamfmt.Cell
	var before Row
	var end uint64
	first := true
	err = eachRow(f.seal.Reader(f.in, f.name), f.name, f.width(), check, []Kind{s.kind}, func(line []byte, row Row, _ Kind) (string, error) {
		switch {
		case sorted && !first && row.Key < before.Key:
			return jobdir.WantSorted, nil
		case sorted && !first && s.kind == Values && row.Key == before.Key:
			return "each position once", nil
		}
		before, first = row, false
		if cell.Rows == streamfmt.CellRows {
			cells = append(cells, cell)
			cell = streamfmt.Cell{}
		}
		if cell.Rows == 0 {
			cell = streamfmt.Cell{First: row.Key, Last: row.Key, Offset: end}
		}
		cell.First, cell.Last = min(cell.First, row.Key), max(cell.Last, row.Key)
		cell.Rows++
		cell.Length += uint32(len(line) + 1)
		cell.Sum = crc32.Update(cell.Sum, castagnoli, line)
		cell.Sum = crc32.Update(cell.Sum, castagnoli, newline)
		end += uint64(len(line) + 1)
		return "", nil
	})
	if cell.Rows > 0 {
		cells = append(cells, cell)
	}
	return cells, err
}

var newline = []byte{'\n'}

// appendText appends the rows of a cell of a text.
func (f *file) appendText(dst []Row, cell streamfmt.Cell, buf []byte) ([]Row, []byte, error) {
	changed := &store.DamageError{Name: f.name, Reason: "changed while it was read"}
	n := int(cell.Length)
	buf = slices.Grow(buf[:0], n)[:n]
	if read, err := f.in.ReadAt(buf, int64(cell.Offset)); read == n-1 && err == io.EOF {
		buf[n-1] = '\n' // of the last line it may be missing
	} else if read < n {
		if err == io.EOF {
			err = changed
		}
		return dst, buf, err
	}
	if crc32.Checksum(buf, castagnoli) != cell.Sum {
		return dst, buf, changed
	}
	for rest := buf; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return dst, buf, changed
		}
		row, _, want := streamfmt.ParseRow(rest[:end], f.width())
		if want != "" {
			return dst, buf, changed
		}
		dst = append(dst, row)
		rest = rest[end+1:]
	}
	return dst, buf, nil
}

// Rows is the number of rows.
func (s *Source) Rows() int64 { return s.rows }

// Files is in how many files the rows lie.
func (s *Source) Files() int { return len(s.files) }

// Cells is in how many cells of its files the rows lie.
func (s *Source) Cells() (n int) {
	for _, f := range s.files {
		n += len(f.cells)
	}
	return n
}

// Tier is the tier of all keys.
func (s *Source) Tier() int { return s.tier }

// Counts is the number of rows by value, of a source of packed Values.
func (s *Source) Counts() map[game.Value]uint64 {
	counts := make(map[game.Value]uint64)
	for _, f := range s.files {
		if f.list != nil {
			f.list.EachCount(func(v uint16, n uint64) { counts[game.Value(v)] += n })
		}
	}
	return counts
}

// Each calls do for rows that follow one another, in the order of keys, for all rows of
// a source that is a part or a file of the table. The rows are good during the call only.
func (s *Source) Each(do func(rows []Row) error) error {
	var l Loader
	var rows []Row
	for _, f := range s.files {
		err := f.with(func(f *file) (err error) {
			for i := range f.cells {
				if rows, err = l.cell(rows[:0], f, i); err == nil {
					err = do(rows)
				}
				if err != nil {
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

// EachKey calls do once for each key of a source that is a part, ascending.
func (s *Source) EachKey(do func(key game.Position)) error {
	var last game.Position
	begun := false
	return s.Each(func(rows []Row) error {
		for _, r := range rows {
			if !begun || r.Key != last {
				do(r.Key)
			}
			begun, last = true, r.Key
		}
		return nil
	})
}

// A Place is where a cell of a source lies.
type Place struct{ file, cell int }

// Find is the cell of a source of Values, a part or a file of the table, that has a key if
// one does; ok is false if none can.
func (s *Source) Find(key uint64) (at Place, ok bool) {
	n := sort.Search(len(s.files), func(i int) bool { cells := s.files[i].cells; return cells[len(cells)-1].Last >= key })
	if n == len(s.files) {
		return at, false
	}
	cells := s.files[n].cells
	i := sort.Search(len(cells), func(i int) bool { return cells[i].Last >= key })
	return Place{n, i}, cells[i].First <= key
}

// Cell appends the rows of one cell to dst[:0].
func (l *Loader) Cell(dst []Row, s *Source, at Place) (rows []Row, err error) {
	err = s.files[at.file].with(func(f *file) error {
		one := *f
		one.cells = f.cells[:at.cell+1] // no further one is to be read with it
		rows, err = l.cell(dst[:0], &one, at.cell)
		return err
	})
	return rows, err
}

// A Share is the keys from First to Last.
type Share struct {
	First, Last uint64
	Rows        int64 // of all sources, estimated
}

// Cut cuts all keys into shares, of which each has about most rows of all sources
// together: more by 1,024 for each sorted run that the sources consist of, at most,
// and for a key that has many. There is at least one share.
func Cut(most int, sources ...*Source) []Share {
	var all int64
	for _, s := range sources {
		all += s.rows
	}
	most = max(1, most)
	if all <= int64(most) {
		return []Share{{0, math.MaxUint64, all}}
	}
	type end struct {
		last uint64
		rows uint32
	}
	var ends []end
	for _, s := range sources {
		for _, f := range s.files {
			for _, c := range f.cells {
				ends = append(ends, end{c.Last, c.Rows})
			}
		}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.last, b.last) })
	n := (all + int64(most) - 1) / int64(most)
	each := (all + n - 1) / n // shares of about the same size
	shares := make([]Share, 0, n)
	share := Share{}
	for _, e := range ends {
		if share.Rows += int64(e.rows); share.Rows >= each && e.last < math.MaxUint64 {
			if e.last < share.First {
				continue // of the key that ended the share before
			}
			share.Last = e.last
			shares = append(shares, share)
			share = Share{First: e.last + 1}
		}
	}
	share.Last = math.MaxUint64
	return append(shares, share)
}

// A Loader loads shares. It is one worker's, and keeps its memory.
type Loader struct {
	cells  streamfmt.CellReader
	text   []byte
	sorter sorter
}

// Load appends the rows of a share to dst[:0], sorted by Key, then Word; equal rows
// stay.
func (l *Loader) Load(dst []Row, s *Source, sh Share) ([]Row, error) {
	most := 0
	for _, f := range s.files {
		for i := range f.cells {
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
	l.sorter.sort(dst)
	return dst, nil
}

// touches reports whether a cell has keys of the share.
func (sh Share) touches(c *streamfmt.Cell) bool { return c.First <= sh.Last && c.Last >= sh.First }

// rowsOf is about how many rows of a cell are the share's.
func (sh Share) rowsOf(c *streamfmt.Cell) int {
	if !sh.touches(c) {
		return 0
	}
	if c.First >= sh.First && c.Last <= sh.Last {
		return int(c.Rows)
	}
	both := float64(min(c.Last, sh.Last)-max(c.First, sh.First)) + 1
	return int(both/(float64(c.Last-c.First)+1)*float64(c.Rows)) + 1
}

// loadFile appends the rows of a share in a file, cell by cell.
func (l *Loader) loadFile(dst []Row, f *file, sh Share) ([]Row, error) {
	first := slices.IndexFunc(f.cells, func(c streamfmt.Cell) bool { return sh.touches(&c) })
	if first < 0 {
		return dst, nil
	}
	err := f.with(func(f *file) (err error) {
		for i := first; i < len(f.cells); i++ {
			c := &f.cells[i]
			if !sh.touches(c) {
				continue
			}
			n := len(dst)
			if dst, err = l.cell(dst, f, i); err != nil {
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

// cell appends the rows of the i-th cell of a file.
func (l *Loader) cell(dst []Row, f *file, i int) (_ []Row, err error) {
	if f.list != nil {
		return l.cells.Append(dst, f.list, f.cells[i:])
	}
	dst, l.text, err = f.appendText(dst, f.cells[i], l.text)
	return dst, err
}

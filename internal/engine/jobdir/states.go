package jobdir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/lines"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// statePrefix begins the names of files of states.
const statePrefix = "_ranges-"

// StateName returns the name of the file of states that reducer i writes.
func StateName(i int) string { return FileName(statePrefix, i, Packed, blocksSuffix) }

// StateFiles are the states of ranges from several files: either the new positions of some
// passes, or the newest states of all ranges.
type StateFiles struct {
	files
	g       game.Cyclic
	entries []entry
}

// An entry is the location of a range.
type entry struct {
	streamfmt.Entry
	file int
}

func newStates(seals *Seals, g game.Cyclic) *StateFiles {
	p := &StateFiles{g: g, files: files{seals: seals, spec: g.Spec(), packed: streamfmt.OpenRangeFile}}
	if ReadsText {
		p.writer = func(out io.WriteCloser) *Writer { return NewRangeWriter(out, g, Packed) }
	}
	return p
}

// OpenNew opens all shards of some directories: the new positions of these passes. A range
// may occur in several of them.
func OpenNew(fsys store.FS, dirs []string, g game.Cyclic) (*StateFiles, error) {
	var names []string
	for _, dir := range dirs {
		parts, err := Parts(fsys, dir, g.Spec())
		if err != nil {
			return nil, err
		}
		names = append(names, parts...)
	}
	return new(Seals).openStates(fsys, names, g)
}

// OpenStateFile opens a range file, with all its ranges.
func OpenStateFile(fsys store.FS, name string, g game.Cyclic) (*StateFiles, error) {
	return new(Seals).OpenStateFile(fsys, name, g)
}

// OpenStateFile opens a range file, with all its ranges.
func (s *Seals) OpenStateFile(fsys store.FS, name string, g game.Cyclic) (*StateFiles, error) {
	return s.openStates(fsys, []string{name}, g)
}

// openStates opens some files, with all their ranges.
func (s *Seals) openStates(fsys store.FS, names []string, g game.Cyclic) (*StateFiles, error) {
	p := newStates(s, g)
	for _, name := range names {
		if err := p.add(fsys, name, nil); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// OpenStates opens the newest states of all ranges that are not blank, according to the
// index in the directory of a pass. If dir is "", all are blank.
func OpenStates(fsys store.FS, dir string, g game.Cyclic) (*StateFiles, error) {
	p := newStates(new(Seals), g)
	if dir == "" {
		return p, nil
	}
	x, err := ReadIndex(fsys, dir, g)
	if err != nil {
		return nil, err
	}
	if err := p.addNewest(fsys, path.Dir(dir), x); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// add opens a file and adds the ranges for which wanted returns true, or all if it is nil.
func (p *StateFiles) add(fsys store.FS, name string, wanted func(rng uint64) bool) error {
	file, err := p.open(fsys, name)
	if err != nil {
		return err
	}
	entries, err := file.Entries()
	if err != nil {
		return err
	}
	p.entries = slices.Grow(p.entries, len(entries))
	for _, e := range entries {
		if ranges := game.Ranges(p.g); e.Range >= ranges {
			return &store.DamageError{Name: name, Reason: fmt.Sprintf("range %#x, but the game has %d", e.Range, ranges)}
		}
		if wanted == nil || wanted(e.Range) {
			p.entries = append(p.entries, entry{e, len(p.files.files)})
		}
	}
	p.files.files = append(p.files.files, file)
	return nil
}

// Len returns the number of ranges that contain records. A range in several files counts
// once for each.
func (p *StateFiles) Len() int { return len(p.entries) }

// Range returns the i-th of these ranges.
func (p *StateFiles) Range(i int) uint64 { return p.entries[i].Range }

// Ranges returns all of these ranges.
func (p *StateFiles) Ranges() []uint64 {
	ranges := make([]uint64, len(p.entries))
	for i, e := range p.entries {
		ranges[i] = e.Range
	}
	return ranges
}

// MostRecords returns the largest possible number of records of the i-th of these ranges.
func (p *StateFiles) MostRecords(i int) int { return p.entries[i].MostRecords() }

// Split divides the ranges into up to n partitions of about the same number of bytes, and
// returns the first range of each. The first is 0, and they ascend strictly.
func (p *StateFiles) Split(n int) []uint64 {
	bytes := make(map[uint64]uint64) // by range
	s := splitter{n: uint64(n), borders: []uint64{0}}
	for _, e := range p.entries {
		bytes[e.Range] += uint64(e.Length)
		s.all += uint64(e.Length)
	}
	for _, rng := range slices.Sorted(maps.Keys(bytes)) {
		s.add(rng, bytes[rng])
	}
	return s.borders
}

// A Place is a block in a file.
type Place struct {
	File string // its path
	At   int64  // the offset of the block
}

// Places returns, for each partition that Split made, a block in the file that has the most
// bytes of it.
func (p *StateFiles) Places(borders []uint64) []Place {
	bytes := make([][]uint64, len(borders)) // by partition and file
	for i := range bytes {
		bytes[i] = make([]uint64, len(p.files.files))
	}
	places, most := make([]Place, len(borders)), make([]uint64, len(borders))
	for _, e := range p.entries {
		i := sort.Search(len(borders), func(k int) bool { return borders[k] > e.Range }) - 1
		n := &bytes[i][e.file]
		if *n += uint64(e.Length); *n > most[i] {
			most[i], places[i] = *n, Place{p.files.files[e.file].Name(), int64(e.Offset)}
		}
	}
	return places
}

// addNewest adds the states that an index refers to, from directories in data. Each must
// exist exactly once.
func (p *StateFiles) addNewest(fsys store.FS, data string, x *Index) error {
	for _, newest := range x.Dirs() {
		dir := path.Join(data, newest)
		_, there, err := store.OpenDir(fsys, dir, p.spec)
		if err != nil {
			return err
		}
		for _, name := range stateFiles(dir, there) {
			if err := p.add(fsys, name, func(rng uint64) bool { return x.dirOf(rng) == newest }); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(p.entries, func(a, b entry) int { return cmp.Compare(a.Range, b.Range) })
	i := 0
	for j, run := range x.Runs {
		for rng := run.First; rng < x.end(j, game.Ranges(p.g)) && run.Dir != ""; rng++ {
			if i >= p.Len() || p.Range(i) != rng {
				return missingState(data, run.Dir, rng)
			}
			i++
		}
	}
	if i < p.Len() {
		rng := p.Range(i)
		return missingState(data, x.dirOf(rng), rng)
	}
	return nil
}

// missingState returns the error of a range whose state does not exist exactly once.
func missingState(data, dir string, rng uint64) error {
	return &store.DamageError{Name: path.Join(data, dir), Reason: fmt.Sprintf("damaged: the state of range %#x is missing or there twice", rng)}
}

// dirOf returns the directory with the newest state of a range.
func (x *Index) dirOf(rng uint64) string {
	i, found := slices.BinarySearchFunc(x.Runs, rng, func(r Run, rng uint64) int { return cmp.Compare(r.First, rng) })
	if !found {
		i--
	}
	return x.Runs[i].Dir
}

// stateFiles returns the paths of the files of states in a directory that contains the
// files there, in order of name.
func stateFiles(dir string, there []string) (names []string) {
	for _, name := range there {
		if strings.HasPrefix(name, statePrefix) {
			names = append(names, path.Join(dir, name))
		}
	}
	return names
}

// Written lists the ranges whose states the reducers of a pass wrote into a directory,
// ascending. The directory need not be sealed yet.
func Written(fsys store.FS, dir string, g game.Cyclic) (ranges []uint64, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	p, err := new(Seals).openStates(fsys, stateFiles(dir, names), g)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	ranges = p.Ranges()
	for i, rng := range ranges {
		if i > 0 && rng <= ranges[i-1] {
			return nil, fmt.Errorf("%s: range %#x is in two of its files, or they are not in order", dir, rng)
		}
	}
	return ranges, nil
}

// RemoveStates deletes the files of states of a sealed directory, whose other files are
// still needed.
func RemoveStates(fsys store.FS, dir string) error {
	isState := func(name string) bool { return strings.HasPrefix(name, statePrefix) }
	seal, err := store.ReadSeal(fsys, dir)
	if err != nil || seal == nil || !slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return isState(f.Name) }) {
		return err
	}
	return seal.Drop(fsys, dir, isState)
}

// Find returns the index of a range. The ranges of p must ascend, as they do after
// OpenStates or in a single file.
func (p *StateFiles) Find(rng uint64) (i int, found bool) {
	return slices.BinarySearchFunc(p.entries, rng, func(e entry, rng uint64) int { return cmp.Compare(e.Range, rng) })
}

// A StateCursor reads states. It is used by one goroutine.
type StateCursor struct {
	p       *StateFiles
	ahead   int
	cursors []*streamfmt.Cursor
}

// readAhead is the default number of bytes of a file that a cursor reads at a time.
const readAhead = 64 << 10

// Cursor returns a cursor, which is fastest when it reads in ascending order.
func (p *StateFiles) Cursor() *StateCursor { return p.CursorOf(readAhead) }

// CursorOf is Cursor with the number of bytes of a file that are read at a time; at least
// one state is read.
func (p *StateFiles) CursorOf(ahead int) *StateCursor {
	return &StateCursor{p, ahead, make([]*streamfmt.Cursor, len(p.files.files))}
}

// Read reads the i-th state into s, which it resets.
func (c *StateCursor) Read(i int, s *block.State) error {
	e := c.p.entries[i]
	if c.cursors[e.file] == nil {
		c.cursors[e.file] = c.p.files.files[e.file].Cursor(c.ahead)
	}
	return c.cursors[e.file].ReadState(e.Entry, game.RangeLen(c.p.g, e.Range), s)
}

// Load finds a range with StateFiles.Find and reads its state. If there is none, it makes s
// blank.
func (c *StateCursor) Load(rng uint64, s *block.State) error {
	if i, ok := c.p.Find(rng); ok {
		return c.Read(i, s)
	}
	s.Reset(game.RangeLen(c.p.g, rng))
	return nil
}

// WriteLines writes the positions of ranges i to j-1 to w, as lines.
func (p *StateFiles) WriteLines(w io.Writer, i, j int) error {
	c := p.Cursor()
	var s block.State
	width := streamfmt.KeyWidth(p.g.KeyBits())
	return p.writeLines(w, i, j, func(dst []byte, i int) ([]byte, error) {
		err := c.Read(i, &s)
		return lines.AppendState(dst, p.g, p.Range(i), &s, width), err
	})
}

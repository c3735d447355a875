package jobdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// statePrefix is what the names of files of states begin with.
const statePrefix = "_ranges-"

// StateName is the name of the file of states that reducer i writes.
func StateName(i int) string { return fmt.Sprintf("%s%05d.blocks", statePrefix, i) }

// files are range files that are open, of one game.
type files struct {
	g       game.Cyclic
	files   []*streamfmt.File
	names   []string
	closers []io.Closer
	seals   Seals
}

// Close closes the files.
func (f *files) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open opens a range file, and holds it to its seal. One of text is read whole, into
// memory.
func (f *files) open(fsys store.FS, name string) (*streamfmt.File, error) {
	seal, err := f.seals.Of(fsys, name)
	if err != nil {
		return nil, err
	}
	in, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, in)
	var file *streamfmt.File
	if IsText(name) {
		file, err = packStates(seal.Reader(in, name), name, f.g)
	} else {
		file, err = OpenPacked(in, name, seal, streamfmt.OpenRangeFile)
	}
	if err != nil {
		return nil, err
	}
	if file.Spec() != f.g.Spec() {
		return nil, &store.DamageError{Name: name, Reason: fmt.Sprintf("of another game: expected %q, found %q", f.g.Spec(), file.Spec())}
	}
	f.files, f.names = append(f.files, file), append(f.names, name)
	return file, nil
}

// pack reads sorted lines into a range file in memory.
func packStates(in io.Reader, name string, g game.Cyclic) (*streamfmt.File, error) {
	var packed bytes.Buffer
	w, err := streamfmt.NewRangeWriter(&packed, g.Spec())
	if err != nil {
		return nil, err
	}
	if err := AppendStateLines(w, g, in, name); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return streamfmt.OpenRangeFile(bytes.NewReader(packed.Bytes()), int64(packed.Len()), name)
}

// AppendStateLines reads sorted lines of positions, called source in errors, into a
// range file.
func AppendStateLines(w *streamfmt.Writer, g game.Cyclic, in io.Reader, source string) error {
	gatherer := NewRangeGatherer(g, in, source, true)
	var s block.State
	var packed streamfmt.Packed
	var at uint64
	for {
		err := gatherer.Next(func(rng uint64) {
			at = rng
			s.Reset(game.RangeLen(g, rng))
		}, func(slot int, rec streamfmt.Record) string { return AddState(&s, slot, rec) })
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		packed.Reset()
		packed.AddState(at, game.RangeLen(g, at), &s, true)
		if err := w.Append(&packed); err != nil {
			return err
		}
	}
}

// A place is where the state of a range lies.
type place struct {
	rng   uint64
	file  int
	entry streamfmt.Entry
}

// States are ranges and what is known of positions in them, from several files:
// those that were new in passes, or the newest state of all ranges.
type States struct {
	files
	places []place
}

// Open opens the parts of whole directories: the positions that were new in these
// passes. A range may occur in each of them.
func OpenNew(fsys store.FS, dirs []string, g game.Cyclic) (_ *States, err error) {
	p := &States{files: files{g: g}}
	for _, dir := range dirs {
		parts, err := Parts(fsys, dir, g.Spec())
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		for _, part := range parts {
			if err := p.add(fsys, part, func(uint64) bool { return true }); err != nil {
				return nil, errors.Join(err, p.Close())
			}
		}
	}
	return p, nil
}

// OpenStateFile opens a range file, with all its ranges.
func OpenStateFile(fsys store.FS, name string, g game.Cyclic) (*States, error) {
	p := &States{files: files{g: g}}
	if err := p.add(fsys, name, func(uint64) bool { return true }); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// add adds those ranges of a file that are wanted.
func (p *States) add(fsys store.FS, name string, wanted func(rng uint64) bool) error {
	f, err := p.open(fsys, name)
	if err != nil {
		return err
	}
	entries, err := f.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Range >= game.Ranges(p.g) {
			return &store.DamageError{Name: name, Reason: fmt.Sprintf("range %#x, but the game has %d", e.Range, game.Ranges(p.g))}
		}
		if wanted(e.Range) {
			p.places = append(p.places, place{e.Range, len(p.files.files) - 1, e})
		}
	}
	return nil
}

// OpenStates opens the newest states of all ranges, as the index in the directory
// of a pass has them.
func OpenStates(fsys store.FS, dir string, g game.Cyclic) (_ *States, err error) {
	x, err := ReadIndex(fsys, dir, g)
	if err != nil {
		return nil, err
	}
	p := &States{files: files{g: g}}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	for _, holder := range x.Dirs() {
		holder := path.Join(path.Dir(dir), holder)
		_, there, err := store.OpenDir(fsys, holder, g.Spec())
		if err != nil {
			return nil, err
		}
		for _, name := range stateFiles(holder, there) {
			if err := p.add(fsys, name, func(rng uint64) bool { return x.dirOf(rng) == path.Base(holder) }); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(p.places, func(a, b place) int { return int(int64(a.rng) - int64(b.rng)) })
	for rng := range game.Ranges(g) {
		if rng >= uint64(len(p.places)) || p.places[rng].rng != rng {
			return nil, &store.DamageError{Name: path.Join(path.Dir(dir), x.dirOf(rng)), Reason: fmt.Sprintf("damaged: the state of range %#x is missing or there twice", rng)}
		}
	}
	return p, nil
}

// dirOf is the directory with the newest state of a range.
func (x *Index) dirOf(rng uint64) string {
	i, found := slices.BinarySearchFunc(x.Runs, rng, func(r Run, rng uint64) int { return int(int64(r.First) - int64(rng)) })
	if !found {
		i--
	}
	return x.Runs[i].Dir
}

// stateFiles are the files of states among those of a directory, in the order of
// names.
func stateFiles(dir string, there []string) (names []string) {
	for _, name := range there {
		if strings.HasPrefix(name, statePrefix) {
			names = append(names, path.Join(dir, name))
		}
	}
	return names
}

// listStates lists the files of states of a directory, sealed or not.
func listStates(fsys store.FS, dir string) ([]string, error) {
	entries, err := fsys.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return stateFiles(dir, names), err
}

// Written lists the ranges whose states the reducers of a pass wrote into a
// directory, ascending.
func Written(fsys store.FS, dir string, g game.Cyclic) (ranges []uint64, err error) {
	p := &States{files: files{g: g}}
	defer p.Close()
	names, err := listStates(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := p.add(fsys, name, func(uint64) bool { return true }); err != nil {
			return nil, err
		}
	}
	for i, at := range p.places {
		if i > 0 && at.rng <= p.places[i-1].rng {
			return nil, fmt.Errorf("%s: range %#x is in two of its files, or they are not in order", dir, at.rng)
		}
		ranges = append(ranges, at.rng)
	}
	return ranges, nil
}

// RemoveStates removes the files of states from a sealed directory, whose other files
// are still needed. The seal forgets them first.
func RemoveStates(fsys store.FS, dir string) error {
	names, err := listStates(fsys, dir)
	if err != nil || len(names) == 0 {
		return err
	}
	seal, _, err := store.OpenDir(fsys, dir, "")
	if err != nil {
		return err
	}
	if seal != nil {
		seal.Files = slices.DeleteFunc(seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, statePrefix) })
		if err := seal.Replace(fsys, dir, store.Success); err != nil {
			return err
		}
	}
	for _, name := range names {
		err = errors.Join(err, fsys.RemoveAll(name))
	}
	return err
}

// Files are the paths of the files, in the order in which they were opened.
func (p *States) Files() []string { return p.names }

// Len is the number of states.
func (p *States) Len() int { return len(p.places) }

// Range is the range of the i-th state; after OpenStates it is i.
func (p *States) Range(i int) uint64 { return p.places[i].rng }

// Split returns the ranges at which n shares of about as many bytes begin, or fewer
// shares; the first is 0, and they ascend strictly.
func (p *States) Split(n int) []uint64 {
	bytes := make(map[uint64]uint64) // by range
	var all uint64
	for _, at := range p.places {
		bytes[at.rng] += uint64(at.entry.Length)
		all += uint64(at.entry.Length)
	}
	borders := []uint64{0}
	var before uint64
	for _, rng := range slices.Sorted(maps.Keys(bytes)) {
		if rng > borders[len(borders)-1] && before*uint64(n) >= all*uint64(len(borders)) {
			borders = append(borders, rng)
		}
		before += bytes[rng]
	}
	return borders
}

// Counts is the number of positions by value in all files.
func (p *States) Counts() streamfmt.Counts {
	var all streamfmt.Counts
	for _, f := range p.files.files {
		counts := f.Counts()
		all.Add(&counts)
	}
	return all
}

// A StateCursor reads states. It is one worker's: not safe for concurrent use.
type StateCursor struct {
	p       *States
	ahead   int
	cursors []*streamfmt.Cursor
}

// readAhead is how many bytes of a file a cursor reads at a time, if it may.
const readAhead = 64 << 10

// Cursor returns a cursor, which reads best in ascending order.
func (p *States) Cursor() *StateCursor { return p.CursorOf(readAhead) }

// CursorOf is StateCursor with so many bytes that are read of a file at a time, or one
// state.
func (p *States) CursorOf(ahead int) *StateCursor {
	return &StateCursor{p, ahead, make([]*streamfmt.Cursor, len(p.files.files))}
}

// Read reads the i-th state into s, which it resets.
func (c *StateCursor) Read(i int, s *block.State) error {
	at := c.p.places[i]
	if c.cursors[at.file] == nil {
		c.cursors[at.file] = c.p.files.files[at.file].Cursor(c.ahead)
	}
	return c.cursors[at.file].ReadState(at.entry, game.RangeLen(c.p.g, at.rng), s)
}

// WriteLines writes the positions of the i-th to the one before the j-th range to
// w, as lines.
func (p *States) WriteLines(w io.Writer, i, j int) error {
	c := p.Cursor()
	var s block.State
	var buf []byte
	width := streamfmt.KeyWidth(p.g.KeyBits())
	for ; i < j; i++ {
		if err := c.Read(i, &s); err != nil {
			return err
		}
		buf = AppendState(buf[:0], p.g, p.Range(i), &s, width)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// Package jobdir reads and writes the records in the directories of jobs and of the
// table, as text or packed, held to their seals: of a tiered game blocks, of a game with
// cycles states. To those above, a tier is blocks in ascending order of range, whatever
// the form of its parts (Tier); and so are the ranges of a game with cycles (States).
// What the text form of streamfmt says of single positions, package block holds by the
// thousand. In the directory of a pass over a game with cycles lie three things, and of
// one of which only the rules are known the moves of what is new, see package lists:
//
//	part-00000.blocks     the positions that are new, which the next pass reads
//	_ranges-00000.blocks  the new states of the ranges that heard something
//	_index                which directory has the newest state of each range
//
// A name that begins with _ is no input to a job. The directories of a run lie
// side by side, and the index of one names others, so a range that heard nothing
// is carried by reference. The package knows nothing of steps or runners; what lists of
// rows are is package lists' to know, and only their seals are here.
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

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Codec is the form of records on disk.
type Codec string

// The codecs.
const (
	Text   Codec = "text"   // lines, for people and other programs
	Blocks Codec = "blocks" // block files, small and fast
)

// What marks the names of packed files: block files, and list files.
const (
	blocksSuffix = ".blocks"
	ListsSuffix  = ".lists"
)

// PartName is the name of part i of a directory.
func PartName(i int, c Codec) string {
	name := fmt.Sprintf("part-%05d", i)
	if c == Blocks {
		name += blocksSuffix
	}
	return name
}

// NameFinal gives the parts of a directory of text the names that the course has for them,
// and what reads its result looks for: part-r-00000.
func NameFinal(fsys store.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	for _, e := range entries {
		number, part := strings.CutPrefix(e.Name(), store.PartPrefix)
		if err == nil && part && !strings.HasPrefix(number, finalMark) {
			err = fsys.Rename(path.Join(dir, e.Name()), path.Join(dir, store.PartPrefix+finalMark+number))
		}
	}
	return err
}

// finalMark stands in the name of a part of final before its number.
const finalMark = "r-"

// IsText reports whether a file is text, by its name.
func IsText(name string) bool { return !strings.HasSuffix(name, blocksSuffix) && !isLists(name) }

func isLists(name string) bool { return strings.HasSuffix(name, ListsSuffix) }

// Parts lists the part files of a directory of a game, in order of name, held to
// its seal: see store.OpenDir. A packed file is its only part.
func Parts(fsys store.FS, dir, game string) ([]string, error) {
	if !IsText(dir) {
		return []string{dir}, nil
	}
	_, names, err := store.OpenDir(fsys, dir, game)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, name := range names {
		if strings.HasPrefix(name, store.PartPrefix) {
			parts = append(parts, path.Join(dir, name))
		}
	}
	return parts, nil
}

// files are packed files that are open, of one kind, game and tier, and where their
// ranges lie.
type files struct {
	spec    string
	tier    int
	ranges  uint64                                                    // how many the game has; 0: any
	packed  func(io.ReaderAt, int64, string) (*streamfmt.File, error) // opens one
	writer  func(io.WriteCloser) *Writer                              // begins one
	files   []*streamfmt.File
	entries []entry
	closers []io.Closer
	seals   Seals
}

// An entry is where a range lies.
type entry struct {
	streamfmt.Entry
	file int
}

// Close closes the files.
func (f *files) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open opens a file, and holds it to its seal. One of text is read whole, into memory.
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
		file, err = f.pack(seal.Reader(in, name), name)
	} else {
		file, err = OpenPacked(in, name, seal, f.packed)
	}
	switch {
	case err != nil:
		return nil, err
	case file.Spec() != f.spec:
		return nil, store.OtherGame(name, f.spec, file.Spec())
	case file.Tier() != f.tier:
		return nil, &store.DamageError{Name: name, Reason: fmt.Sprintf("of tier %d, expected tier %d", file.Tier(), f.tier)}
	}
	return file, nil
}

// pack reads sorted lines into a packed file in memory.
func (f *files) pack(in io.Reader, name string) (*streamfmt.File, error) {
	var packed memory
	w := f.writer(&packed)
	if err := w.Finish(w.AppendLines(in, name)); err != nil {
		return nil, err
	}
	return f.packed(bytes.NewReader(packed.Bytes()), int64(packed.Len()), name)
}

// memory is a file in memory.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

// add opens a file and adds those of its ranges that are wanted; nil: all are.
func (f *files) add(fsys store.FS, name string, wanted func(rng uint64) bool) error {
	file, err := f.open(fsys, name)
	if err != nil {
		return err
	}
	entries, err := file.Entries()
	if err != nil {
		return err
	}
	f.entries = slices.Grow(f.entries, len(entries))
	for _, e := range entries {
		if f.ranges > 0 && e.Range >= f.ranges {
			return &store.DamageError{Name: name, Reason: fmt.Sprintf("range %#x, but the game has %d", e.Range, f.ranges)}
		}
		if wanted == nil || wanted(e.Range) {
			f.entries = append(f.entries, entry{e, len(f.files)})
		}
	}
	f.files = append(f.files, file)
	return nil
}

// Files are the paths of the files, in the order in which they were opened.
func (f *files) Files() (names []string) {
	for _, file := range f.files {
		names = append(names, file.Name())
	}
	return names
}

// Len is the number of ranges that hold a record; of those in several files, each counts.
func (f *files) Len() int { return len(f.entries) }

// Range is the i-th of these ranges.
func (f *files) Range(i int) uint64 { return f.entries[i].Range }

// Ranges are all of these ranges.
func (f *files) Ranges() []uint64 {
	ranges := make([]uint64, len(f.entries))
	for i, e := range f.entries {
		ranges[i] = e.Range
	}
	return ranges
}

// MostRecords is how many records the i-th of these ranges holds at most: a byte of its
// block is of eight slots or fewer.
func (f *files) MostRecords(i int) int { return 8 * int(f.entries[i].Length) }

// Split returns the ranges at which n shares of about as many bytes begin, or fewer
// shares; the first is 0, and they ascend strictly.
func (f *files) Split(n int) []uint64 {
	bytes := make(map[uint64]uint64) // by range
	var all uint64
	for _, e := range f.entries {
		bytes[e.Range] += uint64(e.Length)
		all += uint64(e.Length)
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

// Counts is the number of records by value in all files.
func (f *files) Counts() (all streamfmt.Counts) {
	for _, file := range f.files {
		counts := file.Counts()
		all.Add(&counts)
	}
	return all
}

// writeLines writes the lines that appendTo appends for the i-th to the one before the
// j-th range.
func (f *files) writeLines(w io.Writer, i, j int, appendTo func(dst []byte, i int) ([]byte, error)) (err error) {
	var buf []byte
	for ; i < j && err == nil; i++ {
		if buf, err = appendTo(buf[:0], i); err == nil {
			_, err = w.Write(buf)
		}
	}
	return err
}

// Package jobdir reads and writes the records in the directories of jobs and of the table,
// as text or packed, and verifies them against their seals. The records are blocks for
// tiered games, and states for games with cycles. Its callers see a tier as blocks in
// ascending order of range (Tier), and a game with cycles as ranges in ascending order
// (StateFiles), whatever the form of the files. The text form of streamfmt describes single
// positions; package block describes thousands at once.
//
// The directory of a pass over a game with cycles contains the files below. If the game
// cannot compute predecessors, it also contains the outgoing edges of the new positions,
// see package lists.
//
//	part-00000.blocks     the new positions, which the next pass reads
//	_ranges-00000.blocks  the new states of the ranges that received messages
//	_index                which directory has the newest state of each range
//
// A job ignores input files whose names begin with _. The directories of a run are in the
// same parent directory, and the index of one refers to others, so that the state of a
// range that received no message need not be copied.
//
// The package does not know steps or runners. Package lists reads directories of rows; their
// shards are written, and their seals verified, here.
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
	Packed Codec = "blocks" // block files, small and fast
)

// The suffixes of packed files: block files and list files.
const (
	blocksSuffix = ".blocks"
	ListsSuffix  = ".lists"
)

// FileName returns the name of the file that reducer i writes: the prefix, i in five digits, and
// the suffix if the file is packed.
func FileName(prefix string, i int, c Codec, suffix string) string {
	if c != Packed {
		suffix = ""
	}
	return fmt.Sprintf("%s%05d%s", prefix, i, suffix)
}

// PartName returns the name of shard i of a directory of blocks or states.
func PartName(i int, c Codec) string { return FileName(store.PartPrefix, i, c, blocksSuffix) }

// NameFinal renames the shards of a directory of text as the course expects them, and the
// programs that read its result: part-r-00000.
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

// finalMark precedes the number in the name of a shard of final.
const finalMark = "r-"

// IsText reports whether the name of a file is that of a text file.
func IsText(name string) bool { return !strings.HasSuffix(name, blocksSuffix) && !isLists(name) }

func isLists(name string) bool { return strings.HasSuffix(name, ListsSuffix) }

// Parts lists the shards of a directory of a game in order of name, after checking them
// against its seal, see store.OpenDir. If dir is a packed file, the result is that file.
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

// files are open packed files of one kind, game and tier, with the locations of their
// ranges.
type files struct {
	spec    string
	tier    int
	ranges  uint64                                                    // in the game; 0: not checked
	packed  func(io.ReaderAt, int64, string) (*streamfmt.File, error) // opens a file
	writer  func(io.WriteCloser) *Writer                              // starts to write a file
	files   []*streamfmt.File
	entries []entry
	closers []io.Closer
	seals   Seals
}

// An entry is the location of a range.
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

// open opens a file and verifies it against its seal. A text file is read completely, into
// a packed file in memory.
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

// add opens a file and adds the ranges for which wanted returns true, or all if it is nil.
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

// Files returns the paths of the files, in the order in which they were opened.
func (f *files) Files() (names []string) {
	for _, file := range f.files {
		names = append(names, file.Name())
	}
	return names
}

// Len returns the number of ranges that contain records. A range in several files counts
// once for each.
func (f *files) Len() int { return len(f.entries) }

// Range returns the i-th of these ranges.
func (f *files) Range(i int) uint64 { return f.entries[i].Range }

// Ranges returns all of these ranges.
func (f *files) Ranges() []uint64 {
	ranges := make([]uint64, len(f.entries))
	for i, e := range f.entries {
		ranges[i] = e.Range
	}
	return ranges
}

// MostRecords returns the largest possible number of records of the i-th of these ranges: a
// byte of a packed block encodes at most eight slots.
func (f *files) MostRecords(i int) int { return 8 * int(f.entries[i].Length) }

// Split divides the ranges into up to n partitions of about the same number of bytes, and
// returns the first range of each. The first is 0, and they ascend strictly.
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

// Counts returns the number of records by value in all files.
func (f *files) Counts() (all streamfmt.Counts) {
	for _, file := range f.files {
		counts := file.Counts()
		all.Add(&counts)
	}
	return all
}

// writeLines writes the lines of ranges i to j-1 to w; appendTo appends those of one range.
func (f *files) writeLines(w io.Writer, i, j int, appendTo func(dst []byte, i int) ([]byte, error)) (err error) {
	var buf []byte
	for ; i < j && err == nil; i++ {
		if buf, err = appendTo(buf[:0], i); err == nil {
			_, err = w.Write(buf)
		}
	}
	return err
}

// Package jobdir reads and writes the records in the directories of jobs and of the table,
// as text or packed, and verifies them against their seals. The records are blocks for
// tiered games, and states for games with cycles. Its callers see a tier as blocks in
// ascending order of range (Tier), and a game with cycles as ranges in ascending order
// (StateFiles), whatever the form of the files. The text form of streamfmt describes single
// positions; package block describes thousands at once.
//
// The directory of a pass over a game with cycles contains the files below. If the game
// cannot compute predecessors, it also contains the outgoing edges of the new positions,
// see package layers.
//
//	part-00000.blocks     the new positions, which the next pass reads
//	_ranges-00000.blocks  the new states of the ranges that received messages
//	_index                which directory has the newest state of each range
//
// A job ignores input files whose names begin with _. The directories of a run are in the
// same parent directory, and the index of one refers to others, so that the state of a
// range that received no message need not be copied.
//
// The package does not know steps or runners. Package layers reads directories of rows; their
// shards are written, and their seals verified, here.
package jobdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
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
	Coded  Codec = "coded"  // list files of the table, whose cells are coded
)

// The suffixes of packed files: block files and list files.
const (
	blocksSuffix = ".blocks"
	ListsSuffix  = ".lists"
)

// FileName returns the name of the file that reducer i writes: the prefix, i in five digits, and
// the suffix if the file is packed.
func FileName(prefix string, i int, c Codec, suffix string) string {
	if c == Text {
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

// TablePart is the name of a block file of the table whose shards reducers write beside their parts.
const TablePart = "_table" + blocksSuffix

// ShardName returns the name of the i-th shard of a block file.
func ShardName(name string, i int) string {
	return FileName(strings.TrimSuffix(name, blocksSuffix)+"-", i, Packed, blocksSuffix)
}

var shardName = regexp.MustCompile(`-\d{5}\.blocks$`)

// ShardOf returns the name of the block file of which a file is a shard; of another file, its own name.
func ShardOf(name string) string { return shardName.ReplaceAllString(name, blocksSuffix) }

// Shards returns the paths of the shards of a block file, in order.
func Shards(fsys store.FS, name string) (shards []string, err error) {
	entries, err := fsys.ReadDir(path.Dir(name))
	for _, e := range entries {
		if shard := path.Join(path.Dir(name), e.Name()); shard != name && ShardOf(shard) == name {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	return shards, err
}

// Parts lists the shards of a directory of a game in order of name, after checking them
// against its seal, see store.OpenDir. If dir is a packed file, the result is that file; if it does not exist,
// its Shards.
func Parts(fsys store.FS, dir, game string) ([]string, error) {
	return new(Seals).Parts(fsys, dir, game)
}

// Parts is the function Parts, and caches the seal.
func (s *Seals) Parts(fsys store.FS, dir, game string) ([]string, error) {
	if !IsText(dir) {
		if _, err := fsys.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return []string{dir}, err
		}
		shards, err := Shards(fsys, dir)
		if err == nil && len(shards) == 0 {
			return []string{dir}, nil // the error of opening it names it
		}
		return shards, err
	}
	seal, names, err := store.OpenDir(fsys, dir, game)
	if err != nil {
		return nil, err
	}
	s.cache(dir, seal)
	var parts []string
	for _, name := range names {
		if strings.HasPrefix(name, store.PartPrefix) {
			parts = append(parts, path.Join(dir, name))
		}
	}
	return parts, nil
}

// files are open packed files of one kind, game and tier.
type files struct {
	spec    string
	tier    int
	packed  func(io.ReaderAt, int64, string) (*streamfmt.File, error) // opens a file
	writer  func(io.WriteCloser) *Writer                              // starts to write a file
	files   []*streamfmt.File
	closers []io.Closer
	seals   *Seals
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
	if ReadsText && IsText(name) {
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

// Files returns the paths of the files, in the order in which they were opened.
func (f *files) Files() (names []string) {
	for _, file := range f.files {
		names = append(names, file.Name())
	}
	return names
}

// A splitter divides ranges into up to n partitions of about the same number of bytes.
type splitter struct {
	n, all  uint64   // all is the number of bytes of all ranges
	before  uint64   // bytes of the ranges so far
	borders []uint64 // the first range of each partition; the first is 0, and they ascend strictly
}

// add adds a range that is above all those before.
func (s *splitter) add(rng, bytes uint64) {
	if rng > s.borders[len(s.borders)-1] && s.before*s.n >= s.all*uint64(len(s.borders)) {
		s.borders = append(s.borders, rng)
	}
	s.before += bytes
}

// Stored returns the number of positions that the files store, see streamfmt.File.Stored.
func (f *files) Stored() (all uint64) {
	for _, file := range f.files {
		all += file.Stored()
	}
	return all
}

// Content returns the checksum of the content of the files, see streamfmt.File.Content; ok is false if one of them is
// not compact.
func (f *files) Content() (sum uint64, ok bool) {
	for _, file := range f.files {
		if file.Model() == nil {
			return 0, false
		}
		sum += file.Content()
	}
	return sum, true
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

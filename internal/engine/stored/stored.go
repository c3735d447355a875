// Package stored describes the table of a solved game as both methods have it: files, and stored positions in ranges.
package stored

import (
	"context"
	"fmt"
	"path"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// Files are the sealed files of a table.
type Files struct {
	FS    store.FS
	Dir   string // the directory of the table
	Tiers []Tier
}

// A Tier is the files of a tier.
type Tier struct {
	Name   string // of the only file, for errors: there may be shards of it
	Sealed []store.SealedFile
}

// Of returns the files of a tier.
func (f *Files) Of(tier int) (files []jobdir.File) {
	for i := range f.Tiers[tier].Sealed {
		sealed := &f.Tiers[tier].Sealed[i]
		files = append(files, jobdir.File{Name: path.Join(f.Dir, sealed.Name), Seal: sealed})
	}
	return files
}

// Temporary returns a directory for temporary files: that with the directory of the table, if it is on this machine;
// otherwise "".
func (f *Files) Temporary() string {
	if _, ok := f.FS.(store.Local); ok {
		return path.Dir(f.Dir)
	}
	return ""
}

// A Fault is an error in the contents of a table: the first one that was found.
type Fault struct {
	Position game.Position
	Reason   string
}

func (f *Fault) Error() string { return fmt.Sprintf("%#x: %s", f.Position, f.Reason) }

// NoCounts is the error for a file whose recorded counts differ from its positions.
func NoCounts(name string) error {
	return fmt.Errorf("%s: the recorded counts differ from the positions in the file", name)
}

// A Table is the table of a method. It is safe for concurrent use.
type Table interface {
	// Lookup returns the value of a valid position, or of the image that is stored.
	Lookup(p game.Position) (v game.Value, ok bool, err error)
	// Counts returns the number of positions of a tier by value, as recorded in its files.
	Counts(tier int) (map[game.Value]uint64, error)
	Close() error

	// Stored returns the number of positions that the files of a tier have, if these are fewer than Counts has; otherwise 0.
	Stored(tier int) uint64
	// Content returns a checksum of all positions and values, in hexadecimal; "": there is none.
	Content() string
	// Before returns positions that include all predecessors of a valid position; ok is false if only a scan finds them.
	Before(p game.Position) (from []game.Position, ok bool)
	// Verify checks the complete table by a way of the method; ok is false if there is none but the rules of the game. It calls
	// report now and then with the share that is done, unless report is nil.
	Verify(ctx context.Context, report func(share float64)) (ok bool, err error)
	// Parts returns the stored positions of the tiers for which wanted returns true, in parts that are checked one after the
	// other.
	Parts(wanted func(tier int) bool) ([]*Part, error)
}

// Ahead is the number of bytes that a reader of all positions of a tier reads ahead.
const Ahead = 64 << 10

// A Part is a part of a table that is checked at once: a tier of blocks, or a complete table.
type Part struct {
	Files []File // in the order of the ranges
	Len   int    // the number of ranges
	Own   bool   // moves lead to positions of the same part, otherwise of the next
	// Range returns the i-th range, and an upper bound for the number of all its positions. It is safe for concurrent use.
	Range func(i int) (rng uint64, most int, err error)
	// Slots returns the number of slots of a range.
	Slots func(rng uint64) int
	// Reader returns a reader for one worker, which may read ahead the given number of bytes.
	Reader func(ahead int) Reader
}

// File returns the file that has the i-th range.
func (p *Part) File(i int) *File {
	return &p.Files[sort.Search(len(p.Files), func(f int) bool { return p.Files[f].End > i })]
}

// A File is a tier of a part, with its recorded counts.
type File struct {
	Name   string
	Tier   int
	Counts map[game.Value]uint64
	End    int // one more than the index of its last range
}

// A Reader reads the stored positions of a part, and looks up their successors.
type Reader interface {
	// Load reads the i-th range of the part as the current range, and appends the slots of its positions, ascending.
	Load(slots []uint32, i int) (rng uint64, _ []uint32, err error)
	// At returns the position and the value of a slot of the current range.
	At(slot int) (game.Position, game.Value)
	// Times returns for how many positions the one of a slot stands: 2 with its mirror image, otherwise 1.
	Times(slot int) uint64
	Finder
}

// A Finder looks up successors of the positions of a part.
type Finder interface {
	// Find looks up p, or the image that is stored: a successor of a position of the range that was read last. It returns its
	// range, its slot in that range, and its value.
	Find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error)
	// Image returns the mirror image of a position that Find finds, if the table stores both.
	Image(p game.Position) (image game.Position, ok bool)
}

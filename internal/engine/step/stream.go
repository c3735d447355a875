package step

import (
	"fmt"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// Options are the parameters of a step on a stream, other than the game.
type Options struct {
	Source string // name of the input in errors
	// Turn is the player who makes the move of this job, from the predecessors' tier to the
	// successors': "X", "O", or "" if unknown. The map of Solve needs it, to
	// distinguish successors from predecessors; the other steps check it.
	Turn string
	// LastRound, if not nil, is checked: whether the successors are in the last tier (the
	// board is full).
	LastRound *bool
	// Combine merges messages before they are printed.
	Combine bool
	// Memory limits the records that are buffered for merging, in bytes, or, for games
	// solved by layers, for sorting; 0 means DefaultMemory.
	Memory int

	// The following options are for games solved by layers, see package layers, and for packed
	// records.

	Tier int // of the job; -1: unknown, allowed for a mapper by layers
	Part int // the number of the reducer, its partition

	// The following options are for reducers of games solved by layers, see runner.Job.

	Pass        int
	Edges, Runs []string // directories in FS
	Absorb      int
	Borders     []game.Position // the first keys of all partitions except the first
	// Create creates a file in the directory of the job, Output: of messages, of states, or a packed shard.
	Create func(name string) (io.WriteCloser, error)
	Output string
	FS     store.FS // of the files
	// ByHand says that no driver runs the job: a reducer by layers writes its shard as a packed file, too, and its
	// messages as lines, too.
	ByHand bool

	// Packed says that records are packed: a mapper reads splits, see Split, and writes pairs, and a reducer writes a packed
	// file.
	Packed bool

	// The following options are for packed records of games solved by blocks.

	Reducers     int
	Predecessors string // in Solve: the directory of the existing positions of Tier
}

// flushSize is the number of bytes of output that are buffered before they are written.
const flushSize = 64 << 10

// A Writer buffers the output of a stream and counts records. After a failed write it keeps
// the error and discards all further output.
type Writer struct {
	Counters
	Buf   []byte // buffered output, to which callers may append lines
	Width int    // digits of a key

	out io.Writer
	err error
}

// NewWriter returns a writer of the records of a game.
func NewWriter(out io.Writer, g game.Game) *Writer {
	return &Writer{out: out, Width: streamfmt.KeyWidth(g.KeyBits())}
}

// Line writes a record as a line.
func (w *Writer) Line(rec streamfmt.Record) {
	w.Records++
	w.Buf = streamfmt.AppendRecord(w.Buf, rec, w.Width)
	w.Spill()
}

// Spill writes the buffered output if there is enough of it.
func (w *Writer) Spill() error {
	if len(w.Buf) < flushSize {
		return w.err
	}
	return w.Flush()
}

// Flush writes the buffered output.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.Buf) > 0 {
		if _, err := w.out.Write(w.Buf); err != nil {
			w.err = fmt.Errorf("output: %w", err)
		}
	}
	w.Buf = w.Buf[:0]
	return w.err
}

// MapStart is the map of Init: it prints the initial position, as it is stored, if the input has any line.
func (w *Writer) MapStart(start game.Position, in io.Reader, source string) error {
	err := streamfmt.NewLineReader(in, source).Each(func([]byte) error {
		w.In++
		return nil
	})
	if err == nil && w.In > 0 {
		w.Line(streamfmt.Record{Key: start})
	}
	return err
}

// DefaultMemory is the default limit of a mapper's buffered messages, in bytes: the share
// of one reducer in the small containers of a cluster, and more than any tier of 5×5 needs.
const DefaultMemory = 128 << 20

// Descriptions of expected records, for errors about invalid ones.
const (
	WantSorted  = "keys in ascending order (LC_ALL=C sort)"
	WantOutcome = "a value with an outcome in its two low bits"
)

package step

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/lines"
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

	// The following options are for packed records.

	// Reducers is their requested number; see Borders for the actual one. If it is not 0, records are packed: a mapper
	// reads splits, see Split, and writes pairs, and a reducer writes a packed file.
	Reducers     int
	Predecessors string // blocks, Solve: the directory of the existing positions of Tier
}

// Packed reports whether records are packed.
func (o *Options) Packed() bool { return o.Reducers > 0 }

// SplitMark separates a file name from the byte offset at which a split begins, in the name
// of a mapper's input. Line numbers in errors are counted from that offset.
const SplitMark = " from byte "

// Map runs the map of a step from in to out.
func Map(name string, m game.Method, in io.Reader, out io.Writer, o Options) (Counters, error) {
	if !o.Combine {
		o.Memory = 1 // emits each message at once
	}
	return run(name, m, in, out, o, func(s *stream) error {
		switch name {
		case Init:
			return s.MapStart(m.Game, in, o.Source)
		case Final:
			return mapFinal(m.Game, in, s.Writer, o)
		}
		if m.Blocks == nil {
			return byLayers(m.Layers)
		}
		return s.mapBlocks(m.Blocks)
	})
}

// Reduce runs the reduce of a step from in, sorted by key, to out, or to a file if records
// are packed: it writes the records of a tier.
func Reduce(name string, m game.Method, in io.Reader, out io.Writer, o Options) (Counters, error) {
	return run(name, m, in, out, o, func(s *stream) error {
		if name == Final {
			return reduceFinal(m, in, s.Writer, o)
		}
		if m.Blocks == nil {
			return byLayers(m.Layers)
		}
		return s.reduceBlocks(m.Blocks)
	})
}

// A stream is one run of one side of a step.
type stream struct {
	*Writer
	name string
	in   io.Reader
	o    Options
}

// run runs one side of a step, which must be a step of the game, and flushes its output.
func run(name string, m game.Method, in io.Reader, out io.Writer, o Options, side func(*stream) error) (Counters, error) {
	w := NewWriter(out, m.Game)
	if !slices.Contains(NamesOf(m), name) {
		return w.Counters, Unknown(name)
	}
	err := side(&stream{w, name, in, o})
	return w.Counters, cmp.Or(err, w.Flush())
}

// byLayers returns the error for a game whose steps are in package layers.
func byLayers(g game.Game) error { return fmt.Errorf("%s is solved by layers", g.Spec()) }

// Unknown returns the error for a step that the game does not have.
func Unknown(name string) error { return fmt.Errorf("unknown step %q", name) }

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

// block writes the records of a block as lines.
func (w *Writer) block(b *block.Block) error {
	w.count(b)
	w.Buf = lines.AppendBlock(w.Buf, b, w.Width)
	return w.Spill()
}

// count counts the records of a block.
func (w *Writer) count(b *block.Block) {
	n := b.Done.Count()
	w.Records += int64(b.Open.Count() + n)
	w.Finished += int64(n)
}

func (w *Writer) line(rec streamfmt.Record) {
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

// countLines counts the lines of in as records.
func (w *Writer) countLines(in io.Reader, source string) error {
	return streamfmt.NewLineReader(in, source).Each(func([]byte) error {
		w.In++
		return nil
	})
}

// MapStart is the map of Init: it prints the initial position if the input has any line.
func (w *Writer) MapStart(g game.Game, in io.Reader, source string) error {
	err := w.countLines(in, source)
	if err == nil && w.In > 0 {
		w.line(streamfmt.Record{Key: game.CanonicalOf(g, g.Start())})
	}
	return err
}

// eachRecord calls do for every record of in. Each record must be a position, not a
// message. do returns a description of what it expected instead of the record, or "".
func eachRecord(g game.Game, in io.Reader, w *Writer, o Options, do func(streamfmt.Record) (want string)) error {
	r := streamfmt.NewReader(in, o.Source, w.Width)
	for w.err == nil {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w.In++
		want := ""
		if err := g.Check(rec.Key); err != nil {
			want = fmt.Sprintf("a position (%v)", err)
		} else if rec.Kind == streamfmt.Message {
			want = "a position, no message"
		} else if rec.Kind == streamfmt.Done && !game.Value(rec.Value).Valid() {
			want = lines.WantOutcome
		} else {
			want = do(rec)
		}
		if want != "" {
			return r.Errorf(want)
		}
		w.Spill()
	}
	return nil
}

// mapFinal prints all positions except those that the game does not list.
func mapFinal(g game.Game, in io.Reader, w *Writer, o Options) error {
	return eachRecord(g, in, w, o, func(rec streamfmt.Record) string {
		if game.Listed(g, rec.Key) {
			w.line(rec)
		}
		return ""
	})
}

// reduceFinal prints each position once.
func reduceFinal(m game.Method, in io.Reader, w *Writer, o Options) error {
	f := NewFinalLines(w, m)
	err := eachRecord(m.Game, in, w, o, func(rec streamfmt.Record) string { return f.Add(rec.Key, game.Value(rec.Value)) })
	if err == nil && w.err == nil {
		if want := f.End(); want != "" {
			err = fmt.Errorf("%s:%d: expected %s", o.Source, w.In, want)
		}
	}
	return err
}

package jobdir

import (
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A StateChunk is encoded states and new positions of neighbouring ranges, as a worker
// makes them for a StateWriter.
type StateChunk struct {
	New game.Tally // positions that are new

	g      game.Cyclic
	codec  Codec
	states streamfmt.Packed
	packed streamfmt.Packed
	text   []byte
}

// NewStateChunk returns an empty chunk; c is the form of the new positions.
func NewStateChunk(g game.Cyclic, c Codec) *StateChunk { return &StateChunk{g: g, codec: c} }

// Reset empties the chunk.
func (c *StateChunk) Reset() {
	c.New = game.Tally{}
	c.states.Reset()
	c.packed.Reset()
	c.text = c.text[:0]
}

// Size is how many bytes are in the chunk.
func (c *StateChunk) Size() int { return len(c.states.Bytes) + len(c.packed.Bytes) + len(c.text) }

// Add encodes the state of a range and what is new in it. Ranges ascend.
func (c *StateChunk) Add(rng uint64, state, fresh *block.State) {
	n := game.RangeLen(c.g, rng)
	c.states.AddState(rng, n, state, false)
	if fresh.Reached.Empty() {
		return
	}
	var counts streamfmt.Counts
	fresh.Count((*[256]uint64)(&counts))
	c.New.AddValues(counts)
	if c.codec == Text {
		c.text = AppendState(c.text, c.g, rng, fresh, streamfmt.KeyWidth(c.g.KeyBits()))
		return
	}
	c.packed.AddState(rng, n, fresh, false)
	c.packed.Counts.Add(&counts)
}

// A StateWriter writes what one reducer makes: a part, and the states of its ranges.
type StateWriter struct {
	g       game.Cyclic
	codec   Codec
	closers []io.Closer
	part    io.Writer
	fresh   *streamfmt.Writer // nil for text
	states  *streamfmt.Writer
}

// NewStateWriter begins the files of reducer i in a directory.
func NewStateWriter(fsys store.FS, dir string, i int, g game.Cyclic, c Codec) (w *StateWriter, err error) {
	w = &StateWriter{g: g, codec: c}
	if w.states, err = w.begin(fsys, path.Join(dir, StateName(i))); err != nil {
		return nil, w.Finish(err)
	}
	name := path.Join(dir, PartName(i, c))
	if c == Text {
		f, err := fsys.Create(name)
		if err != nil {
			return nil, w.Finish(err)
		}
		w.part, w.closers = f, append(w.closers, f)
		return w, nil
	}
	if w.fresh, err = w.begin(fsys, name); err != nil {
		return nil, w.Finish(err)
	}
	return w, nil
}

// begin begins a range file.
func (w *StateWriter) begin(fsys store.FS, name string) (*streamfmt.Writer, error) {
	f, err := fsys.Create(name)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, f)
	return streamfmt.NewRangeWriter(f, w.g.Spec())
}

// Append writes a chunk, whose ranges are above all those written before.
func (w *StateWriter) Append(c *StateChunk) error {
	if err := w.states.Append(&c.states); err != nil {
		return err
	}
	if w.codec == Text {
		_, err := w.part.Write(c.text)
		return err
	}
	return w.fresh.Append(&c.packed)
}

// Finish ends the files, if what was to be written has been (err is nil), and
// closes them in any case. It returns the first error.
func (w *StateWriter) Finish(err error) error {
	for _, f := range []*streamfmt.Writer{w.states, w.fresh} {
		if err == nil && f != nil {
			err = f.Close()
		}
	}
	for _, c := range w.closers {
		if closed := c.Close(); err == nil {
			err = closed
		}
	}
	return err
}

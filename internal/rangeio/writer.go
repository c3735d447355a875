package rangeio

import (
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/lines"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Chunk is encoded states and new positions of neighbouring ranges, as a worker
// makes them for a Writer.
type Chunk struct {
	New game.Tally // positions that are new

	g      game.Cyclic
	codec  tierio.Codec
	states streamfmt.Packed
	packed streamfmt.Packed
	text   []byte
}

// NewChunk returns an empty chunk; c is the form of the new positions.
func NewChunk(g game.Cyclic, c tierio.Codec) *Chunk { return &Chunk{g: g, codec: c} }

// Reset empties the chunk.
func (c *Chunk) Reset() {
	c.New = game.Tally{}
	c.states.Reset()
	c.packed.Reset()
	c.text = c.text[:0]
}

// Size is how many bytes are in the chunk.
func (c *Chunk) Size() int { return len(c.states.Bytes) + len(c.packed.Bytes) + len(c.text) }

// Add encodes the state of a range and what is new in it. Ranges ascend.
func (c *Chunk) Add(rng uint64, state, fresh *block.State) {
	n := game.RangeLen(c.g, rng)
	c.states.AddState(rng, n, state, false)
	if fresh.Reached.Empty() {
		return
	}
	var counts streamfmt.Counts
	fresh.Count((*[256]uint64)(&counts))
	c.New.AddValues(counts)
	if c.codec == tierio.Text {
		c.text = lines.AppendState(c.text, c.g, rng, fresh, streamfmt.KeyWidth(c.g.KeyBits()))
		return
	}
	c.packed.AddState(rng, n, fresh, false)
	c.packed.Counts.Add(&counts)
}

// A Writer writes what one reducer makes: a part, and the states of its ranges.
type Writer struct {
	g       game.Cyclic
	codec   tierio.Codec
	closers []io.Closer
	part    io.Writer
	fresh   *streamfmt.Writer // nil for text
	states  *streamfmt.Writer
}

// NewWriter begins the files of reducer i in a directory.
func NewWriter(fsys store.FS, dir string, i int, g game.Cyclic, c tierio.Codec) (w *Writer, err error) {
	w = &Writer{g: g, codec: c}
	if w.states, err = w.begin(fsys, path.Join(dir, StateName(i))); err != nil {
		return nil, w.Finish(err)
	}
	name := path.Join(dir, tierio.PartName(i, c))
	if c == tierio.Text {
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
func (w *Writer) begin(fsys store.FS, name string) (*streamfmt.Writer, error) {
	f, err := fsys.Create(name)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, f)
	return streamfmt.NewRangeWriter(f, w.g.Spec())
}

// Append writes a chunk, whose ranges are above all those written before.
func (w *Writer) Append(c *Chunk) error {
	if err := w.states.Append(&c.states); err != nil {
		return err
	}
	if w.codec == tierio.Text {
		_, err := w.part.Write(c.text)
		return err
	}
	return w.fresh.Append(&c.packed)
}

// Finish ends the files, if what was to be written has been (err is nil), and
// closes them in any case. It returns the first error.
func (w *Writer) Finish(err error) error {
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

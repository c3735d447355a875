package jobdir

import (
	"fmt"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Chunk is encoded records of neighbouring ranges, as a worker makes them for
// a Writer.
type Chunk struct {
	codec  Codec
	width  int
	packed streamfmt.Packed
	text   []byte

	records, done int64
}

// NewChunk returns an empty chunk for a game.
func NewChunk(g game.Tiered, c Codec) *Chunk {
	return &Chunk{codec: c, width: streamfmt.KeyWidth(g.KeyBits())}
}

// Reset empties the chunk.
func (c *Chunk) Reset() {
	c.packed.Reset()
	c.text = c.text[:0]
	c.records, c.done = 0, 0
}

// Add encodes a block, unless it is empty. Ranges ascend.
func (c *Chunk) Add(b *block.Block) {
	if b.Empty() {
		return
	}
	done := b.Done.Count()
	c.records += int64(b.Open.Count() + done)
	c.done += int64(done)
	if c.codec == Blocks {
		c.packed.Add(b)
		return
	}
	c.text = AppendBlock(c.text, b, c.width, streamfmt.Done)
}

// AddText adds lines that are not records of a tier: those that appendTo appends, of
// which there are n.
func (c *Chunk) AddText(appendTo func(dst []byte) (text []byte, n int)) {
	text, n := appendTo(c.text)
	c.text = text
	c.records += int64(n)
}

// Size is how many bytes the chunk has so far.
func (c *Chunk) Size() int { return len(c.text) + len(c.packed.Bytes) }

// Records is how many records or lines the chunk holds.
func (c *Chunk) Records() int64 { return c.records }

// Done is how many records with a value the chunk holds.
func (c *Chunk) Done() int64 { return c.done }

// A Writer writes a part.
type Writer struct {
	g     game.Tiered
	codec Codec
	out   io.Writer
	tier  int
	file  *streamfmt.Writer // nil until the first chunk, and for text
}

// NewWriter begins a part of a tier.
func NewWriter(out io.Writer, g game.Tiered, tier int, c Codec) *Writer {
	return &Writer{g: g, codec: c, out: out, tier: tier}
}

// begin writes the head of a block file.
func (w *Writer) begin() error {
	if w.codec == Text || w.file != nil {
		return nil
	}
	var err error
	w.file, err = streamfmt.NewWriter(w.out, w.g.Spec(), w.tier)
	return err
}

// Append writes a chunk, whose ranges are above all those written before.
func (w *Writer) Append(c *Chunk) error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.codec == Blocks {
		return w.file.Append(&c.packed)
	}
	_, err := w.out.Write(c.text)
	return err
}

// AppendTier writes all of a tier, as blocks; nothing is unpacked.
func (w *Writer) AppendTier(t *Tier) error {
	if err := w.begin(); err != nil {
		return err
	}
	for _, f := range t.files {
		if err := w.file.AppendFile(f); err != nil {
			return err
		}
	}
	return nil
}

// AppendLines reads sorted lines, called source in errors, and writes them.
func (w *Writer) AppendLines(in io.Reader, source string) error {
	const enough = 256 << 10
	gatherer := NewGatherer(w.g, in, source, true)
	chunk := NewChunk(w.g, w.codec)
	b := new(block.Block)
	for {
		err := gatherer.Next(b, AddRecord)
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil {
			if b.Tier != w.tier {
				return fmt.Errorf("%s: expected positions of tier %d, found some of tier %d", source, w.tier, b.Tier)
			}
			chunk.Add(b)
		}
		if err == io.EOF || chunk.Size() > enough {
			if err := w.Append(chunk); err != nil {
				return err
			}
			chunk.Reset()
		}
		if err == io.EOF {
			return nil
		}
	}
}

// Finish ends the part, if what was to be written has been (err is nil), and
// closes the file below in any case. It returns the first error.
func (w *Writer) Finish(err error, file io.Closer) error {
	if err == nil {
		err = w.Close()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// Close writes what a block file ends with; it does not close the file below.
func (w *Writer) Close() error {
	if err := w.begin(); err != nil || w.codec == Text {
		return err
	}
	return w.file.Close()
}

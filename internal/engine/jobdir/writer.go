package jobdir

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/lines"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Chunk is the encoded records of consecutive ranges, or sorted rows, which a worker makes
// for a Writer.
type Chunk struct {
	packed streamfmt.Packer

	records, done int64
	half          *game.Half // whose blocks are added; nil: those of the whole game
}

// NewChunk returns an empty chunk for a game. If the game is a *game.Half, each record counts
// for itself and its mirror image.
func NewChunk(g game.Game) *Chunk {
	half, _ := g.(*game.Half)
	return &Chunk{half: half}
}

// Reset empties the chunk.
func (c *Chunk) Reset() {
	c.packed.Reset()
	c.records, c.done = 0, 0
}

// Add encodes a block, unless it is empty. Ranges must ascend.
func (c *Chunk) Add(b *block.Block) {
	if b.Empty() {
		return
	}
	done := b.Done.Count()
	open := b.Open.Count()
	if c.half != nil {
		_, balanced := c.half.Stored(b.Tier, b.Range)
		open, done = 2*open, 2*done
		for i, w := range balanced {
			open -= bits.OnesCount64(w & b.Open[i])
			done -= bits.OnesCount64(w & b.Done[i])
		}
		c.packed.AddHalf(b, balanced)
	} else {
		c.packed.Add(b)
	}
	c.records += int64(open + done)
	c.done += int64(done)
}

// AddRows encodes sorted rows of a tier, all of one kind.
func (c *Chunk) AddRows(tier int, rows []streamfmt.Row) { c.packed.AddRows(tier, rows) }

// SetCoded makes c code the cells of lists of Values, for the writer of the table, see NewRowWriter.
func (c *Chunk) SetCoded() { c.packed.SetCoded() }

// CountValues counts rows of a list of Values by value.
func (c *Chunk) CountValues(rows []streamfmt.Row) { c.packed.CountValues(rows) }

// Inherit gives an empty chunk the memory of an old one that is no longer used.
func (c *Chunk) Inherit(old *Chunk) {
	c.packed = old.packed
	c.Reset()
}

// Size returns the number of bytes in the chunk.
func (c *Chunk) Size() int { return len(c.packed.Bytes) }

// Records returns the number of records in the chunk.
func (c *Chunk) Records() int64 { return c.records }

// Done returns the number of records with a value in the chunk.
func (c *Chunk) Done() int64 { return c.done }

// A Writer writes a shard, or a file of the table.
type Writer struct {
	out    io.WriteCloser
	packed packedWriter
	err    error  // from a function that made packed
	chunk  *Chunk // for Add

	g    game.Tiered // for AppendLines
	tier int
}

// A packedWriter writes a block file or list file.
type packedWriter interface {
	Append(*streamfmt.Packer) error
	Close() error
}

// NewRowWriter returns a writer of a list of rows; coded, if its cells are. Package layers reads lines for it.
func NewRowWriter(out io.WriteCloser, g game.Game, kind streamfmt.RowKind, coded bool) *Writer {
	w := &Writer{out: out}
	if coded {
		w.packed, w.err = streamfmt.NewCodedListWriter(out, g.Spec())
	} else {
		w.packed, w.err = streamfmt.NewListWriter(out, g.Spec(), kind)
	}
	return w
}

// NewWriter returns a writer of a shard of a tier. If the game is a *game.Half, the shard stores half of the positions.
func NewWriter(out io.WriteCloser, g game.Tiered, tier int) *Writer {
	w := &Writer{out: out, chunk: NewChunk(g), g: g, tier: tier}
	if w.chunk.half != nil {
		w.packed, w.err = streamfmt.NewHalfWriter(out, g.Spec(), tier)
	} else {
		w.packed, w.err = streamfmt.NewWriter(out, g.Spec(), tier)
	}
	return w
}

// Append writes a chunk, whose ranges must be above all those written before.
func (w *Writer) Append(c *Chunk) error {
	if w.err != nil {
		return w.err
	}
	return w.packed.Append(&c.packed)
}

// Add writes a block, unless it is empty. Ranges must ascend.
func (w *Writer) Add(b *block.Block) error {
	w.chunk.Add(b)
	return w.spill()
}

// AppendLines reads sorted lines, called source in errors, and writes their records.
func (w *Writer) AppendLines(in io.Reader, source string) error {
	b := new(block.Block)
	add := func(slot int, rec streamfmt.Record) string { return lines.AddRecord(b, slot, rec) }
	return lines.NewGatherer(w.g, b, in, source, true).Each(add, func() error {
		if b.Tier != w.tier {
			return fmt.Errorf("%s: expected positions of tier %d, found some of tier %d", source, w.tier, b.Tier)
		}
		return w.Add(b)
	})
}

// chunkSize is the number of bytes that Add writes at a time.
const chunkSize = 256 << 10

// spill writes the chunk if it is large enough.
func (w *Writer) spill() error {
	if w.chunk.Size() < chunkSize {
		return nil
	}
	return w.flush()
}

func (w *Writer) flush() error {
	err := w.Append(w.chunk)
	w.chunk.Reset()
	return err
}

// Finish finalizes the shard unless err is not nil, and closes the file in any case. It
// returns the first error.
func (w *Writer) Finish(err error) error {
	if err = cmp.Or(err, w.err); err == nil && w.chunk != nil && w.chunk.Size() > 0 {
		err = w.flush()
	}
	if err == nil {
		err = w.packed.Close()
	}
	return cmp.Or(err, w.out.Close())
}

// Sum returns the checksum of the complete block file, see streamfmt.File.Sum.
func (w *Writer) Sum() uint32 { return w.packed.(*streamfmt.Writer).Sum() }

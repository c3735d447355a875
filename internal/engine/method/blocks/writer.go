package blocks

import (
	"fmt"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Chunk is the encoded blocks of consecutive ranges, which a worker makes for a Writer.
type Chunk struct {
	streamfmt.Packer
	half *mirror.Half // whose blocks are added; nil: those of the whole game
}

// NewChunk returns an empty chunk for a game. If the game is a *mirror.Half, each record counts
// for itself and its mirror image.
func NewChunk(g game.Game) *Chunk {
	half, _ := g.(*mirror.Half)
	return &Chunk{half: half}
}

// Add encodes a block, unless it is empty. Ranges must ascend.
func (c *Chunk) Add(b *block.Block) {
	switch {
	case b.Empty():
	case c.half != nil:
		_, balanced := c.half.Stored(b.Tier, b.Range)
		c.AddHalf(b, balanced)
	default:
		c.Packer.Add(b)
	}
}

// A Writer writes a shard of a tier of blocks, or a file of the table.
type Writer struct {
	jobdir.PackWriter
	chunk *Chunk // for Add

	g    game.Tiered // for AppendLines
	tier int
}

// NewWriter returns a writer of a shard of a tier. If the game is a *mirror.Half, the shard stores half of the positions.
func NewWriter(out io.WriteCloser, g game.Tiered, tier int) *Writer {
	return &Writer{jobdir.NewPackWriter(out, g, kindOf(g), nil), NewChunk(g), g, tier}
}

// newOutputChunk returns an empty chunk for the output of a step. The blocks of a game.Deduced are compact if the step comes
// before Solve.
func newOutputChunk(g game.Tiered, name string) *Chunk {
	c := NewChunk(g)
	if deduce := game.DeducerOf(g); deduce != nil && name != step.Solve {
		c.SetCompact(deduce, nil)
	}
	return c
}

// newOutputWriter returns a writer of a shard of the output of a step.
func newOutputWriter(out io.WriteCloser, g game.Tiered, tier int, name string) *Writer {
	w := NewWriter(out, g, tier)
	w.chunk = newOutputChunk(g, name)
	return w
}

// kindOf returns the kind of the blocks of a game.
func kindOf(g game.Tiered) streamfmt.CellKind {
	if _, half := g.(*mirror.Half); half {
		return streamfmt.HalfBlocks
	}
	return streamfmt.Blocks
}

// Append writes a chunk, whose ranges must be above all those written before.
func (w *Writer) Append(c *Chunk) error { return w.PackWriter.Append(&c.Packer) }

// Add writes a block, unless it is empty. Ranges must ascend.
func (w *Writer) Add(b *block.Block) error {
	w.chunk.Add(b)
	return w.spill()
}

// AppendLines reads sorted lines, called source in errors, and writes their records.
func (w *Writer) AppendLines(in io.Reader, source string) error {
	b := new(block.Block)
	add := func(slot int, rec streamfmt.Record) string { return AddRecord(b, slot, rec) }
	return NewGatherer(w.g, b, in, source, true).Each(add, func() error {
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
	if len(w.chunk.Bytes) < chunkSize {
		return nil
	}
	return w.flush()
}

func (w *Writer) flush() error {
	err := w.Append(w.chunk)
	w.chunk.Reset()
	return err
}

// Finish is that of PackWriter, after the chunk.
func (w *Writer) Finish(err error) error {
	if err == nil {
		err = w.flush()
	}
	return w.PackWriter.Finish(err)
}

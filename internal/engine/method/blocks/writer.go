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

// A form is the form of the blocks of a file. If the game is a *mirror.Half, the file stores half of the positions, and each record
// counts for itself and its mirror image.
type form struct {
	g      game.Blockwise
	deduce block.Deducer    // makes blocks compact; nil: they are not
	model  *streamfmt.Model // codes the values of compact blocks; nil: they have only those of terminal positions
}

// outputForm returns the form of the output of a step. The blocks of a game.Deduced are compact if the step comes before Solve.
func outputForm(g game.Blockwise, name string) form {
	if name == step.Solve {
		return form{g: g}
	}
	return form{g: g, deduce: game.DeducerOf(g)}
}

// sampled is the number of blocks whose values make the model of a tier. On boards where most blocks have few
// values, 16 make tables up to 23 % larger; 512 save less than 0.5 %.
const sampled = 128

// tableForm returns the form of a tier of blocks with all values in the table: compact, if the game is a game.Deduced. values counts
// those that can occur. load returns the i-th block; it is called for some of them, in ascending order. If the game is a
// *mirror.Half, the blocks contain only stored positions.
func tableForm(g game.Blockwise, values *streamfmt.Counts, blocks int, load func(i int) (*block.Block, error)) (form, error) {
	f := form{g: g, deduce: game.DeducerOf(g)}
	if f.deduce == nil {
		return f, nil
	}
	n := min(blocks, sampled)
	s := streamfmt.NewSampler(f.deduce)
	for i := range n {
		b, err := load(i * blocks / n)
		if err != nil {
			return f, err
		}
		s.Add(b)
	}
	f.model = s.Model(values)
	return f, nil
}

// newChunk returns an empty chunk.
func (f form) newChunk() *Chunk {
	half, _ := f.g.(*mirror.Half)
	c := &Chunk{half: half}
	if f.deduce != nil {
		c.SetCompact(f.deduce, f.model)
	}
	return c
}

// newWriter returns a writer of a file of a tier.
func (f form) newWriter(out io.WriteCloser, tier int) *Writer {
	kind := streamfmt.Blocks
	if _, half := f.g.(*mirror.Half); half {
		kind = streamfmt.HalfBlocks
	}
	return &Writer{PackWriter: jobdir.NewPackWriter(out, f.g, kind, f.model), form: f, chunk: f.newChunk(), tier: tier}
}

// A Writer writes a shard of a tier of blocks, or a file of the table.
type Writer struct {
	jobdir.PackWriter
	form
	chunk *Chunk // for Add
	tier  int    // for AppendLines
}

// NewWriter returns a writer of a shard of a tier, with blocks that are not compact.
func NewWriter(out io.WriteCloser, g game.Blockwise, tier int) *Writer {
	return form{g: g}.newWriter(out, tier)
}

// Append writes a chunk, whose ranges must be above all those written before.
func (w *Writer) Append(c *Chunk) error { return w.PackWriter.Append(&c.Packer) }

// Add writes a block, unless it is empty. Ranges must ascend.
func (w *Writer) Add(b *block.Block) error {
	w.chunk.Add(b)
	if len(w.chunk.Bytes) < chunkSize {
		return nil
	}
	return w.flush()
}

// AppendLines reads sorted lines, called source in errors, and writes their records.
func (w *Writer) AppendLines(in io.Reader, source string) error {
	return readBlocks(w.g, in, source, true, addRecord, func(b *block.Block) error {
		if b.Tier != w.tier {
			return fmt.Errorf("%s: expected positions of tier %d, found some of tier %d", source, w.tier, b.Tier)
		}
		return w.Add(b)
	})
}

// chunkSize is the number of bytes that Add writes at a time.
const chunkSize = 256 << 10

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

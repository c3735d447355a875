package blocks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/streamfmt"
)

// writeTableShard writes a shard of the table, see jobdir.TablePart, which create creates: the positions that stored has, in
// some parts of a job that gives all positions of a tier values.
func writeTableShard(ctx context.Context, fsys store.FS, parts []jobdir.File, create func() (io.WriteCloser, error), stored game.Blockwise, tier int) error {
	in, err := OpenTierFiles(fsys, parts, stored, tier)
	if err != nil {
		return err
	}
	defer in.Close()
	if n := in.Counts()[streamfmt.Open]; n > 0 {
		return fmt.Errorf("no value for %s", numfmt.Count(n, "position"))
	}
	out, err := create()
	if err != nil {
		return err
	}
	return WriteTable(ctx, out, stored, in)
}

// WriteTable writes the file of the table for a tier of a game, and closes it. in is the tier with all its
// values. If the game is a *mirror.Half, the table stores half of the positions; in has all of them, or the
// same half. The blocks of a game.Deduced become compact.
func WriteTable(ctx context.Context, out io.WriteCloser, g game.Blockwise, in *Tier) error {
	half, _ := g.(*mirror.Half)
	keep := func(*block.Block) {}
	if half != nil && in.half == nil {
		keep = half.Keep
	}
	counts, c, b := in.Counts(), in.Cursor(0), new(block.Block)
	f, err := tableForm(g, &counts, in.Len(), func(i int) (*block.Block, error) {
		err := c.loadAt(b, i)
		if err == nil {
			keep(b)
		}
		return b, err
	})
	if err != nil {
		return cmp.Or(err, out.Close())
	}
	w := f.newWriter(out, in.tier)
	return w.Finish(w.appendTier(ctx, in, keep))
}

const (
	// loadAtOnce is the number of blocks that a worker of appendTier decodes at a time.
	loadAtOnce = 256
	// chunksPerWorker is the number of chunks for each worker of appendTier: one that it fills, and
	// others that wait to be written.
	chunksPerWorker = 3
)

// appendTier appends the blocks of a tier after keep. Workers on all cores load them.
func (w *Writer) appendTier(ctx context.Context, t *Tier, keep func(*block.Block)) error {
	workers := runtime.GOMAXPROCS(0)
	return parallel.InOrder(ctx, workers, chunksPerWorker*workers, parallel.Work[int, *Chunk]{
		Next:  parallel.Numbers((t.Len() + loadAtOnce - 1) / loadAtOnce),
		Chunk: w.newChunk,
		Worker: func() func(int, *Chunk) error {
			c, b := t.Cursor(stored.Ahead), new(block.Block)
			return func(task int, out *Chunk) error {
				out.Reset()
				for i := task * loadAtOnce; i < min((task+1)*loadAtOnce, t.Len()); i++ {
					if err := c.loadAt(b, i); err != nil {
						return err
					}
					keep(b)
					out.Add(b)
				}
				return nil
			}
		},
		Write: func(_ int, out *Chunk) error { return w.Append(out) },
	})
}

package step

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// blockCells is the encoding of the records that the map and the reduce of a step on blocks
// read, and of the messages between them.
type blockCells interface {
	// step returns the step for the map.
	step() Step
	// eachInput calls do with each block that the map reads. In Solve these are successors.
	eachInput(do func(b *block.Block) error) error
	// send writes a piece, see Step.
	send(piece *block.Block) error
	// eachReceived calls do with each block that the reduce receives, after merging all
	// messages to its range.
	eachReceived(do func(b *block.Block) error) error
	// close closes the files that the map or the reduce reads.
	close() error
}

// blockCells returns the encoding of the records of a stream.
func (s *stream) blockCells(g game.Tiered) (blockCells, error) {
	if s.o.Packed() {
		return newBlockPairs(s, g)
	}
	return newBlockLines(s, g), nil
}

// mapBlocks reads blocks and sends their messages to other ranges. It buffers each range
// until no further block can send messages to it, provided that the input is sorted, and so
// emits each position once, in sorted runs.
func (s *stream) mapBlocks(g game.Tiered) error {
	c, err := s.blockCells(g)
	if err != nil {
		return err
	}
	defer c.close()
	p := NewPusher(c.step(), g, s.o.Memory, c.send)
	if err := c.eachInput(p.Push); err != nil {
		return err
	}
	return p.Flush()
}

// reduceBlocks turns the messages to each range into its records, and prints them or writes a shard.
func (s *stream) reduceBlocks(g game.Tiered) error {
	c, err := s.blockCells(g)
	if err != nil {
		return err
	}
	defer c.close()
	step := New(s.name, g)
	reduce := func(write func(b *block.Block) error) error {
		return c.eachReceived(func(b *block.Block) error {
			if s.name != Init {
				if err := step.Reduce(b); err != nil {
					return fmt.Errorf("range %#x: %w", b.Range, err)
				}
			}
			return write(b)
		})
	}
	if !s.o.Packed() {
		return reduce(s.block)
	}
	file, err := s.o.Create(jobdir.PartName(s.o.Part))
	if err != nil {
		return err
	}
	out := jobdir.NewWriter(file, g, s.o.Tier)
	err = out.Finish(reduce(func(b *block.Block) error {
		s.count(b)
		return out.Add(b)
	}))
	if err != nil || s.name != Solve && s.o.Tier != g.Tiers() {
		return err
	}
	part := path.Join(s.o.Output, jobdir.PartName(s.o.Part))
	create := func() (io.WriteCloser, error) { return s.o.Create(jobdir.ShardName(jobdir.TablePart, s.o.Part)) }
	return jobdir.WriteTableShard(context.Background(), s.o.FS, []string{part}, create, g, s.o.Tier)
}

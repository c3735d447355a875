package blocks

import (
	"fmt"
	"io"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// splitAhead is the number of bytes of a pack file that are read at a time.
const splitAhead = 1 << 20

// blockPairs is the packed encoding of the records of a step on blocks: it reads splits and pack files, and writes and
// reads pairs.
type blockPairs struct {
	*filter
	from, to uint64 // the ranges of a reducer: the first, and the one after the last
	reader   *streamfmt.PairReader
	rng      uint64 // of the next pair
	packed   []byte // the next pair, or the last one that was written
	ended    bool   // whether there is no next pair
	encoder  streamfmt.Encoder
	decoder  streamfmt.Decoder

	predecessors *Tier       // the existing positions of the tier that is written, in Solve
	counts       [256]uint64 // required by AppendBlock
}

// write writes the pair of a range, with the block in p.packed.
func (c *blockPairs) write(rng uint64) error {
	if len(c.packed) > streamfmt.MaxPair {
		return fmt.Errorf("range %#x: its block takes %d bytes, at most %d fit into a pair: solve the game with --runner inline", rng, len(c.packed), streamfmt.MaxPair)
	}
	c.Buf = streamfmt.AppendPair(c.Buf, rng, c.packed)
	return c.Spill()
}

// read starts to read the sorted pairs of a partition. There are as many partitions as
// borders.
func (c *blockPairs) read(borders []uint64) error {
	if c.o.Part < 0 || c.o.Part >= len(borders) {
		return fmt.Errorf("partition %d: expected one of %d", c.o.Part, len(borders))
	}
	c.from, c.to = borders[c.o.Part], end(borders, c.o.Part)
	c.reader = streamfmt.NewPairReader(c.in, c.o.Source)
	return c.next()
}

// next reads the next pair.
func (c *blockPairs) next() (err error) {
	last := c.rng
	c.rng, c.packed, err = c.reader.Next()
	switch {
	case err == io.EOF:
		c.ended = true
		return nil
	case err == nil && (c.rng < last || c.rng < c.from || c.rng >= c.to):
		err = fmt.Errorf("expected a range from %#x on and below %#x, found %#x", max(last, c.from), c.to, c.rng)
	}
	return err
}

// skip skips the pairs of all ranges below to.
func (c *blockPairs) skip(to uint64) error {
	for !c.ended && c.rng < to {
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

func newBlockPairs(s *filter) (*blockPairs, error) {
	c := &blockPairs{filter: s}
	tier, last := s.o.Tier, s.g.Tiers()
	if input := step.InputTier(s.name, tier); tier < 0 || tier > last || input < 0 || input > last {
		return nil, fmt.Errorf("step %s: no tier %d can be written of a game with tiers 0 to %d", s.name, tier, last)
	}
	if s.name != step.Solve {
		return c, nil
	}
	var err error
	c.predecessors, err = OpenTier(s.o.FS, s.o.Predecessors, s.g, tier)
	return c, err
}

func (c *blockPairs) close() error {
	if c.predecessors == nil {
		return nil
	}
	return c.predecessors.Close()
}

func (c *blockPairs) step() Step {
	if c.predecessors == nil {
		return NewStep(c.name, c.g)
	}
	predecessors := c.predecessors.Cursor(splitAhead)
	predecessors.OpenOnly = true
	return &solveExisting{newSolve(c.g), predecessors}
}

// solveExisting is the map of Solve where the existing predecessors can be read: successors
// send messages only to those, not to all possible ones.
type solveExisting struct {
	*solve
	predecessors *TierCursor
}

// Expect opens the positions that have no value yet.
func (s *solveExisting) Expect(home uint64, b *block.Block) error {
	exist, err := s.predecessors.Block(home, b.Range)
	if exist != nil {
		b.Open.Union(exist.Open)
	}
	return err
}

func (c *blockPairs) send(piece *block.Block) error {
	c.Records += int64(piece.Count())
	c.packed = c.encoder.AppendBlock(c.packed[:0], piece, &c.counts)
	return c.write(piece.Range)
}

func (c *blockPairs) eachInput(do func(b *block.Block) error) error {
	b := new(block.Block)
	return step.EachSplit(c.in, c.o, func(split step.Split, f jobdir.File) error {
		t, err := OpenTierFiles(c.o.FS, []jobdir.File{f}, c.g, step.InputTier(c.name, c.o.Tier))
		if err != nil {
			return err
		}
		defer t.Close()
		return c.eachBlock(t, split.From, split.To, b, func() error {
			if c.name == step.Solve && !b.Open.Empty() {
				return fmt.Errorf("%s: expected successors with a value, found %d without in range %#x", split.File, b.Open.Count(), b.Range)
			}
			c.In += int64(b.Count())
			return do(b)
		})
	})
}

// eachBlock loads the blocks of a tier with ranges from from up to, but not including, to
// into b, and calls do for each.
func (c *blockPairs) eachBlock(t *Tier, from, to uint64, b *block.Block, do func() error) error {
	cursor := t.Cursor(splitAhead)
	i, err := cursor.Search(from)
	if err != nil {
		return err
	}
	for ; i < t.Len(); i++ {
		e, err := cursor.Entry(i)
		if err != nil || e.First >= to {
			return err
		}
		if _, err := cursor.Load(b, e.First); err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// eachReceived reads the range of each pair in Possible, and each range that contains
// predecessors in Solve. There, messages to other ranges are skipped, because they are to
// positions that do not exist.
func (c *blockPairs) eachReceived(do func(b *block.Block) error) error {
	if err := c.read(Borders(c.g, c.o.Tier, c.o.Reducers)); err != nil {
		return err
	}
	b, piece, step := new(block.Block), new(block.Block), NewStep(c.name, c.g)
	receive := func() error {
		for !c.ended && c.rng == b.Range {
			piece.Reset(b.Tier, b.Range, b.LowBits, b.Low)
			err := c.decoder.Decode(c.packed, piece)
			if err == nil {
				err = step.Receive(piece, b)
			}
			if err != nil {
				return fmt.Errorf("range %#x: %w", b.Range, err)
			}
			c.In += int64(piece.Count())
			if err := c.next(); err != nil {
				return err
			}
		}
		return do(b)
	}
	if c.predecessors != nil {
		err := c.eachBlock(c.predecessors, c.from, c.to, b, func() error {
			if err := c.skip(b.Range); err != nil {
				return err
			}
			return receive()
		})
		if err != nil {
			return err
		}
		return c.skip(allRanges)
	}
	for !c.ended {
		low := c.g.Low(c.o.Tier, c.rng)
		if low == nil {
			return fmt.Errorf("range %#x cannot contain a position of tier %d", c.rng, c.o.Tier)
		}
		b.Reset(c.o.Tier, c.rng, c.g.LowBits(), low)
		if err := receive(); err != nil {
			return err
		}
	}
	return nil
}

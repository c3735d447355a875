package blocks

import (
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// blockLines encodes the records of a step on blocks as lines. The lines are checked,
// because people and other programs may have written them.
type blockLines struct {
	*filter
	job   int         // in the map, the tier of the successors; 0 before the first block
	rules block.Block // a block of the input, with values computed from the rules
}

func (c *blockLines) close() error { return nil }

func (c *blockLines) step() Step { return NewStep(c.name, c.g) }

// send writes positions, or messages in Solve.
func (c *blockLines) send(piece *block.Block) error {
	valued := streamfmt.Done
	if c.name == step.Solve {
		valued = streamfmt.Message
	}
	c.Records += int64(piece.Count())
	c.Buf = appendLines(c.Buf, piece, c.Width, valued)
	return c.Spill()
}

// eachInput passes predecessors on unchanged in Solve.
func (c *blockLines) eachInput(do func(b *block.Block) error) error {
	return readBlocks(c.g, c.in, c.o.Source, false, func(b *block.Block, slot int, rec streamfmt.Record) string {
		c.In++
		return addRecord(b, slot, rec)
	}, func(b *block.Block) error {
		successor := c.name == step.Solve && Turn(c.g, b.Tier) != c.o.Turn
		if err := c.checkInput(b, successor); err != nil {
			return err
		}
		if c.name == step.Solve && !successor {
			return c.block(b)
		}
		return do(b)
	})
}

// eachReceived reads sorted lines.
func (c *blockLines) eachReceived(do func(b *block.Block) error) error {
	scores, successors := newSolve(c.g).scores, 0 // how many tiers the successors are above the tier that is read
	if c.name == step.Solve {
		successors = 1
	}
	return readBlocks(c.g, c.in, c.o.Source, true, func(b *block.Block, slot int, rec streamfmt.Record) string {
		c.In++
		if c.name != step.Solve || rec.Kind != streamfmt.Message {
			return addRecord(b, slot, rec)
		}
		score := scores[c.g.TierToMove(b.Tier)].OfSuccessor[rec.Value]
		if score == 0 {
			return "a message with the value of a successor"
		}
		if !b.Done.Has(slot) {
			b.Val[slot] = max(b.Val[slot], score)
		}
		return ""
	}, func(b *block.Block) error {
		if err := c.checkTier(b.Tier, b.Tier+successors); err != nil && c.name != step.Init {
			return err
		}
		return do(b)
	})
}

// readBlocks reads lines, called source in errors, and adds the records of consecutive lines of a tier and range to a block,
// with which it then calls do. add returns a description of what it expected instead of the record, or "". If sorted is set, a key
// below the previous key is an error, and so is a key of another tier.
func readBlocks(g game.Blockwise, in io.Reader, source string, sorted bool,
	add func(b *block.Block, slot int, rec streamfmt.Record) (want string), do func(b *block.Block) error) error {
	r := streamfmt.NewReader(in, source, streamfmt.KeyWidth(g.KeyBits()))
	b, low := new(block.Block), g.LowBits()
	last, slot := game.Position(0), 0
	for begun := false; ; begun = true {
		rec, err := r.Next()
		if err == io.EOF && begun {
			return do(b)
		} else if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if sorted && rec.Key < last {
			return r.Errorf(step.WantSorted)
		}
		rng, ok := rec.Key>>low, false
		if begun && rng == b.Range {
			slot, ok = b.Slot(uint32(rec.Key-rng<<low), slot)
		}
		if !ok { // it belongs to another block, or is not a position
			if err := g.Check(rec.Key); err != nil {
				return r.Errorf(fmt.Sprintf("a position (%v)", err))
			}
			tier := g.Tier(rec.Key)
			if sorted && begun && tier != b.Tier {
				return r.Errorf(fmt.Sprintf("a position of tier %d, as those before it (this one is of tier %d)", b.Tier, tier))
			}
			if begun {
				if err := do(b); err != nil {
					return err
				}
			}
			b.Reset(tier, rng, low, g.Low(tier, rng))
			if slot, ok = b.Slot(uint32(rec.Key-rng<<low), 0); !ok {
				return r.Errorf("a position with a slot in its range")
			}
		}
		if want := add(b, slot, rec); want != "" {
			return r.Errorf(want)
		}
		last = rec.Key
	}
}

// addRecord adds a record that is not a message to b. If it is invalid, want describes what was expected instead. A key may occur
// several times if its value is the same.
func addRecord(b *block.Block, slot int, rec streamfmt.Record) (want string) {
	switch rec.Kind {
	case streamfmt.Open:
		if !b.Done.Has(slot) {
			b.Open.Add(slot)
		}
	case streamfmt.Done:
		if v := game.Value(rec.Value); !v.Valid() {
			return step.WantOutcome
		}
		if b.Done.Has(slot) && b.Val[slot] != rec.Value {
			return fmt.Sprintf("the value %d that another line gave this key", b.Val[slot])
		}
		b.Open.Remove(slot)
		b.Done.Add(slot)
		b.Val[slot] = rec.Value
	default:
		return "a position, no message"
	}
	return ""
}

// appendLines appends the records of b in the order of their keys. valued is the kind of those with a value.
func appendLines(dst []byte, b *block.Block, width int, valued streamfmt.Kind) []byte {
	for i := range b.Open {
		open, has := b.Open[i], b.Open[i]|b.Done[i]
		for base := i << 6; has != 0; has &= has - 1 {
			slot := base + bits.TrailingZeros64(has)
			rec := streamfmt.Record{Key: b.Key(slot)}
			if open&(has&-has) == 0 {
				rec.Kind, rec.Value = valued, b.Val[slot]
			}
			dst = streamfmt.AppendRecord(dst, rec, width)
		}
	}
	return dst
}

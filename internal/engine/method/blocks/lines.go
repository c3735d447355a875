package blocks

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// blockLines encodes the records of a step on blocks as lines. The lines are checked,
// because people and other programs may have written them.
type blockLines struct {
	*filter
	count *countingMapper // in Solve
}

func newBlockLines(s *filter) *blockLines {
	c := &blockLines{filter: s}
	if s.name == step.Solve {
		c.count = &countingMapper{newSolve(s.g), make(map[*block.Block][]uint8)}
		// A slot takes 5/4 bytes (see pusher.receiver), and one for its count.
		s.o.Memory = max(1, cmp.Or(s.o.Memory, step.DefaultMemory)/9*5)
	}
	return c
}

func (c *blockLines) close() error { return nil }

func (c *blockLines) step() Step {
	if c.count != nil {
		return c.count
	}
	return NewStep(c.name, c.g)
}

func (c *blockLines) send(piece *block.Block) error {
	if c.count == nil {
		return c.block(piece)
	}
	c.count.write(c.Writer, piece)
	return c.Spill()
}

// eachInput passes predecessors on unchanged in Solve.
func (c *blockLines) eachInput(do func(b *block.Block) error) error {
	solve := c.name == step.Solve
	if solve && c.o.Turn == "" {
		return errors.New("solve: the turn (X or O) is required, to distinguish successors from predecessors")
	}
	b := new(block.Block)
	check := inputCheck{name: c.name, g: c.g, o: c.o, job: -1, tier: -1}
	return NewGatherer(c.g, b, c.in, c.o.Source, false).Each(func(slot int, rec streamfmt.Record) string {
		c.In++
		return check.add(b, slot, rec, c.In)
	}, func() error {
		if err := check.values(b); err != nil {
			return err
		}
		if solve && Turn(c.g, b.Tier) == c.o.Turn {
			return c.block(b)
		}
		return do(b)
	})
}

// eachReceived reads sorted lines.
func (c *blockLines) eachReceived(do func(b *block.Block) error) error {
	add := func(b *block.Block, slot int, rec streamfmt.Record, _ int64) string {
		return AddRecord(b, slot, rec)
	}
	check := func(*block.Block, string) error { return nil }
	above := 0 // how many tiers the successors are above the tier that is read
	if c.name == step.Solve {
		r := &countingReducer{solve: newSolve(c.g)}
		add, check, above = r.add, r.check, 1
	}
	b := new(block.Block)
	return NewGatherer(c.g, b, c.in, c.o.Source, true).Each(func(slot int, rec streamfmt.Record) string {
		if c.In++; c.In == 1 && c.name != step.Init {
			if want := checkTier(c.g, c.o, b.Tier, b.Tier+above); want != "" {
				return want
			}
		}
		return add(b, slot, rec, c.In)
	}, func() error {
		if err := check(b, c.o.Source); err != nil {
			return err
		}
		return do(b)
	})
}

// checkTier checks Options.Turn and Options.LastRound against the tier of a position and
// the tier of the successors in its job. If they do not match, it returns a description of
// what was expected instead.
func checkTier(g game.Tiered, o step.Options, tier, successors int) string {
	want := ""
	switch last := successors == g.Tiers(); {
	case o.Turn != "" && o.Turn != Turn(g, successors-1):
		want = o.Turn + " moves"
	case o.LastRound != nil && *o.LastRound != last:
		want = fmt.Sprintf("last-round is %v", *o.LastRound)
	default:
		return ""
	}
	return fmt.Sprintf("a position of a job in which %s (this one is of tier %d)", want, tier)
}

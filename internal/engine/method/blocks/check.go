package blocks

import (
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/streamfmt"
)

// An inputCheck checks the input of the map of Possible or Solve: all records are positions
// of one job, and each has the value that a terminal position, an open position or a solved
// successor must have. A position that has lost its value is reported as an error, not
// treated as one that is still open.
type inputCheck struct {
	name string
	g    game.Tiered
	o    step.Options

	job       int         // the tier of the successors; -1 before the first record
	tier      int         // of the previous record
	successor bool        // whether the positions of this tier are solved successors
	line      []int64     // by slot of a block
	rules     block.Block // the same block, with values computed from the rules
}

// add is AddRecord for the record of a line, with checks of tier and kind.
func (c *inputCheck) add(b *block.Block, slot int, rec streamfmt.Record, line int64) string {
	if b.Tier != c.tier {
		if want := c.begin(b.Tier); want != "" {
			return want
		}
	}
	if c.successor && rec.Kind == streamfmt.Open {
		return fmt.Sprintf("a value: where %s moves, positions of tier %d are solved successors", c.o.Turn, b.Tier)
	}
	if len(c.line) < b.Len() {
		c.line = make([]int64, b.Len())
	}
	c.line[slot] = line
	return AddRecord(b, slot, rec)
}

// begin starts to read a tier, and checks that it belongs to the job.
func (c *inputCheck) begin(tier int) (want string) {
	c.tier = tier
	c.successor = c.name == step.Solve && Turn(c.g, tier) != c.o.Turn
	job := tier + 1
	if c.successor {
		job = tier
	}
	if want := checkTier(c.g, c.o, tier, job); want != "" {
		return want
	}
	if c.job >= 0 && job != c.job {
		want := fmt.Sprintf("a position of tier %d", c.job-1)
		if c.name == step.Solve {
			want += fmt.Sprintf(" or a successor of tier %d", c.job)
		}
		return fmt.Sprintf("%s, as those before it (this one is of tier %d)", want, tier)
	}
	c.job = job
	return ""
}

// values checks the values of a block against the rules.
func (c *inputCheck) values(b *block.Block) error {
	c.rules.Reset(b.Tier, b.Range, b.LowBits, b.Low)
	for i := range b.Open {
		c.rules.Open[i] = b.Open[i] | b.Done[i]
	}
	newPossible(c.g).finish(&c.rules)
	most := c.g.Tiers() - b.Tier // largest possible remoteness
	for i, w := range c.rules.Done {
		for w |= b.Done[i]; w != 0; w &= w - 1 {
			slot := i<<6 + bits.TrailingZeros64(w)
			found := game.Value(0)
			if b.Done.Has(slot) {
				found = game.Value(b.Val[slot])
			}
			want := ""
			switch finished := c.rules.Done.Has(slot); {
			case finished && byte(found) == c.rules.Val[slot]:
			case finished:
				want = fmt.Sprintf("the value %d, as this position is terminal", c.rules.Val[slot])
			case c.name == step.Solve && !c.successor:
				want = fmt.Sprintf("no value: where %s moves, positions of tier %d are predecessors, and this one is not terminal", c.o.Turn, b.Tier)
			case !c.successor:
				want = "no value, as this position is not terminal"
			case found.Remoteness() == 0 || found.Remoteness() > most:
				want = "a value of 1 to " + numfmt.Count(most, "move") + " to the end"
			}
			if want != "" {
				return valueError(c.o.Source, c.line[slot], c.g, b.Key(slot), byte(found), want)
			}
		}
	}
	return nil
}

// valueError returns a LineError for position p, which has a wrong value; found is 0 if it
// has none.
func valueError(source string, line int64, g game.Game, p game.Position, found byte, want string) error {
	rec := streamfmt.Record{Key: p, Value: found}
	if found != 0 {
		rec.Kind = streamfmt.Done
	}
	text := streamfmt.AppendRecord(nil, rec, streamfmt.KeyWidth(g.KeyBits()))
	return &streamfmt.LineError{Source: source, Line: line, Want: want, Got: string(text[:len(text)-1])}
}

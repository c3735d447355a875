package blocks

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// checkTier checks Options.Turn and Options.LastRound against a tier of the input and the tier of the successors in its job.
func (c *blockLines) checkTier(tier, successors int) error {
	want := ""
	switch last := successors == c.g.Tiers(); {
	case c.o.Turn != "" && c.o.Turn != Turn(c.g, successors-1):
		want = c.o.Turn + " moves"
	case c.o.LastRound != nil && *c.o.LastRound != last:
		want = fmt.Sprintf("last-round is %v", *c.o.LastRound)
	default:
		return nil
	}
	return fmt.Errorf("%s: expected positions of a job in which %s, found some of tier %d", c.o.Source, want, tier)
}

// checkInput checks a block that the map reads: all blocks belong to one job, and each position has the value that a terminal
// position, an open position or a solved successor must have. So a position that has lost its value is an error.
func (c *blockLines) checkInput(b *block.Block, successor bool) error {
	job := b.Tier + 1
	if successor {
		job = b.Tier
	}
	if err := c.checkTier(b.Tier, job); err != nil {
		return err
	}
	if c.job > 0 && job != c.job {
		return fmt.Errorf("%s: expected the positions of one job, whose moves lead to tier %d, found some of tier %d", c.o.Source, c.job, b.Tier)
	}
	c.job = job
	c.rules.Reset(b.Tier, b.Range, b.LowBits, b.Low)
	c.rules.Open.Union(b.Open)
	c.rules.Open.Union(b.Done)
	newPossible(c.g).finish(&c.rules)
	most := c.g.Tiers() - b.Tier // largest possible remoteness
	for slot := range b.Low {
		exists, found, want := b.Done.Has(slot), game.Value(b.Val[slot]), ""
		switch {
		case !exists && !b.Open.Has(slot):
		case c.rules.Done.Has(slot) && byte(found) != c.rules.Val[slot]:
			want = fmt.Sprintf("the value %d, as the position is terminal", c.rules.Val[slot])
		case c.rules.Done.Has(slot):
		case successor && (found.Remoteness() == 0 || found.Remoteness() > most):
			want = fmt.Sprintf("a value of 1 to %s to the end, as %s does not move", numfmt.Count(most, "move"), c.o.Turn)
		case !successor && exists:
			want = "no value, as the position is not terminal"
		}
		if want != "" {
			return fmt.Errorf("%s: position %s of tier %d: expected %s, found %d", c.o.Source, step.KeyText(c.g, b.Key(slot)), b.Tier, want, found)
		}
	}
	return nil
}

package table

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// verifyAhead is how many bytes of a tier a worker reads at a time.
const verifyAhead = 64 << 10

// verify goes forward, where the positions of each tier must be the children of those
// before, no more and no less, and the finished ones must have the value of the rules;
// then backward, where every other value must follow from its children's. Each value is
// checked against values that have been checked.
func (t *blocks) verify(ctx context.Context, report func(share float64)) error {
	if err := t.openTiers(); err != nil {
		return err
	}
	done, all := 0.0, 0.0
	for _, f := range t.files {
		all += 2 * float64(f.Records())
	}
	passed := func(tier int) {
		if done += float64(t.files[tier].Records()); report != nil {
			report(done / all)
		}
	}
	for i, f := range t.files {
		counts, err := t.forward(ctx, i)
		if err != nil {
			return err
		}
		if counts != f.Counts() {
			return wrongCounts(f.Name())
		}
		passed(i)
	}
	for i := len(t.tiers) - 2; i >= 0; i-- {
		if err := t.backward(ctx, i); err != nil {
			return err
		}
		passed(i)
	}
	return nil
}

// fault describes what is wrong with a slot of a block.
func (t *blocks) fault(b *block.Block, slot int, reason string) error {
	return newFault(t.g, b.Key(slot), reason)
}

// text is a value in words.
func (t *blocks) text(v game.Value) string { return t.g.Values().Text(v) }

// forward checks which positions a tier holds, and the finished ones.
func (t *blocks) forward(ctx context.Context, tier int) (streamfmt.Counts, error) {
	possible := step.New(step.Possible, t.g)
	here := t.tiers[tier]
	ranges := here.Ranges()
	if tier > 0 {
		before := t.tiers[tier-1]
		for i := range before.Len() {
			ranges = possible.Outputs(ranges, tier-1, before.Range(i))
		}
	} else {
		ranges = append(ranges, t.g.Start()>>t.g.LowBits())
	}
	slices.Sort(ranges)
	ranges = slices.Compact(ranges)

	var mu sync.Mutex
	var total streamfmt.Counts
	err := eachRange(ctx, ranges, func() func(uint64) error {
		var found, want, from block.Block
		hereCursor := here.Cursor(verifyAhead)
		pull := &step.Puller{Step: possible, Speaks: func(parents *block.Block) *block.Block {
			unfinished(&from, parents)
			return &from
		}}
		if tier > 0 {
			pull.From = t.tiers[tier-1].Cursor(verifyAhead)
		}
		return func(rng uint64) error {
			low := t.g.Low(tier, rng)
			if low == nil {
				_, err := hereCursor.Load(&found, rng) // no block can be there, or it refuses one
				return err
			}
			if tier == 0 {
				want = *step.Start(t.g)
			} else {
				want.Reset(tier, rng, t.g.LowBits(), low)
			}
			if err := pull.Pull(&want); err != nil {
				return err
			}
			found.Reset(tier, rng, t.g.LowBits(), low)
			if _, err := hereCursor.Load(&found, rng); err != nil {
				return err
			}
			counts := streamfmt.Counts{}
			if err := t.compare(&found, &want, &counts); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			total.Add(&counts)
			return nil
		}
	})
	return total, err
}

// unfinished makes b the block of those positions of one of the table that have
// moves: they are open.
func unfinished(b, of *block.Block) {
	b.Reset(of.Tier, of.Range, of.LowBits, of.Low)
	for slot := range of.Done.All() {
		if game.Value(of.Val[slot]).Remoteness() > 0 {
			b.Open.Add(slot)
		}
	}
}

// compare holds the positions of a range that were found in the table against
// those wanted: all of them, with the values of the finished ones. It counts
// what was found, by value.
func (t *blocks) compare(found, want *block.Block, counts *streamfmt.Counts) error {
	for slot := range found.Len() {
		exists := want.Open.Has(slot) || want.Done.Has(slot)
		value := game.Value(found.Val[slot])
		switch {
		case found.Open.Has(slot):
			return t.fault(found, slot, "has no value")
		case exists && !found.Done.Has(slot):
			return t.fault(found, slot, "is missing")
		case !exists && found.Done.Has(slot):
			return t.fault(found, slot, "cannot be reached")
		case !exists:
			continue
		case !value.Valid():
			return t.fault(found, slot, fmt.Sprintf("the value byte %d has no outcome", value))
		case want.Done.Has(slot) && value != game.Value(want.Val[slot]):
			return t.fault(found, slot, fmt.Sprintf("expected %s (it is finished), found %s", t.text(game.Value(want.Val[slot])), t.text(value)))
		case want.Open.Has(slot) && value.Remoteness() == 0:
			return t.fault(found, slot, fmt.Sprintf("it is not finished, but found %s", t.text(value)))
		}
		counts[value]++
	}
	return nil
}

// backward checks that the values of a tier follow from those of the next.
func (t *blocks) backward(ctx context.Context, tier int) error {
	solve := step.New(step.Solve, t.g)
	here, next := t.tiers[tier], t.tiers[tier+1]
	return eachRange(ctx, here.Ranges(), func() func(uint64) error {
		var found, want block.Block
		hereCursor, pull := here.Cursor(verifyAhead), &step.Puller{Step: solve, From: next.Cursor(verifyAhead)}
		return func(rng uint64) error {
			if _, err := hereCursor.Load(&found, rng); err != nil {
				return err
			}
			unfinished(&want, &found)
			if err := pull.Pull(&want); err != nil {
				return err
			}
			for slot, value := range want.Val[:want.Len()] {
				if value != 0 && found.Val[slot] != value {
					return t.fault(&found, slot, fmt.Sprintf("expected %s, as its moves lead to, found %s", t.text(game.Value(value)), t.text(game.Value(found.Val[slot]))))
				}
			}
			return nil
		}
	})
}

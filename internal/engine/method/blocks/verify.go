package blocks

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/streamfmt"
)

// verifyCache is the number of bytes of the decoded blocks of a tier that workers share.
const verifyCache = 32 << 20

// Verify makes two passes. The forward pass checks that the positions of each tier are exactly
// the successors of the positions of the previous tier, and that terminal positions have the
// value of the rules. The backward pass checks that every other value follows from the values
// of the successors. So each value is checked against values that have been checked. In a table
// that stores half of the positions, both passes check mirror images by imageCheck.
func (t *Table) Verify(ctx context.Context, report func(share float64)) (ok bool, err error) {
	totals, done, all := make([]uint64, len(t.tiers)), uint64(0), uint64(0)
	for i, tier := range t.tiers {
		counts := tier.Counts()
		totals[i] = counts.Total()
		all += 2 * totals[i]
	}
	passed := func(tier int) {
		if done += totals[tier]; report != nil {
			report(float64(done) / float64(all))
		}
	}
	for i, tier := range t.tiers {
		counts, err := t.forward(ctx, i)
		if err == nil && counts != tier.Counts() {
			err = stored.NoCounts(tier.name)
		}
		if err != nil {
			return true, err
		}
		passed(i)
	}
	for i := len(t.tiers) - 2; i >= 0; i-- {
		if err := t.backward(ctx, i); err != nil {
			return true, err
		}
		passed(i)
	}
	return true, nil
}

// fault returns a Fault of a slot of a block.
func (t *Table) fault(b *block.Block, slot int, reason string) error {
	return &stored.Fault{Position: b.Key(slot), Reason: reason}
}

// text returns a value in words.
func (t *Table) text(v game.Value) string { return t.g.Values().Text(v) }

// forward checks the set of positions of a tier, and the values of the terminal ones. It
// returns the counts.
func (t *Table) forward(ctx context.Context, tier int) (streamfmt.Counts, error) {
	g := t.stores
	possible := NewStep(step.Possible, g)
	pairs, cache := t.forwardImages(tier), NewCache(verifyCache)
	var mu sync.Mutex
	var total streamfmt.Counts
	err := t.eachPossible(ctx, tier, func() func(uint64) error {
		var found, want block.Block
		hereReader, messages := t.tiers[tier].Cursor(stored.Ahead), t.positions(tier, cache)
		return func(rng uint64) error {
			low := g.Low(tier, rng)
			if low == nil {
				_, err := hereReader.Load(&found, rng) // the range has no slots: Load fails if there is a block
				return err
			}
			_, err := messages.Load(&want, rng)
			if err == nil {
				err = messages.Merge(&want)
			}
			if err != nil {
				return err
			}
			found.Reset(tier, rng, t.g.LowBits(), low)
			if _, err := hereReader.Load(&found, rng); err != nil {
				return err
			}
			if balanced := t.balancedIn(tier, rng); balanced != nil && !found.Done.Empty() {
				pairs.add(&found, reachedClaims(&found, want.Open, balanced))
				for slot := range found.Done.All() { // pairs checks whether these are reached
					if balanced.Has(slot) {
						want.Open.Add(slot)
					}
				}
			}
			if err := possible.Reduce(&want); err != nil {
				return err
			}
			counts := streamfmt.Counts{}
			if err := t.compare(&found, &want, &counts); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			total.Add(counts[:])
			return nil
		}
	})
	if err == nil {
		err = pairs.run(ctx)
	}
	return total, err
}

// rangesAtATime is the number of ranges that eachPossible has in a list.
const rangesAtATime = 1 << 16

// eachPossible is like eachOf for the ranges of a tier, and those into which moves between stored
// positions may lead.
func (t *Table) eachPossible(ctx context.Context, tier int, newCheck func() func(rng uint64) error) error {
	var all mirror.RangeSet
	if tier == 0 {
		all.Add(t.g.Start() >> t.g.LowBits())
	} else {
		possible := NewStep(step.Possible, t.stores)
		var to []uint64
		for e, err := range t.tiers[tier-1].Entries() {
			if err != nil {
				return err
			}
			to = possible.Outputs(to[:0], tier-1, e.First)
			for _, rng := range to {
				all.Add(rng)
			}
		}
	}
	for e, err := range t.tiers[tier].Entries() {
		if err != nil {
			return err
		}
		all.Add(e.First)
	}
	for c, more := all.Cursor(), true; more; {
		var ranges []uint64
		for len(ranges) < rangesAtATime && more {
			var rng uint64
			if rng, more = c.Next(); more {
				ranges = append(ranges, rng)
			}
		}
		if err := eachOf(ctx, ranges, newCheck); err != nil {
			return err
		}
	}
	return nil
}

// positions returns the positions of a tier that the moves from the positions of the tier before it, whose blocks a cache has,
// lead to.
func (t *Table) positions(tier int, cache *Cache) *Puller {
	p := &Puller{Step: NewStep(step.Possible, t.stores), Game: t.stores, Tier: tier, Senders: senders()}
	if tier > 0 {
		p.From = t.tiers[tier-1].Cached(cache, stored.Ahead)
	}
	return p
}

// senders returns a function that returns the positions of a block that are not terminal, valid
// until its next call.
func senders() func(*block.Block) *block.Block {
	var from block.Block
	return func(b *block.Block) *block.Block {
		fillNonTerminal(&from, b)
		return &from
	}
}

// fillNonTerminal fills b with the positions of a block of the table that are not terminal, as open
// positions.
func fillNonTerminal(b, of *block.Block) {
	b.Reset(of.Tier, of.Range, of.LowBits, of.Low)
	for slot := range of.Done.All() {
		if game.Value(of.Val[slot]).Remoteness() > 0 {
			b.Open.Add(slot)
		}
	}
}

// compare checks found, a block of the table, against want: the same positions, and the same
// values of the terminal ones. It adds the positions of found and their mirror images to counts, by value.
func (t *Table) compare(found, want *block.Block, counts *streamfmt.Counts) error {
	balanced := t.balancedIn(found.Tier, found.Range)
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
			return t.fault(found, slot, fmt.Sprintf("expected %s (the rules decide it), found %s", t.text(game.Value(want.Val[slot])), t.text(value)))
		case want.Open.Has(slot) && value.Remoteness() == 0:
			return t.fault(found, slot, fmt.Sprintf("it is not terminal, but found %s", t.text(value)))
		}
		counts[value] += t.times(slot, balanced)
	}
	return nil
}

// backward checks that the values of a tier follow from the values of the next tier.
func (t *Table) backward(ctx context.Context, tier int) error {
	here, pairs, cache := t.tiers[tier], t.backwardImages(tier), NewCache(verifyCache)
	value := &t.g.Values().Scores(t.g.TierToMove(tier)).Value
	err := parallel.All(ctx, here.Len(), func() func(int) error {
		var found, scores block.Block
		messages := t.foundMessages(tier, cache)
		return func(i int) error {
			e, err := messages.here.Entry(i)
			if err == nil {
				_, err = messages.load(&found, &scores, e.First)
			}
			if err == nil {
				err = messages.pull.Merge(&scores)
			}
			if err != nil {
				return err
			}
			balanced := t.balancedIn(tier, found.Range)
			for _, slot := range scores.OpenSlots() {
				if balanced != nil && balanced.Has(int(slot)) {
					continue // pairs checks it
				}
				if err := t.checkValue(found.Key(int(slot)), game.Value(found.Val[slot]), value[scores.Val[slot]]); err != nil {
					return err
				}
			}
			if balanced != nil {
				pairs.add(&found, slices.Clone(scores.Val[:scores.Len()]))
			}
			return nil
		}
	})
	if err == nil {
		err = pairs.run(ctx)
	}
	return err
}

// checkValue returns a Fault unless the value v of a position is want, which is 0 if it has no move to
// a position with a value.
func (t *Table) checkValue(p game.Position, v, want game.Value) error {
	switch {
	case want == 0:
		return &stored.Fault{Position: p, Reason: "it is not terminal, but no move leads to a position of the table"}
	case v != want:
		return &stored.Fault{Position: p, Reason: fmt.Sprintf("expected %s, as its moves lead to, found %s", t.text(want), t.text(v))}
	}
	return nil
}

// foundMessages merges the scores of the positions of a tier that are not terminal; a cache has blocks of the next tier. It is for
// one goroutine.
type foundMessages struct {
	here *TierCursor
	pull Puller
}

func (t *Table) foundMessages(tier int, cache *Cache) *foundMessages {
	return &foundMessages{t.tiers[tier].Cursor(stored.Ahead), Puller{Step: NewStep(step.Solve, t.stores), From: t.tiers[tier+1].Cached(cache, stored.Ahead)}}
}

// load reads a range of the table into found, and resets scores to its positions that are not
// terminal.
func (m *foundMessages) load(found, scores *block.Block, rng uint64) (bool, error) {
	ok, err := m.here.Load(found, rng)
	if err == nil {
		fillNonTerminal(scores, found)
	}
	return ok, err
}

// eachOf calls check for all ranges, on all cores, and returns the error of the lowest range that has one. newCheck returns
// the check of one worker.
func eachOf(ctx context.Context, ranges []uint64, newCheck func() func(rng uint64) error) error {
	return parallel.All(ctx, len(ranges), func() func(int) error {
		check := newCheck()
		return func(i int) error { return check(ranges[i]) }
	})
}

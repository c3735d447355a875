package blocks

import (
	"context"
	"fmt"
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
		counts, err := t.pass(step.Possible, i).forward(ctx)
		if err == nil && counts != tier.Counts() {
			err = stored.NoCounts(tier.name)
		}
		if err != nil {
			return true, err
		}
		passed(i)
	}
	for i := len(t.tiers) - 2; i >= 0; i-- {
		if err := t.pass(step.Solve, i).backward(ctx); err != nil {
			return true, err
		}
		passed(i)
	}
	return true, nil
}

// A pass checks a tier: the forward pass by the step Possible, and the backward pass by Solve.
type pass struct {
	*Table
	name  string // the name of the step
	tier  int
	cache *Cache           // has blocks of the tier before it or after it, which sends messages
	value *[256]game.Value // by score
	imageCheck
}

func (t *Table) pass(name string, tier int) *pass {
	value := &t.g.Values().Scores(t.g.TierToMove(tier)).Value
	return &pass{t, name, tier, NewCache(verifyCache), value, imageCheck{known: make(map[uint64]rangeClaims)}}
}

// A merger reads ranges of the tier of a pass, and merges the messages to them. It is for one goroutine.
type merger struct {
	*pass
	here *TierCursor
	pull Puller

	found    block.Block // the positions in the table
	want     block.Block // their scores, or the positions to which moves from stored positions lead
	balanced block.Set   // the balanced slots; nil if there are none
}

func (p *pass) merger() *merger {
	m := &merger{pass: p, here: p.tiers[p.tier].Cursor(stored.Ahead), pull: Puller{Step: NewStep(p.name, p.stores), Game: p.stores, Tier: p.tier}}
	switch {
	case p.name == step.Solve:
		m.pull.From = p.tiers[p.tier+1].Cached(p.cache, stored.Ahead)
	case p.tier > 0:
		m.pull.From = p.tiers[p.tier-1].Cached(p.cache, stored.Ahead)
		m.pull.Step = &possibleOfValues{Step: m.pull.Step}
	}
	return m
}

// load reads a range. If it has no slots, load fails if the table has a block of it.
func (m *merger) load(rng uint64) error {
	m.found.Reset(m.tier, rng, m.g.LowBits(), m.stores.Low(m.tier, rng))
	_, err := m.here.Load(&m.found, rng)
	if err != nil || m.found.Len() == 0 {
		return err
	}
	m.balanced = m.balancedIn(m.tier, rng)
	if m.name == step.Solve {
		fillNonTerminal(&m.want, &m.found)
	} else if _, err := m.pull.Load(&m.want, rng); err != nil {
		return err
	}
	return m.pull.Merge(&m.want)
}

// possibleOfValues is the step Possible for blocks of the table, whose positions have values.
type possibleOfValues struct {
	Step
	from block.Block
}

func (s *possibleOfValues) Map(from, into *block.Block) {
	fillNonTerminal(&s.from, from)
	s.Step.Map(&s.from, into)
}

// fault returns a Fault of a slot of a block.
func (t *Table) fault(b *block.Block, slot int, reason string) error {
	return &stored.Fault{Position: b.Key(slot), Reason: reason}
}

// text returns a value in words.
func (t *Table) text(v game.Value) string { return t.g.Values().Text(v) }

// forward checks the set of positions of a tier, and the values of the terminal ones. It
// returns the counts.
func (p *pass) forward(ctx context.Context) (streamfmt.Counts, error) {
	possible := NewStep(step.Possible, p.stores)
	var mu sync.Mutex
	var total streamfmt.Counts
	err := p.eachPossible(ctx, func() func(uint64) error {
		m := p.merger()
		return func(rng uint64) error {
			if err := m.load(rng); err != nil || m.found.Len() == 0 {
				return err
			}
			if m.balanced != nil && !m.found.Done.Empty() {
				p.claim(m)
				for slot := range m.found.Done.All() { // compareImages checks whether these are reached
					if m.balanced.Has(slot) {
						m.want.Open.Add(slot)
					}
				}
			}
			if err := possible.Reduce(&m.want); err != nil {
				return err
			}
			counts := streamfmt.Counts{}
			if err := m.compare(&counts); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			total.Add(counts[:])
			return nil
		}
	})
	if err == nil {
		err = p.compareImages(ctx)
	}
	return total, err
}

// rangesAtATime is the number of ranges that eachPossible has in a list.
const rangesAtATime = 1 << 16

// eachPossible is like eachOf for the ranges of the tier, and those into which moves between stored
// positions may lead.
func (p *pass) eachPossible(ctx context.Context, newCheck func() func(rng uint64) error) error {
	var all mirror.RangeSet
	if p.tier == 0 {
		all.Add(p.g.Start() >> p.g.LowBits())
	} else {
		possible := NewStep(step.Possible, p.stores)
		var to []uint64
		for e, err := range p.tiers[p.tier-1].Entries() {
			if err != nil {
				return err
			}
			to = possible.Outputs(to[:0], p.tier-1, e.First)
			for _, rng := range to {
				all.Add(rng)
			}
		}
	}
	for e, err := range p.tiers[p.tier].Entries() {
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

// compare checks found against want: the same positions, and the same values of the terminal ones. It
// adds the positions of found and their mirror images to counts, by value.
func (m *merger) compare(counts *streamfmt.Counts) error {
	t, found, want := m.Table, &m.found, &m.want
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
		counts[value] += t.times(slot, m.balanced)
	}
	return nil
}

// backward checks that the values of a tier follow from the values of the next tier.
func (p *pass) backward(ctx context.Context) error {
	here := p.tiers[p.tier]
	err := parallel.All(ctx, here.Len(), func() func(int) error {
		m := p.merger()
		return func(i int) error {
			e, err := m.here.Entry(i)
			if err == nil {
				err = m.load(e.First)
			}
			if err != nil {
				return err
			}
			for _, slot := range m.want.OpenSlots() {
				if m.balanced != nil && m.balanced.Has(int(slot)) {
					continue // compareImages checks it
				}
				if err := p.checkValue(m.found.Key(int(slot)), game.Value(m.found.Val[slot]), p.value[m.want.Val[slot]]); err != nil {
					return err
				}
			}
			if m.balanced != nil {
				p.claim(m)
			}
			return nil
		}
	})
	if err == nil {
		err = p.compareImages(ctx)
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

// eachOf calls check for all ranges, on all cores, and returns the error of the lowest range that has one. newCheck returns
// the check of one worker.
func eachOf(ctx context.Context, ranges []uint64, newCheck func() func(rng uint64) error) error {
	return parallel.All(ctx, len(ranges), func() func(int) error {
		check := newCheck()
		return func(i int) error { return check(ranges[i]) }
	})
}

package blocks

import (
	"context"
	"errors"
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

const (
	// verifyCache is the number of bytes of the decoded blocks of a tier that workers share.
	verifyCache = 32 << 20
	// verifyBlocks is the number of bytes of blocks with their messages that wait for mirror images.
	verifyBlocks = 32 << 20
	// verifyImages is the number of bytes of mirror images in memory.
	verifyImages = 128 << 20
)

// Verify computes each tier again, in two passes. The forward pass checks that the positions of each tier are exactly
// the successors of the positions of the previous tier, and that terminal positions have the
// value of the rules. The backward pass checks that every other value follows from the values
// of the successors. So each value is checked against values that have been checked. Mirror images are found as when the table
// was made; the check of Parts by the rules alone finds them position by position.
func (t *Table) Verify(ctx context.Context, report func(share float64)) (ok bool, err error) {
	totals, done, all := make([]uint64, len(t.tiers)), uint64(0), uint64(0)
	for i, tier := range t.tiers {
		counts := tier.Counts()
		totals[i] = counts.Total()
		all += 2 * totals[i]
	}
	check := func(name string, tier int) error {
		err := (&pass{t, name, tier, NewCache(true, verifyCache)}).check(ctx)
		if done += totals[tier]; err == nil && report != nil {
			report(float64(done) / float64(all))
		}
		return err
	}
	for i := range t.tiers {
		if err := check(step.Possible, i); err != nil {
			return true, err
		}
	}
	for i := len(t.tiers) - 2; i >= 0; i-- {
		if err := check(step.Solve, i); err != nil {
			return true, err
		}
	}
	return true, nil
}

// A pass checks a tier: the forward pass by the step Possible, and the backward pass by Solve.
type pass struct {
	*Table
	name  string // the name of the step
	tier  int
	cache *Cache // has blocks of the tier before it or after it, which sends messages
}

// check computes the tier, and compares it with the table.
func (p *pass) check(ctx context.Context) (err error) {
	ranges, err := p.ranges()
	if err != nil {
		return err
	}
	var balanced *mirror.Images
	if p.half != nil && p.tier > 0 {
		blocks := new(block.Memory)
		blocks.Reset(verifyBlocks)
		balanced = mirror.NewImages(p.half, p.tier, kindOf(p.name), mirror.Place{Memory: verifyImages, Keep: verifyImages, Dir: p.files.Temporary(), Blocks: blocks})
		defer func() { err = errors.Join(err, balanced.Close()) }()
		if err := balanced.Prepare(ctx, mirror.Pass{Ranges: ranges, Messages: func() mirror.Messages { return p.messages() }}); err != nil {
			return err
		}
	}
	all := slices.Collect(ranges.All())
	var mu sync.Mutex // guards total
	var total streamfmt.Counts
	err = parallel.All(ctx, len(all), func() func(int) error {
		m, possible := p.messages(), NewStep(step.Possible, p.stores)
		merger, want := balanced.Merger(m), new(block.Block)
		return func(i int) error {
			ok, err := merger.Merge(want, all[i])
			if err == nil {
				err = m.read(all[i])
			}
			if err != nil || !ok {
				return err
			}
			if p.name == step.Solve {
				return p.compareValues(&m.found, want)
			}
			if err := possible.Reduce(want); err != nil {
				return err
			}
			counts := streamfmt.Counts{}
			err = p.comparePositions(&m.found, want, &counts)
			mu.Lock()
			defer mu.Unlock()
			total.Add(counts[:])
			return err
		}
	})
	if here := p.tiers[p.tier]; err == nil && p.name == step.Possible && total != here.Counts() {
		err = stored.NoCounts(here.name)
	}
	return err
}

// ranges returns the ranges of the tier in the table; forward, also those into which moves between stored positions may lead.
func (p *pass) ranges() (*mirror.RangeSet, error) {
	all, possible := new(mirror.RangeSet), NewStep(step.Possible, p.stores)
	for e, err := range p.tiers[p.tier].Entries() {
		if err != nil {
			return nil, err
		}
		all.Add(e.First)
	}
	switch {
	case p.name == step.Solve:
		return all, nil
	case p.tier == 0:
		all.Add(p.g.Start() >> p.g.LowBits())
		return all, nil
	}
	var to []uint64
	for e, err := range p.tiers[p.tier-1].Entries() {
		if err != nil {
			return nil, err
		}
		to = possible.Outputs(to[:0], p.tier-1, e.First)
		for _, rng := range to {
			all.Add(rng)
		}
	}
	return all, nil
}

// passMessages reads ranges of the table, and merges the messages to them. It is for one goroutine.
type passMessages struct {
	puller
	pass  *pass
	here  *TierCursor
	found block.Block // the last range that was read
	begun bool
}

func (p *pass) messages() *passMessages {
	m := &passMessages{puller: puller{Step: NewStep(p.name, p.stores), Game: p.stores, Tier: p.tier}, pass: p, here: p.tiers[p.tier].Cursor(stored.Ahead)}
	switch {
	case p.name == step.Solve:
		m.From = p.tiers[p.tier+1].Cached(stored.Ahead, p.cache)
	case p.tier > 0:
		m.From = p.tiers[p.tier-1].Cached(stored.Ahead, p.cache)
		m.Step = &possibleOfValues{Step: m.Step}
	}
	return m
}

// read reads a range, unless it is the last one that was read. It fails if the range has no slots, but the table has a block of it.
func (m *passMessages) read(rng uint64) error {
	if m.begun && m.found.Range == rng {
		return nil
	}
	m.begun = true
	m.found.Reset(m.Tier, rng, m.Game.LowBits(), m.Game.Low(m.Tier, rng))
	_, err := m.here.Load(&m.found, rng)
	return err
}

// Load is that of puller; backward, the block has the positions of the table that are not terminal.
func (m *passMessages) Load(b *block.Block, rng uint64) (ok bool, err error) {
	if m.pass.name != step.Solve {
		return m.puller.Load(b, rng)
	}
	err = m.read(rng)
	fillNonTerminal(b, &m.found)
	return err == nil && b.Len() > 0, err
}

// possibleOfValues is the step Possible for blocks of the table, whose positions have values.
type possibleOfValues struct {
	Step
	from block.Block
}

func (s *possibleOfValues) Deliver(from, into *block.Block) {
	fillNonTerminal(&s.from, from)
	s.Step.Deliver(&s.from, into)
}

// fillNonTerminal fills b with the positions of a block of the table that are not terminal, as open
// positions.
func fillNonTerminal(b, of *block.Block) {
	b.Reset(of.Tier, of.Range, of.LowBits, of.Low)
	for slot, v := range of.Val[:of.Len()] {
		if game.Value(v).Remoteness() > 0 {
			b.Open.Add(slot)
		}
	}
}

// fault returns a Fault of a slot of a block.
func (t *Table) fault(b *block.Block, slot int, reason string) error {
	return &stored.Fault{Position: b.Key(slot), Reason: reason}
}

// text returns a value in words.
func (t *Table) text(v game.Value) string { return t.g.Values().Text(v) }

// comparePositions compares the positions of a range with those to which moves lead, and the values of the terminal ones. It
// adds the positions and their mirror images to counts, by value.
func (p *pass) comparePositions(found, want *block.Block, counts *streamfmt.Counts) error {
	balanced := p.balancedIn(p.tier, found.Range)
	for slot := range found.Len() {
		exists := want.Open.Has(slot) || want.Done.Has(slot)
		value := game.Value(found.Val[slot])
		switch {
		case found.Open.Has(slot):
			return p.fault(found, slot, "has no value")
		case exists && !found.Done.Has(slot):
			return p.fault(found, slot, "is missing")
		case !exists && found.Done.Has(slot):
			return p.fault(found, slot, "cannot be reached")
		case !exists:
			continue
		case !value.Valid():
			return p.fault(found, slot, fmt.Sprintf("the value byte %d has no outcome", value))
		case want.Done.Has(slot) && value != game.Value(want.Val[slot]):
			return p.fault(found, slot, fmt.Sprintf("expected %s (the rules decide it), found %s", p.text(game.Value(want.Val[slot])), p.text(value)))
		case want.Open.Has(slot) && value.Remoteness() == 0:
			return p.fault(found, slot, fmt.Sprintf("it is not terminal, but found %s", p.text(value)))
		}
		counts[value] += p.times(slot, balanced)
	}
	return nil
}

// compareValues compares the values of a range with the scores that moves to the next tier give its positions.
func (p *pass) compareValues(found, scores *block.Block) error {
	values := &p.g.Values().Scores(p.g.TierToMove(p.tier)).Value
	for slot := range scores.Open.All() {
		switch v, want := game.Value(found.Val[slot]), values[scores.Val[slot]]; {
		case want == 0:
			return p.fault(found, slot, "it is not terminal, but no move leads to a position of the table")
		case v != want:
			return p.fault(found, slot, fmt.Sprintf("expected %s, as its moves lead to, found %s", p.text(want), p.text(v)))
		}
	}
	return nil
}

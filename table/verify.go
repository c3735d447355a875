package table

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Fault is the first thing that is wrong with a table.
type Fault struct {
	Tier     int
	Position game.Position
	Board    string // the position as text
	Reason   string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("tier %d: '%s' (%#x): %s", f.Tier, f.Board, f.Position, f.Reason)
}

const (
	// verifyRanges is how many ranges a worker checks at a time, verifyTurns how often
	// it takes some, if there are so many.
	verifyRanges = 64
	verifyTurns  = 8
	// verifyAhead is how many bytes of a tier a worker reads at a time.
	verifyAhead = 64 << 10
)

// Verify checks that the table is complete and right, and returns how many
// positions it holds. It does not solve again: going forward, the positions of
// each tier must be the children of those before, no more and no less, and the
// finished ones must have the value of the rules; going backward, every other
// value must follow from its children's. Each value is checked against values
// that have been checked. What is wrong first is a *Fault, or the error of a
// file that is damaged.
func Verify(ctx context.Context, fsys store.FS, data string) (g game.Tiered, positions uint64, err error) {
	t, err := Open(fsys, data)
	if err != nil {
		return nil, 0, err
	}
	defer t.Close()
	v := &verifier{g: t.g}
	defer func() {
		for _, tier := range v.tiers {
			tier.Close()
		}
	}()
	for i := range t.files {
		tier, err := tierio.OpenParts(fsys, []string{t.files[i].Name()}, t.g, i)
		if err != nil {
			return nil, 0, err
		}
		v.tiers = append(v.tiers, tier)
	}
	for i := range v.tiers {
		counts, err := v.forward(ctx, i)
		if err != nil {
			return nil, 0, err
		}
		if counts != t.Counts(i) {
			return nil, 0, wrongCounts(t.files[i].Name())
		}
		positions += counts.Total()
	}
	for i := len(v.tiers) - 2; i >= 0; i-- {
		if err := v.backward(ctx, i); err != nil {
			return nil, 0, err
		}
	}
	return t.g, positions, nil
}

// wrongCounts is the error of a file whose own numbers are not those of its blocks.
func wrongCounts(name string) error {
	return fmt.Errorf("%s: the numbers of positions that it says it has are not those that it has", name)
}

type verifier struct {
	g     game.Tiered
	tiers []*tierio.Tier
}

// fault describes what is wrong with a slot of a block.
func (v *verifier) fault(b *block.Block, slot int, reason string) error {
	return v.faultAt(b.Tier, b.Key(slot), reason)
}

func (v *verifier) faultAt(tier int, p game.Position, reason string) error {
	return &Fault{Tier: tier, Position: p, Board: string(v.g.AppendText(nil, p)), Reason: reason}
}

// forward checks which positions a tier holds, and the finished ones.
func (v *verifier) forward(ctx context.Context, tier int) (streamfmt.Counts, error) {
	possible := step.New(step.Possible, v.g)
	here := v.tiers[tier]
	var ranges []uint64
	for i := range here.Len() {
		ranges = append(ranges, here.Range(i))
	}
	if tier > 0 {
		before := v.tiers[tier-1]
		for i := range before.Len() {
			ranges = possible.Outputs(ranges, tier-1, before.Range(i))
		}
	} else {
		ranges = append(ranges, v.g.Start()>>v.g.LowBits())
	}
	slices.Sort(ranges)
	ranges = slices.Compact(ranges)

	var mu sync.Mutex
	var total streamfmt.Counts
	err := eachRange(ctx, ranges, func() func(uint64) error {
		var found, want, from block.Block
		var sources []uint64
		hereCursor := here.Cursor(verifyAhead)
		var before *tierio.Cursor
		if tier > 0 {
			before = v.tiers[tier-1].Cursor(verifyAhead)
		}
		return func(rng uint64) error {
			low := v.g.Low(tier, rng)
			if low == nil {
				_, err := hereCursor.Load(&found, rng) // no block can be there, or it refuses one
				return err
			}
			if tier == 0 {
				want = *step.Start(v.g)
			} else {
				want.Reset(tier, rng, v.g.LowBits(), low)
				sources = possible.Inputs(sources[:0], tier, rng)
				for _, source := range sources {
					parents, err := before.Block(rng, source)
					if err != nil {
						return err
					}
					if parents != nil {
						unfinished(&from, parents)
						possible.Map(&from, &want)
					}
				}
			}
			if err := possible.Reduce(&want); err != nil {
				return err
			}
			found.Reset(tier, rng, v.g.LowBits(), low)
			if _, err := hereCursor.Load(&found, rng); err != nil {
				return err
			}
			counts := streamfmt.Counts{}
			if err := v.compare(&found, &want, &counts); err != nil {
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
	for i, w := range of.Done {
		for base := i << 6; w != 0; w &= w - 1 {
			slot := base + bits.TrailingZeros64(w)
			if game.Value(of.Val[slot]).Remoteness() > 0 {
				b.Open.Add(slot)
			}
		}
	}
}

// compare holds the positions of a range that were found in the table against
// those wanted: all of them, with the values of the finished ones. It counts
// what was found, by value.
func (v *verifier) compare(found, want *block.Block, counts *streamfmt.Counts) error {
	for slot := range found.Len() {
		exists := want.Open.Has(slot) || want.Done.Has(slot)
		value := game.Value(found.Val[slot])
		switch {
		case found.Open.Has(slot):
			return v.fault(found, slot, "has no value")
		case exists && !found.Done.Has(slot):
			return v.fault(found, slot, "is missing")
		case !exists && found.Done.Has(slot):
			return v.fault(found, slot, "cannot be reached")
		case !exists:
			continue
		case !value.Valid():
			return v.fault(found, slot, fmt.Sprintf("the value byte %d has no outcome", value))
		case want.Done.Has(slot) && value != game.Value(want.Val[slot]):
			return v.fault(found, slot, fmt.Sprintf("expected %s (it is finished), found %s", game.Value(want.Val[slot]), value))
		case want.Open.Has(slot) && value.Remoteness() == 0:
			return v.fault(found, slot, fmt.Sprintf("it is not finished, but found %s", value))
		}
		counts[value]++
	}
	return nil
}

// backward checks that the values of a tier follow from those of the next.
func (v *verifier) backward(ctx context.Context, tier int) error {
	solve := step.New(step.Solve, v.g)
	here, next := v.tiers[tier], v.tiers[tier+1]
	ranges := make([]uint64, here.Len())
	for i := range ranges {
		ranges[i] = here.Range(i)
	}
	return eachRange(ctx, ranges, func() func(uint64) error {
		var found, want block.Block
		var sources []uint64
		hereCursor, nextCursor := here.Cursor(verifyAhead), next.Cursor(verifyAhead)
		return func(rng uint64) error {
			if _, err := hereCursor.Load(&found, rng); err != nil {
				return err
			}
			unfinished(&want, &found)
			sources = solve.Inputs(sources[:0], tier, rng)
			for _, source := range sources {
				child, err := nextCursor.Block(rng, source)
				if err != nil {
					return err
				}
				if child != nil {
					solve.Map(child, &want)
				}
			}
			if err := solve.Reduce(&want); err != nil {
				return err
			}
			for slot, value := range want.Val[:want.Len()] {
				if value != 0 && found.Val[slot] != value {
					return v.fault(&found, slot, fmt.Sprintf("expected %s, as its moves lead to, found %s", game.Value(value), game.Value(found.Val[slot])))
				}
			}
			return nil
		}
	})
}

// eachRange calls check for all ranges, on all cores, and returns the error of
// the lowest range that has one. newCheck makes the check of one worker.
func eachRange(ctx context.Context, ranges []uint64, newCheck func() func(rng uint64) error) error {
	var next atomic.Int64
	var mu sync.Mutex
	first, firstErr := len(ranges), error(nil)
	var all sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(ranges))
	chunk := max(1, min(verifyRanges, len(ranges)/(verifyTurns*max(1, workers))))
	for range workers {
		all.Go(func() {
			check := newCheck()
			for ctx.Err() == nil {
				from := int(next.Add(int64(chunk))) - chunk
				if from >= len(ranges) {
					return
				}
				for i := from; i < min(from+chunk, len(ranges)); i++ {
					if err := check(ranges[i]); err != nil {
						mu.Lock()
						if i < first {
							first, firstErr = i, err
						}
						mu.Unlock()
						next.Store(int64(len(ranges))) // no later range can be the first
						return
					}
				}
			}
		})
	}
	all.Wait()
	if firstErr == nil {
		return ctx.Err()
	}
	return firstErr
}

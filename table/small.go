package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A small table omits every second tier. An omitted tier is computed from its neighbours: its
// positions are the successors of those of the tier before it, its terminal positions have the
// value of the rules, and its other values follow from those of the tier after it. The seal lists
// the omitted files with their counts.
//
//	tier        N−4      N−3      N−2      N−1       N
//	full       stored   stored   stored   stored   stored
//	small      stored   omitted  stored   omitted  stored
//	                    computed          computed
//
// The last tier is stored: on every board that was measured, its parity is the smaller one
// (docs/benchmarks.md), and every omitted tier has a tier after it.

// Omits reports whether a small table of g omits a tier.
func Omits(g game.Tiered, tier int) bool { return (g.Tiers()-tier)%2 == 1 }

// CanBeSmall returns an error unless there are small tables of a game.
func CanBeSmall(m game.Method) error {
	if m.Blocks == nil {
		return fmt.Errorf("%s is not solved by blocks: only such games have small tables", m.Game.Spec())
	}
	return nil
}

// Omission returns the entry of an omitted tier in the seal of a small table. name is that of its
// file in a full table, and counts contains the number of its positions by value.
func Omission(name string, counts Counts) store.OmittedFile {
	f := store.OmittedFile{Name: name, Counts: make(map[byte]uint64)}
	for value, n := range counts {
		f.Counts[byte(value)] = n // the values of a block are bytes
	}
	return f
}

// find looks up a valid position. The caller holds mu.
func (t *blocks) find(p game.Position) (v game.Value, ok bool, err error) {
	p = t.kept(p)
	tier, rng := t.g.Tier(p), p>>t.g.LowBits()
	if !t.files[tier].stored() {
		return t.compute(p)
	}
	b, err := t.view(tier, rng)
	if err != nil {
		return 0, false, err
	}
	slot, ok := slices.BinarySearch(b.low, uint32(p-rng<<t.g.LowBits()))
	if !ok {
		return 0, false, nil
	}
	value, ok := b.Value(slot)
	return game.Value(value), ok, nil
}

// compute looks up a position of an omitted tier. The caller holds mu.
func (t *blocks) compute(p game.Position) (v game.Value, ok bool, err error) {
	reached := p == t.g.Start()
	if err := t.sources(p, func(q game.Position) (bool, error) {
		v, ok, err := t.find(q)
		reached = ok && v.Remoteness() > 0
		return reached, err
	}); err != nil || !reached {
		return 0, false, err
	}
	values, player := t.g.Values(), t.g.ToMove(p)
	if end := values.Ended(t.g.Primitive(p), player); end != 0 {
		return end, true, nil
	}
	best := game.Value(0)
	for _, m := range t.g.Moves(nil, p) {
		v, ok, err := t.find(m.To)
		if err != nil {
			return 0, false, err
		}
		if !ok {
			return 0, false, newFault(t.g, p, missing(t.g, m))
		}
		if best == 0 || values.Better(player, v, best) {
			best = v
		}
	}
	return values.Before(best), true, nil
}

// sources calls do for the positions of the previous tier from which moves may lead to p, until
// do returns true or an error. A move across ranges keeps the slot, see game.Tiered.
func (t *blocks) sources(p game.Position, do func(q game.Position) (bool, error)) error {
	tier, rng := t.g.Tier(p), p>>t.g.LowBits()
	if tier == 0 {
		return nil
	}
	slot, ok := slices.BinarySearch(t.g.Low(tier, rng), uint32(p-rng<<t.g.LowBits()))
	if !ok {
		return nil
	}
	for _, from := range t.g.Sources(nil, tier, rng) {
		low := t.g.Low(tier-1, from)
		if slot >= len(low) {
			continue
		}
		if end, err := do(from<<t.g.LowBits() | game.Position(low[slot])); end || err != nil {
			return err
		}
	}
	successors, kinds := t.g.Within(tier-1, rng)
	low := t.g.Low(tier-1, rng)
	for i := 0; i < len(successors); i++ {
		next := slices.Index(successors[i:], uint32(slot))
		if next < 0 {
			return nil
		}
		i += next
		if end, err := do(rng<<t.g.LowBits() | game.Position(low[i/kinds])); end || err != nil {
			return err
		}
	}
	return nil
}

// A blockReader reads the blocks of a tier. It is for one worker.
type blockReader interface {
	Load(b *block.Block, rng uint64) (ok bool, err error)
	step.BlockReader
}

// reader returns a reader of a tier. The caller has called openTiers.
func (t *blocks) reader(tier, ahead int) blockReader {
	if stored := t.tiers[tier].Tier; stored != nil {
		return stored.Cursor(ahead)
	}
	return t.computer(tier, ahead)
}

// computer returns a computer of an omitted tier.
func (t *blocks) computer(tier, ahead int) *computer {
	c := &computer{blocks: t, tier: tier, kept: recent[uint64, computed]{most: recentViews}, positions: t.positions(tier, ahead),
		solve: step.Puller{Step: step.New(step.Solve, t.game()), From: t.reader(tier+1, ahead)}, images: t.balancedOf(tier)}
	c.reached = c.images.reached.Merger(c.positions)
	c.scores = c.images.scores.Merger(scoresOf{c})
	return c
}

// reachable returns an iterator over the ranges of a tier into which moves of the previous tier may
// lead, in ascending order. That tier is open. After an error, the iterator ends.
func (t *blocks) reachable(tier int) iter.Seq2[uint64, error] {
	if t.half == nil || tier == 0 {
		return t.receivers(tier)
	}
	return func(yield func(uint64, error) bool) {
		ranges, err := collect(t.receivers(tier))
		if err != nil {
			yield(0, err)
			return
		}
		ranges = append(ranges, images.Ranges(t.half, tier, images.Reached, ranges)...)
		slices.Sort(ranges)
		for _, rng := range slices.Compact(ranges) {
			if !yield(rng, nil) {
				return
			}
		}
	}
}

// collect returns all ranges of an iterator.
func collect(all iter.Seq2[uint64, error]) (ranges []uint64, err error) {
	for rng, err := range all {
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, rng)
	}
	return ranges, nil
}

// receivers is like reachable, but without the ranges of which only images are reached.
func (t *blocks) receivers(tier int) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if tier == 0 {
			yield(t.g.Start()>>t.g.LowBits(), nil)
			return
		}
		g := t.game()
		possible, before := step.New(step.Possible, g), t.tiers[tier-1]
		if before.Tier == nil {
			var ranges []uint64
			for _, rng := range before.omitted {
				ranges = possible.Outputs(ranges, tier-1, rng)
			}
			slices.Sort(ranges)
			for _, rng := range slices.Compact(ranges) {
				if !yield(rng, nil) {
					return
				}
			}
			return
		}
		receivers := step.NewReceivers(possible, g, before.Tier)
		for {
			rng, ok, err := receivers.Next()
			if !ok && err == nil || !yield(rng, err) || err != nil {
				return
			}
		}
	}
}

// A computer computes the blocks of an omitted tier.
type computer struct {
	*blocks
	tier            int
	positions       *step.Puller
	solve           step.Puller
	images          balancedTier
	reached, scores *images.Merger
	kept            recent[uint64, computed]
}

// A computed is a block of an omitted tier, which may be empty.
type computed struct {
	block.Block
	any bool
}

// Load computes the block of a range; ok is false if it is empty.
func (c *computer) Load(b *block.Block, rng uint64) (ok bool, err error) {
	if err := c.prepare(c.images.scores, c.tier, func(c *computer) images.Messages { return scoresOf{c} }); err != nil {
		return false, err
	}
	if ok, err = c.scores.Merge(b, rng); err != nil || !ok {
		return false, err
	}
	return true, c.solve.Reduce(b)
}

// scoresOf computes the positions of a range, and merges the values of their successors.
type scoresOf struct{ *computer }

func (c scoresOf) Load(b *block.Block, rng uint64) (ok bool, err error) {
	if err := c.prepare(c.images.reached, c.tier, func(c *computer) images.Messages { return c.positions }); err != nil {
		return false, err
	}
	ok, err = c.reached.Merge(b, rng)
	if err == nil && ok {
		err = c.positions.Reduce(b)
	}
	return ok && !b.Empty(), err
}

func (c scoresOf) Merge(b *block.Block) error { return c.solve.Merge(b) }

// positions returns the positions of a tier. The caller has called openTiers.
func (t *blocks) positions(tier, ahead int) *step.Puller {
	p := &step.Puller{Step: step.New(step.Possible, t.game()), Game: t.game(), Tier: tier, Senders: senders()}
	if tier > 0 {
		p.From = t.reader(tier-1, ahead)
	}
	return p
}

// Block implements step.BlockReader.
func (c *computer) Block(_, rng uint64) (*block.Block, error) {
	b, err := c.kept.get(rng, func(b *computed) (err error) {
		b.any, err = c.Load(&b.Block, rng)
		return err
	})
	if err != nil || !b.any {
		return nil, err
	}
	return &b.Block, nil
}

// WriteTier writes an omitted tier as a file, with the bytes that it has in a full table.
func (t *Table) WriteTier(ctx context.Context, out io.WriteCloser, tier int) error {
	b, ok := t.contents.(*blocks)
	if !ok || b.files[tier].stored() {
		return errors.Join(fmt.Errorf("tier %d is not omitted", tier), out.Close())
	}
	w := jobdir.NewWriter(out, b.game(), tier, jobdir.Packed)
	return w.Finish(b.writeTier(ctx, w, tier))
}

// writeAtOnce is the number of ranges that a worker of writeTier computes at a time: neighbouring ranges
// read the same blocks.
const writeAtOnce = 16

func (t *blocks) writeTier(ctx context.Context, w *jobdir.Writer, tier int) error {
	if err := t.openTiers(); err != nil {
		return err
	}
	ranges := t.tiers[tier].omitted
	return w.AppendBlocks(ctx, len(ranges), writeAtOnce, func() func(int, *block.Block) (bool, error) {
		r := t.reader(tier, verifyAhead)
		return func(i int, b *block.Block) (bool, error) { return r.Load(b, ranges[i]) }
	})
}

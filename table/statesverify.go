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

// verifyBands checks that the positions are those that play can reach: it goes forward
// once more, with a bit for each hash. Then each value must follow from those of the
// children as the table has them: whoever is lost or won in n moves must be so by
// children with less than n, in nothing less; ties by children with less among those
// that are left; and what follows from none is a draw. That is done for a band of ranges
// of so many bytes at a time, so it needs little memory. Where the moves are not known
// backwards, no position can speak to those that lead to it: each looks its children up,
// by Rules.
func (t *states) verifyBands(ctx context.Context, bandBytes int, report func(share float64)) error {
	v := &statesVerifier{states: t}
	for rng := range game.Ranges(t.g) {
		v.ranges = append(v.ranges, rng)
	}
	v.locks = make([]sync.Mutex, len(v.ranges))
	v.holds = make([][game.Ties + 1]uint64, len(v.ranges))
	counts := t.file.Counts()
	if err := v.count(ctx, &counts); err != nil {
		return err
	}
	if counts != (streamfmt.Counts{}) {
		return wrongCounts(t.name())
	}
	if err := v.reach(ctx); err != nil {
		return err
	}
	if !game.KnowsBackward(t.g) {
		_, _, err := Rules{Report: report}.Verify(ctx, &Table{g: t.g, contents: t})
		return err
	}
	size := block.HeardBytes(t.g.RangeSize()) + 8*block.StatePlanes*block.Words(t.g.RangeSize())
	for from := 0; from < len(v.ranges); {
		to := min(len(v.ranges), from+max(1, bandBytes/size))
		if report != nil {
			report(float64(from) / float64(len(v.ranges)))
		}
		if err := v.band(ctx, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

type statesVerifier struct {
	*states
	ranges []uint64
	locks  []sync.Mutex            // by range, of what it hears
	holds  [][game.Ties + 1]uint64 // by range and result, a bit for each remoteness that occurs
	most   int                     // the greatest remoteness
}

// each calls check with the states of ranges, on all cores.
func (v *statesVerifier) each(ctx context.Context, ranges []uint64, check func(rng uint64, s *block.State) error) error {
	return eachRange(ctx, ranges, func() func(uint64) error {
		cursor := v.file.Cursor()
		var s block.State
		return func(rng uint64) error {
			if err := cursor.Load(rng, &s); err != nil {
				return err
			}
			return check(rng, &s)
		}
	})
}

// fault describes what is wrong with a slot of a range.
func (v *statesVerifier) fault(rng uint64, slot int, reason string) error {
	return newFault(v.g, rng*uint64(v.g.RangeSize())+uint64(slot), reason)
}

// first is the first slot of a set, -1 of an empty one.
func first(s block.Set) int {
	for slot := range s.All() {
		return slot
	}
	return -1
}

// count takes from counts what the ranges hold, and notes which values occur where.
func (v *statesVerifier) count(ctx context.Context, counts *streamfmt.Counts) error {
	var mu sync.Mutex
	return v.each(ctx, v.file.Ranges(), func(rng uint64, s *block.State) error {
		var here [256]uint64
		s.Count(&here)
		mu.Lock()
		defer mu.Unlock()
		for value, n := range here {
			counts[value] -= n
			if w := game.Value(value); n > 0 {
				v.holds[rng][w.Outcome()] |= 1 << w.Remoteness()
				v.most = max(v.most, w.Remoteness())
			}
		}
		return nil
	})
}

// reach goes forward from the start, and compares the positions it comes to with
// those of the table.
func (v *statesVerifier) reach(ctx context.Context) error {
	type marks struct{ reached, heard, new block.Set } // each nil until there is something in it
	all := make([]marks, len(v.ranges))
	hear := func(rng uint64, set block.Set) {
		v.locks[rng].Lock()
		defer v.locks[rng].Unlock()
		m := &all[rng]
		if m.heard == nil {
			m.heard = make(block.Set, len(set))
		}
		m.heard.Union(set)
	}
	game.NewSets(v.g).Say([]game.Position{v.g.Start()}, hear)
	for more := true; more; {
		more = false
		var mu sync.Mutex
		err := eachRange(ctx, v.ranges, func() func(uint64) error {
			mover := v.g.NewMover()
			of := make(block.Set, block.Words(v.g.RangeSize()))
			return func(rng uint64) error {
				m := &all[rng]
				if m.heard == nil {
					return nil
				}
				if m.reached == nil {
					m.reached, m.new = make(block.Set, len(m.heard)), make(block.Set, len(m.heard))
				}
				copy(m.new, m.heard)
				m.new.Subtract(m.reached)
				clear(m.heard)
				if m.new.Empty() {
					return nil
				}
				m.reached.Union(m.new)
				of := of[:len(m.new)]
				copy(of, m.new)
				mover.Finished(rng, of, func(_ game.Result, set block.Set) { m.new.Subtract(set) })
				mu.Lock()
				more = true
				mu.Unlock()
				return nil
			}
		})
		if err != nil {
			return err
		}
		err = eachRange(ctx, v.ranges, func() func(uint64) error {
			mover := v.g.NewMover()
			return func(rng uint64) error {
				if new := all[rng].new; !new.Empty() {
					mover.Children(rng, new, hear)
				}
				return nil
			}
		})
		if err != nil {
			return err
		}
	}
	touched := slices.DeleteFunc(slices.Clone(v.ranges), func(rng uint64) bool {
		_, found := v.file.Find(rng)
		return !found && all[rng].heard == nil
	})
	return v.each(ctx, touched, func(rng uint64, s *block.State) error {
		wrong := make(block.Set, len(s.Reached))
		copy(wrong, s.Reached)
		for i, want := range all[rng].reached {
			wrong[i] ^= want
		}
		switch slot := first(wrong); {
		case slot < 0:
			return nil
		case s.Reached.Has(slot):
			return v.fault(rng, slot, "cannot be reached")
		default:
			return v.fault(rng, slot, "is missing")
		}
	})
}

// band checks the values of some ranges: they hear, remoteness by remoteness, what
// the positions of the whole table have to say, and so get values; those must be
// the table's.
func (v *statesVerifier) band(ctx context.Context, from, to int) error {
	states := make([]block.State, to-from)
	heard := make([]block.Heard, to-from)
	ranges := v.ranges[from:to]
	err := eachRange(ctx, ranges, func() func(uint64) error {
		cursor := v.file.Cursor()
		p := step.NewPass(v.g, step.Mark, 1)
		var fresh block.State
		return func(rng uint64) error {
			n := game.RangeLen(v.g, rng)
			s, h := &states[rng-uint64(from)], &heard[rng-uint64(from)]
			h.Reset(n)
			if err := cursor.Load(rng, s); err != nil {
				return err
			}
			h.Some.Union(s.Reached)
			s.Reset(n)
			_, err := p.Reduce(rng, s, h, &fresh)
			h.Reset(n)
			return err
		}
	})
	if err != nil {
		return err
	}
	for _, name := range []string{step.Solve, step.Ties} {
		for number := 1; number <= min(v.most+1, game.MaxByteRemoteness); number++ {
			if err := v.hear(ctx, name, number, from, to, heard); err != nil {
				return err
			}
			err := eachRange(ctx, ranges, func() func(uint64) error {
				p := step.NewPass(v.g, name, number)
				var fresh block.State
				return func(rng uint64) error {
					h := &heard[rng-uint64(from)]
					_, err := p.Reduce(rng, &states[rng-uint64(from)], h, &fresh)
					h.Reset(game.RangeLen(v.g, rng))
					return err
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return v.each(ctx, ranges, func(rng uint64, s *block.State) error {
		want := &states[rng-uint64(from)]
		open := make(block.Set, len(s.Reached))
		want.Open(open)
		want.Number.PutAll(0, open)
		follows, wrong := want.Planes(), open // not needed any more
		clear(wrong)
		for i, plane := range s.Planes() {
			for j, w := range plane {
				wrong[j] |= w ^ follows[i][j]
			}
		}
		slot := first(wrong)
		if slot < 0 {
			return nil
		}
		is, _ := s.Value(slot)
		should, _ := want.Value(slot)
		return v.fault(rng, slot, fmt.Sprintf("expected %s, as its moves lead to, found %s", v.g.Values().Text(game.Value(should)), v.g.Values().Text(game.Value(is))))
	})
}

// hear has the positions of the table that are decided in one move less than the
// number speak to the ranges of a band.
func (v *statesVerifier) hear(ctx context.Context, name string, number, from, to int, heard []block.Heard) error {
	var mu sync.Mutex
	var failed error
	failedAt := uint64(to)
	say := func(rng uint64, set block.Set, counted bool) {
		if rng < uint64(from) || rng >= uint64(to) {
			return
		}
		v.locks[rng].Lock()
		defer v.locks[rng].Unlock()
		h := &heard[rng-uint64(from)]
		if !counted {
			h.Some.Union(set)
		} else if !h.Times.Add(set) {
			mu.Lock()
			if rng < failedAt {
				failedAt, failed = rng, step.HeardTooOften(rng)
			}
			mu.Unlock()
		}
	}
	results := []game.Result{game.Loses, game.Wins}
	if name == step.Ties {
		results = []game.Result{game.Ties}
	}
	err := eachRange(ctx, v.ranges, func() func(uint64) error {
		cursor := v.file.Cursor()
		p := step.NewPass(v.g, name, number)
		var s block.State
		return func(rng uint64) error {
			var any uint64
			for _, result := range results {
				any |= v.holds[rng][result]
			}
			if any>>(number-1)&1 == 0 {
				return nil
			}
			if err := cursor.Load(rng, &s); err != nil {
				return err
			}
			s.Keep(number - 1)
			return p.Map(rng, &s, say)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

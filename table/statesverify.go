//go:build !js

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

// verifyBands first checks that the positions are exactly the reachable ones: it makes the
// forward passes again, with a bit for each hash. Then it checks that each value follows from
// the values of the successors in the table. A win or loss in n moves must follow from
// successors that are decided in fewer moves, and n must be the least number for which it
// does. Ties follow in the same way for the positions that remain. All others are draws. The
// values are checked for a band of ranges at a time, of bandBytes bytes, to bound the memory.
// If the game has no set methods for predecessors, positions cannot send messages to them;
// then Rules looks up the successors of each position instead.
func (t *states) verifyBands(ctx context.Context, bandBytes int, report func(share float64)) error {
	v := &statesVerifier{states: t}
	for rng := range game.Ranges(t.g) {
		v.ranges = append(v.ranges, rng)
	}
	v.locks = make([]sync.Mutex, len(v.ranges))
	v.occurs = make([][game.Ties + 1]uint64, len(v.ranges))
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
	size := block.InboxBytes(t.g.RangeSize()) + 8*block.StatePlanes*block.Words(t.g.RangeSize())
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
	locks  []sync.Mutex            // by range; protects its inbox
	occurs [][game.Ties + 1]uint64 // by range and result: a bit for each remoteness that occurs
	most   int                     // greatest remoteness
}

// each calls check with the states of the ranges, on all cores.
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

// fault returns a Fault of a slot of a range.
func (v *statesVerifier) fault(rng uint64, slot int, reason string) error {
	return newFault(v.g, rng*uint64(v.g.RangeSize())+uint64(slot), reason)
}

// first returns the first slot of a set, or -1 if it is empty.
func first(s block.Set) int {
	for slot := range s.All() {
		return slot
	}
	return -1
}

// count subtracts the positions of the ranges from counts, and records which values occur in
// which range.
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
				v.occurs[rng][w.Outcome()] |= 1 << w.Remoteness()
				v.most = max(v.most, w.Remoteness())
			}
		}
		return nil
	})
}

// reach repeats the forward passes from the initial position, and compares the positions
// reached with those of the table.
func (v *statesVerifier) reach(ctx context.Context) error {
	type marks struct{ reached, received, new block.Set } // each is nil until it has an element
	all := make([]marks, len(v.ranges))
	receive := func(rng uint64, set block.Set) {
		v.locks[rng].Lock()
		defer v.locks[rng].Unlock()
		m := &all[rng]
		if m.received == nil {
			m.received = make(block.Set, len(set))
		}
		m.received.Union(set)
	}
	game.NewSets(v.g).Send([]game.Position{v.g.Start()}, receive)
	for more := true; more; {
		more = false
		var mu sync.Mutex
		err := eachRange(ctx, v.ranges, func() func(uint64) error {
			mover := v.g.NewMover()
			of := make(block.Set, block.Words(v.g.RangeSize()))
			return func(rng uint64) error {
				m := &all[rng]
				if m.received == nil {
					return nil
				}
				if m.reached == nil {
					m.reached, m.new = make(block.Set, len(m.received)), make(block.Set, len(m.received))
				}
				copy(m.new, m.received)
				m.new.Subtract(m.reached)
				clear(m.received)
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
					mover.Successors(rng, new, receive)
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
		return !found && all[rng].received == nil
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

// band checks the values of the ranges from to to-1. Remoteness by remoteness, they receive
// messages from the positions of the complete table, and compute values from them. These
// values must be those of the table.
func (v *statesVerifier) band(ctx context.Context, from, to int) error {
	states := make([]block.State, to-from)
	inboxes := make([]block.Inbox, to-from)
	ranges := v.ranges[from:to]
	err := eachRange(ctx, ranges, func() func(uint64) error {
		cursor := v.file.Cursor()
		p := step.NewPass(v.g, step.Mark, 1)
		var fresh block.State
		return func(rng uint64) error {
			n := game.RangeLen(v.g, rng)
			s, h := &states[rng-uint64(from)], &inboxes[rng-uint64(from)]
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
			if err := v.send(ctx, name, number, from, to, inboxes); err != nil {
				return err
			}
			err := eachRange(ctx, ranges, func() func(uint64) error {
				p := step.NewPass(v.g, name, number)
				var fresh block.State
				return func(rng uint64) error {
					h := &inboxes[rng-uint64(from)]
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
		follows, wrong := want.Planes(), open // reuses the memory of open
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

// send sends the messages for the given remoteness to the ranges of a band. The senders are
// all positions of the table that are decided in number-1 moves.
func (v *statesVerifier) send(ctx context.Context, name string, number, from, to int, inboxes []block.Inbox) error {
	var mu sync.Mutex
	var failed error
	failedAt := uint64(to)
	send := func(rng uint64, set block.Set, counted bool) {
		if rng < uint64(from) || rng >= uint64(to) {
			return
		}
		v.locks[rng].Lock()
		defer v.locks[rng].Unlock()
		h := &inboxes[rng-uint64(from)]
		if !counted {
			h.Some.Union(set)
		} else if !h.Times.Add(set) {
			mu.Lock()
			if rng < failedAt {
				failedAt, failed = rng, step.TooManyMessages(rng)
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
				any |= v.occurs[rng][result]
			}
			if any>>(number-1)&1 == 0 {
				return nil
			}
			if err := cursor.Load(rng, &s); err != nil {
				return err
			}
			s.Keep(number - 1)
			return p.Map(rng, &s, send)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

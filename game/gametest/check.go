package gametest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// RulesOnly returns a game that has the rules of g, but none of its extensions.
func RulesOnly(g game.Game) game.Game { return struct{ game.Game }{g} }

// mostChecked is the largest number of hashes of a game that Check accepts: it visits them
// all.
const mostChecked = 1 << 24

// Check checks that the set methods of a small game agree with its moves, and with its
// predecessors if it computes them, on sets of every density in every range. It does not
// call methods of the game for invalid hashes; but predecessors may include such hashes.
func Check(t testing.TB, g game.Cyclic) {
	t.Helper()
	if g.Positions() > mostChecked {
		t.Fatalf("%s: it has %d hashes, at most %d can be checked: take a smaller board", g.Spec(), g.Positions(), mostChecked)
	}
	n, backward := int(g.Positions()), game.KnowsBackward(g)
	successors, predecessors := make([][]game.Position, n), make([][]game.Position, n)
	finished, valid := make([]bool, n), make([]bool, n)
	for p := range uint64(n) {
		if valid[p] = g.Check(p) == nil; !valid[p] {
			continue
		}
		finished[p] = g.Primitive(p) != 0
		moves := g.Moves(nil, p)
		if !backward {
			moves = game.DistinctMoves(moves)
		}
		if finished[p] != (len(moves) == 0) || len(moves) > block.MaxCount {
			t.Fatalf("%d is finished: %v, but has %d moves", p, finished[p], len(moves))
		}
		for _, m := range moves {
			if err := g.Check(m.To); err != nil {
				t.Fatalf("%d: move %s leads to no position: %v", p, m.Name, err)
			}
			successors[p] = append(successors[p], m.To)
			predecessors[m.To] = append(predecessors[m.To], p)
		}
	}
	size := uint64(g.RangeSize())
	if ranges := (n + int(size) - 1) / int(size); game.Ranges(g) != uint64(ranges) {
		t.Fatalf("%d ranges, want %d", game.Ranges(g), ranges)
	}
	c := setCheck{t, g, make([]int, n)}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	mover := g.NewMover() // a single one, whose memory each call finds as the last one left it
	for rng := range game.Ranges(g) {
		slots := game.RangeLen(g, rng)
		for _, density := range []float64{0, 0.01, 0.5, 1, 2 / float64(slots)} {
			all, open := make(block.Set, block.Words(slots)), make(block.Set, block.Words(slots))
			var wantSuccessors, wantPredecessors []game.Position
			for slot := range slots {
				p := rng*size + uint64(slot)
				if r.Float64() >= density || !valid[p] {
					continue
				}
				all.Add(slot)
				wantPredecessors = append(wantPredecessors, predecessors[p]...)
				if !finished[p] {
					open.Add(slot)
					wantSuccessors = append(wantSuccessors, successors[p]...)
				}
			}
			at := fmt.Sprintf("%s, ranges of %d: range %d, %d positions", g.Spec(), size, rng, all.Count())
			before := [2][]uint32{all.Append(nil), open.Append(nil)}

			c.compare(at+": Successors", wantSuccessors, func(uint64) bool { return false }, func(emit func(uint64, block.Set)) { mover.Successors(rng, open, emit) })
			if back, ok := mover.(game.Backward); ok {
				c.compare(at+": Predecessors", wantPredecessors, func(p uint64) bool { return finished[p] || !valid[p] }, func(emit func(uint64, block.Set)) { back.Predecessors(rng, all, emit) })
			}
			checkFinished(t, at, g, mover, rng, all)
			checkCount(t, at, mover, rng, open, func(slot int) int { return len(successors[rng*size+uint64(slot)]) })

			if !slices.Equal(all.Append(nil), before[0]) || !slices.Equal(open.Append(nil), before[1]) {
				t.Fatalf("%s: a set that was passed in has changed", at)
			}
		}
	}
}

// A setCheck checks the positions that the set methods of a game emit.
type setCheck struct {
	testing.TB
	g       game.Cyclic
	balance []int // by position: how often it is wanted, less how often it was emitted; 0 between calls of compare
}

// compare requires that call emits exactly the wanted positions, each as often as wanted. It
// ignores positions for which drop returns true.
func (c setCheck) compare(at string, want []game.Position, drop func(uint64) bool, call func(emit func(uint64, block.Set))) {
	c.Helper()
	for _, p := range want {
		c.balance[p]++
	}
	var last uint64
	var slots []uint32
	seen := map[uint64]bool{}
	call(func(rng uint64, set block.Set) {
		if seen[rng] && rng != last {
			c.Fatalf("%s: the calls for range %d do not follow one another", at, rng)
		}
		seen[rng], last = true, rng
		if rng >= game.Ranges(c.g) || len(set) != block.Words(game.RangeLen(c.g, rng)) {
			c.Fatalf("%s: a set of %d words for range %d", at, len(set), rng)
		}
		if set.Empty() {
			c.Fatalf("%s: an empty set is emitted", at)
		}
		slots = set.Append(slots[:0])
		for _, slot := range slots {
			if int(slot) >= game.RangeLen(c.g, rng) {
				c.Fatalf("%s: slot %d of range %d, which is past its end", at, slot, rng)
			}
			p := rng*uint64(c.g.RangeSize()) + uint64(slot)
			if drop(p) {
				continue
			}
			if c.balance[p]--; c.balance[p] < 0 {
				c.Fatalf("%s: %d is emitted once too often", at, p)
			}
		}
	})
	for _, p := range want {
		if c.balance[p] != 0 {
			c.Fatalf("%s: %d is not emitted, or not often enough", at, p)
		}
	}
}

func checkFinished(t testing.TB, at string, g game.Cyclic, mover game.Mover, rng uint64, of block.Set) {
	t.Helper()
	emitted := map[game.Result][]uint32{}
	mover.Finished(rng, of, func(result game.Result, set block.Set) {
		if emitted[result] != nil || set.Empty() || len(set) != len(of) {
			t.Fatalf("%s: Finished emits %v twice, or an empty set, or %d words", at, result, len(set))
		}
		emitted[result] = set.Append(nil)
	})
	want := map[game.Result][]uint32{}
	for _, slot := range of.Append(nil) {
		p := rng*uint64(g.RangeSize()) + uint64(slot)
		if v := g.Primitive(p); v != 0 {
			result := v.Outcome().For(g.ToMove(p))
			want[result] = append(want[result], slot)
		}
	}
	for result := range game.Ties + 1 {
		if !slices.Equal(emitted[result], want[result]) {
			t.Fatalf("%s: Finished emits %v of %d, want %d", at, result, len(emitted[result]), len(want[result]))
		}
	}
}

func checkCount(t testing.TB, at string, mover game.Mover, rng uint64, of block.Set, moves func(slot int) int) {
	t.Helper()
	var c block.Counter
	c.Reset(len(of) * 64)
	for slot := range len(of) * 64 {
		c.Put(slot, slot%2) // CountMoves must add to it
	}
	mover.CountMoves(rng, of, &c)
	for slot := range len(of) * 64 {
		want := slot % 2
		if of.Has(slot) {
			want += moves(slot)
		}
		if c.Get(slot) != want {
			t.Fatalf("%s: CountMoves makes %d the count of slot %d, want %d", at, c.Get(slot), slot, want)
		}
	}
}

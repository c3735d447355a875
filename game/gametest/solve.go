// Package gametest supports tests of games: the contract of the Game interface, solutions of
// small games in memory, and random games. It does not know any specific game.
package gametest

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A Solution contains the values of all reachable positions of a game.
type Solution struct {
	// New is the number of positions that each forward pass reached first.
	New []int
	// Moves is the total number of moves of all positions that are not terminal.
	Moves int
	// Values is the number of positions by result and remoteness; the remoteness of draws
	// is 0.
	Values [game.Ties + 1][]int

	g      game.Cyclic
	mover  game.Backward
	ranges []positions
}

// positions is what is known of the positions of a range, with nine bits for each, and the
// inbox of a pass.
type positions struct {
	reached block.Set
	open    block.Set     // reached, and without a result so far; finally, these are the draws
	result  [2]block.Set  // the two bits of a game.Result
	number  block.Counter // of an open position, the number of its undecided moves; else its remoteness

	fresh [game.Ties + 1]block.Set // got this result in the last pass; in forward passes, Draws are the newly open positions
	inbox block.Set                // children; in retrograde passes, positions with a child of a result
	any   bool                     // whether inbox contains anything
	count bool                     // whether number has been decreased
	bits  block.Set                // scratch
}

// Solve solves a game.
func Solve(g game.Cyclic) *Solution {
	s := &Solution{g: g, mover: newBackward(g), ranges: make([]positions, game.Ranges(g))}
	for rng := range s.ranges {
		n := game.RangeLen(g, uint64(rng))
		r := &s.ranges[rng]
		r.number.Reset(n)
		sets := []*block.Set{&r.reached, &r.open, &r.result[0], &r.result[1], &r.inbox, &r.bits}
		for result := range r.fresh {
			sets = append(sets, &r.fresh[result])
		}
		for _, set := range sets {
			*set = make(block.Set, block.Words(n))
		}
	}
	s.mark()
	s.solve()
	return s
}

// newBackward returns a Backward Mover of a game. If the game does not compute predecessors,
// it first finds all edges from the initial position.
func newBackward(g game.Cyclic) game.Backward {
	mover := g.NewMover()
	if b, ok := mover.(game.Backward); ok {
		return b
	}
	b := &found{mover, g, make(map[game.Position][]game.Position), game.NewSets(g)}
	b.parents[g.Start()] = nil
	for next := []game.Position{g.Start()}; len(next) > 0; next = next[1:] {
		for _, m := range game.DistinctMoves(g.Moves(nil, next[0])) {
			if _, known := b.parents[m.To]; !known {
				next = append(next, m.To)
			}
			b.parents[m.To] = append(b.parents[m.To], next[0])
		}
	}
	return b
}

// found is a Backward Mover with edges found forward from the initial position.
type found struct {
	game.Mover
	g       game.Cyclic
	parents map[game.Position][]game.Position
	sets    *game.Sets
}

func (f *found) Parents(rng uint64, to block.Set, emit func(uint64, block.Set)) {
	var all []game.Position
	for _, slot := range to.Append(nil) {
		all = append(all, f.parents[rng*uint64(f.g.RangeSize())+uint64(slot)]...)
	}
	f.sets.Send(all, emit)
}

// mark finds all reachable positions, breadth first.
func (s *Solution) mark() {
	receive := func(rng uint64, to block.Set) {
		s.ranges[rng].inbox.Union(to)
		s.ranges[rng].any = true
	}
	var r *positions // the range that Finished is called for
	finish := func(result game.Result, set block.Set) {
		without(r.fresh[game.Draws], set)
		r.fresh[result].Union(set)
		s.decide(r, result, 0, set)
	}
	start := s.g.Start()
	size := uint64(s.g.RangeSize())
	r = &s.ranges[start/size]
	r.inbox.Add(int(start % size))
	r.any = true
	for {
		found := 0
		for rng := range s.ranges {
			r = &s.ranges[rng]
			if !r.any {
				clear(r.fresh[game.Draws])
				continue
			}
			without(r.inbox, r.reached)
			copy(r.fresh[game.Draws], r.inbox)
			clear(r.inbox)
			r.any = false
			found += r.fresh[game.Draws].Count()
			r.reached.Union(r.fresh[game.Draws])
			copy(r.bits, r.fresh[game.Draws])
			s.mover.Finished(uint64(rng), r.bits, finish)
			s.mover.CountMoves(uint64(rng), r.fresh[game.Draws], &r.number)
			r.open.Union(r.fresh[game.Draws])
		}
		if found == 0 {
			break
		}
		s.New = append(s.New, found)
		for rng := range s.ranges {
			if r := &s.ranges[rng]; !r.fresh[game.Draws].Empty() {
				s.mover.Children(uint64(rng), r.fresh[game.Draws], receive)
			}
		}
	}
	for rng := range s.ranges {
		for p, plane := range s.ranges[rng].number {
			s.Moves += plane.Count() << p
		}
	}
}

// solve runs the retrograde passes: for losses and wins until there are no more, then for
// ties.
func (s *Solution) solve() {
	receive := func(rng uint64, from block.Set) {
		s.ranges[rng].inbox.Union(from)
		s.ranges[rng].any = true
	}
	take := func(rng uint64, from block.Set) {
		r := &s.ranges[rng]
		if !r.number.Sub(from, r.open) {
			panic("gametest: a position has more children that win than moves")
		}
		r.count = true
	}
	for remoteness, more := 1, true; more; remoteness++ {
		s.send(game.Loses, receive)
		s.send(game.Wins, take)
		more = s.settle(game.Wins, remoteness)
	}
	for remoteness, more := 1, true; more; remoteness++ {
		s.send(game.Ties, receive)
		more = s.settle(game.Ties, remoteness)
	}
	draws := 0
	for rng := range s.ranges {
		draws += s.ranges[rng].open.Count()
	}
	if draws > 0 {
		s.Values[game.Draws] = []int{draws}
	}
}

// send sends the positions that got a result in the last pass to their predecessors.
func (s *Solution) send(result game.Result, emit func(uint64, block.Set)) {
	for rng := range s.ranges {
		if fresh := s.ranges[rng].fresh[result]; !fresh.Empty() {
			s.mover.Parents(uint64(rng), fresh, emit)
			clear(fresh)
		}
	}
}

// settle decides open positions: those with a child that has just been decided get the
// result, and those whose children are all wins get a loss.
func (s *Solution) settle(result game.Result, remoteness int) (more bool) {
	for rng := range s.ranges {
		r := &s.ranges[rng]
		if r.any {
			fresh := r.fresh[result]
			for i, w := range r.inbox {
				fresh[i] = w & r.open[i]
			}
			clear(r.inbox)
			r.any = false
			s.decide(r, result, remoteness, fresh)
			more = more || !fresh.Empty()
		}
		if r.count {
			fresh := r.fresh[game.Loses]
			r.number.Zero(fresh, r.open)
			r.count = false
			s.decide(r, game.Loses, remoteness, fresh)
			more = more || !fresh.Empty()
		}
	}
	return more
}

// decide records a result.
func (s *Solution) decide(r *positions, result game.Result, remoteness int, of block.Set) {
	n := of.Count()
	if n == 0 {
		return
	}
	if remoteness > block.MaxCount {
		panic("gametest: the game is too long")
	}
	for len(s.Values[result]) <= remoteness {
		s.Values[result] = append(s.Values[result], 0)
	}
	s.Values[result][remoteness] += n
	without(r.open, of)
	for bit := range r.result {
		if result>>bit&1 != 0 {
			r.result[bit].Union(of)
		}
	}
	r.number.PutAll(remoteness, of)
}

// without removes t from s.
func without(s, t block.Set) {
	for i, w := range t {
		s[i] &^= w
	}
}

// Value returns the result and the remoteness of a position, and whether it can
// be reached.
func (s *Solution) Value(p game.Position) (result game.Result, remoteness int, ok bool) {
	size := uint64(s.g.RangeSize())
	r, slot := &s.ranges[p/size], int(p%size)
	if !r.reached.Has(slot) {
		return 0, 0, false
	}
	if r.open.Has(slot) {
		return game.Draws, 0, true
	}
	for bit := range r.result {
		if r.result[bit].Has(slot) {
			result |= 1 << bit
		}
	}
	return result, r.number.Get(slot), true
}

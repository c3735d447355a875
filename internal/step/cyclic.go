package step

import (
	"fmt"
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// The names of the steps of a game with cycles, in the order in which they run;
// Solve and Final have the names that they have in a tiered game. Each but the
// first and the last runs again and again, a pass each time, until one changes
// nothing.
const (
	Create = "create" // a blank state of each range; the start is reached
	Mark   = "mark"   // the children of what was new in the pass before
	Ties   = "ties"   // the parents of the ties of the pass before; Solve: of wins and losses
)

// CyclicNames lists the steps of a game with cycles in the order in which they run.
func CyclicNames() []string { return []string{Create, Mark, Solve, Ties, Final} }

// AllNames lists the steps of all games, each once.
func AllNames() []string { return append(Names(), Create, Mark, Ties) }

// IsForward reports whether a step goes from positions to their children.
func IsForward(step string) bool { return step == Create || step == Mark }

// A Pass is the map and the reduce of one pass over a game with cycles, on whole
// ranges. What Map says to a range is gathered in a block.Heard, by one mapper or
// by many, in any order; Reduce is called once for each range that heard. A Pass
// keeps memory, and serves one goroutine.
type Pass struct {
	// Messages is how many moves Map told of in Mark.
	Messages int64

	g      game.Cyclic
	mover  game.Mover
	step   string
	number int
	set    block.Set
	fresh  block.Set
	moves  block.Counter
}

// NewPass returns the pass of a number, from 1, of a step: Create, Mark, Solve or
// Ties. What it decides in Solve or Ties has the number as its remoteness.
func NewPass(g game.Cyclic, step string, number int) *Pass {
	words := block.Words(g.RangeSize())
	return &Pass{g: g, mover: g.NewMover(), step: step, number: number,
		set: make(block.Set, words), fresh: make(block.Set, words)}
}

// Map says what the new positions of a range have to say: in Mark those that are
// open to their children, that they are reached; in Solve and Ties those with a
// result to their parents. What a lost position or a tie says need only be heard
// once (block.Heard.Some); what a won one says is counted (block.Heard.Times).
func (p *Pass) Map(rng uint64, from *block.State, say func(rng uint64, set block.Set, counted bool)) {
	set := p.set[:len(from.Reached)]
	once := func(rng uint64, to block.Set) { say(rng, to, false) }
	switch p.step {
	case Mark:
		if from.Open(set); !set.Empty() {
			p.moves.Reset(game.RangeLen(p.g, rng))
			p.mover.CountMoves(rng, set, &p.moves)
			for i, plane := range p.moves {
				p.Messages += int64(plane.Count()) << i
			}
			p.mover.Children(rng, set, once)
		}
	case Solve:
		if from.With(set, uint8(game.Loses)); !set.Empty() {
			p.mover.Parents(rng, set, once)
		}
		if from.With(set, uint8(game.Wins)); !set.Empty() {
			p.mover.Parents(rng, set, func(rng uint64, to block.Set) { say(rng, to, true) })
		}
	case Ties:
		if from.With(set, uint8(game.Ties)); !set.Empty() {
			p.mover.Parents(rng, set, once)
		}
	}
}

// Reduce brings the state of a range up to what it heard, and makes fresh the
// positions that are new: in Mark those that are reached first, with a result if
// they are finished; in Solve and Ties those that have a result now. In Create
// the state is blank and nothing is heard. It tells whether the state has changed.
func (p *Pass) Reduce(rng uint64, s *block.State, h *block.Heard, fresh *block.State) (changed bool, err error) {
	n := game.RangeLen(p.g, rng)
	fresh.Reset(n)
	switch p.step {
	case Create:
		start, size := p.g.Start(), uint64(p.g.RangeSize())
		if start/size == rng {
			fresh.Reached.Add(int(start % size))
			p.reach(rng, s, fresh)
		}
		return true, nil
	case Mark:
		copy(fresh.Reached, h.Some)
		fresh.Reached.Subtract(s.Reached)
		p.reach(rng, s, fresh)
	case Solve:
		return p.solve(rng, s, h, fresh)
	case Ties:
		open := p.set[:len(s.Reached)]
		s.Open(open)
		open.Intersect(open, h.Some)
		err = p.decide(game.Ties, open, s, fresh)
	}
	return !fresh.Reached.Empty(), err
}

// reach takes the fresh positions into the state: those that are finished with
// their result, the others with the number of their moves.
func (p *Pass) reach(rng uint64, s, fresh *block.State) {
	s.Reached.Union(fresh.Reached)
	open := p.fresh[:len(s.Reached)]
	copy(open, fresh.Reached)
	of := p.set[:len(s.Reached)]
	copy(of, open)
	p.mover.Finished(rng, of, func(result game.Result, set block.Set) {
		s.Decide(uint8(result), 0, set)
		fresh.Decide(uint8(result), 0, set)
		open.Subtract(set)
	})
	p.mover.CountMoves(rng, open, &s.Number)
}

// solve decides wins before losses: who has a child that is lost has won, however
// many of the others are won.
func (p *Pass) solve(rng uint64, s *block.State, h *block.Heard, fresh *block.State) (changed bool, err error) {
	open, set := p.fresh[:len(s.Reached)], p.set[:len(s.Reached)]
	s.Open(open)
	set.Intersect(open, h.Some)
	if err := p.decide(game.Wins, set, s, fresh); err != nil {
		return false, err
	}
	changed = !set.Empty()
	open.Subtract(set)
	clear(set)
	for _, plane := range h.Times {
		set.Union(plane)
	}
	open.Intersect(open, set) // the others have as many moves left as before, thus some
	if !s.Number.SubCounter(&h.Times, open) {
		return false, fmt.Errorf("range %#x: a position has more children that are won than moves", rng)
	}
	changed = changed || !open.Empty()
	s.Number.Zero(set, open)
	return changed, p.decide(game.Loses, set, s, fresh)
}

// decide gives positions a result with the pass as remoteness.
func (p *Pass) decide(result game.Result, of block.Set, s, fresh *block.State) error {
	if of.Empty() {
		return nil
	}
	if p.number > game.MaxByteRemoteness {
		return fmt.Errorf("a position is decided in %d moves: at most %d are provided for", p.number, game.MaxByteRemoteness)
	}
	s.Decide(uint8(result), p.number, of)
	fresh.Reached.Union(of)
	fresh.Decide(uint8(result), p.number, of)
	return nil
}

// Said is the result and the remoteness of what the positions with a result say
// in a pass of Solve or Ties, as the value of a message: of those that are counted
// or of the others.
func Said(step string, number int, counted bool) byte {
	result := game.Loses
	switch {
	case step == Ties:
		result = game.Ties
	case counted:
		result = game.Wins
	}
	return byte(number-1)<<2 | byte(result)
}

// AppendCyclicFinal appends the line of a position of a game with cycles: its hash
// in decimal, a tab, its result, a tab, its remoteness, which a draw has not.
func AppendCyclicFinal(dst []byte, p game.Position, v game.Value) []byte {
	dst = append(strconv.AppendUint(dst, p, 10), '\t')
	dst = append(append(dst, game.Result(v.Outcome()).String()...), '\t')
	if v.Valid() {
		dst = strconv.AppendInt(dst, int64(v.Remoteness()), 10)
	}
	return append(dst, '\n')
}

// CyclicBorders returns the ranges at which n parts begin in a game with cycles. They
// ascend strictly: of a game with fewer ranges than n, each is a part.
func CyclicBorders(g game.Cyclic, n int) []uint64 {
	n = int(min(uint64(n), game.Ranges(g)))
	borders := make([]uint64, n)
	for i := range borders {
		borders[i] = Portion(game.Ranges(g), i, n)
	}
	return borders
}

// Package memo finds the winner of a game without cycles as the hand-out of the course's
// Connect-4 assignment has it: find_winner makes each move, asks itself what the
// opponent can get then, and takes the best. Nothing is left out, so a value is exact,
// outcome and moves to the end, and the next game may ask for it again.
//
// Without a table a position is examined as often as play can come to it: on 4×3
// connect 3, 7,157 positions 277,167 times. With one each is examined once. The
// table is the hand-out's, by separate chaining.
//
// The package knows the rules of games, through their door, and nothing else. Being
// plain, it is what faster searches are held to.
package memo

import (
	"context"
	"fmt"

	"github.com/treereduce/treereduce/game"
)

// A Verdict is the best move of a position, and what it comes to.
type Verdict struct {
	Move  int        // its place in Game.Moves; -1 of a finished position
	Value game.Value // of the position, as the game's Values read it
}

// Options of a Searcher.
type Options struct {
	// Chains is how many chains the table has; 0: there is no table.
	Chains int
	// Memory is how many bytes the table may take; 0: DefaultMemory. What finds no room
	// in it is not kept, and is examined again when play comes to it again.
	Memory int64
}

// The memory of a table where none is given, and the most chains that it may have.
const (
	DefaultMemory = 1 << 30
	MaxChains     = 1 << 28
)

// Counts are what searches have done.
type Counts struct {
	Positions uint64 // examined: all of their moves made, or found to be finished
	Lookups   uint64 // in the table
	Hits      uint64 // look-ups that found the position
	Steps     uint64 // elements of chains that look-ups compared
}

// A Searcher searches positions of one game. What is in its table stays there from search
// to search. One search at a time.
type Searcher struct {
	g      game.Game
	values game.Values
	table  *Table
	counts Counts
	moves  []game.Move // of all positions on the way to the one that is examined
	stop   <-chan struct{}
	since  int // positions since stop was asked
}

// New makes a Searcher of a game whose play always ends.
func New(g game.Acyclic, o Options) (*Searcher, error) {
	s := &Searcher{g: g, values: g.Values()}
	if o.Chains < 0 || o.Chains > MaxChains {
		return nil, fmt.Errorf("memo: %d chains: expected 0 to %d", o.Chains, MaxChains)
	}
	if o.Chains > 0 {
		memory := o.Memory
		if memory == 0 {
			memory = DefaultMemory
		}
		var err error
		if s.table, err = NewTable(o.Chains, memory); err != nil {
			return nil, fmt.Errorf("memo: %d chains in %d bytes: %w", o.Chains, memory, err)
		}
	}
	return s, nil
}

// Table is the table; nil if there is none.
func (s *Searcher) Table() *Table { return s.table }

// Counts are what all searches have done so far.
func (s *Searcher) Counts() Counts {
	if s.table != nil {
		s.counts.Steps = s.table.Steps()
	}
	return s.counts
}

// FindWinner returns the best move of a position: of several the first. It ends early,
// with the error of ctx, when ctx does; what is in the table then is right.
func (s *Searcher) FindWinner(ctx context.Context, p game.Position) (Verdict, error) {
	s.stop, s.moves = ctx.Done(), s.moves[:0]
	v, ok := s.findWinner(p)
	if !ok {
		return Verdict{}, ctx.Err()
	}
	return v, nil
}

// stopEvery is how many positions are examined between two looks at whether the search
// is to end: some 10 µs.
const stopEvery = 1 << 8

// stopped reports whether the search is to end.
func (s *Searcher) stopped() bool {
	if s.since++; s.since < stopEvery {
		return false
	}
	s.since = 0
	select {
	case <-s.stop:
		s.since = stopEvery // and all that have begun end too
		return true
	default:
		return false
	}
}

// findWinner is FindWinner without a word about ends; ok is false if it was stopped.
func (s *Searcher) findWinner(p game.Position) (best Verdict, ok bool) {
	if s.table != nil {
		s.counts.Lookups++
		if v, ok := s.table.Lookup(p); ok {
			s.counts.Hits++
			return v, true
		}
	}
	if s.stopped() {
		return best, false
	}
	s.counts.Positions++
	mover := s.g.ToMove(p)
	best = Verdict{Move: -1, Value: s.values.Ended(s.g.Primitive(p), mover)}
	if !best.Value.Valid() {
		from := len(s.moves)
		s.moves = s.g.Moves(s.moves, p)
		for i := range len(s.moves) - from {
			v, ok := s.findWinner(s.moves[from+i].To)
			if !ok {
				return best, false
			}
			if best.Move < 0 || s.values.Better(mover, v.Value, best.Value) {
				best = Verdict{Move: i, Value: v.Value}
			}
		}
		s.moves = s.moves[:from]
		best.Value = s.values.Before(best.Value)
	}
	if s.table != nil {
		s.table.Insert(p, best)
	}
	return best, true
}

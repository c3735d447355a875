// Package memo finds the winner of a game without cycles as the hand-out of the CMU
// course's Connect-4 assignment describes it: find_winner makes each move, computes
// recursively what the opponent can achieve then, and takes the best. It does not prune, so
// a value is exact, outcome and moves to the end, and later games can use it.
//
// Without a table a position is examined as often as play can reach it: on 4×3 connect 3,
// 7,157 positions are examined 277,167 times. With one, each is examined once. The table is
// that of the hand-out, with separate chaining.
//
// The package uses only the Game interface. Because it is simple, tests compare faster
// searches with it.
package memo

import (
	"context"
	"fmt"

	"github.com/treereduce/treereduce/game"
)

// A Verdict is the best move of a position, and the position's value.
type Verdict struct {
	Move  int        // its index in Game.Moves; -1 for a terminal position
	Value game.Value // of the position, in the convention of the game's Values
}

// Options configure a Searcher.
type Options struct {
	// Chains is the number of chains of the table; 0: no table.
	Chains int
	// Memory is the maximum size of the table in bytes; 0: DefaultMemory. Positions that do
	// not fit are not stored, and are examined again when play reaches them again.
	Memory int64
}

// The default size of a table in bytes, and the maximum number of chains.
const (
	DefaultMemory = 1 << 30
	MaxChains     = 1 << 28
)

// Counts are statistics of searches.
type Counts struct {
	Positions uint64 // examined: all their moves made, or found to be terminal
	Lookups   uint64 // in the table
	Hits      uint64 // lookups that found the position
	Steps     uint64 // chain elements that lookups compared
}

// A Searcher searches positions of one game, and keeps its table from search to search. It
// is not safe for concurrent use.
type Searcher struct {
	g      game.Game
	values game.Values
	table  *Table
	counts Counts
	moves  []game.Move // of all positions on the path to the current one
	stop   <-chan struct{}
	since  int // positions since stop was checked
}

// New makes a Searcher for a game without cycles.
func New(g game.Game, o Options) (*Searcher, error) {
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

// Table returns the table, or nil if there is none.
func (s *Searcher) Table() *Table { return s.table }

// Counts returns the statistics of all searches so far.
func (s *Searcher) Counts() Counts {
	if s.table != nil {
		s.counts.Steps = s.table.Steps()
	}
	return s.counts
}

// FindWinner returns the best move of a position: of several, the first. When ctx ends, it
// returns early with the error of ctx; the entries stored in the table by then are correct.
func (s *Searcher) FindWinner(ctx context.Context, p game.Position) (Verdict, error) {
	s.stop, s.moves = ctx.Done(), s.moves[:0]
	v, ok := s.findWinner(p)
	if !ok {
		return Verdict{}, ctx.Err()
	}
	return v, nil
}

// stopEvery is the number of positions examined between checks whether the search must end,
// some 10 µs.
const stopEvery = 1 << 8

// stopped reports whether the search must end.
func (s *Searcher) stopped() bool {
	if s.since++; s.since < stopEvery {
		return false
	}
	s.since = 0
	select {
	case <-s.stop:
		s.since = stopEvery // so that all pending calls stop too
		return true
	default:
		return false
	}
}

// findWinner is the recursive part of FindWinner; ok is false if it was stopped.
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

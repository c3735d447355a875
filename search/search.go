// Package search finds the best move of a position by looking ahead, and proves what it
// can. It knows what a game is (package game), and no game.
//
// One function looks ahead (look.go): a principal variation search with null windows
// (J. Pearl, SCOUT, 1980; T. A. Marsland and M. Campbell, 1982), which remembers in a
// table of fixed size (table.go) and tries what promises most first (order.go). Two ask
// it: solve (solve.go), for a value to the end, and deepen (deepen.go), one ply more
// each time, until the clock (clock.go) or a depth ends it. Several workers share the
// table, and keep out of each other's way by it (parallel.go).
//
// What a search sees of a game is game.Searched. A game that is none is searched by its
// plain moves (plain.go); and so is every game if a depth is to be exactly that depth, as
// Searched sees further.
package search

import (
	"context"
	"fmt"
	"time"

	"github.com/treereduce/treereduce/game"
)

// DefaultMemory is the size of a table if nobody says another.
const DefaultMemory = 85 << 20

// Options say how a Searcher is made.
type Options struct {
	Memory  int64      // bytes of the table, all of it; 0: DefaultMemory
	Threads int        // 0: one
	Without Techniques // what to leave out, for measurements
}

// Techniques are a set of what makes a search faster. None changes a value.
type Techniques uint

// The techniques.
const (
	Threats   Techniques = 1 << iota // order by the game's rank of moves
	History                          // order by what refuted elsewhere
	TableMove                        // the table's move first
	Buckets                          // two entries in a bucket: one keeps what took work
	Enhanced                         // look all children up before any is searched
	Bounds                           // the game's bounds without looking ahead
	Symmetry                         // mirror images are one position, near the start
)

// ByName are the techniques by name.
func ByName() map[string]Techniques {
	return map[string]Techniques{
		"threats": Threats, "history": History, "tablemove": TableMove, "buckets": Buckets,
		"enhanced": Enhanced, "bounds": Bounds, "symmetry": Symmetry,
	}
}

// A Limit is where a search ends; the zero Limit is when the position is solved. Of a
// game with cycles a draw is never proven: such a search wants a limit, or a context
// that ends.
type Limit struct {
	Depth int           // exactly so many plies; 0: no limit
	Time  time.Duration // never passed; aimed below; 0: no limit
	Weak  bool          // only who wins: the remoteness of Result.Value counts for nothing
	Bare  bool          // only the value: Line is nil
}

// A Result is what a search has found.
type Result struct {
	// Value is what the position is worth, read as game.Values say, if Exact. That of a
	// tie of a game that is no game.Searched is as far off as Line is long, and nobody
	// has proven that the players would choose that tie.
	Value game.Value
	Exact bool
	// Score is the evaluation of the depth reached, for the player to move, if not Exact;
	// 0 of a game that has none.
	Score int
	// Line is best play, the best move first: never empty where there is a move. It may
	// stop short of the end.
	Line  []game.Move
	Depth int // plies searched; to the end, if it is as many as can be

	Nodes   uint64 // positions whose moves were looked at
	Lookups uint64 // of positions in the table
	Hits    uint64 // those that ended a search, or a part of one
	Time    time.Duration
}

// A Searcher searches positions of one game. What it has learned stays in its table from
// search to search, as long as all of them have a depth or none has. It does one search at
// a time.
type Searcher struct {
	g       game.Game
	options Options
	fast    game.Searched // nil if the game is none
	plainly bool          // the table is of the plain moves
	slab    []uint64      // of whatever table
	table   *table
	workers []*worker // the first is the one that is asked
	round   round
}

// New makes a Searcher.
func New(g game.Game, o Options) (*Searcher, error) {
	if o.Memory < 0 || o.Threads < 0 {
		return nil, fmt.Errorf("search: memory and threads must be 0 or more, found %d and %d", o.Memory, o.Threads)
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	o.Threads = max(o.Threads, 1)
	s := &Searcher{g: g, options: o}
	if s.fast, _ = g.(game.Searched); s.fast != nil && s.fast.Tiers() > game.MaxByteRemoteness {
		return nil, fmt.Errorf("search: %s: a game.Searched lasts %d moves at most, found %d", g.Spec(), game.MaxByteRemoteness, s.fast.Tiers())
	}
	s.plainly = s.fast == nil
	s.slab = newSlab(max(int(o.Memory/8), 4))
	s.makeTable()
	return s, nil
}

// makeTable makes the table for what is searched; fewer bits do for a game.Searched.
func (s *Searcher) makeTable() {
	f := plainFormat
	if !s.plainly {
		f = fastFormat(s.fast.MaxMoves())
	}
	s.table = newTable(s.slab, s.g.KeyBits(), f)
	s.table.shared = s.options.Threads > 1
	s.table.keep = s.options.Without&Buckets == 0
	s.workers = nil
	for range s.options.Threads {
		w := &worker{g: s.fast, t: s.table, without: s.options.Without}
		if s.plainly {
			w.g = newPlain(s.g)
		}
		s.workers = append(s.workers, w)
	}
}

// Forget empties the table.
func (s *Searcher) Forget() { s.table.clear() }

// Search searches p until the limit is reached or ctx ends, and returns the best that it
// has found by then. It is an error if p is no position.
func (s *Searcher) Search(ctx context.Context, p game.Position, l Limit) (Result, error) {
	if err := s.g.Check(p); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	if l.Depth < 0 || l.Time < 0 {
		return Result{}, fmt.Errorf("search: depth and time must be 0 or more, found %d and %v", l.Depth, l.Time)
	}
	c := startClock(ctx, l.Time)
	defer c.close()
	if v := s.g.Primitive(p); v != 0 {
		return Result{Value: s.g.Values().Ended(v, s.g.ToMove(p)), Exact: true, Time: c.spent()}, nil
	}
	plainly := s.fast == nil || l.Depth > 0
	if plainly != s.plainly {
		s.plainly = plainly
		s.makeTable()
	}
	s.table.age = (s.table.age + 1) % (1 << ageBits)
	t := s.newTask(c, p, l)
	t.run()
	t.makeLine()
	r := t.result()
	if l.Bare {
		r.Line = nil
	}
	r.Time = c.spent()
	return r, nil
}

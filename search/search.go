// Package search finds the best move of a position by game tree search, and proves its
// value where it can. It uses the interfaces of package game and knows no particular game.
//
// One function searches the tree (look.go): a principal variation search with null windows
// (J. Pearl, SCOUT, 1980; T. A. Marsland and M. Campbell, 1982), with a transposition table
// of fixed size (table.go) and move ordering (order.go). Two functions call it: solve
// (solve.go) searches to the end for the exact value; deepen (deepen.go) searches one ply
// deeper in each iteration until the clock (clock.go) or a depth limit stops it. Several
// workers share the table and use it to avoid searching the same positions (parallel.go).
//
// A search sees a game through game.Searched. A game that does not implement it is searched
// by its plain moves (plain.go).
package search

import (
	"context"
	"fmt"
	"time"

	"github.com/treereduce/treereduce/game"
)

// DefaultMemory is the default size of a table in bytes.
const DefaultMemory = 85 << 20

// MaxThreads is the maximum number of threads of a Searcher. With many more threads than
// cores, a search exceeds its memory and its time limit.
const MaxThreads = 256

// Options configure a Searcher.
type Options struct {
	Memory  int64      // bytes of the whole table; 0: DefaultMemory
	Threads int        // at most MaxThreads; 0: one
	Without Techniques // techniques to switch off, for measurements
}

// Techniques is a set of techniques that make a search faster. None of them changes a
// value.
type Techniques uint

// The techniques.
const (
	Threats   Techniques = 1 << iota // order moves by the rank that the game gives them
	History                          // order moves by how often they refuted elsewhere
	TableMove                        // try the table's move first
	Buckets                          // two entries in a bucket: one keeps the position that took the most work
	Enhanced                         // look up all children before searching one
	Bounds                           // use the game's static bounds
	Symmetry                         // treat mirror images as one position, near the start
	Killers                          // try early the last two moves that refuted at this ply
)

// A Limit defines when a search ends; with the zero Limit it ends when the position is solved.
// In a game with cycles a draw is never proven: such a search needs a limit, or a context
// that ends.
type Limit struct {
	Depth int           // search this many plies by minimax alone; fewer if another limit ends it; 0: no limit
	Time  time.Duration // never exceeded, the search aims below it; 0: no limit
	Nodes uint64        // maximum positions searched by each thread, give or take some thousand; 0: no limit
	Weak  bool          // find only who wins, as in a game whose Traits set OnlyWho
	Bare  bool          // return only the value: Line is nil
	// First chooses, of several moves with the best value, the first in the order of
	// game.Game.Moves to begin Line. If there is no time to examine them all, Line may
	// begin with another of them.
	First bool
	// Report, if not nil, is called about every half second with the number of positions visited
	// so far and the time of the search. The call must not take long.
	Report func(nodes uint64, spent time.Duration)
}

// A Result is the result of a search.
type Result struct {
	// Value is the value of the position in the convention of game.Values, if Exact is set.
	// If not, it is the winner, if that is proven, and Weak is set; otherwise it is 0.
	Value game.Value
	Exact bool
	// Weak means that the remoteness in Value is not significant: only the winner was
	// requested, or only the winner was proven in time; or the value is a tie whose length
	// is not proven. The length of a tie is proven by game.Traits.TiesLast or, unless
	// players take ties soon, by a Line to the last tier.
	Weak bool
	// Score is the evaluation at the depth reached, for the player to move, if Exact is not
	// set; 0 if the game has no evaluation.
	Score int
	// Line is best play, starting with the best move. It is not empty if there is a move.
	// It may stop before the end of the game.
	Line  []game.Move
	Depth int // plies searched; if it is the maximum possible, the search went to the end

	Nodes   uint64 // positions visited, including those that the game visits in Expand
	Lookups uint64 // positions looked up in the table
	Hits    uint64 // lookups that ended a search or a part of one
	Time    time.Duration
}

// A Searcher searches positions of one game. It keeps its table from search to search: a
// search to an exact depth uses only the entries that such searches have stored, any other
// search uses all entries. A Searcher performs one search at a time.
type Searcher struct {
	g       game.Game
	traits  game.Traits
	acyclic game.Tiered // nil if play may have cycles
	plainly bool        // the game does not implement game.Searched
	table   *table
	age     uint64    // of the last search without an exact depth
	late    bool      // the table has entries of searches that reduced the depth of late moves
	workers []*worker // the first runs in the caller's goroutine
	round   round
	now     func() time.Time // time.Now, except in tests
}

// New makes a Searcher.
func New(g game.Game, o Options) (*Searcher, error) {
	if o.Memory < 0 || o.Threads < 0 || o.Threads > MaxThreads {
		return nil, fmt.Errorf("search: expected memory of 0 or more and 0 to %d threads, found %d and %d", MaxThreads, o.Memory, o.Threads)
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	o.Threads = max(o.Threads, 1)
	s := &Searcher{g: g, now: time.Now}
	if game.IsAcyclic(g) {
		s.acyclic, _ = g.(game.Tiered)
	}
	fast, ok := g.(game.Searched)
	s.plainly = !ok
	if ok {
		s.traits = fast.Traits()
		if p, ok := fast.(game.Prepared); ok {
			p.Prepare()
		}
	} else {
		s.traits = plainTraits(s.acyclic)
	}
	if s.traits.KeyBits == 0 {
		s.traits.KeyBits = g.KeyBits()
	}
	if t := s.traits; t.MaxPlies < 0 || t.MaxPlies > game.MaxRemoteness || s.acyclic != nil && t.MaxPlies == 0 {
		return nil, fmt.Errorf("search: %s: it can last %d moves, 1 to %d are provided for", g.Spec(), t.MaxPlies, game.MaxRemoteness)
	}
	words := max(o.Memory/8, 4)
	if err := checkAddressSpace(words); err != nil {
		return nil, fmt.Errorf("search: a table of %d bytes: %w", 8*words, err)
	}
	s.table = newTable(newSlab(int(words)), s.traits.KeyBits, formatOf(s.traits))
	s.table.shared = o.Threads > 1
	s.table.keep = o.Without&Buckets == 0
	for range o.Threads {
		w := &worker{g: fast, t: s.table, without: o.Without}
		if o.Without&Killers == 0 {
			w.killer = s.traits.Killer
		}
		if s.plainly {
			w.g = newPlain(g)
		}
		w.keyed, _ = g.(game.Keyed)
		s.workers = append(s.workers, w)
	}
	return s, nil
}

// Forget empties the table.
func (s *Searcher) Forget() { s.table.clear() }

// Search searches p until it reaches the limit or ctx ends, and returns the best result
// found by then. It returns an error if p is not a valid position.
func (s *Searcher) Search(ctx context.Context, p game.Position, l Limit) (Result, error) {
	if err := s.g.Check(p); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	if l.Depth < 0 || l.Time < 0 {
		return Result{}, fmt.Errorf("search: depth and time must be 0 or more, found %d and %v", l.Depth, l.Time)
	}
	c := startClock(ctx, l.Time, s.now)
	if v := s.g.Primitive(p); v != 0 {
		return Result{Value: s.g.Values().Ended(v, s.g.ToMove(p)), Exact: true, Time: c.spent()}, nil
	}
	t := s.newTask(c, p, l)
	if l.Depth >= t.left {
		t.limit.Depth = t.left
	} else if l.Depth >= s.table.full {
		return Result{}, fmt.Errorf("search: %s: a depth must be below %d, found %d", s.g.Spec(), s.table.full, l.Depth)
	}
	t.run()
	t.makeFirst()
	t.makeLine()
	r := t.result()
	if l.Bare {
		r.Line = nil
	}
	r.Time = c.spent()
	return r, nil
}

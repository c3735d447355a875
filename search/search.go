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
// plain moves (plain.go).
package search

import (
	"context"
	"fmt"
	"time"

	"github.com/treereduce/treereduce/game"
)

// DefaultMemory is the size of a table if nobody says another.
const DefaultMemory = 85 << 20

// MaxThreads is the most threads of a Searcher. With many more than a machine has cores, a
// search neither keeps to its memory nor to its time.
const MaxThreads = 256

// Options say how a Searcher is made.
type Options struct {
	Memory  int64      // bytes of the table, all of it; 0: DefaultMemory
	Threads int        // at most MaxThreads; 0: one
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
	Killers                          // what refuted last so far from the root is tried soon
)

// ByName are the techniques by name.
func ByName() map[string]Techniques {
	return map[string]Techniques{
		"threats": Threats, "history": History, "tablemove": TableMove, "buckets": Buckets,
		"enhanced": Enhanced, "bounds": Bounds, "symmetry": Symmetry,
		"killers": Killers,
	}
}

// A Limit is where a search ends; the zero Limit is when the position is solved. Of a
// game with cycles a draw is never proven: such a search wants a limit, or a context
// that ends.
type Limit struct {
	Depth int           // exactly so many plies; 0: no limit
	Time  time.Duration // never passed; aimed below; 0: no limit
	Nodes uint64        // that each thread looks at, some thousand more or less; 0: no limit
	Weak  bool          // only who wins, as in a game whose Traits say OnlyWho
	Bare  bool          // only the value: Line is nil
	// First wants of several moves that are worth the same the first, in the order of
	// game.Game.Moves, to begin the Line; if they are not all looked at in time, it may be
	// another of them.
	First bool
}

// A Result is what a search has found.
type Result struct {
	// Value is what the position is worth, read as game.Values say, if Exact. If not, it is
	// who wins, if that is proven, and Weak is set; otherwise 0.
	Value game.Value
	Exact bool
	// Weak says that the remoteness of Value counts for nothing: only who wins was asked
	// for, or is proven in time; or the value is a tie, the length of which is not proven.
	// That is proven by game.Traits.TiesLast; or, unless players take ties soon, by a Line
	// to the last tier.
	Weak bool
	// Score is the evaluation of the depth reached, for the player to move, if not Exact;
	// 0 of a game that has none.
	Score int
	// Line is best play, the best move first: never empty where there is a move. It may
	// stop short of the end.
	Line  []game.Move
	Depth int // plies searched; to the end, if it is as many as can be

	Nodes   uint64 // positions looked at, those that the game goes through by itself too
	Lookups uint64 // of positions in the table
	Hits    uint64 // those that ended a search, or a part of one
	Time    time.Duration
}

// A Searcher searches positions of one game. What it has learned stays in its table from
// search to search: a search to an exact depth uses what such searches have found, any
// other uses all. It does one search at a time.
type Searcher struct {
	g       game.Game
	traits  game.Traits
	acyclic game.Acyclic // nil if play may go on for ever
	plainly bool         // the game is no game.Searched
	table   *table
	age     uint64    // of the last search that had no exact depth
	late    bool      // the table has entries of searches that looked at late moves less far
	workers []*worker // the first is the one that is asked
	round   round
	now     func() time.Time // time.Now, but in tests
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
	s.acyclic, _ = g.(game.Acyclic)
	fast, ok := g.(game.Searched)
	s.plainly = !ok
	if ok {
		s.traits = fast.Traits()
		if p, ok := fast.(game.Prepared); ok {
			p.Prepare()
		}
	} else {
		s.traits = plainTraits(g)
	}
	if s.traits.KeyBits == 0 {
		s.traits.KeyBits = g.KeyBits()
	}
	if t := s.traits; t.MaxPlies < 0 || t.MaxPlies > game.MaxRemoteness || s.acyclic != nil && t.MaxPlies == 0 {
		return nil, fmt.Errorf("search: %s: it can last %d moves, 1 to %d are provided for", g.Spec(), t.MaxPlies, game.MaxRemoteness)
	}
	words := max(o.Memory/8, 4)
	if err := room(words); err != nil {
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

// Search searches p until the limit is reached or ctx ends, and returns the best that it
// has found by then. It is an error if p is no position.
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

// Package search finds the best move of a position by looking ahead, and proves what it
// can. It knows what a game is (package game), and no game.
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

// Techniques are a set of what makes the search faster without changing a result.
type Techniques uint

// A Limit is where a search ends; the zero Limit is when the position is solved. Of a
// game with cycles a draw is never proven: such a search wants a limit, or a context
// that ends.
type Limit struct {
	Depth int           // exactly so many plies; 0: no limit
	Time  time.Duration // never passed; aimed below; 0: no limit
	Weak  bool          // only who wins: the remoteness of Result.Value counts for nothing
}

// A Result is what a search has found.
type Result struct {
	// Value is what the position is worth, read as game.Values say, if Exact. Where a
	// game's ties may be of different lengths, that of a tie is the length of Line, which
	// nobody has proven to be the one that the players would choose.
	Value game.Value
	Exact bool
	// Score is the evaluation of the depth reached, for the player to move; of a game
	// that has none, 0.
	Score int
	// Line is best play, the best move first: never empty where there is a move. It may
	// stop short of the end.
	Line  []game.Move
	Depth int // plies searched

	Nodes   uint64 // positions of which the moves were looked at
	Lookups uint64 // of positions in the table
	Hits    uint64 // those that were there
	Time    time.Duration
}

// A Searcher searches positions of one game. What it has learned stays in its table from
// search to search. It does one search at a time.
type Searcher struct {
	g    game.Game
	memo map[key]int
}

type key struct {
	p     game.Position
	depth int
}

// New makes a Searcher.
func New(g game.Game, o Options) (*Searcher, error) {
	if o.Memory < 0 || o.Threads < 0 {
		return nil, fmt.Errorf("search: memory and threads must be 0 or more, found %d and %d", o.Memory, o.Threads)
	}
	s := &Searcher{g: g}
	s.Forget()
	return s, nil
}

// Forget empties the table.
func (s *Searcher) Forget() { s.memo = make(map[key]int) }

// win is the score of a win at once; one later is worth one less a ply.
const win = 1 << 15

// Search searches p until the limit is reached or ctx ends, and returns the best that it
// has found by then; the error is that of p, if it is no position.
func (s *Searcher) Search(ctx context.Context, p game.Position, l Limit) (Result, error) {
	if err := s.g.Check(p); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	began := time.Now()
	if l.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Time*8/10)
		defer cancel()
	}
	var r Result
	if v := s.g.Primitive(p); v != 0 {
		return Result{Value: s.g.Values().Ended(v, s.g.ToMove(p)), Exact: true, Time: time.Since(began)}, nil
	}
	left := game.MaxRemoteness
	if a, ok := s.g.(game.Acyclic); ok {
		left = a.Tiers() - a.Tier(p)
	}
	r.Line = s.g.Moves(nil, p)[:1]
	for depth := 1; depth <= left && !r.Exact && (l.Depth == 0 || depth <= l.Depth); depth++ {
		score := s.search(ctx, p, depth, &r)
		if ctx.Err() != nil {
			break
		}
		r.Depth, r.Score = depth, score
		r.Line = s.line(ctx, p, depth, &r)
		switch n := len(r.Line); {
		case score > win/2:
			r.Value, r.Exact = s.valueOf(p, game.Wins, win-score), true
		case score < -win/2:
			r.Value, r.Exact = s.valueOf(p, game.Loses, win+score), true
		case depth == left:
			r.Value, r.Exact = s.valueOf(p, game.Ties, n), true
		}
	}
	r.Time = time.Since(began)
	return r, nil
}

// valueOf is a result of the player to move as a value of the game.
func (s *Searcher) valueOf(p game.Position, r game.Result, remoteness int) game.Value {
	if s.g.Values().OfMover || r == game.Ties {
		return r.In(remoteness)
	}
	winner := s.g.ToMove(p)
	if r == game.Loses {
		winner = winner.Other()
	}
	return game.NewValue(game.WinFor(winner), remoteness)
}

// search is the score of p for the player to move, so many plies deep.
func (s *Searcher) search(ctx context.Context, p game.Position, depth int, r *Result) int {
	if v := s.g.Primitive(p); v != 0 {
		switch v.Outcome().For(s.g.ToMove(p)) {
		case game.Wins:
			return win
		case game.Loses:
			return -win
		}
		return 0
	}
	if depth == 0 {
		return 0
	}
	r.Lookups++
	if score, ok := s.memo[key{p, depth}]; ok {
		r.Hits++
		return score
	}
	r.Nodes++
	best := -win
	for _, m := range s.g.Moves(nil, p) {
		if ctx.Err() != nil {
			return 0
		}
		best = max(best, s.after(p, m, s.search(ctx, m.To, depth-1, r)))
	}
	s.memo[key{p, depth}] = best
	return best
}

// after is what a move is worth to who makes it, if the position that it leads to is
// worth score to who is to move there.
func (s *Searcher) after(p game.Position, m game.Move, score int) int {
	if s.g.ToMove(p) != s.g.ToMove(m.To) || s.g.Values().OfMover {
		score = -score
	}
	switch {
	case score > win/2:
		score--
	case score < -win/2:
		score++
	}
	return score
}

// line is best play.
func (s *Searcher) line(ctx context.Context, p game.Position, depth int, r *Result) (line []game.Move) {
	for ; depth > 0 && s.g.Primitive(p) == 0; depth-- {
		moves := s.g.Moves(nil, p)
		best, bestScore := moves[0], -win-1
		for _, m := range moves {
			if score := s.after(p, m, s.search(ctx, m.To, depth-1, r)); score > bestScore {
				best, bestScore = m, score
			}
		}
		line = append(line, best)
		p = best.To
	}
	return line
}

// Package train finds puzzles of a game: positions in which one move alone keeps the result, each with
// a grade of difficulty. It knows nothing of how a puzzle is shown and answered.
package train

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
)

// Grades is the number of grades. Grade 1 is the easiest.
const Grades = 10

// A Puzzle is a position in which one move alone keeps the result.
type Puzzle struct {
	History *player.History // the play that led to it
	Report  analysis.Report // the values of all moves are known; Best is the index of the answer
	Grade   int             // 1 to Grades
}

// Answer returns the move that keeps the result.
func (p *Puzzle) Answer() analysis.Move { return p.Report.Moves[p.Report.Best] }

// Goal returns what to find: "find the move that wins".
func (p *Puzzle) Goal() string {
	draws := slices.ContainsFunc(p.Report.Moves, func(m analysis.Move) bool { return p.result(m.Value) == game.Draws })
	switch result := p.result(p.Report.Value); {
	case result == game.Wins:
		return "find the move that wins"
	case result == game.Ties && p.History.Game().Values().Puzzle:
		return "find the move that keeps the puzzle solvable"
	case result == game.Ties && draws:
		return "find the move that ties"
	}
	return "find the move that does not lose"
}

// Task returns the goal with the player to move, unless there is only one: "X to move: find the move that wins".
func (p *Puzzle) Task() string {
	if p.History.Game().Values().Puzzle {
		return p.Goal()
	}
	return player.Who(p.History.Game(), p.History.Turn()) + " to move: " + p.Goal()
}

// Explain describes what a move leads to: "3: win in 11".
func (p *Puzzle) Explain(m analysis.Move) string {
	return m.Name + ": " + m.Text(p.History.Game(), p.Report.Position)
}

// Compare orders puzzles by grade and then by length.
func (p *Puzzle) Compare(q *Puzzle) int { return cmp.Or(p.Grade-q.Grade, p.length()-q.length()) }

// length returns the number of moves to the end.
func (p *Puzzle) length() int { return p.Report.Value.Remoteness() }

func (p *Puzzle) result(v game.Value) game.Result {
	return analysis.ResultOf(p.History.Game(), p.Report.Position, v)
}

// A Finder finds puzzles in games between weak players. It is for one goroutine.
type Finder struct {
	// Skip reports whether a canonical position is to be no puzzle; nil: none is.
	Skip func(game.Position) bool

	analyzer *analysis.Analyzer
	limit    time.Duration // for the values of the moves of one position
	g        game.Game
	rand     *rand.Rand
	searcher *search.Searcher
	unknown  int                       // positions whose moves Next could not value in time
	known    map[game.Position]*Puzzle // by canonical position; nil: no puzzle, or one that Next has returned
}

// graderMemory is the number of bytes of the table of positions of the searches that grade.
const graderMemory = 1 << 20

// NewFinder makes a Finder of g, which finds the values of the moves with z: a position whose moves it
// cannot value within limit is no puzzle. The same seed gives the same puzzles: with a table on any machine, and
// without one if each is valued in time. An error of the table is one of the Finder.
func NewFinder(g game.Game, z *analysis.Analyzer, limit time.Duration, seed uint64) (*Finder, error) {
	s, err := search.New(g, search.Options{Memory: graderMemory})
	if err != nil {
		return nil, err
	}
	return &Finder{analyzer: z, limit: limit, g: g, rand: rand.New(rand.NewPCG(seed, 1)), searcher: s, known: make(map[game.Position]*Puzzle)}, nil
}

// ErrNone is returned if a Finder finds no puzzle.
var ErrNone = errors.New("found no puzzle: expected a position in which one move alone keeps the result, and whose moves are valued in time")

// Line returns best play after a move, as far as it is found.
func (f *Finder) Line(ctx context.Context, m analysis.Move) ([]string, error) {
	r, err := f.analyzer.Assess(ctx, m.To, f.limit)
	return r.Line, err
}

// Limits of Next and Near.
const (
	mostGames   = 500 // games in which it looks
	nearGames   = 200 // games in which Near looks for a grade
	mostUnknown = 60  // positions whose moves it cannot value in time
	oneOfEasy   = 4   // it skips all but one of so many puzzles of grade 1
)

// Next returns another puzzle whose grade is from lowest to highest: none that it has returned before, and no
// symmetric image of one. Of grade 1, of which most puzzles are, it returns one in oneOfEasy, unless that is the only
// grade wanted or there are few others. Those whose answer ends the game come last. The error is ErrNone if there is none in
// many games, or the cause of ctx's end.
func (f *Finder) Next(ctx context.Context, lowest, highest int) (*Puzzle, error) {
	return f.next(ctx, lowest, highest, 0, mostGames)
}

// Near is Next with fewer games. If it finds no puzzle of these grades, it returns one of the nearest grade that it has found: the
// longest one.
func (f *Finder) Near(ctx context.Context, lowest, highest int) (*Puzzle, error) {
	return f.next(ctx, lowest, highest, Grades, nearGames)
}

// next is Next with the number of games, and how far the grade may be off.
func (f *Finder) next(ctx context.Context, lowest, highest, off, mostGames int) (*Puzzle, error) {
	f.unknown = 0
	for games := 0; games < mostGames && f.unknown < mostUnknown; games++ {
		h, err := f.play(ctx)
		if err != nil {
			return nil, err
		}
		few := games >= mostGames/2 // new ones
		for range h.Names() {       // the last position is the end
			if h.Undo(); !few && f.rand.IntN(3) > 0 {
				continue // few puzzles of one game
			}
			key := game.CanonicalOf(f.g, h.Position())
			if f.Skip != nil && f.Skip(key) {
				continue
			}
			p, looked := f.known[key]
			if !looked {
				if p, err = f.puzzle(ctx, h); err != nil {
					return nil, err
				}
				f.known[key] = p
			}
			if p == nil || p.Grade < lowest || p.Grade > highest {
				continue
			}
			ends := f.g.Primitive(p.Answer().To) != 0
			if !ends && (p.Grade > 1 || highest == 1 || few || f.rand.IntN(oneOfEasy) == 0) {
				f.known[key] = nil
				return p, nil
			}
		}
	}
	return f.nearest(lowest, highest, off)
}

// nearest returns the known puzzle whose grade is the nearest to those from lowest to highest, and at most off away.
func (f *Finder) nearest(lowest, highest, off int) (*Puzzle, error) {
	far := func(p *Puzzle) int { return max(0, lowest-p.Grade, p.Grade-highest) }
	var p *Puzzle
	var at game.Position
	for key, q := range f.known {
		if q == nil || far(q) > off || f.Skip != nil && f.Skip(key) {
			continue
		}
		if p == nil || cmp.Or(far(q)-far(p), p.length()-q.length(), cmp.Compare(key, at)) < 0 {
			p, at = q, key
		}
	}
	if p == nil {
		return nil, ErrNone
	}
	f.known[at] = nil
	return p, nil
}

// A Band is grades with a name.
type Band struct {
	Name            string
	Lowest, Highest int
}

// Bands returns the bands of all grades, the easiest first.
func Bands() []Band { return []Band{{"easy", 1, 3}, {"medium", 4, 6}, {"hard", 7, Grades}} }

// mostPlies is the number of moves after which a game of the Finder is given up; it may never end.
const mostPlies = 200

// play plays a game. Both players make mistakes.
func (f *Finder) play(ctx context.Context) (*player.History, error) {
	f.searcher.Forget()
	casual := player.NewLevel(player.Level{Random: .3, Depth: 2}, nil, nil, f.searcher.Search, f.rand.Uint64())
	h := player.NewHistory(f.g)
	for len(h.Names()) < mostPlies && len(h.Moves()) > 0 {
		move, err := casual.Move(ctx, h.Clone(), 0)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = h.Play(move)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

// puzzle returns the puzzle at the last position of h; nil if it is none.
func (f *Finder) puzzle(ctx context.Context, h *player.History) (*Puzzle, error) {
	if len(h.Moves()) < 2 {
		return nil, nil // without a look at the values
	}
	r, err := f.analyzer.AllValues(ctx, h.Position(), f.limit)
	if err != nil {
		return nil, err
	}
	move, known := only(f.g, r)
	if !known {
		f.unknown++
	}
	if move < 0 {
		return nil, nil
	}
	r.Best = move
	p := &Puzzle{History: h.Clone(), Report: r}
	grade, err := f.grade(ctx, p)
	p.Grade = grade
	return p, err
}

// only returns the index of the move that alone keeps the result of a position, which is not lost; -1 if there is none,
// or if it is the only move. known is false if the value of a move is not known.
func only(g game.Game, r analysis.Report) (move int, known bool) {
	moves, known := r.Keep(g)
	if len(moves) != 1 || len(r.Moves) == 1 || analysis.ResultOf(g, r.Position, r.Value) == game.Loses {
		return -1, known
	}
	return moves[0], known
}

// Limits of a grade.
const (
	gradeNodes = 100_000 // positions of a search, so that the machine does not matter
	certain    = 3       // an answer that searches of this number of successive depths find is found by deeper ones, too
)

// grade returns the grade of a puzzle, from the share of the levels of player.Levels that solve it. A
// level solves it with the probability that it makes a random move times that this is the answer, and
// with the probability that it searches if the search finds the answer. The share is that of what all of
// them solve if each search finds it. Symmetric images have the same grade.
func (f *Finder) grade(ctx context.Context, p *Puzzle) (int, error) {
	position, after := game.CanonicalOf(f.g, p.Report.Position), game.CanonicalOf(f.g, p.Answer().To)
	solved, all, depth, row := 0., 0., 0, 0
	for _, l := range player.Levels() {
		if l.Depth == 0 {
			continue // its strength is that of the machine
		}
		if l.Depth > depth && row < certain {
			f.searcher.Forget() // what it finds does not depend on earlier puzzles
			s, err := f.searcher.Search(ctx, position, search.Limit{Depth: l.Depth, Nodes: gradeNodes, First: true})
			if err != nil {
				return 0, err
			}
			if depth, row = l.Depth, row+1; len(s.Line) == 0 || game.CanonicalOf(f.g, s.Line[0].To) != after {
				row = 0
			}
		}
		solved += l.Random / float64(len(p.Report.Moves))
		if row > 0 {
			solved += 1 - l.Random
		}
		all += 1 - l.Random
	}
	return min(max(Grades-int(math.Floor(Grades*solved/all)), 1), Grades), nil
}

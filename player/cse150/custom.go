package cse150

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/search"
)

// CustomOptions say how a Custom is made.
type CustomOptions struct {
	Search search.Options
	Depth  int           // looks exactly so many moves ahead; 0: as far as it comes
	Time   time.Duration // for a move that has no limit; 0: until it is solved
	// Endgames are for the search; of another number of pits, they are an error. Nil: it
	// builds some.
	Endgames *mancala.Endgames
	// NoEndgames leaves them out, for measurements.
	NoEndgames bool
}

// The endgames that a Custom builds when it is first asked: so many boards for a second of
// its time, a fifth of it; and no more than are worth the wait.
const (
	boardsASecond = 2_000_000
	mostBoards    = 3_000_000
)

// Custom plays what package search finds. What it has learned stays from move to move.
type Custom struct {
	options  CustomOptions
	game     game.Acyclic // that its searcher plays
	pits     int
	searcher *search.Searcher
	built    *mancala.Endgames
	last     search.Result
}

// NewCustom makes a Custom.
func NewCustom(o CustomOptions) *Custom { return &Custom{options: o} }

// Name is CustomPlayer.
func (*Custom) Name() string { return CustomName }

// Last is what the last search has found.
func (p *Custom) Last() search.Result { return p.last }

// Move is the best move that is found; of those of best utility the smallest pit, if the
// search comes to the end.
func (p *Custom) Move(ctx context.Context, s State, limit time.Duration) (Action, error) {
	begun := time.Now()
	p.last = search.Result{Exact: true}
	if len(s.Actions()) == 0 {
		return s.None(), nil
	}
	if limit == 0 {
		limit = p.options.Time
	}
	position, err := p.position(s, limit)
	if err != nil {
		return Action{}, err
	}
	l := search.Limit{Depth: p.options.Depth, Weak: true, First: true}
	if l.Depth == 0 && limit > 0 {
		l.Time = max(limit-time.Since(begun), time.Millisecond)
	}
	if p.last, err = p.searcher.Search(ctx, position, l); err != nil {
		return Action{}, err
	}
	if len(p.last.Line) == 0 {
		return Action{}, errTime
	}
	pit, err := strconv.Atoi(p.last.Line[0].Name)
	if err != nil {
		return Action{}, fmt.Errorf("the search has found the move %q, expected a pit", p.last.Line[0].Name)
	}
	return Action{s.row, pit}, nil
}

// position is that of a state, in a game that has it: a new one, if it does not come after
// what has been played.
func (p *Custom) position(s State, limit time.Duration) (game.Position, error) {
	text := fmt.Sprintf("State(%s, %d)", s, s.row)
	if p.game != nil && p.pits == s.pits {
		if position, err := p.game.Parse(text); err == nil {
			return position, nil
		}
	}
	g, err := mancala.From(s.board, s.row)
	if err != nil {
		return 0, err
	}
	if fast, ok := g.(*mancala.Searched); ok {
		if g, err = p.withEndgames(fast, s, limit); err != nil {
			return 0, err
		}
	}
	searcher, err := search.New(g, p.options.Search)
	if err != nil {
		return 0, err
	}
	p.game, p.pits, p.searcher = g, s.pits, searcher
	return g.Start(), nil
}

// withEndgames gives a game its endgames.
func (p *Custom) withEndgames(g *mancala.Searched, s State, limit time.Duration) (game.Acyclic, error) {
	e := p.options.Endgames
	switch {
	case p.options.NoEndgames:
		e = mancala.NewEndgames(s.pits, 0)
	case e == nil && p.built != nil && p.built.Pits() == s.pits:
		e = p.built
	case e == nil:
		boards := float64(mostBoards)
		if limit > 0 {
			boards = min(boards, boardsASecond*limit.Seconds())
		}
		e = mancala.NewEndgames(s.pits, mancala.StonesWithin(s.pits, g.Stones(), boards))
		p.built = e
	}
	return g.WithEndgames(e)
}

package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// An opinion is the value of a move, as far as it is known.
type opinion struct {
	game.Move
	child game.Value // of the position after the move
	value game.Value // of the position before it, if the move is made; 0 for a draw
	known bool       // child and value are known
	open  bool       // the remoteness is not proven
}

// An advice is what is known of a position and its moves.
type advice struct {
	position game.Position
	moves    []opinion // in the order of the game
	opinion            // of the position; its Move is the best one, or the best so far
	best     int       // index of the best move; -1: not known yet
	line     []string  // best play, starting with the best move
	depth    int       // plies searched, if the value is not known
	source   source
	trouble  string // why the table was not used
	done     bool   // the advice is final

	round, next int // where the search continues: the round, which determines the limit, and the move; -1: the position itself
}

// A source says where an advice comes from.
type source uint8

const (
	bySearch source = iota
	byTable
)

// The time limit of a search grows by the factor searchGrows from round to round: quick
// results are shown quickly, and after rounds rounds an idle program uses no more CPU time.
const (
	firstLimit  = 50 * time.Millisecond
	searchGrows = 4
	rounds      = 5
)

// reportEvery is the time after which a search reports its progress.
const reportEvery = 60 * time.Millisecond

// maxLine is the maximum length of best play followed in a table.
const maxLine = 40

// An advisor computes advice: from the table of the game or, if there is none, by search.
// It is safe for concurrent use; it performs one step at a time.
type advisor struct {
	g       game.Game
	table   *table.Table // nil: no table
	options search.Options

	working  sync.Mutex
	searcher *search.Searcher // made when it is first needed
}

// begin returns what the rules alone show of an unfinished position: which moves end play.
func (ad *advisor) begin(p game.Position) advice {
	a := advice{position: p, best: -1, next: -1}
	values := ad.g.Values()
	for _, m := range ad.g.Moves(nil, p) {
		o := opinion{Move: m}
		if v := ad.g.Primitive(m.To); v != 0 {
			o = o.worth(values, values.Ended(v, ad.g.ToMove(m.To)))
		}
		a.moves = append(a.moves, o)
	}
	if ad.table != nil {
		a.source = byTable
	}
	return a
}

// worth returns the opinion of a move that leads to a position of value child.
func (o opinion) worth(values game.Values, child game.Value) opinion {
	o.child, o.value, o.known = child, values.Before(child), true
	return o
}

// step continues an advice until there is something to report or ctx ends. It does not
// modify the advice passed to it.
func (ad *advisor) step(ctx context.Context, a advice) advice {
	ad.working.Lock()
	defer ad.working.Unlock()
	a.moves = slices.Clone(a.moves)
	if a.source == byTable {
		err := ad.lookUp(ctx, &a)
		if err == nil {
			return a
		}
		a.source, a.trouble = bySearch, err.Error()
	}
	if err := ad.look(ctx, &a); err != nil {
		a.trouble, a.done = err.Error(), true
	}
	return a
}

// lookUp fills in the advice from the table.
func (ad *advisor) lookUp(ctx context.Context, a *advice) error {
	v, ok, err := ad.table.Lookup(a.position)
	if err == nil && !ok {
		err = fmt.Errorf("position %q is missing", ad.g.AppendText(nil, a.position))
	}
	if err != nil {
		return err
	}
	choices, err := ad.table.Choices(a.position)
	if err != nil {
		return err
	}
	for i, o := range a.moves {
		at := slices.IndexFunc(choices, func(c table.Choice) bool { return c.Name == o.Name })
		a.moves[i] = o.worth(ad.g.Values(), choices[at].Value)
	}
	a.value, a.known, a.done = v, true, true
	a.best = slices.IndexFunc(a.moves, func(o opinion) bool { return o.Name == choices[0].Name })
	a.Move = a.moves[a.best].Move
	for len(choices) > 0 && len(a.line) < maxLine && ctx.Err() == nil {
		a.line = append(a.line, choices[0].Name)
		if !choices[0].Value.Valid() { // a draw: play never ends
			return nil
		}
		if choices, err = ad.table.Choices(choices[0].To); err != nil {
			return err
		}
	}
	return nil
}

// look continues the search until there is something to report.
func (ad *advisor) look(ctx context.Context, a *advice) (err error) {
	if ad.searcher == nil {
		if ad.searcher, err = search.New(ad.g, ad.options); err != nil {
			return err
		}
	}
	for begun := time.Now(); !a.done && ctx.Err() == nil && time.Since(begun) < reportEvery; {
		if err := ad.lookOnce(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// lookOnce searches the position, or the position after one move.
func (ad *advisor) lookOnce(ctx context.Context, a *advice) error {
	at := a.next
	if a.next++; a.next == len(a.moves) {
		a.next, a.round = -1, a.round+1
	}
	switch {
	case at < 0 && !a.known:
		r, err := ad.searcher.Search(ctx, a.position, ad.limit(a.round))
		if err != nil {
			return err
		}
		a.depth, a.line = r.Depth, nil
		for _, m := range r.Line {
			a.line = append(a.line, m.Name)
		}
		a.value, a.known, a.open = r.Value, r.Exact, r.Weak
		a.Move = r.Line[0]
	case at >= 0 && !a.moves[at].known:
		l := ad.limit(a.round)
		l.Bare = true
		r, err := ad.searcher.Search(ctx, a.moves[at].To, l)
		if err != nil {
			return err
		}
		if r.Exact {
			a.moves[at] = a.moves[at].worth(ad.g.Values(), r.Value)
			a.moves[at].open = r.Weak
		}
	}
	ad.conclude(a)
	return nil
}

func (ad *advisor) limit(round int) search.Limit {
	l := search.Limit{Time: firstLimit}
	for range round {
		l.Time *= searchGrows
	}
	return l
}

// conclude derives the value and the best move of a position from what is known of it and
// of its moves.
func (ad *advisor) conclude(a *advice) {
	values, mover := ad.g.Values(), ad.g.ToMove(a.position)
	best, all := -1, true
	for i, o := range a.moves {
		if all = all && o.known; o.known && (best < 0 || values.Better(mover, o.child, a.moves[best].child)) {
			best = i
		}
	}
	is := func(i int) game.Result { return result(ad.g, a.position, a.moves[i].value) }
	found := slices.IndexFunc(a.moves, func(o opinion) bool { return o.Name == a.Name })
	a.best = found
	if best >= 0 && (all || !a.known && is(best) == game.Wins) {
		// Of several moves that are equally good as far as is known, the search's own
		// stays.
		if found < 0 || !a.moves[found].known || !a.moves[found].open || is(found) != is(best) {
			a.best = best
		}
	}
	if a.best >= 0 && a.best != found {
		a.Move, a.line = a.moves[a.best].Move, []string{a.moves[a.best].Name}
	}
	if all && !a.known {
		a.value, a.known, a.open = a.moves[a.best].value, true, a.moves[a.best].open
	}
	a.done = a.known && all || a.round == rounds
}

// result returns the result of a value for the player to move at p.
func result(g game.Game, p game.Position, v game.Value) game.Result {
	if g.Values().OfMover {
		return game.Result(v.Outcome())
	}
	return v.Outcome().For(g.ToMove(p))
}

// close waits until the current step has ended, and prevents further ones.
func (ad *advisor) close() { ad.working.Lock() }

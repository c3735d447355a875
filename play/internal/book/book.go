// Package book contains opening books: the exact values of all positions that play reaches in a
// number of plies.
//
// A book stores only the values of the last ply. Those of earlier plies follow from them, by
// retrograde analysis. If the game has mirror images, a position and its mirror image have one
// value.
package book

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/search"
)

// A Book has the values of all positions up to a ply. A nil *Book has none.
type Book struct {
	g      game.Game
	values map[game.Position]game.Value // of unfinished positions, by canonical position
}

// levels returns the unfinished canonical positions of each ply from 0 to plies, sorted.
func levels(g game.Game, plies int) [][]game.Position {
	all := make([][]game.Position, plies+1)
	if g.Primitive(g.Start()) == 0 {
		all[0] = []game.Position{game.CanonicalOf(g, g.Start())}
	}
	for ply := range plies {
		var next []game.Position
		for _, p := range all[ply] {
			for _, m := range g.Moves(nil, p) {
				if g.Primitive(m.To) == 0 {
					next = append(next, game.CanonicalOf(g, m.To))
				}
			}
		}
		slices.Sort(next)
		all[ply+1] = slices.Compact(next)
	}
	return all
}

// Search returns the values of the positions of ply plies for New.
func Search(ctx context.Context, g game.Game, plies int, s *search.Searcher) (values []byte, err error) {
	for _, p := range levels(g, plies)[plies] {
		r, err := s.Search(ctx, p, search.Limit{Bare: true})
		if err == nil && (!r.Exact || r.Weak) {
			err = cmp.Or(ctx.Err(), fmt.Errorf("%s: the search does not prove the value and the remoteness of position %d", g.Spec(), p))
		}
		if err != nil {
			return nil, err
		}
		values = append(values, byte(r.Value))
	}
	return values, nil
}

// New makes a book of all positions up to ply plies from the values of the canonical positions of that ply, in ascending
// order of these. It computes those of the other plies.
func New(g game.Game, plies int, values []byte) (*Book, error) {
	all := levels(g, plies)
	if n := len(all[plies]); n != len(values) {
		return nil, fmt.Errorf("a book of %s: expected values of %d positions, found %d", g.Spec(), n, len(values))
	}
	b := &Book{g: g, values: make(map[game.Position]game.Value)}
	for i, p := range all[plies] {
		b.values[p] = game.Value(values[i])
	}
	for _, level := range slices.Backward(all[:plies]) {
		for _, p := range level {
			_, v, _ := b.Best(p)
			b.values[p] = g.Values().Before(v)
		}
	}
	return b, nil
}

// Lookup returns the value of an unfinished position; ok is false if the book does not have it.
func (b *Book) Lookup(p game.Position) (v game.Value, ok bool) {
	if b == nil {
		return 0, false
	}
	v, ok = b.values[game.CanonicalOf(b.g, p)]
	return v, ok
}

// Best returns the best move of an unfinished position, the first of several, and the value of
// the position after it; ok is false if the book does not have the values of all successors.
func (b *Book) Best(p game.Position) (best game.Move, after game.Value, ok bool) {
	if b == nil {
		return best, 0, false
	}
	values, mover := b.g.Values(), b.g.ToMove(p)
	for i, m := range b.g.Moves(nil, p) {
		v := values.Ended(b.g.Primitive(m.To), b.g.ToMove(m.To))
		if v == 0 {
			if v, ok = b.Lookup(m.To); !ok {
				return best, 0, false
			}
		}
		if i == 0 || values.Better(mover, v, after) {
			best, after = m, v
		}
	}
	return best, after, best.Name != ""
}

// Line returns the names of the best moves from an unfinished position on, as far as the book knows
// them.
func (b *Book) Line(p game.Position) (names []string) {
	for best, _, ok := b.Best(p); ok; best, _, ok = b.Best(best.To) {
		names = append(names, best.Name)
	}
	return names
}

// Package book contains opening books: the exact values of all positions that play reaches in a
// number of plies.
//
// A book stores only the values of the last ply. Those of earlier plies follow from them, by
// retrograde analysis. If the game has mirror images, a position and its mirror image have one
// value.
package book

import (
	"errors"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// A Book has the values of all positions up to a ply. A nil *Book has none.
type Book struct {
	g      game.Game
	values map[game.Position]game.Value // of unfinished positions, by canonical position
}

// MaxPositions is the largest number of positions of a ply, each of which is a byte of a file.
const MaxPositions = 100_000

// errMany is the error for a book that is too large.
var errMany = errors.New("too many positions for a book: choose fewer plies")

// levels returns the unfinished canonical positions of each ply from 0 to plies, sorted.
func levels(g game.Game, plies int) ([][]game.Position, error) {
	all := make([][]game.Position, 1)
	if g.Primitive(g.Start()) == 0 {
		all[0] = []game.Position{game.CanonicalOf(g, g.Start())}
	}
	for ply := range plies {
		if len(all[ply]) == 0 {
			return nil, fmt.Errorf("%d plies: play is always over after %d", plies, ply)
		}
		var next []game.Position
		for i, p := range all[ply] {
			for _, m := range g.Moves(nil, p) {
				if g.Primitive(m.To) == 0 {
					next = append(next, game.CanonicalOf(g, m.To))
				}
			}
			if len(next) > 2*MaxPositions || i == len(all[ply])-1 {
				slices.Sort(next)
				if next = slices.Compact(next); len(next) > MaxPositions {
					return nil, errMany
				}
			}
		}
		all = append(all, next)
	}
	return all, nil
}

// newBook makes a book from the values of the positions of the last of all levels, in their
// order. It computes those of the other levels.
func newBook(g game.Game, all [][]game.Position, values []byte) *Book {
	b := &Book{g: g, values: make(map[game.Position]game.Value)}
	last := len(all) - 1
	for i, p := range all[last] {
		b.values[p] = game.Value(values[i])
	}
	for _, level := range slices.Backward(all[:last]) {
		for _, p := range level {
			_, v, _ := b.Best(p)
			b.values[p] = g.Values().Before(v)
		}
	}
	return b
}

// Game returns the game of the book, which must not be nil.
func (b *Book) Game() game.Game { return b.g }

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

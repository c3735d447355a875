//go:build !js

package table

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// A Predecessor is a predecessor of a position, with its own value.
type Predecessor struct {
	game.Position
	Move  string // the first move that leads to the position
	Value game.Value
}

// Predecessors returns the predecessors of p that have a value, in the order of tiers and keys; p must
// be valid. If there are none, and p is not the initial position, then play cannot reach p.
// For a game whose rules do not give the predecessors, Predecessors reads the tier of p, if it has inner moves, and all
// tiers before it.
func (t *Table) Predecessors(p game.Position) ([]Predecessor, error) {
	if err := t.g.Check(p); err != nil {
		return nil, err
	}
	var predecessors []Predecessor
	var moves []game.Move
	var images []game.Position
	home := game.StoredOf(t.g, p)
	err := t.before(p, func(q game.Position, v game.Value) {
		if v.Valid() && v.Remoteness() == 0 || t.g.Check(q) != nil {
			return // terminal, or not a position
		}
		moves = t.g.Moves(moves[:0], q)
		if !slices.ContainsFunc(moves, func(m game.Move) bool { return game.StoredOf(t.g, m.To) == home }) {
			return
		}
		images = game.ImagesOf(images[:0], t.g, q)
		for _, q := range images {
			moves = t.g.Moves(moves[:0], q)
			if i := slices.IndexFunc(moves, func(m game.Move) bool { return m.To == p }); i >= 0 {
				predecessors = append(predecessors, Predecessor{q, moves[i].Name, v})
			}
		}
	})
	slices.SortFunc(predecessors, func(a, b Predecessor) int {
		return cmp.Or(cmp.Compare(game.TierOf(t.g, a.Position), game.TierOf(t.g, b.Position)), cmp.Compare(a.Position, b.Position))
	})
	return predecessors, err
}

// before calls do for the stored positions that can be predecessors of p, with their values: those that the method gives, or
// else all positions of the tiers from which a move may lead to p.
func (t *Table) before(p game.Position, do func(game.Position, game.Value)) error {
	if from, ok := t.method.Before(p); ok {
		for _, q := range from {
			v, ok, err := t.method.Lookup(q)
			if err != nil {
				return explain(t.g, err)
			}
			if ok {
				do(q, v)
			}
		}
		return nil
	}
	end := game.TierOf(t.g, p)
	if game.Loops(t.g, end) {
		end++
	}
	scan, err := t.Scan(context.Background(), Selection{Tier: func(tier int) bool { return tier < end }})
	if err != nil {
		return err
	}
	for b, err := range scan.Batches() {
		if err != nil {
			return err
		}
		for i, q := range b.Positions {
			do(q, b.Values[i])
		}
	}
	return nil
}

// Unreached explains why a position has no value in the table. If play can reach the position,
// the table is wrong, and the error is a *Fault. Otherwise it is cannot, wrapped with the
// position as text.
func (t *Table) Unreached(p game.Position, cannot error) error {
	predecessors, err := t.Predecessors(p)
	switch {
	case err != nil:
		return err
	case len(predecessors) > 0:
		q := predecessors[0]
		return fmt.Errorf("table: %w", t.fault(p, fmt.Sprintf("is missing: the move %s of '%s' (%s) leads to it", q.Move, t.g.AppendText(nil, q.Position), game.Key(t.g, q.Position))))
	case p == t.g.Start():
		return fmt.Errorf("table: %w", t.fault(p, "is missing: it is the initial position"))
	}
	return fmt.Errorf("%q %w", t.g.AppendText(nil, p), cannot)
}

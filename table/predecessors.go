//go:build !js

package table

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
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
	home := canonical(t.g, p)
	err := t.contents.before(p, func(q game.Position, v game.Value) {
		if v.Valid() && v.Remoteness() == 0 || t.g.Check(q) != nil {
			return // terminal, or not a position
		}
		moves = t.g.Moves(moves[:0], q)
		if !slices.ContainsFunc(moves, func(m game.Move) bool { return canonical(t.g, m.To) == home }) {
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

// before calls do for the positions of the previous tier from which moves may lead to p.
func (t *blockTable) before(p game.Position, do func(game.Position, game.Value)) error {
	return eachFound(t.sources(p), t.lookup, do)
}

// eachFound calls do for those of the positions that look finds.
func eachFound(of []game.Position, look func(game.Position) (game.Value, bool, error), do func(game.Position, game.Value)) error {
	for _, p := range of {
		v, ok, err := look(p)
		if err != nil {
			return err
		}
		if ok {
			do(p, v)
		}
	}
	return nil
}

// sources returns the positions of the previous tier from which moves may lead to p, ascending. A move
// across ranges keeps the slot, see game.Tiered.
func (t *blockTable) sources(p game.Position) (from []game.Position) {
	tier, rng := game.TierOf(t.g, p), p>>t.g.LowBits()
	if tier == 0 {
		return nil
	}
	slot, ok := slices.BinarySearch(t.g.Low(tier, rng), uint32(p-rng<<t.g.LowBits()))
	if !ok {
		return nil
	}
	for _, source := range t.g.Sources(nil, tier, rng) {
		if low := t.g.Low(tier-1, source); slot < len(low) {
			from = append(from, source<<t.g.LowBits()|game.Position(low[slot]))
		}
	}
	successors, kinds := t.g.Within(tier-1, rng)
	low := t.g.Low(tier-1, rng)
	for i, to := range successors {
		if to == uint32(slot) {
			from = append(from, rng<<t.g.LowBits()|game.Position(low[i/kinds]))
		}
	}
	slices.Sort(from)
	return from
}

// before calls do for the canonical positions of the predecessors that the rules give, or else for all positions of the
// tiers from which a move may lead to p.
func (t *layerTable) before(p game.Position, do func(game.Position, game.Value)) error {
	if g, ok := t.g.(game.Reversible); ok {
		from := g.Predecessors(nil, p)
		for i, q := range from {
			from[i] = canonical(t.g, q)
		}
		return eachFound(game.Distinct(from, 0), t.lookup, do)
	}
	var loader layers.Loader
	var rows []layers.Row
	end := game.TierOf(t.g, p)
	if game.Loops(t.g, end) {
		end++
	}
	for i := range end {
		f, err := t.tier(i)
		if err != nil {
			return err
		}
		for _, interval := range layers.Cut(cmp.Or(t.interval, intervalRows), f) {
			if rows, err = loader.Load(rows, f, interval); err != nil {
				return err
			}
			for _, row := range rows {
				do(row.Key, layers.ValueOf(row.Word))
			}
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

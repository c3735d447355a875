//go:build !js

package table

import (
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/layers"
)

// A Predecessor is a predecessor of a position, with its own value.
type Predecessor struct {
	game.Position
	Move  string // the first move that leads to the position
	Value game.Value
}

// Predecessors returns the predecessors of p in the table, in the order of tiers and keys; p must
// be valid. If there are none, and p is not the initial position, then play cannot reach p.
// For a game whose rules do not give the predecessors, Predecessors reads all tiers before that of
// p, or the complete table if the game has cycles.
func (t *Table) Predecessors(p game.Position) ([]Predecessor, error) {
	if err := t.g.Check(p); err != nil {
		return nil, err
	}
	var predecessors []Predecessor
	var moves []game.Move
	err := t.contents.before(p, func(q game.Position, v game.Value) {
		if v.Valid() && v.Remoteness() == 0 || t.g.Check(q) != nil {
			return // terminal, or not a position
		}
		moves = t.g.Moves(moves[:0], q)
		if i := slices.IndexFunc(moves, func(m game.Move) bool { return m.To == p }); i >= 0 {
			predecessors = append(predecessors, Predecessor{q, moves[i].Name, v})
		}
	})
	return predecessors, err
}

// before calls do for the positions of the previous tier from which moves may lead to p.
func (t *blocks) before(p game.Position, do func(game.Position, game.Value)) error {
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
func (t *blocks) sources(p game.Position) (from []game.Position) {
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

// before calls do for the predecessors of p that the set methods compute. If the game has no
// set methods for predecessors, it calls do for all positions.
func (t *states) before(p game.Position, do func(game.Position, game.Value)) error {
	back, ok := t.g.NewMover().(game.Backward)
	if !ok {
		return t.every(do)
	}
	size := uint64(t.g.RangeSize())
	rng := p / size
	set := make(block.Set, block.Words(game.RangeLen(t.g, rng)))
	set.Add(int(p % size))
	var from []game.Position
	back.Predecessors(rng, set, func(rng uint64, set block.Set) {
		for slot := range set.All() {
			from = append(from, rng*size+uint64(slot))
		}
	})
	slices.Sort(from)
	return eachFound(slices.Compact(from), t.lookup, do)
}

// every calls do for all positions of the table.
func (t *states) every(do func(game.Position, game.Value)) error {
	for b, err := range (&Table{g: t.g, contents: t}).All() {
		if err != nil {
			return err
		}
		for i, p := range b.Positions {
			do(p, b.Values[i])
		}
	}
	return nil
}

// before calls do for all positions of the tiers before that of p.
func (t *rowLists) before(p game.Position, do func(game.Position, game.Value)) error {
	var loader layers.Loader
	var rows []layers.Row
	for i := range game.TierOf(t.g, p) {
		f, err := t.tier(i)
		if err != nil {
			return err
		}
		for _, interval := range layers.Cut(t.interval, f) {
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

package layers

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
)

// What takes CPU time besides positions, in positions, and the sizes of records: docs/notes/plan.md.
const (
	moveWork = 0.25 // a move
	tierWork = 8000 // a tier: its jobs, directories and seals

	// nearKept is the size of a position in the table, if moves lead
	// to the next tier: its key, as a difference to the one before, and its value, both coded. farKept is the same
	// if moves lead farther, and values differ more. sentBytes is the size of a row in a shard or of an outgoing edge. listTier
	// is the overhead of a tier in either, even if it is empty. stateBytes is the size of the states of a position.
	nearKept   = 0.87
	farKept    = 1.43
	sentBytes  = 4.2
	listTier   = 300
	stateBytes = 6
)

// CountRanges counts nothing.
func (m *Method) CountRanges(*runner.Tier, []game.Position) {}

// Costs estimates costs: a row for each move, sent forward to the successor and back to the predecessor, unless the game
// computes predecessors. A tier with inner moves has states, too.
func (m *Method) Costs(tiers []runner.Tier, sum runner.Tier, _ bool) []runner.Cost {
	kept := nearKept
	if sum.Far > 0 {
		kept = farKept
	}
	ways := 2.0
	if _, ok := m.g.(game.Reversible); ok {
		ways = 1
	}
	costs := make([]runner.Cost, len(tiers))
	table := float64(len(tiers))*listTier + sum.Positions*kept
	directories := 0.0 // data_first, and values sent back that have not been read yet: at most as many rows
	for i, t := range tiers {
		c := &costs[i]
		c.CPU = t.Positions + moveWork*t.Moves + tierWork
		// Rows are moves to here: in proportion to the positions, as moves may lead any number of tiers on.
		c.Kept = t.Positions*kept + listTier
		c.Work = sum.Moves*t.Positions/max(1, sum.Positions)*sentBytes + listTier
		directories += ways*c.Work - listTier
		table -= c.Kept
		c.Peak = directories + table + c.Kept
		if !game.IsAcyclic(m.g) {
			c.Peak += t.Positions * stateBytes
		}
	}
	return costs
}

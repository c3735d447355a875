// Package mirror computes the mirror images of the positions of a tier, for games that store
// half of their positions (game.Halved). An image has another range and another slot than its
// position, so this is a transposition of the tier: ranges become slots, and slots ranges. It is
// made like the shuffle of a MapReduce job: positions are collected in memory, and when there are too
// many, their images are sorted by range and written to a file, a band. A reader of a range merges
// what all bands have of it.
package mirror

import "github.com/treereduce/treereduce/game/block"

// A Kind selects the positions whose images are wanted.
type Kind int

const (
	// Reached selects the open balanced positions.
	Reached Kind = iota
	// Scores selects the open balanced positions, with a byte each; the greater one is better, and 0
	// is none.
	Scores
	// Values selects the positions with a value that are stored and not balanced.
	Values
)

// Of returns a set of slots of a range that has all slots with selected positions; nil if there
// are none.
func (k Kind) Of(g *Half, tier int, rng uint64) block.Set {
	stored, balanced := g.Stored(tier, rng)
	switch {
	case k != Values:
		return balanced
	case balanced != nil && &balanced[0] == &stored[0]:
		return nil
	}
	return stored
}

// A rowsKey identifies the rows of a list of low parts: the ranges of their images depend on it, and
// on the range of the mirror image of the range alone.
type rowsKey struct {
	low  *uint32
	high uint64
}

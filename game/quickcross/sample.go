package quickcross

import (
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

var _ game.Sampled = (*Rules)(nil)

// SampledTiers returns the number of squares. Forward pass n finds the boards with n pieces,
// because a rotated piece could have been placed that way.
func (r *Rules) SampledTiers() int { return r.squares }

// Boards returns the number of boards with tier pieces.
func (r *Rules) Boards(tier int) float64 { return r.placement().Boards(tier) }

// MostMoves returns two for each square.
func (r *Rules) MostMoves() int { return 2 * r.squares }

// A sampler uses game.Placement.
type sampler struct {
	*game.Placement
	squares int
}

// NewSampler returns a sampler with its tables.
func (r *Rules) NewSampler() game.Sampler { return &sampler{r.placement(), r.squares} }

// placement returns the game.Placement for this board.
func (r *Rules) placement() *game.Placement {
	lines := make([]uint64, len(r.lines))
	for i, squares := range r.lines {
		for _, square := range squares {
			lines[i] |= 1 << square
		}
	}
	return game.NewPlacement(r.squares, lines, false)
}

// Sample adds the moves that rotate a piece.
func (s *sampler) Sample(tier int, r *rand.Rand) game.Sample {
	found := s.Placement.Sample(tier, r)
	found.Moves += found.Open * float64(tier)
	return found
}

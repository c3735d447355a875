package quickcross

import (
	"math/bits"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

var _ game.Sampled = (*Rules)(nil)

// SampledTiers returns the number of squares.
func (r *Rules) SampledTiers() int { return r.squares }

// SampledTier returns the number of pieces.
func (r *Rules) SampledTier(p game.Position) int {
	across, upright := r.squaresOf(p)
	return bits.OnesCount32(across | upright)
}

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
	return game.NewPlacement(r, r.squares, lines, false, func(board [2]uint64) (p game.Position) {
		for i := range r.squares {
			p += (board[0]>>i&1 + 2*(board[1]>>i&1)) * r.weights[i]
		}
		return p
	})
}

// Sample adds the moves that rotate a piece.
func (s *sampler) Sample(tier int, r *rand.Rand) game.Sample {
	found := s.Placement.Sample(tier, r)
	found.Moves += found.Open * float64(tier)
	return found
}

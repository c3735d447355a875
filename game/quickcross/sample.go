package quickcross

import (
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

var _ game.Sampled = (*Rules)(nil)

// SampledTiers is the number of squares: pass n forward finds what has n pieces, as a
// piece that is turned is one that was laid otherwise.
func (r *Rules) SampledTiers() int { return r.squares }

// Boards is the number of boards with so many pieces.
func (r *Rules) Boards(tier int) float64 { return r.laid().Boards(tier) }

// MostMoves is two for each square.
func (r *Rules) MostMoves() int { return 2 * r.squares }

// A sampler draws by game.Laid.
type sampler struct {
	*game.Laid
	squares int
}

// NewSampler makes its tables.
func (r *Rules) NewSampler() game.Sampler { return &sampler{r.laid(), r.squares} }

// laid is the boards, for game.Laid.
func (r *Rules) laid() *game.Laid {
	lines := make([]uint64, len(r.lines))
	for i, squares := range r.lines {
		for _, square := range squares {
			lines[i] |= 1 << square
		}
	}
	return game.NewLaid(r.squares, lines, false)
}

// Sample adds that each piece can be turned.
func (s *sampler) Sample(tier int, r *rand.Rand) game.Sample {
	found := s.Laid.Sample(tier, r)
	found.Moves += found.Open * float64(tier)
	return found
}

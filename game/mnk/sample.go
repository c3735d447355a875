package mnk

import "github.com/treereduce/treereduce/game"

var _ game.Sampled = (*rules)(nil)

// placement samples boards, to estimate the number of positions before a solve.
func (r *rules) placement() *game.Placement {
	return game.NewPlacement(r, r.squares, r.lines, true, func(board [2]uint64) game.Position { return board[0] | board[1]<<r.squares })
}

func (r *rules) SampledTiers() int               { return r.squares }
func (r *rules) SampledTier(p game.Position) int { return r.Tier(p) }
func (r *rules) MostMoves() int                  { return r.squares }
func (r *rules) Boards(tier int) float64         { return r.placement().Boards(tier) }
func (r *rules) NewSampler() game.Sampler        { return r.placement() }

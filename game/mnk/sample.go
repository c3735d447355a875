package mnk

import "github.com/treereduce/treereduce/game"

var _ game.Sampled = (*rules)(nil)

// laid returns the sampler of boards, which estimates their number before a solve.
func (r *rules) laid() *game.Laid { return game.NewLaid(r.squares, r.lines, true) }

func (r *rules) SampledTiers() int        { return r.squares }
func (r *rules) MostMoves() int           { return r.squares }
func (r *rules) Boards(tier int) float64  { return r.laid().Boards(tier) }
func (r *rules) NewSampler() game.Sampler { return r.laid() }

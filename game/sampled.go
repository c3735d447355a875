package game

import "math/rand/v2"

// Sampled is a game whose number of positions can be estimated before it is solved: boards of a
// tier are drawn at random, and each sample gives an estimate of the tier's positions. In a game
// that is not Tiered, these tiers are those of the estimate only; no move lowers them either.
type Sampled interface {
	Game
	// SampledTiers returns the number of the last tier that has, or may have, positions, and
	// SampledTier the tier of a position: Tiers and Tier of a Tiered game.
	SampledTiers() int
	SampledTier(p Position) int
	// Boards returns the number of boards from which the positions of a tier are drawn: an
	// upper bound on them.
	Boards(tier int) float64
	// MostMoves returns an upper bound on the number of moves of a position.
	MostMoves() int
	// NewSampler returns a new Sampler, to be used by one goroutine.
	NewSampler() Sampler
}

// A Sampler draws boards.
type Sampler interface {
	// Sample draws a board of a tier; r is its only source of randomness.
	Sample(tier int, r *rand.Rand) Sample
}

// A Sample contains the estimates that one board gives for its tier. Each is an unbiased
// estimate: its mean over all samples is the true number. None is negative.
type Sample struct {
	// Open estimates the number of positions of the tier in which neither player has won;
	// it is at most the tier's Boards.
	Open float64
	// Moves estimates the total number of their moves; it is at most MostMoves times Open.
	Moves float64
	// Won estimates the number of positions of the next tier in which a player has won; it is
	// at most MostMoves times Open. Moves from several positions lead to such a position, and
	// each of these positions contributes a share of it. WonCanonical estimates, in a Symmetric game, the number
	// of those of them that are canonical.
	Won, WonCanonical float64
	// Board is the board, a position if Open is not 0. In a Blockwise game, it is a board of the range.
	Board Position
	// Ranges and the fields after it are for Blockwise games, and 0 in others. Ranges estimates
	// the number of ranges of the tier that contain Open positions; WonRanges, the ranges of
	// the next tier that contain only Won positions. Slots and WonSlots estimate the slots of
	// both. StoredRanges and StoredSlots are those of Ranges and Slots of which positions are stored, in a Halved game
	// fewer. These estimates may be a few per cent too low.
	Ranges, WonRanges, Slots, WonSlots, StoredRanges, StoredSlots float64
	// Absent and WonAbsent are for Deduced games. They estimate the number of slots that Deduce takes for
	// positions although they are none: Absent those of undecided positions of the tier, WonAbsent those of
	// won positions of the next tier.
	Absent, WonAbsent float64
}

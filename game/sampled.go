package game

import "math/rand/v2"

// Sampled is an Acyclic or Cyclic game of whose positions there is a number before it is
// solved: boards of a tier are drawn at random, and each draw estimates how many
// positions the tier has. The tiers of a Cyclic one are the passes forward: the fewest
// moves that lead to a position.
type Sampled interface {
	Game
	// SampledTiers is the number of the last tier that has positions, or may have.
	SampledTiers() int
	// Boards is how many boards there are among which the positions of a tier are: a
	// bound on them.
	Boards(tier int) float64
	// MostMoves is how many moves a position has at most.
	MostMoves() int
	// NewSampler makes a Sampler, for one goroutine.
	NewSampler() Sampler
}

// A Sampler draws boards.
type Sampler interface {
	// Sample draws a board of a tier with what r says, and nothing else.
	Sample(tier int, r *rand.Rand) Sample
}

// A Sample is what one board says of its tier. Each of the numbers is an estimate without
// bias: its mean over all draws is the true number. None is negative.
type Sample struct {
	// Open estimates the positions of the tier at which nobody has won; it is at most
	// the tier's Boards.
	Open float64
	// Moves estimates the moves that they have; it is at most MostMoves times Open.
	Moves float64
	// Won estimates the positions of the next tier at which somebody has won; it is at
	// most MostMoves times Open. Each is reached by the moves of several, and has its
	// share at each of them.
	Won float64
	// Ranges and WonRanges are for a game that is Tiered, and 0 in others: Ranges estimates
	// the ranges of the tier in which Open positions lie, WonRanges the ranges of the next
	// tier in which only Won positions lie. Slots and WonSlots estimate the slots of both.
	// They may be some per cent too small.
	Ranges, WonRanges, Slots, WonSlots float64
}

// Bounded is a game that knows a bound on the positions of a tier, where it is less than
// the number of its keys.
type Bounded interface {
	Acyclic
	// Boards is how many boards a tier has, those included to which no play leads.
	Boards(tier int) float64
}

package game

// MaxMoves is the largest number of successors of a position.
const MaxMoves = 1<<16 - 1

// A Reversible is a game that computes the predecessors of a single position. It is optional; with
// it, a solve needs less disk space.
type Reversible interface {
	Game
	// Predecessors appends the predecessors of p, each as often as it has moves to p. Terminal positions that would have
	// such a move, and positions that play cannot reach, may be among them, but none of a tier from which no move can
	// lead to that of p. In a Symmetric game, an image may stand for a predecessor, and the number does not count.
	Predecessors(dst []Position, p Position) []Position
}

// A Successor is a position after a move, the canonical one of its images.
type Successor struct {
	Position
	Known Value // see KnownValue
}

// An Expander computes all successors of a position at once, faster than Moves, Canonical and Known do. It is optional.
type Expander interface {
	Game
	// Successors appends the positions after the moves of p, in any order; some may be there twice.
	Successors(dst []Successor, p Position) []Successor
}

package game

import (
	"cmp"
	"slices"
)

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

// DistinctMoves removes duplicates: of several moves to the same position, it keeps one. It
// may change the order of the moves.
func DistinctMoves(moves []Move) []Move {
	const few = 16
	if len(moves) > few {
		slices.SortFunc(moves, func(a, b Move) int { return cmp.Compare(a.To, b.To) })
		return slices.CompactFunc(moves, func(a, b Move) bool { return a.To == b.To })
	}
	n := 0
	seen := uint64(0) // a bit for each position of moves[:n], which others may share
next:
	for i := range moves {
		bit := uint64(1) << (moves[i].To * 0x9e3779b97f4a7c15 >> 58)
		for j := 0; seen&bit != 0 && j < n; j++ {
			if moves[j].To == moves[i].To {
				continue next
			}
		}
		seen |= bit
		if i != n {
			moves[n] = moves[i]
		}
		n++
	}
	return moves[:n]
}

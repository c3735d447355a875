package game

import (
	"math/bits"
	"math/rand/v2"
)

// Placement samples boards of a game in which the players place pieces of two kinds on any empty
// squares, at most 64, until there is a line of one kind. Every board without a line can be
// reached. So can every board whose lines share a square: the piece there can have been
// placed last.
type Placement struct {
	squares int
	lines   [64][]uint64 // the lines that contain the square
	whole   [64][]uint64 // the lines whose last square it is
	turns   bool
	game    Symmetric
	key     func(board [2]uint64) Position
	// ways is the number of ways to place pieces on squares:
	// ways[squares][pieces][of the first kind]. Without turns, the last index is always 0.
	ways [][][]float64
}

// NewPlacement returns a Placement. A line is a set of squares, as bits. With turns, the players place
// the two kinds alternately, starting with the first kind; without, any piece may be of either
// kind. key returns the position of g in which the pieces of each kind are on these squares.
func NewPlacement(g Symmetric, squares int, lines []uint64, turns bool, key func(board [2]uint64) Position) *Placement {
	l := &Placement{squares: squares, turns: turns, game: g, key: key}
	for _, line := range lines {
		for left := line; left != 0; left &= left - 1 {
			square := bits.TrailingZeros64(left)
			l.lines[square] = append(l.lines[square], line)
		}
		last := bits.Len64(line) - 1
		l.whole[last] = append(l.whole[last], line)
	}
	for m := range squares + 1 {
		rows := make([][]float64, squares+1)
		for pieces := range rows {
			rows[pieces] = make([]float64, squares+1)
			for first := range pieces + 1 {
				switch {
				case m == 0 && pieces == 0:
					rows[0][0] = 1
				case m > 0:
					before := l.ways[m-1]
					n := before[pieces][first]
					for kind := range 2 {
						if p, f, ok := l.take(pieces, first, kind); ok {
							n += before[p][f]
						}
					}
					rows[pieces][first] = n
				}
			}
		}
		l.ways = append(l.ways, rows)
	}
	return l
}

// take returns the remaining pieces, and those of the first kind, after placing one piece.
func (l *Placement) take(pieces, first, kind int) (int, int, bool) {
	switch {
	case pieces == 0:
		return 0, 0, false
	case !l.turns:
		return pieces - 1, 0, first == 0
	case kind == 0:
		return pieces - 1, first - 1, first > 0
	}
	return pieces - 1, first, first < pieces
}

// firsts returns how many pieces of a tier are of the first kind, as take counts them.
func (l *Placement) firsts(tier int) int {
	if l.turns {
		return (tier + 1) / 2
	}
	return 0
}

// Boards returns the number of boards with tier pieces, including those with lines.
func (l *Placement) Boards(tier int) float64 { return l.ways[l.squares][tier][l.firsts(tier)] }

// Sample draws a board without a line. It goes through the squares in order and chooses
// what to place, nothing or a piece that completes no line, in proportion to the number of
// ways to place the remaining pieces on the remaining squares. Its Moves count the pieces that
// can be placed; a game without turns that has other moves must add them. Sample is safe for
// concurrent use.
func (l *Placement) Sample(tier int, r *rand.Rand) (found Sample) {
	var board [2]uint64
	pieces, first := tier, l.firsts(tier)
	weight := 1.0
	for square := range l.squares {
		after := l.ways[l.squares-1-square]
		empty := after[pieces][first]
		sum := empty
		var with [2]float64
		for kind := range with {
			p, f, ok := l.take(pieces, first, kind)
			if ok && !completes(l.whole[square], board[kind]|1<<square) {
				with[kind] = after[p][f]
				sum += with[kind]
			}
		}
		if sum == 0 {
			return found
		}
		at := sum * r.Float64()
		if at < empty || sum == empty {
			weight *= sum / empty
			continue
		}
		kind := 0
		if with[0] == 0 || at >= empty+with[0] && with[1] > 0 {
			kind = 1
		}
		weight *= sum / with[kind]
		board[kind] |= 1 << square
		pieces, first, _ = l.take(pieces, first, kind)
	}
	found.Open, found.Board = weight, l.key(board)
	for square := range l.squares {
		bit := uint64(1) << square
		if (board[0]|board[1])&bit != 0 {
			continue
		}
		for kind := range board {
			if l.turns && kind != tier&1 {
				continue
			}
			found.Moves += weight
			// Any square that all lines share can be that of the last piece.
			shared := board[kind] | bit
			for _, line := range l.lines[square] {
				if line&^(board[kind]|bit) == 0 {
					shared &= line
				}
			}
			if shared != board[kind]|bit || completes(l.lines[square], shared) {
				won := board
				won[kind] |= bit
				share := weight / float64(bits.OnesCount64(shared))
				found.Won += share
				found.WonCanonical += share / float64(len(l.game.Images(nil, l.key(won))))
			}
		}
	}
	return found
}

// completes reports whether stones are on all squares of one of the lines.
func completes(lines []uint64, stones uint64) bool {
	for _, line := range lines {
		if line&^stones == 0 {
			return true
		}
	}
	return false
}

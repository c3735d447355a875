package quickcross

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// maxLow is the number of squares in the low part of a hash: bitmaps of 3^10 = 59,049 hashes
// take 7 KB, so that several of them fit into a core's first-level cache.
const maxLow = 10

// layout splits a hash into a range (the last squares) and a low part (the first ones), and
// applies a move to a complete bitmap of low parts. A move changes one digit, so it
// adds the same number to every hash with the old digit:
//
//	lay -      on square i: digit 0 becomes 1, + 3^i
//	lay |                   digit 0 becomes 2, + 2·3^i
//	turn to |               digit 1 becomes 2, + 3^i
//	turn to -               digit 2 becomes 1, − 3^i
//
// On a square of the low part, this is a mask (the low parts with that digit) and a
// shift of the bitmap, which stays within the range:
//
//	low part      0 1 2 3 4 5 6 7 8      two squares; digits of the first
//	digit 0       1 . . 1 . . 1 . .      mask
//	set           1 1 . . . . 1 . 1
//	lay -         . 1 . . . . . 1 .      (set ∧ mask) up by 1
//
// On a square of the range, the digit is the same for the complete bitmap, which moves
// to another range unchanged. One kind of move adds the same number to all positions with
// the digit, so it never leads from two positions to the same successor.
type layout struct {
	rules *Rules
	low   int            // number of low squares
	masks [][3]block.Set // by low square and digit
	lost  block.Set      // low parts that contain a line
	cross []line         // lines with squares in the range
	moves block.Counter  // number of moves of a low part: two for an empty square, one for a piece
}

// A line is a line with squares in the range: high are these squares, counted from the
// range's first square, and low its squares in the low part.
type line struct{ high, low []int }

func (l *layout) init(r *Rules, low int) {
	l.rules, l.low = r, low
	size := l.RangeSize()
	words := block.Words(size)
	l.masks = make([][3]block.Set, low)
	for i := range l.masks {
		for digit := range l.masks[i] {
			l.masks[i][digit] = make(block.Set, words)
		}
	}
	l.moves.Reset(size)
	for p := range size {
		moves := 2 * low
		for i := range low {
			digit := r.digit(uint64(p), i)
			l.masks[i][digit].Add(p)
			if digit != 0 {
				moves--
			}
		}
		l.moves.Put(p, moves)
	}
	l.lost = make(block.Set, words)
	scratch := make(block.Set, words)
	for _, squares := range r.lines {
		var x line
		for _, i := range squares {
			if i < low {
				x.low = append(x.low, i)
			} else {
				x.high = append(x.high, i-low)
			}
		}
		if x.high != nil {
			l.cross = append(l.cross, x)
			continue
		}
		for piece := 1; piece <= 2; piece++ {
			l.addLine(l.lost, scratch, x.low, piece)
		}
	}
}

// addLine adds to a set the low parts that have piece on all squares. It overwrites
// scratch.
func (l *layout) addLine(set, scratch block.Set, squares []int, piece int) {
	copy(scratch, l.masks[squares[0]][piece])
	for _, i := range squares[1:] {
		mask := l.masks[i][piece][:len(scratch)]
		for j := range scratch {
			scratch[j] &= mask[j]
		}
	}
	set.Union(scratch)
}

// RangeSize returns 3^low.
func (l *layout) RangeSize() int { return int(l.rules.weights[l.low]) }

// NewMover returns a Mover, which consists of two bitmaps.
func (l *layout) NewMover() game.Mover {
	words := block.Words(l.RangeSize())
	return &mover{layout: l, out: make(block.Set, words), scratch: make(block.Set, words)}
}

type mover struct {
	*layout
	out     block.Set // passed to emit
	scratch block.Set
}

// steps are the kinds of moves on a square: from one digit to another.
var steps = [...][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 1}}

// Successors applies each kind of move on each square.
func (m *mover) Successors(rng uint64, from block.Set, emit func(uint64, block.Set)) {
	m.move(rng, from, emit, 0, 1)
}

// Predecessors is Successors with the digits before and after the move exchanged.
func (m *mover) Predecessors(rng uint64, to block.Set, emit func(uint64, block.Set)) {
	m.move(rng, to, emit, 1, 0)
}

// move applies each step from its digit at index before to its digit at index after.
func (m *mover) move(rng uint64, set block.Set, emit func(uint64, block.Set), before, after int) {
	if set.Empty() {
		return
	}
	weights := &m.rules.weights
	for i, masks := range m.masks {
		for _, step := range steps {
			by := (step[after] - step[before]) * int(weights[i])
			if shift(m.out, set, masks[step[before]], by) {
				emit(rng, m.out)
			}
		}
	}
	for i := range m.rules.squares - m.low {
		digit := int(rng / weights[i] % 3)
		for _, step := range steps {
			if step[before] == digit {
				emit(rng+uint64(step[after]-digit)*weights[i], set)
			}
		}
	}
}

// shift sets dst to the slots of set that are in mask, shifted up by by slots (down if by is
// negative), and reports whether there are any. The caller ensures that none leaves
// the set.
func shift(dst, set, mask block.Set, by int) bool {
	n := len(dst)
	var any, carry uint64
	if by > 0 {
		words, up := by>>6, uint(by&63)
		clear(dst[:words])
		dst = dst[words:]
		set, mask = set[:len(dst)], mask[:len(dst)]
		for i := range dst {
			w := set[i] & mask[i]
			any |= w
			dst[i] = w<<(up&63) | carry
			carry = w >> 1 >> ((63 - up) & 63)
		}
		return any != 0
	}
	words, down := -by>>6, uint(-by&63)
	clear(dst[n-words:])
	dst, set, mask = dst[:n-words], set[words:n], mask[words:n]
	for i := len(dst) - 1; i >= 0; i-- {
		w := set[i] & mask[i]
		any |= w
		dst[i] = w>>(down&63) | carry
		carry = w << 1 << ((63 - down) & 63)
	}
	return any != 0
}

// Finished emits the positions with a line: the player to move has lost.
func (m *mover) Finished(rng uint64, of block.Set, emit func(game.Result, block.Set)) {
	copy(m.out, m.lost)
	for _, x := range m.cross {
		piece := int(rng / m.rules.weights[x.high[0]] % 3)
		for _, i := range x.high[1:] {
			if int(rng/m.rules.weights[i]%3) != piece {
				piece = 0
			}
		}
		switch {
		case piece == 0:
		case x.low == nil:
			if !of.Empty() {
				emit(game.Loses, of)
			}
			return
		default:
			m.addLine(m.out, m.scratch, x.low, piece)
		}
	}
	var any uint64
	for i, w := range of {
		m.out[i] &= w
		any |= m.out[i]
	}
	if any != 0 {
		emit(game.Loses, m.out)
	}
}

// CountMoves adds the moves of the low part and those of the range.
func (m *mover) CountMoves(rng uint64, of block.Set, into *block.Counter) {
	moves := 2 * (m.rules.squares - m.low)
	for ; rng > 0; rng /= 3 {
		if rng%3 != 0 {
			moves--
		}
	}
	into.AddCounter(&m.moves, moves, of)
}

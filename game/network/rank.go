package network

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// The hash consists of the number of White's set of chips, that of Black's, and the player
// to move:
//
//	bit  62 … 32        31 … 1          0
//	     White's chips  Black's chips   0 White, 1 Black is to move
//
// White may use six squares in each of the eight columns; Black's squares are the same with
// rows and columns exchanged. So both sets are numbered in the same way, column by column, in
// the order of the first column in which two sets differ. The numbered sets have at most
// ten chips and no group of three within two neighbouring columns. There are
// 1,971,619,624 of them, fewer than 2^31. Sets with a group across three columns have
// numbers as well; Check rejects them.

// Numbers of columns of six squares, and of the sets of these squares without three in a row.
const (
	columns  = 8
	patterns = 44
)

// numbers are the tables of the hash.
type numbers struct {
	set   [patterns]uint8 // by pattern: the squares of a column, the first in the lowest bit
	index [64]uint8       // the inverse of set
	// below is the number of sets with a lower pattern than the last index in a column, given
	// the pattern of the previous column and the chips left for this and all later columns.
	below [columns][patterns][Chips + 1][patterns]uint32
	sets  uint32 // number of all sets
}

func newNumbers() *numbers {
	t := new(numbers)
	n := uint8(0)
	for set := range uint8(64) {
		if set&(set<<1)&(set<<2) == 0 {
			t.set[n], t.index[set] = set, n
			n++
		}
	}
	var neighbours [patterns][patterns]bool // whether two neighbouring columns have no group
	for i, a := range t.set {
		for j, b := range t.set {
			neighbours[i][j] = !grouped(uint64(a)<<17 | uint64(b)<<25)
		}
	}
	var after [patterns][Chips + 1]uint32 // number of sets of the later columns, after a pattern and with chips left
	for i := range after {
		for k := range after[i] {
			after[i][k] = 1
		}
	}
	for x := columns - 1; x >= 0; x-- {
		var from [patterns][Chips + 1]uint32
		for i := range from {
			for k := range from[i] {
				sum := uint32(0)
				for j, set := range t.set {
					t.below[x][i][k][j] = sum
					if left := k - bits.OnesCount8(set); left >= 0 && neighbours[i][j] {
						sum += after[j][left]
					}
				}
				from[i][k] = sum
			}
		}
		after = from
	}
	t.sets = after[0][Chips]
	return t
}

// number returns the number of a set of White's squares without a group of three.
func (t *numbers) number(chips uint64) (n uint32) {
	i, left := uint8(0), Chips
	for x := range columns {
		set := uint8(chips >> (8*x + 1) & 0x3f)
		j := t.index[set]
		n += t.below[x][i][left][j]
		i, left = j, left-bits.OnesCount8(set)
	}
	return n
}

// numbered is the inverse of number; n must be below the number of all sets.
func (t *numbers) numbered(n uint32) (chips uint64) {
	i, left := 0, Chips
	for x := range columns {
		below := &t.below[x][i][left]
		j := patterns - 1
		for below[j] > n { // a pattern without sets has the same number as the next one
			j--
		}
		n -= below[j]
		chips |= uint64(t.set[j]) << (8*x + 1)
		i, left = j, left-bits.OnesCount8(t.set[j])
	}
	return chips
}

// transposed exchanges columns and rows.
func transposed(b uint64) uint64 {
	t := (b ^ b>>7) & 0x00aa00aa00aa00aa
	b ^= t ^ t<<7
	t = (b ^ b>>14) & 0x0000cccc0000cccc
	b ^= t ^ t<<14
	t = (b ^ b>>28) & 0x00000000f0f0f0f0
	return b ^ t ^ t<<28
}

// hash returns the hash of a board that Board.Check accepts.
func (t *numbers) hash(b Board) game.Position {
	white, black := t.number(b.Chips[game.First]), t.number(transposed(b.Chips[game.Second]))
	return uint64(white)<<32 | uint64(black)<<1 | uint64(b.Mover)
}

// board is the inverse of hash; both numbers must be below the number of all sets.
func (t *numbers) board(p game.Position) Board {
	return Board{[2]uint64{t.numbered(uint32(p >> 32)), transposed(t.numbered(uint32(p) >> 1))}, game.Player(p & 1)}
}

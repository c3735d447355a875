package network

import "math/bits"

// This file implements bitboards: square xy, in column x and row y, is bit 8x+y.
//
//	        x  0  1  2  3  4  5  6  7
//	y  0       #  8 16 24 32 40 48  #     # dead corners
//	   1       1  9 17 25 33 41 49 57     top and bottom row: Black's goals
//	   …       …                          left and right column: White's goals
//	   6       6 14 22 30 38 46 54 62     the 36 squares inside: either's
//	   7       # 15 23 31 39 47 55  #

// Chips is the number of chips of a player.
const Chips = 10

// least is the smallest number of chips of a network.
const least = 6

// A color contains the parts of the board that a player uses.
type color struct {
	goals [2]uint64 // where a network begins, and where it ends
	may   uint64    // where he may put chips
	along int       // the direction, 0 to 3, along which the squares of a goal lie
}

const (
	leftColumn  = 0x7e
	rightColumn = leftColumn << 56
	topRow      = 0x0001010101010100
	bottomRow   = topRow << 7
	inside      = 0x007e7e7e7e7e7e00
)

// colors are those of White and Black, by game.Player.
var colors = [2]color{
	{[2]uint64{leftColumn, rightColumn}, leftColumn | rightColumn | inside, 0},
	{[2]uint64{topRow, bottomRow}, topRow | bottomRow | inside, 2},
}

// steps are the eight directions, as the amount that a step adds to the number of a square.
// The first four are positive; steps[d+4] is the opposite of steps[d].
var steps = [8]int{1, 7, 8, 9, -1, -7, -8, -9}

// lines are the squares in each direction of a square, up to the edge of the board and
// including the unused corners.
var lines [64][8]uint64

func init() {
	for at := range lines {
		for d, step := range steps {
			x, y := at>>3, at&7
			dx, dy := (step+9)/8-1, 0
			for dy = -1; 8*dx+dy != step; dy++ {
			}
			for x, y = x+dx, y+dy; x >= 0 && x < 8 && y >= 0 && y < 8; x, y = x+dx, y+dy {
				lines[at][d] |= 1 << (8*x + y)
			}
		}
	}
}

// nearest returns the nearest chip to a square in a direction, as its bit, or 0 if there is
// none.
func nearest(at, direction int, all uint64) uint64 {
	on := lines[at&63][direction&7] & all
	if on == 0 || direction < 4 {
		return on & -on
	}
	return 1 << (63 - bits.LeadingZeros64(on))
}

// The rows at the edge, where a step up or down would lead into another column.
const (
	row0 = 0x0101010101010101
	row7 = row0 << 7
)

// crowded returns the squares where one more chip would form a group of three: those with two
// neighbours among the chips, or with one neighbour that has a neighbour itself.
func crowded(chips uint64) uint64 {
	up, down := chips>>1&^row7, chips<<1&^row0
	// one: at least one neighbour; two: at least two.
	one, two := up|down, up&down
	add := func(side uint64) { two |= one & side; one |= side }
	add(chips << 8)
	add(chips >> 8)
	add(up << 8)
	add(up >> 8)
	add(down << 8)
	add(down >> 8)
	paired := chips & one
	next := paired>>1&^row7 | paired<<1&^row0 | paired
	return two | next | next<<8 | next>>8
}

// adds returns the squares on which a player with these chips may put one more.
func (c *color) adds(chips, all uint64) uint64 { return c.may &^ (all | crowded(chips)) }

// grouped reports whether any three chips form a group.
func grouped(chips uint64) bool {
	for rest := chips; rest != 0; rest &= rest - 1 {
		if one := rest & -rest; crowded(chips^one)&one != 0 {
			return true
		}
	}
	return false
}

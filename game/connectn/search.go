package connectn

import (
	"math/bits"
	"strconv"

	"github.com/treereduce/treereduce/game"
)

// This file is Connect N as a search likes it: a bit for each stone, at the places that
// stones gives them (board.go).
//
// The words of a State: the stones of the player to move; all stones; the squares that
// would complete a line of the player to move, whether they can be played yet or not;
// those of the other player.
const (
	stateOwn = iota
	stateAll
	stateWins
	stateThreats
)

// forms are the boards of bits that a search needs.
type forms struct {
	squares int
	board   uint64    // all squares
	bottom  uint64    // the lowest row
	even    uint64    // the lowest row, the third, …
	follow  uint64    // the top row, the third from the top, …
	middle  uint64    // the columns of the middle third
	center  [64]int32 // of a square: more near the middle column
	column  [64]uint8 // of a square
	steps   [3]uint   // the directions, but for that along a column
}

func (f *forms) init(r *Rules) {
	f.squares = r.width * r.height
	f.steps = [3]uint{r.bits - 1, r.bits, r.bits + 1}
	for c := range r.width {
		f.bottom |= 1 << r.shift(c)
		side := min(c, r.width-1-c)
		for row := range r.height {
			at := r.shift(c) + uint(row)
			f.board |= 1 << at
			if row%2 == 0 {
				f.even |= 1 << at
			}
			if (r.height-1-row)%2 == 0 {
				f.follow |= 1 << at
			}
			if 3*side >= r.width-1 {
				f.middle |= 1 << at
			}
			f.column[at] = uint8(c)
			f.center[at] = int32(side) << CenterShift
		}
	}
}

var CenterShift = 4

// spots are the empty or taken squares that would complete a line of x, or lie in one.
func (r *Rules) spots(x uint64) uint64 {
	if r.connect != 4 {
		return r.spotsOfAny(x)
	}
	s := x << 1 & (x << 2) & (x << 3)
	for _, d := range r.forms.steps {
		d &= 63
		pair := x & (x << d)
		after := pair << d
		three := pair & after
		s |= three<<d | three>>(3*d&63) | after&(x>>d) | x<<d&(pair>>(2*d&63))
	}
	return s
}

// spotsOfAny is spots for lines of any length: all but one of the line's squares.
func (r *Rules) spotsOfAny(x uint64) uint64 {
	var s uint64
	for _, d := range [4]uint{1, r.bits - 1, r.bits, r.bits + 1} {
		for hole := range r.connect {
			line := r.forms.board
			for i := range r.connect {
				if i < hole {
					line &= x << (uint(hole-i) * d)
				} else if i > hole {
					line &= x >> (uint(i-hole) * d)
				}
			}
			s |= line
		}
	}
	return s
}

// MaxMoves is a move for each column.
func (r *Rules) MaxMoves() int { return r.width }

// Root takes p as it is, not its mirror image.
func (r *Rules) Root(n *game.Node, p game.Position) {
	mover := r.ToMove(p)
	own, other := r.stones(p, mover), r.stones(p, mover.Other())
	n.State = game.State{own, own | other, r.spots(own), r.spots(other)}
	n.Key = p
}

// MoveOf numbers moves by their columns.
func (r *Rules) MoveOf(p game.Position, move uint16) game.Move {
	c := int(move)
	return game.Move{Name: strconv.Itoa(c), To: p + drop(r.column(p, c), r.ToMove(p))<<r.shift(c)}
}

// quick is how many empty squares are soon seen through.
const quick = 8

// Expand follows the threats: it takes a win, and leaves out moves that lose at once.
func (r *Rules) Expand(n *game.Node) {
	f := &r.forms
	own, all := n.State[stateOwn], n.State[stateAll]
	empty := f.board &^ all
	possible := (all + f.bottom) & f.board
	threats := n.State[stateThreats] & empty
	left := bits.OnesCount64(empty)
	n.Children = n.Children[:0]

	if n.State[stateWins]&possible != 0 {
		n.Low, n.High = game.WonIn(1), game.WonIn(1)
		return
	}
	moves := replies(possible, threats)
	switch {
	case moves == 0:
		n.Low, n.High = game.LostIn(2), game.LostIn(2)
		return
	case left <= 2:
		n.Low, n.High = 0, 0
		return
	}
	// No win at once, and no loss at the next move.
	n.Low, n.High = game.LostIn(4), game.WonIn(3)
	if left == 3 {
		n.Low = 0
	}
	if !n.NoBounds {
		r.bounds(n, own, all, empty, possible, left)
		if n.Low >= n.Beta || n.High <= n.Alpha {
			return
		}
	}

	second := uint64(left^f.squares) & 1 // is to move
	x := own
	if second != 0 {
		x = all ^ own
	}
	fold := !n.NoFold && 2*left > f.squares
	for rest := moves; rest != 0; rest &= rest - 1 {
		m := rest & -rest
		spots := r.spots(own | m)
		after := spots & (empty ^ m)
		next := possible ^ m | m<<1&f.board
		if replies(next, after) == 0 {
			n.Children = n.Children[:0]
			n.Low, n.High = game.WonIn(3), game.WonIn(3)
			return
		}
		at := bits.TrailingZeros64(m)
		n.Children = append(n.Children, game.Child{
			State:  game.State{all ^ own, all | m, n.State[stateThreats], spots},
			Key:    x + all + m + m&(second-1),
			Rank:   int32(bits.OnesCount64(after))<<10 + f.center[at],
			Move:   uint16(f.column[at]),
			Square: uint8(at),
			Quick:  after&next != 0 || left <= quick,
		})
		if fold {
			r.fold(&n.Children[len(n.Children)-1])
		}
	}
	// All wins in three are found.
	n.High = min(n.High, game.WonIn(5))
	if left < 5 {
		n.High = min(n.High, 0)
	}
	if n.Low >= n.Beta || n.High <= n.Alpha {
		n.Children = n.Children[:0]
	}
}

// replies are the moves that do not lose at once against threats.
func replies(possible, threats uint64) uint64 {
	if now := threats & possible; now != 0 {
		if now&(now-1) != 0 {
			return 0
		}
		possible = now
	}
	return possible &^ (threats >> 1)
}

// bounds are what can be said without looking ahead. Where no line of a player's is open
// any more, he does not win.
//
// If every column has an even number of empty squares, the player who is not to move can
// always answer in the column of the last move. He then gets the top square of each, the
// third from the top, and so on; his opponent gets at most the others, and does not win
// if they make no line with his stones. If one column alone has an odd number, the player
// to move gets there by a move in it. (That is the claimeven of V. Allis, A
// knowledge-based approach of Connect-Four, 1988, in all columns at once.)
func (r *Rules) bounds(n *game.Node, own, all, empty, possible uint64, left int) {
	f := &r.forms
	other := all ^ own
	odd := possible & f.follow
	switch {
	case n.Low < 0 && r.lines.in(empty|other) == 0:
		n.Low = 0
	case odd&(odd-1) == 0 && odd != 0 && n.Low < n.Beta && r.lines.in(other|empty&^f.follow) == 0:
		n.Low = max(n.Low, 0)
		if r.lines.in(own|empty&f.follow) != 0 {
			n.Low = game.WonIn(left)
		}
	}
	switch {
	case n.High > 0 && r.lines.in(empty|own) == 0:
		n.High = 0
	case odd == 0 && n.High > n.Alpha && r.lines.in(own|empty&^f.follow) == 0:
		n.High = min(n.High, 0)
		if r.lines.in(other|empty&f.follow) != 0 {
			n.High = game.LostIn(left)
		}
	}
}

// Assess counts the squares that would win, more where they will be one's own: the first
// player gets those at an even height, from 0, if all columns are filled one by one.
func (r *Rules) Assess(n *game.Node) int {
	f := &r.forms
	own, all := n.State[stateOwn], n.State[stateAll]
	empty := f.board &^ all
	mine, yours := n.State[stateWins]&empty, n.State[stateThreats]&empty
	good, bad := f.even, f.board&^f.even
	if (bits.OnesCount64(empty)^f.squares)&1 != 0 {
		good, bad = bad, good
	}
	score := 16*(bits.OnesCount64(mine)-bits.OnesCount64(yours)) +
		24*(bits.OnesCount64(mine&good)-bits.OnesCount64(yours&bad)) +
		2*(bits.OnesCount64(own&f.middle)-bits.OnesCount64((all^own)&f.middle))
	return max(-400, min(score, 400))
}

// Evaluate is Assess of a position.
func (r *Rules) Evaluate(p game.Position) int {
	var n game.Node
	r.Root(&n, p)
	return r.Assess(&n)
}

// fold takes the mirror image of a child if its key is the smaller one.
func (r *Rules) fold(c *game.Child) {
	if key := r.mirror(c.Key); key < c.Key {
		c.Key = key
		for i, w := range c.State {
			c.State[i] = r.mirror(w)
		}
	}
}

// mirror turns a board of bits, or a key, about its middle column.
func (r *Rules) mirror(x uint64) uint64 {
	var m uint64
	column := uint64(1)<<r.bits - 1
	for range r.width {
		m = m<<r.bits | x&column
		x >>= r.bits
	}
	return m
}

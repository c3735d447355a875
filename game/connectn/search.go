package connectn

import (
	"math/bits"
	"strconv"

	"github.com/treereduce/treereduce/game"
)

// This file implements Connect N for searches: with bitboards that have a bit for each piece,
// at the position given by Rules.bitboard (board.go).
//
// The words of a State are: the pieces of the player to move; all pieces; the squares that
// would complete a line of the player to move, whether they can be played now or not;
// the same squares for the other player.
const (
	stateOwn = iota
	stateAll
	stateWins
	stateThreats
)

// forms are the bitboards and tables that a search needs.
type forms struct {
	squares int
	board   uint64    // all squares
	bottom  uint64    // the lowest row
	guard   uint64    // the row above the top row
	even    uint64    // the lowest row, the third, …
	follow  uint64    // the top row, the third from the top, …
	middle  uint64    // the columns of the middle third
	center  [64]int32 // by square: larger near the middle column
	column  [64]uint8 // by square
	quick   int       // the constant quick; tests make it smaller to test what comes before it
}

func (f *forms) init(r *Rules) {
	f.squares = r.width * r.height
	f.quick = quick
	for c := range r.width {
		f.bottom |= 1 << r.shift(c)
		f.guard |= 1 << (r.shift(c) + uint(r.height))
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
			f.column[at] = uint8(c) // a board has at most 64 columns
			f.center[at] = int32(side) * centerRank
		}
	}
}

// spots returns the squares that would complete a line of x, whether occupied or not.
func (r *Rules) spots(x uint64) uint64 {
	switch {
	case r.connect != 4:
		return r.spotsOfAny(x)
	case r.height == 6: // shifts by constants
		return x<<1&(x<<2)&(x<<3) | spotsOfFour(x, 6) | spotsOfFour(x, 7) | spotsOfFour(x, 8)
	}
	return x<<1&(x<<2)&(x<<3) | spotsOfFour(x, r.bits-1) | spotsOfFour(x, r.bits) | spotsOfFour(x, r.bits+1)
}

// spotsOfFour is spots for lines of four in the direction with this step in bits.
func spotsOfFour(x uint64, step uint) uint64 {
	pair := x & (x << (step & 63))
	after := pair << (step & 63)
	three := pair & after
	return three<<(step&63) | three>>(3*step&63) | after&(x>>(step&63)) | x<<(step&63)&(pair>>(2*step&63))
}

// hasLine reports whether x has a line.
func (r *Rules) hasLine(x uint64) bool {
	if r.connect == 4 && r.height == 6 { // shifts by constants
		return lineOfFour(x, 1)|lineOfFour(x, 6)|lineOfFour(x, 7)|lineOfFour(x, 8) != 0
	}
	return r.lines.in(x) != 0
}

// lineOfFour returns the squares of x where lines of four in a direction begin.
func lineOfFour(x uint64, step uint) uint64 {
	pair := x & (x >> (step & 63))
	return pair & (pair >> (2 * step & 63))
}

// spotsOfAny is spots for lines of any length: it looks for i pieces before a square and
// connect-1-i pieces after it.
func (r *Rules) spotsOfAny(x uint64) uint64 {
	var s uint64
	var before [64]uint64 // indexed by the number of consecutive pieces before a square
	for _, d := range [4]uint{1, r.bits - 1, r.bits, r.bits + 1} {
		run := r.forms.board
		for i := range r.connect {
			before[i] = run
			run &= x << (uint(i+1) * d)
		}
		run = r.forms.board
		for i := range r.connect {
			s |= run & before[r.connect-1-i]
			run &= x >> (uint(i+1) * d)
		}
	}
	return s
}

// Traits: there is one move per column, and a tie fills the board.
func (r *Rules) Traits() game.Traits {
	return game.Traits{MaxMoves: r.width, MaxPlies: r.forms.squares, Squares: 64, TiesLast: true}
}

// Root uses p as it is, not its mirror image.
func (r *Rules) Root(n *game.Node, p game.Position) {
	mover := r.ToMove(p)
	own, other := r.bitboard(p, mover), r.bitboard(p, mover.Other())
	n.State = game.State{own, own | other, r.spots(own), r.spots(other)}
	n.Key = p
	n.Quick = r.forms.squares-bits.OnesCount64(own|other) <= r.forms.quick
}

// MoveOf uses the column as the number of a move.
func (r *Rules) MoveOf(p game.Position, move uint16) game.Move {
	c := int(move)
	return game.Move{Name: strconv.Itoa(c), To: p + drop(r.column(p, c), r.ToMove(p))<<r.shift(c)}
}

// Ranks of moves. The units are such that the search's history of squares counts at most half
// as much as a column; if it counts more, hard positions take one and a half times as long.
const (
	spotRank   = 1 << 12 // a square that would win
	spentRank  = 3072    // deducted if the opponent must occupy such a square at once
	centerRank = 256     // a column nearer to the middle
)

// rank returns the rank of move m, after which wins are the winning squares and possible the
// squares that can be played.
func (f *forms) rank(m, wins, possible uint64) int32 {
	rank := int32(bits.OnesCount64(wins))*spotRank + f.center[bits.TrailingZeros64(m)]
	if wins&possible != 0 {
		rank -= spentRank
	}
	return rank
}

// quick is the number of empty squares for which endgame.go solves a position directly. With
// more empty squares, positions with an odd number of them do not use the table either: one
// ply later there are positions that do, and these are all looked up at once.
const quick = 9

// Expand follows the threats: it plays a win, and omits moves that lose at once. It solves
// positions with few empty squares completely.
func (r *Rules) Expand(n *game.Node) {
	f := &r.forms
	own, all := n.State[stateOwn], n.State[stateAll]
	empty := f.board &^ all
	possible := (all + f.bottom) & f.board
	threats := n.State[stateThreats] & empty
	left := bits.OnesCount64(empty)
	n.Children = n.Children[:0]
	if n.Exact {
		r.expandExactly(n, own, all, possible)
		return
	}

	if left <= f.quick && !n.Horizon {
		r.endgame(n, left)
		return
	}
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
	// There is no immediate win, and no loss at the next move.
	n.Low, n.High = game.LostIn(4), game.WonIn(3)
	if left == 3 {
		n.Low = 0
	}
	if !n.NoBounds && 2*left <= f.squares {
		r.bounds(n, own, all, empty, possible, left)
		if n.Low >= n.Beta || n.High <= n.Alpha {
			return
		}
	}

	second := uint64(left^f.squares) & 1 // 1 if the second player is to move
	x := own
	if second != 0 {
		x = all ^ own
	}
	fold := !n.NoFold && 2*left > f.squares
	for rest := moves; rest != 0; rest &= rest - 1 {
		m := rest & -rest
		spots, after, next := r.play(own, empty, possible, m)
		if replies(next, after) == 0 {
			n.Children = n.Children[:0]
			n.Low, n.High = game.WonIn(3), game.WonIn(3)
			return
		}
		at := bits.TrailingZeros64(m)
		n.Children = append(n.Children, game.Child{
			State:  game.State{all ^ own, all | m, n.State[stateThreats], spots},
			Key:    x + all + m + m&(second-1),
			Rank:   f.rank(m, after, next),
			Move:   uint16(f.column[at]),
			Square: uint16(at),
			Quick:  after&next != 0 || left <= f.quick || left&1 == 0,
		})
		if fold {
			r.fold(&n.Children[len(n.Children)-1])
		}
	}
	// All wins in three plies have been found.
	n.High = min(n.High, game.WonIn(5))
	if left < 5 {
		n.High = min(n.High, 0)
	}
	if n.Low >= n.Beta || n.High <= n.Alpha {
		n.Children = n.Children[:0]
	}
}

// expandExactly is Expand for Node.Exact: it applies only the bare rules.
func (r *Rules) expandExactly(n *game.Node, own, all, possible uint64) {
	f := &r.forms
	switch {
	case r.lines.in(all^own) != 0:
		n.Low, n.High = game.LostIn(0), game.LostIn(0)
		return
	case possible == 0:
		n.Low, n.High = 0, 0
		return
	}
	n.Low, n.High = game.LostIn(1), game.WonIn(1)
	if n.Leaf {
		return
	}
	empty := f.board &^ all
	left := bits.OnesCount64(empty)
	second := uint64(left^f.squares) & 1 // 1 if the second player is to move
	x := own
	if second != 0 {
		x = all ^ own
	}
	for rest := possible; rest != 0; rest &= rest - 1 {
		m := rest & -rest
		at := bits.TrailingZeros64(m)
		spots := r.spots(own | m)
		n.Children = append(n.Children, game.Child{
			State:  game.State{all ^ own, all | m, n.State[stateThreats], spots},
			Key:    x + all + m + m&(second-1),
			Rank:   int32(bits.OnesCount64(spots&empty))*spotRank + f.center[at],
			Move:   uint16(f.column[at]),
			Square: uint16(at),
		})
		if !n.NoFold && 2*left > f.squares {
			r.fold(&n.Children[len(n.Children)-1])
		}
	}
}

// play returns the situation after a move: the spots of the player who made it, the
// empty squares among them, and the squares that can be played next.
func (r *Rules) play(own, empty, possible, m uint64) (spots, wins, next uint64) {
	spots = r.spots(own | m)
	return spots, spots & (empty ^ m), possible ^ m | m<<1&r.forms.board
}

// replies returns the moves that do not lose at once against threats.
func replies(possible, threats uint64) uint64 {
	if now := threats & possible; now != 0 {
		if now&(now-1) != 0 {
			return 0
		}
		possible = now
	}
	return possible &^ (threats >> 1)
}

// bounds computes bounds of the value without looking ahead. A player who cannot complete any
// line, even with all empty squares, does not win.
//
// The player who is not to move may be able to follow: to answer every move in the same
// column. This is possible if every column has an even number of empty squares. The
// follower then gets the squares at even heights above the pieces, counted from 1. The
// opponent gets at most the other squares, and does not win if they complete no line with
// his pieces. If a square that the follower gets completes a line of his, he need not reach
// it: the opponent must not play the square below it, so the column is blocked there, but
// once all other squares are filled, he has to play it. So such a column may also have an
// odd number of empty squares, and the follower wins. (This is the rule claimeven of V. Allis,
// A Knowledge-based Approach of Connect-Four, 1988, in all columns at once, and zugzwang.)
//
// The player to move becomes the follower by playing in a column with an odd number of
// empty squares.
func (r *Rules) bounds(n *game.Node, own, all, empty, possible uint64, left int) {
	other := all ^ own
	if n.Alpha < 0 && n.Low < 0 && !r.hasLine(empty|other) {
		n.Low = 0
	}
	if n.Beta > 0 && n.High > 0 && !r.hasLine(empty|own) {
		n.High = 0
	}
	odd := possible & r.forms.follow
	if n.High > n.Alpha {
		if holds, wins := r.follows(other, own, n.State[stateThreats], empty, odd); wins {
			n.High = game.LostIn(left &^ 1)
		} else if holds {
			n.High = min(n.High, 0)
		}
	}
	// All other columns with an odd number of empty squares must have such a winning square.
	tries, f := odd, &r.forms
	if lack := f.has(odd) &^ f.has(n.State[stateWins]&empty&^f.follow); lack&(lack-1) != 0 {
		tries = 0
	} else if lack != 0 {
		tries &= lack - lack>>(uint(r.height)&63)
	}
	for rest := tries; rest != 0 && n.Low < n.Beta; rest &= rest - 1 {
		m := rest & -rest
		if holds, wins := r.follows(own|m, other, n.State[stateWins], empty^m, odd^m); wins {
			n.Low = game.WonIn((left - 1) | 1)
		} else if holds {
			n.Low = max(n.Low, 0)
		}
	}
}

// follows reports whether the player with these pieces and spots, who is not to move, can
// follow without losing (holds), and whether he then wins. odd are the lowest empty squares of
// the columns with an odd number of empty squares.
func (r *Rules) follows(pieces, opponents, spots, empty, odd uint64) (holds, wins bool) {
	f := &r.forms
	inOdd := f.has(odd)
	reach := empty & (f.follow ^ (inOdd - inOdd>>(uint(r.height)&63)))
	traps := spots & reach
	if inOdd&^f.has(traps) != 0 {
		return false, false
	}
	traps |= f.guard
	under := (traps - f.bottom) &^ traps // all squares below the lowest trap of each column
	if r.hasLine(opponents | empty&under&^reach) {
		return false, false
	}
	return true, traps != f.guard || r.hasLine(pieces|reach)
}

// has returns the guards of the columns that contain one of these squares.
func (f *forms) has(squares uint64) uint64 { return ((squares | f.guard) - f.bottom) & f.guard }

// Assess counts the squares that would win, and those that the player will get count more: if
// the columns are filled one by one, the first player gets the even heights, counted from 0.
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

// Evaluate returns Assess for a position.
func (r *Rules) Evaluate(p game.Position) int {
	var n game.Node
	r.Root(&n, p)
	return r.Assess(&n)
}

// fold gives a child and its mirror image the same key, the smaller of the two. The State
// stays as it is: the search's history of squares would not apply to the mirrored board.
func (r *Rules) fold(c *game.Child) {
	c.Key = min(c.Key, r.Mirror(c.Key))
}

// Mirror reflects a key, or a bitboard, about the middle column.
func (r *Rules) Mirror(x uint64) uint64 {
	var m uint64
	column := uint64(1)<<r.bits - 1
	for range r.width {
		m = m<<r.bits | x&column
		x >>= r.bits
	}
	return m
}

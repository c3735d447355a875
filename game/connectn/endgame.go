package connectn

import "github.com/treereduce/treereduce/game"

// This file solves positions with few empty squares by a plain alpha-beta search on bitboards.
// It needs a fifth of the time per position of the general search; with so few squares
// left, a table and the history of moves would gain less than that.
//
// The score of a win is the number of squares left when it is made, plus one: positive for
// the player to move, negative for the other, 0 for a tie. Except for the sign, the score
// is the same in all positions on the way to the win.

// endgame computes the value of a position with few empty squares, as far as the window
// requires.
func (r *Rules) endgame(n *game.Node, left int) {
	alpha, beta := squaresOf(n.Alpha+1, left)-1, squaresOf(n.Beta, left)
	score := r.last(&n.Beyond, n.State[stateOwn], n.State[stateAll], n.State[stateWins], n.State[stateThreats], left, alpha, beta)
	value := 0
	switch {
	case score > 0:
		value = game.WonIn(left + 1 - score)
	case score < 0:
		value = game.LostIn(left + 1 + score)
	}
	n.Low, n.High = game.LostIn(2), game.WonIn(1)
	if score > alpha {
		n.Low = value
	}
	if score < beta {
		n.High = value
	}
}

// squaresOf returns the lowest score of a value of at least v, with left empty squares.
func squaresOf(v, left int) int {
	switch {
	case v > game.MostAssessed:
		return max(1, v-game.WonIn(0)+left+1)
	case v < -game.MostAssessed:
		return min(0, v-game.LostIn(0)-left-1)
	}
	return max(0, min(v, 1))
}

// last returns the score of a position if it is between alpha and beta, and a bound
// otherwise. It adds the number of positions that it visits to looked.
func (r *Rules) last(looked *uint64, own, all, wins, threats uint64, left, alpha, beta int) int {
	*looked++
	f := &r.forms
	empty := f.board &^ all
	possible := (all + f.bottom) & f.board
	if wins&possible != 0 {
		return left // an immediate win
	}
	moves := replies(possible, threats&empty)
	switch {
	case moves == 0:
		return 1 - left // a loss at the next move
	case left <= 2:
		return 0
	case min(3-left, 0) >= beta:
		return min(3-left, 0) // a loss two moves later, or no loss
	case left-2 <= alpha:
		return left - 2 // a win in three plies
	}
	other := all ^ own
	if moves&(moves-1) == 0 {
		return -r.last(looked, other, all|moves, threats, r.spots(own|moves), left-1, -beta, -alpha)
	}

	var tried [quick]struct {
		move, spots uint64
		rank        int32
	}
	count := 0
	for rest := moves; rest != 0; rest &= rest - 1 {
		m := rest & -rest
		spots, after, next := r.play(own, empty, possible, m)
		if replies(next, after) == 0 {
			return left - 2
		}
		rank := f.rank(m, after, next)
		i := count
		for ; i > 0 && tried[i-1].rank < rank; i-- {
			tried[i] = tried[i-1]
		}
		tried[i].move, tried[i].spots, tried[i].rank = m, spots, rank
		count++
	}
	if most := max(left-4, 0); most <= alpha {
		return most // all wins in three plies have been found
	}
	best := -left
	for i := range tried[:count] {
		t := &tried[i]
		best = max(best, -r.last(looked, other, all|t.move, threats, t.spots, left-1, -beta, -max(alpha, best)))
		if best >= beta {
			break
		}
	}
	return best
}

package search

import "github.com/treereduce/treereduce/game"

// deepen searches one ply deep, then two, and so on: each iteration improves the move order
// of the next so much that it costs little, and there is always a best move. It ends when
// the value is proven, at the depth of the limit, or when there is no time for another
// iteration.
//
// Cycles do not trap it, because it never searches beyond its depth, and a table entry of a
// given depth is valid no matter how the position was reached. A draw means only that
// neither player has won by then, and a shorter win is always preferred. But if late moves
// are searched less deep, the first win that is found is accepted.
func (t *task) deepen() {
	full := t.s.table.full
	last := full
	if t.s.acyclic == nil {
		last-- // full means to the end, which games with cycles may never reach
	}
	alpha, beta := -infinite, infinite
	if t.limit.Weak { // all wins are equal
		alpha, beta = -mate, mate
	}
	for depth := 1; depth <= last; depth++ {
		if depth > 2 && !t.clock.worthwhile(t.late || t.limit.Depth > 0) {
			return // a requested depth is tried for as long as there is time
		}
		ply := depth
		if depth >= t.left {
			ply = full
		}
		score, ok := t.ask(alpha, beta, ply)
		if !ok {
			return
		}
		t.score, t.depth = score, depth
		within := depth
		if t.late { // a shorter win may have been missed, unless it is very short
			within = min(depth, lateFrom)
		}
		if ply == full || t.exact {
			within = game.MaxRemoteness
		}
		switch {
		case score >= beta:
			t.atLeast(score)
		case score <= alpha:
			t.high = min(t.high, score)
		case score > mate && game.WonIn(within) <= score, score < -mate && game.LostIn(within) >= score, t.exact:
			t.atLeast(score)
			t.low, t.high = score, score
		case score > mate:
			t.atLeast(score)
		case score < -mate:
			t.high = min(t.high, score)
		}
		if t.solved() || depth == t.limit.Depth || ply == full || t.late && t.low > 0 {
			return
		}
	}
}

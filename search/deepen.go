package search

import "github.com/treereduce/treereduce/game"

// deepen looks one ply ahead, then two, and so on: what is learnt on the way orders the
// moves of the next step so well that it costs little, and there is always a best move.
// It ends when the value is proven, at the depth of the limit, or when another step would
// not be through in time.
//
// Moves that lead back do not trap it, as it never looks further than its depth; and what
// the table knows of a depth is true whatever the way there. So a draw is no more than
// what nobody has won by then, and a shorter win is always preferred; but where late moves
// are looked at less far ahead, the first win that is found will do.
func (t *task) deepen() {
	full := t.s.table.full
	last := full
	if t.s.acyclic == nil {
		last-- // full is to the end, of which there need be none
	}
	alpha, beta := -infinite, infinite
	if t.limit.Weak { // all wins are one
		alpha, beta = -mate, mate
	}
	for depth := 1; depth <= last; depth++ {
		if depth > 2 && !t.clock.worthwhile(t.late || t.limit.Depth > 0) {
			return // a depth that is asked for is tried for as long as there is time
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
		if t.late { // a shorter win may have been missed, if it is not very short
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

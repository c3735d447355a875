package search

import "github.com/treereduce/treereduce/game"

// lineNodes is what may be looked at for a move of the line but the first: most of it is
// in the table.
const lineNodes = 1 << 12

// makeLine plays on from the root, each time the first move that keeps the value, until
// that takes too long.
func (t *task) makeLine() {
	// Of the plain moves, a tie is as far off as the line is long.
	tie := t.s.fast == nil && t.low == 0 && t.high == 0 && !t.limit.Weak
	if t.limit.Bare && !tie {
		return
	}
	w := t.s.workers[0]
	w.round.over.Store(false)
	w.alone, w.apart = 0, 0
	p, score, depth := t.root, t.score, t.depth
	if t.solved() {
		depth = t.s.table.full
		if score = t.low; t.low <= 0 {
			score = t.high
		}
	}
	for first := true; t.s.g.Primitive(p) == 0 && (first || depth > 0); first = false {
		if !first && !tie {
			w.budget = w.looked + lineNodes
		}
		var move game.Move
		if first && t.found {
			move = w.g.MoveOf(p, t.best)
		} else if m, ok := t.keeping(w, p, score, depth); ok {
			move = m
		} else if first {
			move = t.s.g.Moves(nil, p)[0]
		} else {
			return
		}
		t.line = append(t.line, move)
		if depth == 0 || t.limit.Weak {
			return
		}
		if score = fromHere(score, 1); !t.again(p, move.To) {
			score = -score
		}
		if p = move.To; depth < t.s.table.full {
			depth--
		}
	}
}

// again reports whether the player who moved is to move again.
func (t *task) again(p, next game.Position) bool {
	return !t.s.g.Values().OfMover && t.s.g.ToMove(p) == t.s.g.ToMove(next)
}

// keeping finds a move of p that is worth the score.
func (t *task) keeping(w *worker, p game.Position, score, depth int) (move game.Move, ok bool) {
	if depth < t.s.table.full {
		depth--
	}
	want := fromHere(score, 1)
	for _, m := range t.s.g.Moves(nil, p) {
		sign := -1
		if t.again(p, m.To) {
			sign = 1
		}
		var got int
		if v := t.s.g.Primitive(m.To); v != 0 {
			got = finished(v, t.s.g.ToMove(m.To))
		} else {
			w.stopped = false
			w.g.Root(w.node(0), m.To)
			alpha := want - 1
			if sign < 0 {
				alpha = -want
			}
			if got = w.look(0, alpha, alpha+1, depth, false); w.stopped {
				return m, false
			}
		}
		if sign*got >= want {
			return m, true
		}
	}
	return game.Move{}, false
}

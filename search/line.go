package search

import "github.com/treereduce/treereduce/game"

// lineNodes is the maximum number of positions to search for each move of the line after
// the first: most of them are in the table.
const lineNodes = 1 << 12

// makeLine makes the line from the root: the best move that was found, then each time the
// first move that keeps the value, until finding it takes too long.
func (t *task) makeLine() {
	// The line can prove how long a tie lasts, see fullLine.
	tie := t.s.acyclic != nil && !t.s.traits.TiesLast && !t.s.g.Values().TiesSoon && t.low == 0 && t.high == 0 && !t.limit.Weak
	if t.limit.Bare && !tie {
		return
	}
	w := t.s.workers[0]
	w.round.over.Store(false)
	w.alone, w.apart = 0, 0
	p := t.root
	score, depth := t.known()
	for first := true; t.s.g.Primitive(p) == 0 && (first || depth > 0); first = false {
		if !first && !tie {
			w.budget = w.looked + lineNodes
		}
		var move game.Move
		if first && t.move.Name != "" {
			move = t.move
		} else if first && t.found {
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

// known returns the score that was found, and its depth. If the limit is Weak, all wins
// have the same score.
func (t *task) known() (score, depth int) {
	switch {
	case !t.solved() && (t.low <= 0 || t.limit.Depth > 0):
		score, depth = t.score, t.depth
	case t.low > 0:
		score, depth = t.low, t.s.table.full
	default:
		score, depth = t.high, t.s.table.full
	}
	if t.limit.Weak {
		score = clamp(score, -mate, mate)
	}
	return score, depth
}

// makeFirst finds the first move that is worth as much as the best: for each move before
// the best it searches whether it is no worse. If the value is not proven and no depth was
// requested, makeFirst does nothing, because then no move is better founded than another.
func (t *task) makeFirst() {
	if !t.limit.First || !t.solved() && t.depth != t.limit.Depth {
		return
	}
	score, depth := t.known()
	if t.limit.Depth > 0 && t.limit.Depth < t.left {
		depth = t.limit.Depth
	}
	best := t.s.workers[0].g.MoveOf(t.root, t.best)
	ask := func(p game.Position, alpha, depth int) (int, bool) { return t.askOf(p, alpha, alpha+1, depth) }
	for _, m := range t.s.g.Moves(nil, t.root) {
		if t.found && m == best || score == -mate {
			t.move = m
			return
		}
		if keeps, ok := t.keeps(t.root, m, score, depth, ask); !ok {
			return
		} else if keeps {
			t.move = m
			return
		}
	}
}

// keeps reports whether a move of p is worth score. It calls ask to compare a position with
// a bound; ok is false if ask has no result in time.
func (t *task) keeps(p game.Position, m game.Move, score, depth int, ask func(p game.Position, alpha, depth int) (int, bool)) (keeps, ok bool) {
	if depth < t.s.table.full {
		depth--
	}
	want := fromHere(score, 1)
	again := t.again(p, m.To)
	var got int
	if v := t.s.g.Primitive(m.To); v != 0 {
		got = finished(v, t.s.g.ToMove(m.To))
	} else {
		alpha := want - 1
		if !again {
			alpha = -want
		}
		if got, ok = ask(m.To, alpha, depth); !ok {
			return false, false
		}
	}
	if !again {
		got = -got
	}
	return got >= want, true
}

// again reports whether the player who moved from p to next moves again.
func (t *task) again(p, next game.Position) bool {
	return !t.s.g.Values().OfMover && t.s.g.ToMove(p) == t.s.g.ToMove(next)
}

// keeping returns a move of p that is worth score, using one worker.
func (t *task) keeping(w *worker, p game.Position, score, depth int) (move game.Move, ok bool) {
	ask := func(p game.Position, alpha, depth int) (int, bool) {
		w.stopped = false
		w.g.Root(w.node(0), p)
		got := w.look(0, alpha, alpha+1, depth, w.node(0).Quick)
		return got, !w.stopped
	}
	for _, m := range t.s.g.Moves(nil, p) {
		if keeps, ok := t.keeps(p, m, score, depth, ask); keeps || !ok {
			return m, ok
		}
	}
	return game.Move{}, false
}

package search

import "github.com/treereduce/treereduce/game"

// shortNodes is the number of positions to search for short wins and losses before the
// search for the winner. If more than manyLeft plies are left, it is shortMany, in which
// most short wins are found; the search for the winner then gets shortMost positions at
// first. If they do not suffice, the search for short wins gets shortMost positions too,
// because there may be a near win even if the general proof is hard.
const (
	shortNodes = 1 << 7
	shortMany  = 1 << 12
	shortMost  = 1 << 16
)

// If at most onceLeft plies are left, one search asks for the exact value. If at most
// fewLeft are left, short wins are not tried first, because it soon becomes clear who wins.
// If more than manyLeft are left, short wins are tried twice. If at most manyLeft are left,
// a search costs little, and an unnecessary one costs as much as any other: short wins get
// fewer positions, and the steps to the nearest win do not grow.
const (
	onceLeft = 12
	fewLeft  = 14
	manyLeft = 28
)

// solve proves the value of the root by null-window searches to the end. Each asks whether
// the value is above some alpha, which is much cheaper than asking for the value. It first
// tries short wins and losses, which are found quickly if they exist; then asks who wins;
// then in how many moves, starting from the number that the previous proof has shown. The
// step is 1. If many plies are left, it doubles from search to search as long as the bound
// improves, because only the last search must be done in any case. With few plies left, a
// search costs little more than its start, so solve does a single one, with a window as wide
// as necessary.
func (t *task) solve() {
	if t.left <= onceLeft {
		if t.limit.Weak {
			t.within(-1, 1)
		} else {
			t.within(t.low-1, t.high+1)
		}
		return
	}
	if !t.who() || t.limit.Weak {
		return
	}
	grow := 2
	if t.left <= manyLeft {
		grow = 1
	}
	for step := 1; 0 < t.low && t.low < t.high; step *= grow {
		low := t.low
		if !t.above(min(low+step, t.high) - 1) {
			return
		}
		if t.low == low {
			step = 1
		}
	}
	for step := 1; t.low < t.high && t.high < 0; step *= grow {
		high := t.high
		if !t.above(max(high-step, t.low)) {
			return
		}
		if t.high == high {
			step = 1
		}
	}
}

// who finds out who wins. It returns false if the time is over.
func (t *task) who() bool {
	if t.s.traits.OnlyWho { // all wins count the same
		return t.above(0) && t.above(-1)
	}
	in, nodes := 3, uint64(shortNodes)
	if t.left > manyLeft {
		nodes = shortMany
	}
	if t.left > fewLeft && !t.short(&in, nodes) {
		return false
	}
	if t.left > manyLeft {
		end := t.spend(shortMost)
		ok := t.above(0) && t.above(-1)
		if end(); ok || t.over() {
			return ok
		}
		if !t.short(&in, shortMost) {
			return false
		}
	}
	return t.above(0) && t.above(-1)
}

// short searches for wins and losses in few moves, then in more, until the first worker has
// searched nodes positions. It returns false if the time is over.
func (t *task) short(in *int, nodes uint64) bool {
	first := t.s.workers[0]
	for began := first.looked; *in < t.left && first.looked-began < nodes; *in += 2 {
		if !t.above(game.WonIn(*in)-1) || !t.above(game.LostIn(*in+1)) {
			return false
		}
	}
	return true
}

// spend lets each worker search at most nodes more positions, until end is called.
func (t *task) spend(nodes uint64) (end func()) {
	for _, w := range t.s.workers {
		if most := w.looked + nodes; t.limit.Nodes == 0 || most < t.limit.Nodes {
			w.budget = most
		}
	}
	return func() {
		for _, w := range t.s.workers {
			w.budget = t.limit.Nodes
		}
	}
}

// over reports whether the limit has been reached, not counting the depth.
func (t *task) over() bool {
	return t.clock.due() || t.limit.Nodes > 0 && t.s.workers[0].looked >= t.limit.Nodes
}

// above finds out whether the value is above alpha, unless that is known. It returns false
// if the time is over.
func (t *task) above(alpha int) bool {
	return alpha < t.low || alpha >= t.high || t.within(alpha, alpha+1)
}

// within searches with the window alpha to beta, and updates the proven bounds. It returns
// false if the time is over.
func (t *task) within(alpha, beta int) bool {
	score, ok := t.ask(alpha, beta, t.s.table.full)
	if ok && score > alpha {
		t.atLeast(score)
	}
	if ok && score < beta {
		t.high = min(t.high, score)
	}
	return ok
}

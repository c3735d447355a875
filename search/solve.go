package search

import "github.com/treereduce/treereduce/game"

// shortNodes is what may be looked at for short wins and losses before who wins is asked; with
// more than many moves left shortMany, in which most of them are found. Who wins then gets
// shortMost at first; if it is not enough, so does what is short, as there may be a win that
// is nearer than it is plain.
const (
	shortNodes = 1 << 7
	shortMany  = 1 << 12
	shortMost  = 1 << 16
)

// With so few moves left the value is asked for at once; with few, short wins are not asked
// for, as who wins is soon seen; with more than many they are asked for twice. With many and
// less, a question costs little, and a needless one as much as another: short wins get less,
// and the steps to the nearest win do not grow.
const (
	onceLeft = 12
	fewLeft  = 14
	manyLeft = 28
)

// solve proves the value of the root by null windows to the end: each asks whether it is
// above some alpha, which is much cheaper than what it is. First come short wins and
// losses, which are soon seen if they are there; then who wins; then in how many moves,
// from the number that the proof of that has shown, in steps that, of many moves, double
// while they come nearer, as the last question is the one that must be answered in any case.
// With few moves left there is little to look at, and to ask costs more than to answer:
// there is one question, with a window that is as wide as need be.
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

// who asks who wins. It is false if the time is over.
func (t *task) who() bool {
	if t.s.traits.OnlyWho { // no win is shorter than another
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

// short asks for wins and losses in few moves, then more, until some positions have been
// looked at. It is false if the time is over.
func (t *task) short(in *int, nodes uint64) bool {
	first := t.s.workers[0]
	for began := first.looked; *in < t.left && first.looked-began < nodes; *in += 2 {
		if !t.above(game.WonIn(*in)-1) || !t.above(game.LostIn(*in+1)) {
			return false
		}
	}
	return true
}

// spend lets each worker look at so many positions more, until end is called.
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

// over reports whether the limit has been reached, but for the depth.
func (t *task) over() bool {
	return t.clock.due() || t.limit.Nodes > 0 && t.s.workers[0].looked >= t.limit.Nodes
}

// above asks whether the value is above alpha, if that is not known. It is false if the
// time is over.
func (t *task) above(alpha int) bool {
	return alpha < t.low || alpha >= t.high || t.within(alpha, alpha+1)
}

// within asks for the value, if it is between alpha and beta, or on which side of them it
// is. It is false if the time is over.
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

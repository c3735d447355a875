package search

import "github.com/treereduce/treereduce/game"

// shortNodes is what may be looked at for short wins and losses before who wins is asked.
const shortNodes = 1 << 11

// fewLeft is with how many moves left that is not worth it: who wins is soon seen.
const fewLeft = 14

// solve proves the value of the root by null windows to the end: each asks whether it is
// above some alpha, which is much cheaper than what it is. First come short wins and
// losses, which are soon seen if they are there; then who wins; then in how many moves,
// from the number that the proof of that has shown, in steps that double while they come
// nearer, as the last question is the one that must be answered in any case.
func (t *task) solve() {
	first := t.s.workers[0]
	began := first.looked
	for in := 3; in < t.left && t.left > fewLeft && first.looked-began < shortNodes; in += 2 {
		if !t.above(game.WonIn(in)-1) || !t.above(game.LostIn(in+1)) {
			return
		}
	}
	if !t.above(0) || !t.above(-1) || t.limit.Weak {
		return
	}
	for step := 1; 0 < t.low && t.low < t.high; step *= 2 {
		low := t.low
		if !t.above(min(low+step, t.high) - 1) {
			return
		}
		if t.low == low {
			step = 1
		}
	}
	for step := 1; t.low < t.high && t.high < 0; step *= 2 {
		high := t.high
		if !t.above(max(high-step, t.low)) {
			return
		}
		if t.high == high {
			step = 1
		}
	}
}

// above asks whether the value is above alpha, if that is not known. It is false if the
// time is over.
func (t *task) above(alpha int) bool {
	if alpha < t.low || alpha >= t.high {
		return true
	}
	score, ok := t.ask(alpha, alpha+1, t.s.table.full)
	switch {
	case !ok:
		return false
	case score > alpha:
		t.low = max(t.low, score)
	default:
		t.high = min(t.high, score)
	}
	return true
}

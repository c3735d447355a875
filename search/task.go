package search

import (
	"math"
	"time"

	"github.com/treereduce/treereduce/game"
)

// A task is one search.
type task struct {
	s     *Searcher
	clock *clock
	root  game.Position
	limit Limit
	left  int // the most plies left to play

	late      bool // late moves are searched less deep
	low, high int  // proven bounds of the root
	score     int  // of the deepest search
	depth     int  // of the deepest search
	exact     bool // the deepest search was not cut off at its horizon anywhere
	best      uint16
	found     bool // best is set
	sure      uint16
	surely    bool      // sure is set, and proven to be worth low
	move      game.Move // the first move that is as good as best, if that is another one
	line      []game.Move
	reported  time.Duration // when Limit.Report was called last
}

func (s *Searcher) newTask(c *clock, p game.Position, l Limit) *task {
	t := &task{s: s, clock: c, root: p, limit: l, left: game.MaxRemoteness}
	if s.acyclic != nil {
		t.left = s.acyclic.Tiers() - s.acyclic.Tier(p)
	}
	t.limit.Weak = l.Weak || s.traits.OnlyWho
	t.low, t.high = game.LostIn(1), game.WonIn(1)
	if s.table.age = exactAge; l.Depth == 0 {
		s.age = (s.age + 1) % exactAge
		s.table.age = s.age
	}
	t.late = s.traits.Late > 0 && (l.Time > 0 || l.Nodes > 0) && l.Depth == 0
	if l.Depth == 0 && !t.late && s.late { // the entries of that search are not as deep as in their depth field
		s.Forget()
	}
	s.late = s.late && l.Depth > 0 || t.late
	for _, w := range s.workers {
		w.ends = ends{clock: c, round: &s.round, budget: l.Nodes, late: notLate}
		if t.late {
			w.late = s.traits.Late
		}
		w.exact = l.Depth > 0
		w.asked, w.looked, w.lookups, w.hits, w.horizons = 0, 0, 0, 0, 0
		w.visited.Store(0)
		w.learn(s.traits)
	}
	if l.Report != nil {
		s.workers[0].report = t.report
	}
	return t
}

// reportEvery is the time between two calls of Limit.Report.
const reportEvery = 500 * time.Millisecond

// report calls Limit.Report if it is time.
func (t *task) report() {
	spent := t.clock.spent()
	if spent < t.reported+reportEvery {
		return
	}
	t.reported = spent
	var nodes uint64
	for _, w := range t.s.workers {
		nodes += w.visited.Load()
	}
	t.limit.Report(nodes, spent)
}

// farEnd is the number of plies left above which a timed search does not try to prove the
// value before it deepens.
const farEnd = game.MaxByteRemoteness

// run searches until the limit is reached.
func (t *task) run() {
	switch {
	case t.s.acyclic == nil, t.limit.Depth > 0:
		t.deepen()
	case t.limit.Time > 0:
		t.timed()
	case t.s.plainly:
		t.deepen()
	default:
		t.solve()
		if !t.found && !t.solved() { // interrupted without a move: search a little to find one
			for _, w := range t.s.workers {
				w.clock, w.budget = new(clock), w.looked+someNodes
			}
			t.deepen()
		}
	}
	if t.surely && (t.low > 0 || t.low == t.high) {
		t.best, t.found = t.sure, true
	}
}

// timed searches within a time limit. It first tries for a part of the time to prove the
// value, then deepens. When there is too little time for another ply, it continues the
// proof: the table still has the results of the first part.
func (t *task) timed() {
	if !t.s.plainly && t.left <= farEnd {
		part := solvePart
		if t.s.traits.OnlyWho {
			part = solvePartWho
		}
		release := t.clock.part(part)
		t.solve()
		release()
	}
	if t.low <= 0 && !t.solved() {
		t.deepen()
	}
	if !t.solved() && t.left <= farEnd && !t.clock.due() {
		best, found := t.best, t.found
		t.solve()
		t.best, t.found = best, found // a move that the proof has found is in t.sure
	}
}

// someNodes is the number of positions searched when no time is left, to avoid the worst
// move.
const someNodes = 1 << 12

// solvePart is a divisor of the time: a timed search first tries for 1/solvePart of its time
// to prove the value.
const solvePart = 3

// solvePartWho is solvePart for games where only the winner counts: iterative deepening
// finds the winner just as well, and every winning move is equally good.
const solvePartWho = 6

// aloneNodes is the number of positions that one worker searches before it starts the
// others.
const aloneNodes = 1 << 14

// Workers avoid each other's positions only down to this many plies before the end of the
// game, or before the depth.
const (
	apartFrom      = 14
	apartFromDepth = 3
)

// forcedMost is the number of plies by which a search follows forced moves beyond its
// depth, in games with cycles.
const forcedMost = 16

// ask searches the root with all workers. It returns false if none has a result in time.
func (t *task) ask(alpha, beta, depth int) (score int, ok bool) {
	score, ok = t.askOf(t.root, alpha, beta, depth)
	w := t.s.workers[0]
	if ok {
		w = t.s.round.winner
		t.exact = depth == t.s.table.full || w.horizons == 0
	}
	if w.found && (ok || !t.found || t.late) { // better than no move, or than the best of the previous iteration
		t.best, t.found = w.best, true
	}
	return score, ok
}

// askOf searches a position with all workers.
func (t *task) askOf(p game.Position, alpha, beta, depth int) (score int, ok bool) {
	r := &t.s.round
	r.winner = nil
	r.over.Store(false)
	workers := t.s.workers
	apart := min(t.left, depth) - apartFrom
	if depth < t.s.table.full {
		apart = depth - apartFromDepth
	}
	if len(workers) == 1 {
		apart = 0
	}
	reach := depth + forcedMost
	if t.s.acyclic != nil {
		reach = math.MaxInt
	}
	for _, w := range workers {
		w.round, w.stopped, w.found, w.apart, w.reach = r, false, false, apart, reach
		w.horizons = 0
		w.g.Root(w.node(0), p)
	}
	first := workers[0]
	if len(workers) > 1 {
		first.alone = first.looked + aloneNodes
		r.start = func() {
			for _, w := range workers[1:] {
				r.wait.Go(func() { r.look(w, alpha, beta, depth) })
			}
		}
	}
	r.look(first, alpha, beta, depth)
	r.wait.Wait()
	return r.score, r.winner != nil
}

// atLeast records that the last search has proven that the root is worth at least score, by
// its best move.
func (t *task) atLeast(score int) {
	if score >= t.low {
		w := t.s.round.winner
		t.low, t.sure, t.surely = score, w.best, w.found
	}
}

// solved reports whether the value is proven, as far as it was requested.
func (t *task) solved() bool {
	return t.low == t.high || t.limit.Weak && (t.low > 0 || t.high < 0)
}

// topScore is the Score of a proven win whose length is not proven.
const topScore = 400

// result returns the result of the task.
func (t *task) result() Result {
	r := Result{Line: t.line, Depth: t.depth}
	for _, w := range t.s.workers {
		r.Nodes += w.looked
		r.Lookups += w.lookups
		r.Hits += w.hits
	}
	r.Exact = t.solved()
	r.Weak = t.limit.Weak || !r.Exact
	switch {
	case !r.Exact && t.low <= 0 && t.high >= 0:
		r.Score, r.Weak = clamp(t.score, -topScore, topScore), false
	case !r.Exact && t.low > 0:
		r.Score, r.Value = topScore, t.valueOf(game.Wins, 0)
	case !r.Exact:
		r.Score, r.Value = -topScore, t.valueOf(game.Loses, 0)
	case t.low > 0:
		r.Value = t.valueOf(game.Wins, game.WonIn(0)-t.low)
	case t.high < 0:
		r.Value = t.valueOf(game.Loses, t.high-game.LostIn(0))
	case t.s.traits.TiesLast:
		r.Value = game.NewValue(game.Tie, t.left)
	case t.fullLine():
		r.Value = game.NewValue(game.Tie, t.left)
	default:
		r.Value, r.Weak = game.NewValue(game.Tie, 0), true
	}
	return r
}

// fullLine reports whether the line is a tie of the maximum length, in a game where both
// players prefer long ties: no move is left after the line.
func (t *task) fullLine() bool { return !t.s.g.Values().TiesSoon && len(t.line) == t.left }

// valueOf returns a result of the player to move as a value in the convention of the game.
func (t *task) valueOf(r game.Result, remoteness int) game.Value {
	if t.s.g.Values().OfMover {
		return r.In(remoteness)
	}
	winner := t.s.g.ToMove(t.root)
	if r == game.Loses {
		winner = winner.Other()
	}
	return game.NewValue(game.WinFor(winner), remoteness)
}

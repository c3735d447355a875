package search

import "github.com/treereduce/treereduce/game"

// A task is one search.
type task struct {
	s     *Searcher
	clock *clock
	root  game.Position
	limit Limit
	left  int // the most moves that are left to play

	low, high int  // what is proven of the root
	score     int  // of the deepest search
	depth     int  // of that
	exact     bool // nothing of that was cut off
	best      uint16
	found     bool // best
	line      []game.Move
}

func (s *Searcher) newTask(c *clock, p game.Position, l Limit) *task {
	t := &task{s: s, clock: c, root: p, limit: l, left: game.MaxRemoteness}
	if a, ok := s.g.(game.Acyclic); ok {
		t.left = a.Tiers() - a.Tier(p)
	}
	t.low, t.high = game.LostIn(1), game.WonIn(1)
	for _, w := range s.workers {
		w.ends = ends{clock: c, round: &s.round}
		w.exact = l.Depth > 0
		w.looked, w.lookups, w.hits, w.horizons = 0, 0, 0, 0
		w.past = history{}
	}
	return t
}

// run searches until the limit.
func (t *task) run() {
	switch {
	case t.s.plainly:
		t.deepen()
	case t.limit.Time == 0:
		t.solve()
		if !t.found && !t.solved() { // it was ended, and has nothing to show
			for _, w := range t.s.workers {
				w.clock, w.budget = new(clock), w.looked+someNodes
			}
			t.deepen()
		}
	default:
		// What can be proven soon is played at its best; what cannot, by judgement.
		release := t.clock.part(solvePart)
		t.solve()
		release()
		if t.low <= 0 && !t.solved() {
			t.deepen()
		}
	}
}

// someNodes is what is looked at where there is no time, for a move that is not the worst.
const someNodes = 1 << 12

// solvePart is the part of its time in which a search tries to prove the value.
const solvePart = 3

// aloneNodes is what one worker looks at before it calls the others.
const aloneNodes = 1 << 14

// From so many plies before the end, or before the depth, workers no longer part.
const (
	apartFrom      = 14
	apartFromPlain = 3
)

// ask has all workers look at the root. It is false if none has an answer in time.
func (t *task) ask(alpha, beta, depth int) (score int, ok bool) {
	r := &t.s.round
	r.winner = nil
	r.over.Store(false)
	workers := t.s.workers
	apart := min(t.left, depth) - apartFrom
	if t.s.plainly {
		apart = min(t.left, depth) - apartFromPlain
	}
	if len(workers) == 1 {
		apart = 0
	}
	r.start = func() {
		for _, w := range workers[1:] {
			r.wait.Go(func() { r.look(w, alpha, beta, depth) })
		}
	}
	for _, w := range workers {
		w.round, w.stopped, w.found, w.apart = r, false, false, apart
		w.horizons = 0
		t.rootOf(w)
	}
	first := workers[0]
	if len(workers) > 1 {
		first.alone = first.looked + aloneNodes
	}
	r.look(first, alpha, beta, depth)
	r.wait.Wait()
	if r.winner == nil {
		if first.found && !t.found { // better than nothing
			t.best, t.found = first.best, true
		}
		return 0, false
	}
	if r.winner.found {
		t.best, t.found = r.winner.best, true
	}
	t.exact = depth == t.s.table.full || r.winner.horizons == 0
	return r.score, true
}

// rootOf makes the root's node.
func (t *task) rootOf(w *worker) { w.g.Root(w.node(0), t.root) }

// solved reports whether the value is proven, as far as it is asked for.
func (t *task) solved() bool {
	return t.low == t.high || t.limit.Weak && (t.low > 0 || t.high < 0)
}

// topScore is what Score tells of a win that is proven, but not how soon it comes.
const topScore = 400

// result is what has come of it.
func (t *task) result() Result {
	r := Result{Line: t.line, Depth: t.depth}
	for _, w := range t.s.workers {
		r.Nodes += w.looked
		r.Lookups += w.lookups
		r.Hits += w.hits
	}
	if !t.solved() {
		if r.Score = clamp(t.score, -topScore, topScore); t.low > 0 {
			r.Score = topScore
		} else if t.high < 0 {
			r.Score = -topScore
		}
		return r
	}
	r.Exact = true
	switch {
	case t.low > 0:
		r.Value = t.valueOf(game.Wins, game.WonIn(0)-t.low)
	case t.high < 0:
		r.Value = t.valueOf(game.Loses, t.high-game.LostIn(0))
	case t.s.fast != nil:
		a := t.s.fast
		r.Value = game.NewValue(game.Tie, a.Tiers()-a.Tier(t.root))
	default:
		r.Value = game.NewValue(game.Tie, len(t.line))
	}
	return r
}

// valueOf is a result of the player to move as the game's values say it.
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

package search

import (
	"sync"
	"sync/atomic"
)

// Workers search the same root, and share the table. Near the root each worker defers a
// move that another is searching, so that they search different parts of the tree; the
// results that it needs are in the table later. (T. Kerrigan, Simplified ABDADA, after
// J.-C. Weill, 1996.) The first worker to finish has the result.

// A round is one search by all workers.
type round struct {
	over  atomic.Bool
	inUse [1 << 10]atomic.Uint64 // keys of children that are being searched
	start func()                 // starts the other workers
	wait  sync.WaitGroup

	mu     sync.Mutex
	winner *worker
	score  int
}

// ends defines when a worker stops, and how far it searches.
type ends struct {
	clock   *clock
	round   *round
	budget  uint64 // maximum positions, compared with looked; 0: no limit
	alone   uint64 // start the others when looked reaches this number; 0: never
	apart   int    // workers avoid each other's children above this ply
	reach   int    // the ply from which forced moves are no longer followed
	late    int    // index of a position's first late move
	report  func() // reports the work so far; nil: not this worker
	stopped bool
}

// poll reports whether the worker must stop; all results on its stack are invalid then.
func (w *worker) poll() bool {
	if w.alone > 0 && w.looked >= w.alone {
		w.alone = 0
		w.round.start()
	}
	w.visited.Store(w.looked)
	if w.report != nil {
		w.report()
	}
	w.clock.yield()
	w.stopped = w.stopped || w.round.over.Load() || w.clock.due() || w.budget > 0 && w.looked >= w.budget
	return w.stopped
}

// slot returns the slot that marks a key.
func (r *round) slot(key uint64) *atomic.Uint64 {
	return &r.inUse[key*0x9e3779b97f4a7c15>>(64-10)]
}

func (r *round) enter(key uint64) { r.slot(key).Store(key + 1) }
func (r *round) leave(key uint64) { r.slot(key).Store(0) }

// busy reports whether another worker is searching a child.
func (r *round) busy(key uint64) bool { return r.slot(key).Load() == key+1 }

// putOff moves the first of the untried moves to the end.
func putOff(tried []int64) {
	first := tried[0]
	copy(tried, tried[1:])
	tried[len(tried)-1] = first
}

// look searches with one worker, and ends the round if it finishes first.
func (r *round) look(w *worker, alpha, beta, depth int) {
	score := w.look(0, alpha, beta, depth, w.node(0).Quick)
	if w.stopped {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.winner == nil {
		r.winner, r.score = w, score
		r.over.Store(true)
	}
}

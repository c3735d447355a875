package search

import (
	"sync"
	"sync/atomic"
)

// Workers search the same root, and share the table. Near the root each puts off a move
// that another is just searching, so that they part; what it needs of it is in the table
// later. (T. Kerrigan, Simplified ABDADA, after J.-C. Weill, 1996.) Whoever is through
// first has the answer.

// A round is one question asked of all workers.
type round struct {
	over  atomic.Bool
	inUse [1 << 10]atomic.Uint64 // keys of children that are being searched
	start func()                 // starts the others
	wait  sync.WaitGroup

	mu     sync.Mutex
	winner *worker
	score  int
}

// ends are why a worker ends.
type ends struct {
	clock   *clock
	round   *round
	budget  uint64 // of positions looked at, as it counts them; 0: any
	alone   uint64 // after so many the others are started; 0: never
	apart   int    // the ply from which on workers do not look what others do
	reach   int    // the ply from which on forced moves are no longer followed
	late    int    // the first of a position's moves that are late ones
	stopped bool
}

// poll reports whether the worker is to stop; all that is on its way up is void then.
func (w *worker) poll() bool {
	if w.alone > 0 && w.looked >= w.alone {
		w.alone = 0
		w.round.start()
	}
	w.stopped = w.stopped || w.round.over.Load() || w.clock.due() || w.budget > 0 && w.looked >= w.budget
	return w.stopped
}

// slot is where a key is noted.
func (r *round) slot(key uint64) *atomic.Uint64 {
	return &r.inUse[key*0x9e3779b97f4a7c15>>(64-10)]
}

func (r *round) enter(key uint64) { r.slot(key).Store(key + 1) }
func (r *round) leave(key uint64) { r.slot(key).Store(0) }

// busy reports whether another worker is at a child.
func (r *round) busy(key uint64) bool { return r.slot(key).Load() == key+1 }

// putOff moves the first of what is to be tried to the end.
func putOff(tried []int64) {
	first := tried[0]
	copy(tried, tried[1:])
	tried[len(tried)-1] = first
}

// look has a worker answer the question.
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

package search

import (
	"math/bits"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
)

// A worker is one thread of a search.
type worker struct {
	g       expander
	keyed   game.Keyed // nil if Expand sets the keys of the children
	t       *table
	without Techniques
	exact   bool // search to an exact depth, with the bare rules (game.Asked.Exact)
	nodes   []*game.Node
	ranked  [][]int64 // for each node: the order of its moves
	memory

	ends
	best     uint16 // the best move of the root so far
	found    bool   // best is set
	horizons uint64 // how often the search stopped at its depth limit

	// The numbers of nodes searched; of positions visited, including those that the game
	// visits in Expand; of table lookups; and of lookups that ended a part of the search.
	asked, looked, lookups, hits uint64
	visited                      atomic.Uint64 // a copy of looked, for the worker that reports
}

// node returns the node of a ply.
func (w *worker) node(ply int) *game.Node {
	for ply >= len(w.nodes) {
		n := new(game.Node)
		n.NoBounds, n.NoFold = w.without&Bounds != 0, w.without&Symmetry != 0
		w.nodes = append(w.nodes, n)
		w.ranked = append(w.ranked, nil)
	}
	return w.nodes[ply]
}

// look searches the node of a ply, and returns its score if that lies between alpha and
// beta. Otherwise it returns a bound: a result of at most alpha is an upper bound, one of
// at least beta a lower bound. It searches depth plies, or to the end if depth is the
// table's full depth. Quick positions are not stored in the table. The result is invalid if
// the worker was stopped.
func (w *worker) look(ply, alpha, beta, depth int, quick bool) int {
	n := w.node(ply)
	quick = quick || depth == 0 && w.keyed != nil // at the horizon a key takes longer to compute than it saves
	began, horizons := w.looked, w.horizons
	w.asked, w.looked = w.asked+1, w.looked+1
	if w.asked%pollNodes == 0 && w.poll() {
		return 0
	}

	// Probe the table.
	var first uint16 // the move to try first, plus one; 0: unknown
	if !quick {
		w.lookups++
		if e := w.t.get(n.Key); e != 0 {
			first = w.t.moveOf(e)
			if ply > 0 && w.usable(e, depth) {
				low, high := w.bounds(e, ply)
				if (low > alpha || high < beta) && w.t.depthOf(e) < w.t.full {
					w.horizons++ // a result that depends on a limited depth is itself of limited depth
				}
				if low >= beta || high <= alpha || low == high {
					w.hits++
					if high <= alpha {
						return high
					}
					return low
				}
				alpha, beta = max(alpha, low), min(beta, high)
			}
		}
	}

	// Ask the game.
	n.Alpha, n.Beta = fromHere(alpha, ply), fromHere(beta, ply)
	n.Exact, n.Leaf, n.Horizon = w.exact, depth == 0 && w.exact, depth == 0
	n.Beyond = 0
	w.g.Expand(n)
	w.looked += n.Beyond
	low, high := fromRoot(n.Low, ply), fromRoot(n.High, ply)
	switch {
	case low >= beta || low == high:
		return low
	case high <= alpha:
		return high
	case depth == 0 && (w.exact || len(n.Children) != 1 || ply >= w.reach):
		w.horizons++
		return clamp(w.g.Assess(n), low, high)
	}

	// Search the children.
	next := depth
	if depth > 0 && depth < w.t.full {
		next--
	}
	window := alpha
	alpha, beta = max(alpha, low), min(beta, high)
	best, move := -infinite, first
	children := n.Children
	if w.keyed != nil {
		if ply < w.apart {
			for i := range children {
				children[i].Key = w.keyed.KeyOf(&children[i].State)
			}
		}
	} else if len(children) > 1 && ply > 0 && w.without&Enhanced == 0 {
		children, best = w.lookUp(ply, children, alpha, beta, next)
	}
	if best < beta {
		tried := w.order(ply, children, first)
		asked := len(tried) // moves after the first asked ones have been deferred
		for i := 0; i < len(tried); i++ {
			c := &children[tried[i]&moveMask]
			if i > 0 && i < asked && ply < w.apart && w.round.busy(c.Key) {
				putOff(tried[i:])
				i, asked = i-1, asked-1
				continue
			}
			score := w.try(ply, i, c, alpha, beta, next)
			if w.stopped {
				return 0
			}
			if score <= best {
				continue
			}
			best = score
			if score <= alpha {
				continue
			}
			alpha, move = score, c.Move+1
			if ply == 0 {
				w.best, w.found = c.Move, true
			}
			if score >= beta {
				if i > 0 {
					w.refuted(ply, children, tried[:i+1])
				}
				w.killed(ply, c.Move)
				break
			}
		}
	}
	best = clamp(best, low, high)
	if quick || len(n.Children) == 1 {
		return best
	}
	if w.horizons == horizons && !w.exact {
		depth = w.t.full // the score is the same at any depth
	}
	low, high = best, best
	if best <= window {
		low = -infinite
	}
	if best >= beta {
		high = infinite
	}
	w.keep(n.Key, ply, low, high, depth, w.looked-began, move)
	return best
}

// try searches c, the ith child to be tried. If c is a late move, try first searches it
// less deep; then, unless it is the first, with a null window, to find out whether it is
// better than the best so far.
func (w *worker) try(ply, i int, c *game.Child, alpha, beta, depth int) (score int) {
	if less := w.less(i, depth); less > 0 {
		if score = w.child(ply, c, alpha, alpha+1, depth-less); score <= alpha || w.stopped {
			return score
		}
	}
	if i > 0 && beta-alpha > 1 {
		if score = w.child(ply, c, alpha, alpha+1, depth); score <= alpha || score >= beta {
			return score
		}
	}
	return w.child(ply, c, alpha, beta, depth)
}

// less returns by how many plies the first search of the ith move is reduced.
func (w *worker) less(i, depth int) int {
	switch {
	case i < w.late || depth < lateFrom || depth == w.t.full:
		return 0
	case i < w.late*lateMore || depth == lateFrom:
		return 1
	}
	return 2
}

// child searches a child as the node of the next ply.
func (w *worker) child(ply int, c *game.Child, alpha, beta, depth int) int {
	n := w.node(ply + 1)
	n.State, n.Key = c.State, c.Key
	if w.keyed != nil && ply >= w.apart && depth > 0 {
		n.Key = w.keyed.KeyOf(&n.State)
	}
	shared := ply < w.apart && !c.Quick
	if shared {
		w.round.enter(c.Key)
	}
	var score int
	if c.Again {
		score = w.look(ply+1, alpha, beta, depth, c.Quick)
	} else {
		score = -w.look(ply+1, -beta, -alpha, depth, c.Quick)
	}
	if shared {
		w.round.leave(c.Key)
	}
	return score
}

// lookUp looks up all children before one of them is searched, as an enhanced transposition
// cutoff (J. Schaeffer and A. Plaat, New advances in alpha-beta searching, 1996). If one
// refutes, it returns its score. Otherwise it returns the children left to search, and an
// upper bound on the best score of the others. It also loads all entries into the cache at
// once.
func (w *worker) lookUp(ply int, children []game.Child, alpha, beta, depth int) (left []game.Child, best int) {
	best = -infinite
	kept := 0
	for i := range children {
		c := &children[i]
		if !c.Quick {
			w.lookups++
			if e := w.t.get(c.Key); e != 0 && w.usable(e, depth) {
				low, high := w.bounds(e, ply+1)
				if !c.Again {
					low, high = -high, -low
				}
				if low >= beta || high <= alpha {
					w.hits++
					if w.t.depthOf(e) < w.t.full {
						w.horizons++
					}
					if low >= beta {
						return nil, low
					}
					best = max(best, high)
					continue
				}
			}
		}
		if kept != i {
			children[kept] = *c
		}
		kept++
	}
	return children[:kept], best
}

// usable reports whether an entry is deep enough for a search of the given depth.
func (w *worker) usable(e entry, depth int) bool {
	d := w.t.depthOf(e)
	return d >= depth && !w.exact || d == depth && w.t.ageOf(e) == exactAge
}

// bounds returns the bounds of an entry of a node at ply.
func (w *worker) bounds(e entry, ply int) (low, high int) {
	low, high = w.t.bounds(e)
	return fromRoot(low, ply), fromRoot(high, ply)
}

// keep stores the bounds of a node in the table, combined with those already stored for the
// same depth and kind of search.
func (w *worker) keep(key uint64, ply, low, high, depth int, work uint64, move uint16) {
	low, high = fromHere(low, ply), fromHere(high, ply)
	if e := w.t.get(key); e != 0 && w.t.depthOf(e) == depth && (w.t.ageOf(e) == exactAge) == w.exact {
		l, h := w.t.bounds(e)
		low, high = max(low, l), min(high, h)
	}
	w.t.put(key, w.t.pack(low, high, depth, min(bits.Len64(work), 1<<workBits-1), move))
}

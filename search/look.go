package search

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// A worker is one thread of a search.
type worker struct {
	g       expander
	keyed   game.Keyed // nil, if children have their keys
	t       *table
	without Techniques
	exact   bool // a depth is exactly that depth
	nodes   []*game.Node
	ranked  [][]int64 // of each node: the order of its moves
	memory

	ends
	best     uint16 // the best move of the root so far,
	found    bool   // if there is one
	horizons uint64 // how often a search ended where play goes on

	asked, looked, lookups, hits uint64 // times that the game was; positions, its own too; in the table; found
}

// node is the node of a ply.
func (w *worker) node(ply int) *game.Node {
	for ply >= len(w.nodes) {
		n := new(game.Node)
		n.NoBounds, n.NoFold = w.without&Bounds != 0, w.without&Symmetry != 0
		w.nodes = append(w.nodes, n)
		w.ranked = append(w.ranked, nil)
	}
	return w.nodes[ply]
}

// look is the score of the node of a ply, if it lies between alpha and beta; otherwise a
// bound: if not above alpha, the score is no better; if not below beta, it is no worse. It
// looks depth plies ahead; to the end, if that is the table's full depth. What is quick
// is not in the table. All that it returns once the worker is stopped is void.
func (w *worker) look(ply, alpha, beta, depth int, quick bool) int {
	n := w.node(ply)
	quick = quick || depth == 0 && w.keyed != nil // at the horizon a key takes longer than it saves
	began, horizons := w.looked, w.horizons
	w.asked, w.looked = w.asked+1, w.looked+1
	if w.asked%pollNodes == 0 && w.poll() {
		return 0
	}

	// What the table knows.
	var first uint16 // the move to try first, plus one; 0: none is known
	if !quick {
		w.lookups++
		if e := w.t.get(n.Key); e != 0 {
			first = w.t.moveOf(e)
			if ply > 0 && w.usable(e, depth) {
				low, high := w.bounds(e, ply)
				if (low > alpha || high < beta) && w.t.depthOf(e) < w.t.full {
					w.horizons++ // what follows from a bound of a depth is of a depth
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

	// What the game knows.
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

	// What looking ahead tells.
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
		asked := len(tried) // what comes after them has been put off
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
		depth = w.t.full // it is the same to any depth
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

// try is the score of the child of a node that is the ith to be tried: asked first whether
// it is better than the best so far, less far ahead if it is a late one.
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

// less is how many plies less far the ith move is looked at first.
func (w *worker) less(i, depth int) int {
	switch {
	case i < w.late || depth < lateFrom || depth == w.t.full:
		return 0
	case i < w.late*lateMore || depth == lateFrom:
		return 1
	}
	return 2
}

// child looks at a child, which is the next ply's node.
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

// lookUp looks all children up before any is searched, an enhanced transposition cutoff
// (J. Schaeffer and A. Plaat, New advances in alpha-beta searching, 1996). It returns a
// score if one refutes, and otherwise what is left to search, with the best that the
// others can be. It also brings what will be looked up next into the cache, all at once.
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

// usable reports whether an entry tells enough for a search of a depth.
func (w *worker) usable(e entry, depth int) bool {
	d := w.t.depthOf(e)
	return d >= depth && !w.exact || d == depth && w.t.ageOf(e) == exactAge
}

// bounds are what an entry of a node says.
func (w *worker) bounds(e entry, ply int) (low, high int) {
	low, high = w.t.bounds(e)
	return fromRoot(low, ply), fromRoot(high, ply)
}

// keep puts what is known of a node into the table, with what is known there of the same
// depth and kind.
func (w *worker) keep(key uint64, ply, low, high, depth int, work uint64, move uint16) {
	low, high = fromHere(low, ply), fromHere(high, ply)
	if e := w.t.get(key); e != 0 && w.t.depthOf(e) == depth && (w.t.ageOf(e) == exactAge) == w.exact {
		l, h := w.t.bounds(e)
		low, high = max(low, l), min(high, h)
	}
	w.t.put(key, w.t.pack(low, high, depth, min(bits.Len64(work), 1<<workBits-1), move))
}

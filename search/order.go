package search

import (
	"math"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// Moves are searched in the order of what promises most: that of the table first; then by
// the rank that the game gives it (threats, say), and by how often a stone on its square
// has refuted the opponent's last move anywhere (J. Schaeffer, The history heuristic,
// 1989; counted as J. Tromp's Fhourstones does); and, if the game wants it, whether it was
// one of the two that refuted last so far from the root.

// memory is what a worker learns of moves in the course of a search.
type memory struct {
	past    [2][]int32  // counts of whoever moves at even, and at odd plies, by square
	killers [][2]uint16 // of each ply: the moves that refuted last, plus one
	killer  int32       // what they add to their rank; 0: there are none
}

// squares is of how many squares counts are kept if the game does not say.
const squares = 1 << 8

// learn begins anew.
func (m *memory) learn(t game.Traits) {
	if t.Squares == 0 {
		t.Squares = squares
	}
	for i := range m.past {
		if m.past[i] == nil {
			m.past[i] = make([]int32, t.Squares)
		}
		clear(m.past[i])
	}
	clear(m.killers)
}

// killersOf are the killers of a ply.
func (m *memory) killersOf(ply int) *[2]uint16 {
	for ply >= len(m.killers) {
		m.killers = append(m.killers, [2]uint16{})
	}
	return &m.killers[ply]
}

// killed learns that a move has refuted at a ply.
func (m *memory) killed(ply int, move uint16) {
	if m.killer == 0 {
		return
	}
	if k := m.killersOf(ply); k[0] != move+1 {
		k[0], k[1] = move+1, k[0]
	}
}

// most is how far a count may go: what is learnt decays as it gets there.
const most = 1 << 14

// moveMask is the part of a ranked move that is its number among the children.
const (
	moveBits = 16
	moveMask = 1<<moveBits - 1
)

// fewMoves is up to how many moves insertion sorts fastest.
const fewMoves = 24

// order ranks the children of a node, the best first.
func (w *worker) order(ply int, children []game.Child, first uint16) []int64 {
	o := w.ranked[ply][:0]
	past := w.past[ply&1]
	killers := [2]uint16{}
	if w.killer != 0 {
		killers = *w.killersOf(ply)
	}
	for i := range children {
		c := &children[i]
		rank := int64(0)
		if w.without&Threats == 0 {
			rank = int64(c.Rank)
		}
		if w.without&History == 0 {
			rank += int64(past[c.Square] >> historyShift)
		}
		if w.killer != 0 && (c.Move+1 == killers[0] || c.Move+1 == killers[1]) {
			rank += int64(w.killer)
		}
		if c.Move+1 == first && w.without&TableMove == 0 {
			rank = 1 << 32
		}
		v := -rank<<moveBits | int64(i)
		o = append(o, v)
		if len(children) > fewMoves {
			continue
		}
		j := i
		for ; j > 0 && o[j-1] > v; j-- {
			o[j] = o[j-1]
		}
		o[j] = v
	}
	if len(children) > fewMoves {
		slices.Sort(o)
	}
	w.ranked[ply] = o
	return o
}

// refuted learns that of the moves tried the last refuted, and the others did not.
func (w *worker) refuted(ply int, children []game.Child, tried []int64) {
	past := w.past[ply&1]
	last := len(tried) - 1
	for i, v := range tried {
		h := &past[children[v&moveMask].Square]
		if i < last {
			*h -= step + *h*step/most
		} else {
			*h += int32(last) * (step - *h*step/most)
		}
	}
}

// historyShift makes a count a rank: all of it is worth two columns nearer to the middle,
// say, and much less than a threat.
const historyShift = 7

// step is how much a move that was tried in vain counts.
const step = 64

// Late moves (E. A. Heinz, Scalable Search in Computer Chess, 2000, has the like) are
// looked at less far ahead with so many plies left at least; those that come so many times
// later, by two plies.
const (
	lateFrom = 2
	lateMore = 3
)

// notLate is when no move is a late one.
const notLate = math.MaxInt

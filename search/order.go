package search

import (
	"math"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// Moves are searched in order of promise: the table's move first; then by the sum of the
// rank that the game gives them (for threats, for example), of how often a piece on the same square
// has refuted the opponent's last move anywhere (J. Schaeffer, The history heuristic, 1989;
// counted as in J. Tromp's Fhourstones) and, if the game sets Traits.Killer, a bonus for
// the last two moves that refuted at the same ply.

// memory is what a worker learns about moves during a search.
type memory struct {
	past    [2][]int32  // history counts by square, for even and for odd plies
	killers [][2]uint16 // for each ply: the last two moves that refuted, plus one
	killer  int32       // what killers add to the rank; 0: no killers are kept
}

// squares is the default number of squares with history counts.
const squares = 1 << 8

// learn resets the memory for a new search.
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

// killersOf returns the killers of a ply.
func (m *memory) killersOf(ply int) *[2]uint16 {
	for ply >= len(m.killers) {
		m.killers = append(m.killers, [2]uint16{})
	}
	return &m.killers[ply]
}

// killed records that a move has refuted at a ply.
func (m *memory) killed(ply int, move uint16) {
	if m.killer == 0 {
		return
	}
	if k := m.killersOf(ply); k[0] != move+1 {
		k[0], k[1] = move+1, k[0]
	}
}

// most is the limit of a history count: counts decay as they approach it.
const most = 1 << 14

// moveMask selects the index of the child from a ranked move.
const (
	moveBits = 16
	moveMask = 1<<moveBits - 1
)

// fewMoves is the number of moves up to which insertion sort is fastest.
const fewMoves = 24

// order sorts the children of a node, the best first.
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

// refuted records that the last of the moves tried was a refutation, and the others were
// not.
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

// historyShift scales a count to a rank: the largest count is worth about as much as two
// columns nearer to the centre, and much less than a threat.
const historyShift = 7

// step is the change of a history count for a move that was tried in vain.
const step = 64

// Late moves are searched one ply less deep if at least lateFrom plies are left (E. A.
// Heinz, Scalable Search in Computer Chess, 2000, has a similar technique), and two plies
// less if more than lateFrom plies are left and the move's index is at least lateMore times
// that of the first late move.
const (
	lateFrom = 2
	lateMore = 3
)

// notLate is the index of the first late move if there are none.
const notLate = math.MaxInt

package search

import "github.com/treereduce/treereduce/game"

// Moves are searched in the order of what promises most: that of the table first; then by
// the rank that the game gives it (threats, say), and by how often a stone on its square
// has refuted the opponent's last move anywhere (J. Schaeffer, The history heuristic,
// 1989; counted as J. Tromp's Fhourstones does).

// history counts by player and square.
type history [2][256]int32

// most is how far a count may go: what is learnt decays as it gets there.
const most = 1 << 14

// moveMask is the part of a ranked move that is its number among the children.
const (
	moveBits = 16
	moveMask = 1<<moveBits - 1
)

// order ranks the children of a node, the best first.
func (w *worker) order(ply int, children []game.Child, first uint16, known bool) []int64 {
	o := w.ranked[ply][:0]
	past := &w.past[ply&1]
	for i := range children {
		c := &children[i]
		rank := int64(0)
		if w.without&Threats == 0 {
			rank = int64(c.Rank)
		}
		if w.without&History == 0 {
			rank += int64(past[c.Square] >> historyShift)
		}
		if known && c.Move == first && w.without&TableMove == 0 {
			rank = 1 << 32
		}
		v := rank<<moveBits | int64(i)
		o = append(o, v)
		j := i
		for ; j > 0 && o[j-1]>>moveBits < rank; j-- {
			o[j] = o[j-1]
		}
		o[j] = v
	}
	w.ranked[ply] = o
	return o
}

// refuted learns that of the moves tried the last refuted, and the others did not.
func (w *worker) refuted(ply int, children []game.Child, tried []int64) {
	past := &w.past[ply&1]
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

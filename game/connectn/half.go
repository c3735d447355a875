package connectn

import (
	"math"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A position is stored if it has at most as many pieces in the left half of the columns, a, as
// in the right half, b; a middle column counts for neither. It is balanced if a = b.
//
//	7×5:   column   0   1   2   3   4   5   6         5×5:   0   1   2   3   4
//	                '- left -'  |   '- right -'              left  |    right
//	                '--- range ---' '-- low --'              range  '-- low --'
//
// A drop on the left leaves a ≤ b only from a = b, and a piece that was dropped on the right
// came from a > b only if now a = b. If all low columns belong to the right half, a range
// determines a and b, so its positions are all stored or none. Otherwise it depends on the slot.

var _ game.Halved = (*Rules)(nil)

// halfSets are the stored and the balanced slots of a space.
type halfSets struct{ stored, balanced block.Set }

// halfWays are the ways to fill the columns of the range in the left half, and the others.
type halfWays struct{ left, others columnWays }

// halves returns how many of n pieces in column c are in the left half, and in the right half.
func (r *Rules) halves(c, n int) (a, b int) {
	switch half := r.width / 2; {
	case c < half:
		return n, 0
	case c >= r.width-half:
		return 0, n
	}
	return 0, 0
}

// halvesOf returns the numbers of pieces in the left and in the right half among the columns
// from c to before end.
func (r *Rules) halvesOf(p game.Position, c, end int) (a, b int) {
	for ; c < end; c++ {
		n, _ := pieces(r.column(p, c))
		na, nb := r.halves(c, n)
		a, b = a+na, b+nb
	}
	return a, b
}

// Stored returns the slots with a ≤ b, and those with a = b.
func (l *layout) Stored(tier int, rng uint64) (stored, balanced block.Set) {
	s := l.spaceOf(tier, rng)
	if s == nil {
		return nil, nil
	}
	r, first := l.rules, l.rules.width-l.columns
	a, b := r.halvesOf(rng<<l.LowBits(), 0, first)
	if l.columns <= r.width/2 {
		all := l.halfSets(s, 0).stored
		for c := range first {
			n, _ := pieces(r.column(rng<<l.LowBits(), c))
			tier -= n
		}
		switch b += tier; { // now tier is the number of pieces in the low columns
		case a > b:
			return nil, nil
		case a < b:
			return all, nil
		}
		return all, all
	}
	sets := l.halfSets(s, a)
	return sets.stored, sets.balanced
}

// halfSets returns the sets of a space for a number of pieces in the left half of the range, and
// makes them the first time. If all low columns belong to the right half, all slots are stored.
func (l *layout) halfSets(s *space, a int) *halfSets {
	if sets := s.halves[a].Load(); sets != nil {
		return sets
	}
	words := block.Words(len(s.low))
	sets := &halfSets{make(block.Set, words), make(block.Set, words)}
	for slot := range s.low {
		if s.more == nil || a <= int(s.more[slot]) {
			sets.stored.Add(slot)
		}
		if s.more != nil && a == int(s.more[slot]) {
			sets.balanced.Add(slot)
		}
	}
	if sets.stored.Empty() {
		sets.stored = nil
	}
	if sets.balanced.Empty() {
		sets.balanced = nil
	}
	s.halves[a].Store(sets)
	return sets
}

// Slot returns the slot of a low part.
func (l *layout) Slot(low uint32) int { return int(l.slots[low]) }

// storedWays returns the number of ways to put pieces into column c and those to its right so
// that a ≤ b, if there are a pieces in the left half before it and b in the right half, ignoring
// colours.
func (r *Rules) storedWays(c, a, b, pieces int) float64 {
	half := r.width / 2
	left := r.allWays(max(0, half-c), pieces)
	middle := r.allWays(max(0, r.width-half-max(c, half)), pieces)
	right := r.allWays(r.width-max(c, r.width-half), pieces)
	sum := 0.0
	for i, n := range left {
		for j := max(0, a+i-b); n > 0 && i+j <= pieces; j++ {
			sum += n * right[j] * middle[pieces-i-j]
		}
	}
	return sum
}

// HalfSlots returns the number of ways to place the pieces of a tier so that a ≤ b, including
// their colours.
func (l *layout) HalfSlots(tier int) float64 {
	return l.rules.storedWays(0, 0, 0, tier) * choose(tier, (tier+1)/2)
}

// HalfRanges counts ways to fill the columns of the range as Ranges does, but only those with
// which a ≤ b is possible.
func (l *layout) HalfRanges(tier int) float64 {
	l.columnsOnce.Do(l.countColumns)
	r, x, sum := l.rules, (tier+1)/2, 0.0
	last, half, low := r.TierToMove(tier).Other(), r.width/2, l.columns*r.height
	left, others := l.half.left, l.half.others
	onlyMiddle := r.width-l.columns == half+1 && r.width%2 == 1 // the others are the middle column
	for a := range min(len(left.open), tier+1) {
		for m := max(0, tier-a-low); m < min(len(others.open), tier-a+1); m++ {
			b := tier - a
			if onlyMiddle {
				b -= m
			}
			if a > min(b, half*r.height) {
				continue
			}
			for ax, open := range left.open[a] {
				for mx, more := range others.open[m] {
					if ax+mx <= x && x-ax-mx <= tier-a-m {
						sum += open*more + left.won[last][a][ax]*more + open*others.won[last][m][mx]
					}
				}
			}
		}
	}
	return min(sum, math.Pow(float64(r.width), float64(tier)))
}

// HalfBorder is like Border, but counts only slots with a ≤ b.
func (l *layout) HalfBorder(tier int, f float64) uint64 {
	return l.border(tier, f, l.rules.storedWays)
}

package connectn

import (
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

// HalfSlots returns the number of ways to place the pieces of a tier so that a ≤ b, including
// their colours.
func (l *layout) HalfSlots(tier int) float64 {
	half := l.rules.width / 2
	side, middle, sum := l.rules.allWays(half, tier), l.rules.allWays(l.rules.width-2*half, tier), 0.0
	for a := range side {
		for b := a; a+b <= tier; b++ {
			sum += side[a] * side[b] * middle[tier-a-b]
		}
	}
	return sum * choose(tier, (tier+1)/2)
}

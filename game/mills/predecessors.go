package mills

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// Predecessors appends the positions from which a move leads to p. Some cannot be reached.
func (r *rules) Predecessors(dst []game.Position, p game.Position) []game.Position {
	s := r.state(p)
	own, other, empty := s.men[s.mover().Other()], s.men[s.mover()], r.full&^(s.men[0]|s.men[1])
	closed := r.closed(own)
	for _, phase := range [...]int{s.phase - 1, s.phase + 1} {
		if phase < 0 || phase > s.phase && s.phase != r.all {
			continue
		}
		for men := own; men != 0; men &= men - 1 {
			to, from := men&-men, empty
			if phase < r.all {
				from = r.full + 1 // the hand
			} else if !r.flies || bits.OnesCount32(own) > fewest {
				from &= r.beside[bits.TrailingZeros32(to)]
			}
			for ; from != 0; from &= from - 1 {
				before := state{phase: phase}
				before.men[before.mover()] = (own&^to | from&-from) & r.full
				before.men[s.mover()] = other
				if closed&to == 0 {
					if r.valid(before) {
						dst = append(dst, r.key(before))
					}
					continue
				}
				for taken := empty &^ (from & -from); taken != 0; taken &= taken - 1 {
					before.men[s.mover()] = other | taken&-taken
					if r.free(other|taken&-taken)&taken&-taken != 0 && r.valid(before) {
						dst = append(dst, r.key(before))
					}
				}
			}
		}
	}
	return dst
}

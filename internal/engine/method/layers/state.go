package layers

import "github.com/treereduce/treereduce/game"

// A State is what is known of a position, the word of a row of States. It is decided, with a value,
// or open:
//
//	bit 0       1: decided; the value is in the bits above
//	bit 1       the player to move
//	bit 2       blocked: a successor in a later tier, or one that the rules decide, is not lost for the player to move there
//	bit 3       a successor that the rules decide is a tie
//	bits 4, 5   the least number of plies to the end by a successor that the rules decide as won; 0: there is none
//	bits 6, 7   the largest number of plies to the end by a successor that the rules decide as lost; 0: there is none
//	bits 8-23   the number of successors in the same tier that have not been received as lost
//	bits 24-39  until messages from later tiers are received, the number of successors there; then the largest number
//	            of plies to the end by a lost successor
//
// Successors that the rules decide are in none of these numbers.
type State uint64

const (
	moverShift   = 1
	blockedBit   = 1 << 2
	tiedBit      = 1 << 3
	wonShift     = 4
	lostShift    = 6
	innerShift   = 8
	outerShift   = 24
	openStateMax = 1<<40 - 1
)

// decided returns the state of a position with a value.
func decided(v game.Value) State { return State(v)<<1 | 1 }

// opened returns the state of an open position with these numbers of successors, at most game.MaxMoves. known has the bits of the
// successors that the rules decide.
func opened(mover game.Player, known State, inner, outer int) State {
	return State(mover)<<moverShift | known | State(inner)<<innerShift | State(outer)<<outerShift
}

// Value returns the value of a position; 0: it is open.
func (s State) Value() game.Value {
	if s&1 == 0 {
		return 0
	}
	return game.Value(s >> 1)
}

// Mover returns the player to move at an open position.
func (s State) Mover() game.Player { return game.Player(s >> moverShift & 1) }

func (s State) blocked() bool { return s&blockedBit != 0 }

// won and lost return the numbers of plies to the end by a successor that the rules decide as won or lost, 0 to 2.
func (s State) won() int  { return int(s >> wonShift & 3) }
func (s State) lost() int { return int(s >> lostShift & 3) }

// inner and outer return the numbers of successors in the state of an open position.
func (s State) inner() int { return int(s >> innerShift & game.MaxMoves) }
func (s State) outer() int { return int(s >> outerShift & game.MaxMoves) }

// longest returns the largest number of plies to the end by a lost successor, in place of outer.
func (s State) longest() int { return s.outer() }

// with returns an open state after messages.
func (s State) with(inner, longest int) State {
	const numbers = 1<<innerShift - 1
	return s&numbers | State(inner)<<innerShift | State(longest)<<outerShift
}

// valid reports whether a State can be that of a position.
func (s State) valid() bool {
	if s&1 == 1 {
		v := s >> 1
		return v <= 1<<16-1 && game.Value(v).Valid()
	}
	return s <= openStateMax
}

package cs61b

import "fmt"

// The colors of players, numbered as in the hand-out.
const (
	Black = 0
	White = 1
)

// A Kind is the kind of a Move, numbered as in the hand-out's Move.java.
type Kind int

// The kinds of moves.
const (
	Quit Kind = iota // ends the game
	Add              // places a chip on X1, Y1
	Step             // moves the chip on X2, Y2 to X1, Y1
)

// A Move is one move of Network. Column X and row Y count from 0, at the top left.
type Move struct {
	Kind   Kind
	X1, Y1 int // where the chip is placed
	X2, Y2 int // of a Step: where the chip was
}

// NewAdd returns the Move that places a chip on column x, row y.
func NewAdd(x, y int) Move { return Move{Kind: Add, X1: x, Y1: y} }

// NewStep returns the Move of a chip from oldX, oldY to newX, newY.
func NewStep(newX, newY, oldX, oldY int) Move {
	return Move{Kind: Step, X1: newX, Y1: newY, X2: oldX, Y2: oldY}
}

// String returns the move as the hand-out prints it: "[add to 34]", "[step from 24 to 34]"
// or "[quit]".
func (m Move) String() string {
	switch m.Kind {
	case Add:
		return fmt.Sprintf("[add to %d%d]", m.X1, m.Y1)
	case Step:
		return fmt.Sprintf("[step from %d%d to %d%d]", m.X2, m.Y2, m.X1, m.Y1)
	}
	return "[quit]"
}

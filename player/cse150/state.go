// Package cse150 is the framework of a course's assignment on Mancala (UCSD, CSE 150,
// spring 2016), in Go: State and Action with the forms in which the course prints them,
// the two lines of its test cases, its six players by their names, and its game with its
// rule for whoever is late. It has rules of its own, move by move on a list of numbers as
// the hand-out has them; only the custom player is search's, and its game's
// (game/mancala).
package cse150

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The largest numbers of a State: any that a computer can sow.
const (
	MaxPits   = 1000
	MaxStones = 1_000_000 // in a place
)

// A State is a board, and whose turn it is. It is not written to once it is made.
type State struct {
	pits, stones int   // the M and N that were last set
	board        []int // row 0's pits and goal, row 1's
	row          int   // who is to move
}

// Initial is the board with so many pits a row, and so many stones in each: row 0 is to
// move. In the course's words it is State.initial(M, N).
func Initial(pits, stones int) (State, error) {
	switch {
	case pits < 1 || pits > MaxPits:
		return State{}, fmt.Errorf("expected 1 to %d pits a row, found %d", MaxPits, pits)
	case stones < 1 || stones > MaxStones:
		return State{}, fmt.Errorf("expected 1 to %d stones in each pit, found %d", MaxStones, stones)
	}
	row := append(slices.Repeat([]int{stones}, pits), 0)
	return State{pits: pits, stones: stones, board: append(slices.Clone(row), row...)}, nil
}

// With is another board of the same size, State(board, row): row 0's pits and goal, then
// row 1's. How many stones it has in all is its own affair.
func (s State) With(board []int, row int) (State, error) {
	if want := 2*s.pits + 2; len(board) != want {
		return State{}, fmt.Errorf("expected %d places for %d pits a row, found %d", want, s.pits, len(board))
	}
	if row != 0 && row != 1 {
		return State{}, fmt.Errorf("expected row 0 or 1 to move, found %d", row)
	}
	for i, n := range board {
		if n < 0 || n > MaxStones {
			return State{}, fmt.Errorf("expected 0 to %d stones in place %d, found %d", MaxStones, i, n)
		}
	}
	s.board, s.row = slices.Clone(board), row
	return s, nil
}

// Board is a copy of the stones of all places: row 0's pits and goal, then row 1's.
func (s State) Board() []int { return slices.Clone(s.board) }

// Row is who is to move.
func (s State) Row() int { return s.row }

// Pits is how many pits a row has.
func (s State) Pits() int { return s.pits }

// String is str(state): the list of the board.
func (s State) String() string { return list(s.board) }

// Repr is repr(state), three lines without an end: the top pits from right to left, the
// goals, the bottom pits.
func (s State) Repr() string {
	top := slices.Clone(s.board[s.pits+1 : 2*s.pits+1])
	slices.Reverse(top)
	text := list(top)
	return fmt.Sprintf("  %s\n%d %s %d\n  %s", text, s.board[2*s.pits+1], strings.Repeat(" ", len(text)), s.board[s.pits], list(s.board[:s.pits]))
}

// list is numbers as Python prints them.
func list(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// An Action is the move of a row: the number of the pit that is sown, or NoPit, which is
// the course's None, a pass.
type Action struct{ Row, Pit int }

// NoPit stands for the pit in a pass.
const NoPit = -1

// String is str(action): "Player 0 played at 2".
func (a Action) String() string {
	if a.Pit == NoPit {
		return "None"
	}
	return fmt.Sprintf("Player %d played at %d", a.Row, a.Pit)
}

// Repr is repr(action): "Action(0, 2)".
func (a Action) Repr() string {
	if a.Pit == NoPit {
		return "None"
	}
	return fmt.Sprintf("Action(%d, %d)", a.Row, a.Pit)
}

// goal is the place of a row's goal.
func (s State) goal(row int) int { return s.pits + row*(s.pits+1) }

// inRow reports whether a place is a pit of a row.
func (s State) inRow(place, row int) bool {
	first := row * (s.pits + 1)
	return first <= place && place < first+s.pits
}

// Actions are the moves that can be made, in the order of the pits; none where the row
// must pass, and when the game has ended.
func (s State) Actions() (list []Action) {
	for place, n := range s.board {
		if n > 0 && s.inRow(place, s.row) {
			list = append(list, Action{s.row, place})
		}
	}
	return list
}

// None is the pass of the row that is to move.
func (s State) None() Action { return Action{s.row, NoPit} }

// Check says what is wrong with a move; nil if it can be made. A pass can always be: as in
// the course, nobody looks whether there is a move.
func (s State) Check(a Action) error {
	if a.Pit == NoPit {
		return nil
	}
	if a.Row != s.row || !s.inRow(a.Pit, s.row) || s.board[a.Pit] == 0 {
		return fmt.Errorf("illegal action: %s", a.Repr())
	}
	return nil
}

// Result is the board after a move that Check allows.
func (s State) Result(a Action) State {
	after := s
	after.row = 1 - s.row
	if a.Pit == NoPit {
		return after
	}
	board := slices.Clone(s.board)
	at, stones := a.Pit, board[a.Pit]
	board[at] = 0
	// All rounds but the last give each place a stone, but for the opponent's goal.
	if round := len(board) - 1; stones > round {
		for place := range board {
			if place != s.goal(after.row) {
				board[place] += (stones - 1) / round
			}
		}
		stones = (stones-1)%round + 1
	}
	for stones > 0 {
		if at = (at + 1) % len(board); at != s.goal(after.row) {
			board[at]++
			stones--
		}
	}
	if across := 2*s.pits - at; s.inRow(at, s.row) && board[at] == 1 && board[across] > 0 {
		board[s.goal(s.row)] += 1 + board[across]
		board[at], board[across] = 0, 0
	}
	after.board = board
	return after
}

// Ended reports whether all pits are empty.
func (s State) Ended() bool {
	for place, n := range s.board {
		if n > 0 && place != s.goal(0) && place != s.goal(1) {
			return false
		}
	}
	return true
}

// Utility is what an ended game is worth to a row: 1 won, 0 a draw, -1 lost.
func (s State) Utility(row int) int {
	switch mine, yours := s.board[s.goal(row)], s.board[s.goal(1-row)]; {
	case mine > yours:
		return 1
	case mine < yours:
		return -1
	}
	return 0
}

// Evaluation is the hand-out's formula for a row, times 2·M·N: the stones in its goal and
// on its side, less those of the other row.
func (s State) Evaluation(row int) int {
	score := 0
	for place, n := range s.board {
		if place == s.goal(row) || s.inRow(place, row) {
			score += n
		} else {
			score -= n
		}
	}
	return score
}

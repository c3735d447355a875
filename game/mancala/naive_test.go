package mancala

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/testing/naive"
)

// naiveMancala is a second implementation of the game, written from the rules alone, with Pits
// pits in a row and Stones stones in each at the start.
//
// A board is a list as the player to move sees it: the player's pits in the order of
// sowing, the player's goal, the opponent's pits, the opponent's goal. After a move it is
// turned round.
type naiveMancala struct{ Pits, Stones int }

// A naiveValue is the value of a position for the player to move.
type naiveValue struct {
	naive.Worth
	// Stones is the final difference between the stones in the goals of the player and the
	// opponent, if both maximize it.
	Stones int
}

// Start returns the initial board.
func (m naiveMancala) Start() []byte {
	row := append(slices.Repeat([]byte{byte(m.Stones)}, m.Pits), 0)
	return append(slices.Clone(row), row...)
}

// Finished reports whether all pits are empty.
func (m naiveMancala) Finished(board []byte) bool {
	return int(board[m.Pits])+int(board[2*m.Pits+1]) == 2*m.Pits*m.Stones
}

// Moves returns the boards after each move, as the next player sees them, by the number of
// the pit, from 0; a pass has the number -1.
func (m naiveMancala) Moves(board []byte) map[int][]byte {
	moves := make(map[int][]byte)
	if m.Finished(board) {
		return moves
	}
	for pit := range m.Pits {
		if board[pit] == 0 {
			continue
		}
		// The places to sow, in a circle: all except the opponent's goal.
		after := slices.Clone(board)
		round := after[:2*m.Pits+1]
		last := pit
		round[pit] = 0
		for range board[pit] {
			last = (last + 1) % len(round)
			round[last]++
		}
		if last < m.Pits && round[last] == 1 {
			if across := 2*m.Pits - last; round[across] > 0 {
				round[m.Pits] += round[across] + 1
				round[last], round[across] = 0, 0
			}
		}
		moves[pit] = m.turn(after)
	}
	if len(moves) == 0 {
		moves[-1] = m.turn(board)
	}
	return moves
}

// turn returns a board as the other player sees it.
func (m naiveMancala) turn(board []byte) []byte {
	return append(slices.Clone(board[m.Pits+1:]), board[:m.Pits+1]...)
}

// State formats a board as the course prints it, with row to move.
func (m naiveMancala) State(board []byte, row int) string {
	if row == 1 {
		board = m.turn(board)
	}
	return fmt.Sprintf("State([%s], %d)", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(board)), ", "), "[]"), row)
}

// Solve returns the values of all boards that can be reached from the initial one. A winner
// shortens play, a loser delays the end. In a tie the players delay the end or, with
// tiesSoon, shorten play.
func (m naiveMancala) Solve(tiesSoon bool) map[string]naiveValue {
	known := make(map[string]naiveValue)
	m.solve(m.Start(), tiesSoon, known)
	return known
}

func (m naiveMancala) solve(board []byte, tiesSoon bool, known map[string]naiveValue) naiveValue {
	if s, ok := known[string(board)]; ok {
		return s
	}
	var best naiveValue
	if m.Finished(board) {
		best.Stones = int(board[m.Pits]) - int(board[2*m.Pits+1])
		best.Result = naive.Tie
		if best.Stones > 0 {
			best.Result = naive.Win
		} else if best.Stones < 0 {
			best.Result = naive.Lose
		}
	}
	for _, after := range m.Moves(board) {
		s := m.solve(after, tiesSoon, known)
		s.Stones = -s.Stones
		s.Remoteness++
		switch s.Result {
		case naive.Win:
			s.Result = naive.Lose
		case naive.Lose:
			s.Result = naive.Win
		}
		if best.Result == "" {
			best = s
			continue
		}
		best.Stones = max(best.Stones, s.Stones)
		if betterSowing(s.Worth, best.Worth, tiesSoon) {
			best.Worth = s.Worth
		}
	}
	known[string(board)] = best
	return best
}

// betterSowing reports whether the player to move prefers a to b.
func betterSowing(a, b naive.Worth, tiesSoon bool) bool {
	order := map[string]int{naive.Lose: 0, naive.Tie: 1, naive.Win: 2}
	if a.Result != b.Result {
		return order[a.Result] > order[b.Result]
	}
	if a.Result == naive.Win || a.Result == naive.Tie && tiesSoon {
		return a.Remoteness < b.Remoteness
	}
	return a.Remoteness > b.Remoteness
}

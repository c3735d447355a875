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
func (m naiveMancala) Solve(tiesSoon bool) map[string]naive.Worth {
	finished := func(board string) string {
		switch own, other := board[m.Pits], board[2*m.Pits+1]; {
		case !m.Finished([]byte(board)):
			return ""
		case own > other:
			return naive.Win
		case own < other:
			return naive.Lose
		}
		return naive.Tie
	}
	moves := func(board string) map[string]string {
		all := make(map[string]string)
		for pit, after := range m.Moves([]byte(board)) {
			all[fmt.Sprint(pit)] = string(after)
		}
		return all
	}
	return naive.SolveTexts(string(m.Start()), finished, moves, !tiesSoon)
}

// value returns the final difference between the stones in the goals of the player to move and of the opponent, if both maximize
// it. known has the values of boards without the stones in the goals, as futureOf finds them.
func (m naiveMancala) value(board []byte, known map[string]int) int {
	return int(board[m.Pits]) - int(board[2*m.Pits+1]) + futureOf(m, board, known)
}

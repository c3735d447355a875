package naive

import (
	"fmt"
	"slices"
	"strings"
)

// Mancala is the course's game with so many pits in a row, and so many stones in each at
// the start.
//
// A board here is a list as the player to move sees it: his pits in the order in which he
// sows, his goal, the other's pits, the other's goal. After a move it is turned round.
type Mancala struct{ Pits, Stones int }

// A Sowing is what a position of Mancala comes to, for the player to move.
type Sowing struct {
	Worth
	// Stones is how many stones more than the other's his goal has in the end, if both
	// play for stones.
	Stones int
}

// Start is the board before the first move.
func (m Mancala) Start() []byte {
	row := append(slices.Repeat([]byte{byte(m.Stones)}, m.Pits), 0)
	return append(slices.Clone(row), row...)
}

// Finished tells whether there is no stone in any pit.
func (m Mancala) Finished(board []byte) bool {
	return int(board[m.Pits])+int(board[2*m.Pits+1]) == 2*m.Pits*m.Stones
}

// Moves returns the boards to which the moves lead, as the next player sees them, by the
// number of the pit, from 0; a pass is the number -1.
func (m Mancala) Moves(board []byte) map[int][]byte {
	moves := make(map[int][]byte)
	if m.Finished(board) {
		return moves
	}
	for pit := range m.Pits {
		if board[pit] == 0 {
			continue
		}
		// The places that are sown, round and round: all but the other's goal.
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

// turn is a board as the other player sees it.
func (m Mancala) turn(board []byte) []byte {
	return append(slices.Clone(board[m.Pits+1:]), board[:m.Pits+1]...)
}

// State is a board as the course prints it, if this row is to move.
func (m Mancala) State(board []byte, row int) string {
	if row == 1 {
		board = m.turn(board)
	}
	return fmt.Sprintf("State([%s], %d)", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(board)), ", "), "[]"), row)
}

// Solve returns what every board that can be reached from the start comes to. A winner
// hastens the end, a loser delays it; who ties delays it, or with tiesSoon hastens it.
func (m Mancala) Solve(tiesSoon bool) map[string]Sowing {
	known := make(map[string]Sowing)
	m.solve(m.Start(), tiesSoon, known)
	return known
}

func (m Mancala) solve(board []byte, tiesSoon bool, known map[string]Sowing) Sowing {
	if s, ok := known[string(board)]; ok {
		return s
	}
	var best Sowing
	if m.Finished(board) {
		best.Stones = int(board[m.Pits]) - int(board[2*m.Pits+1])
		best.Result = Tie
		if best.Stones > 0 {
			best.Result = Win
		} else if best.Stones < 0 {
			best.Result = Lose
		}
	}
	for _, after := range m.Moves(board) {
		s := m.solve(after, tiesSoon, known)
		s.Stones = -s.Stones
		s.Remoteness++
		switch s.Result {
		case Win:
			s.Result = Lose
		case Lose:
			s.Result = Win
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

// betterSowing tells whether the player who moves likes a more than b.
func betterSowing(a, b Worth, tiesSoon bool) bool {
	order := map[string]int{Lose: 0, Tie: 1, Win: 2}
	if a.Result != b.Result {
		return order[a.Result] > order[b.Result]
	}
	if a.Result == Win || a.Result == Tie && tiesSoon {
		return a.Remoteness < b.Remoteness
	}
	return a.Remoteness > b.Remoteness
}

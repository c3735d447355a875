package dodgem

import (
	"fmt"
	"strings"

	"github.com/treereduce/treereduce/internal/testing/naive"
)

// naiveDodgem is a second implementation of the game, written from the rules alone, on a square
// board with that number of rows. A position is
// the text of its rows from the top, with "/" between them, a blank, and the player to
// move: ">../>../.^^ >". The cars > drive to the right and start in the left column, the
// cars ^ drive up and start in the bottom row.
type naiveDodgem int

// Solve returns the values of all positions that can be reached from the initial one.
func (d naiveDodgem) Solve() map[string]naive.Worth {
	n := int(d)
	var rows []string
	for range n - 1 {
		rows = append(rows, ">"+strings.Repeat(".", n-1))
	}
	rows = append(rows, "."+strings.Repeat("^", n-1))
	return naive.SolveTexts(strings.Join(rows, "/")+" >", d.Finished, d.Moves, false)
}

// Finished returns Lose if all cars of the opponent have left the board, Win if the player
// to move has no move, and otherwise "".
func (d naiveDodgem) Finished(text string) string {
	board, mover, _ := strings.Cut(text, " ")
	other := map[string]string{">": "^", "^": ">"}[mover]
	switch {
	case !strings.Contains(board, other):
		return naive.Lose
	case len(d.Moves(text)) == 0:
		return naive.Win
	}
	return ""
}

// Moves returns the positions after each move, by the names of the moves: the square of the
// car (a letter for the column, a number for the row from the top) and d, l, r or u for
// down, left, right or up.
func (d naiveDodgem) Moves(text string) map[string]string {
	board, mover, _ := strings.Cut(text, " ")
	rows := strings.Split(board, "/")
	moves := make(map[string]string)
	add := func(x, y, toX, toY int, direction string) {
		after := make([][]byte, len(rows))
		for i, row := range rows {
			after[i] = []byte(row)
		}
		after[y][x] = '.'
		if toX < len(rows) && toY >= 0 { // otherwise the car leaves the board
			after[toY][toX] = mover[0]
		}
		var lines []string
		for _, row := range after {
			lines = append(lines, string(row))
		}
		other := map[string]string{">": "^", "^": ">"}[mover]
		moves[fmt.Sprintf("%c%d%s", 'a'+x, y+1, direction)] = strings.Join(lines, "/") + " " + other
	}
	empty := func(x, y int) bool { return rows[y][x] == '.' }
	last := len(rows) - 1
	for y, row := range rows {
		for x := range row {
			switch {
			case row[x] != mover[0]:
			case mover == ">":
				if x == last || empty(x+1, y) {
					add(x, y, x+1, y, "r")
				}
				if y > 0 && empty(x, y-1) {
					add(x, y, x, y-1, "u")
				}
				if y < last && empty(x, y+1) {
					add(x, y, x, y+1, "d")
				}
			default:
				if y == 0 || empty(x, y-1) {
					add(x, y, x, y-1, "u")
				}
				if x > 0 && empty(x-1, y) {
					add(x, y, x-1, y, "l")
				}
				if x < last && empty(x+1, y) {
					add(x, y, x+1, y, "r")
				}
			}
		}
	}
	return moves
}

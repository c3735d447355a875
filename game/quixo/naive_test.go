package quixo

import (
	"fmt"
	"strings"

	"github.com/treereduce/treereduce/internal/testing/naive"
)

// naiveQuixo is a second implementation of the game, written from the rules alone, on a board
// with that number of rows. A position is the text of its rows from the top, with "/" between them, a
// blank, and the player to move: "X.O/.../... O".
type naiveQuixo int

// Solve returns the values of all positions that can be reached from the initial one.
func (q naiveQuixo) Solve() map[string]naive.Worth {
	return naive.SolveTexts(strings.Repeat("/"+strings.Repeat(".", int(q)), int(q))[1:]+" X", q.Finished, q.Moves, false)
}

// Finished returns Win if the player to move has a line, otherwise Lose if the other has one, otherwise "".
func (q naiveQuixo) Finished(text string) string {
	board, mover, _ := strings.Cut(text, " ")
	rows := strings.Split(board, "/")
	lines := append(append([]string{}, rows...), transposed(rows)...)
	var down, up string
	for i, row := range rows {
		down += row[i : i+1]
		up += row[len(row)-1-i : len(row)-i]
	}
	ended := ""
	for _, line := range append(lines, down, up) {
		switch line {
		case strings.Repeat(mover, int(q)):
			return naive.Win
		case strings.Repeat(other(mover), int(q)):
			ended = naive.Lose
		}
	}
	return ended
}

func other(player string) string { return map[string]string{"X": "O", "O": "X"}[player] }

// transposed returns the columns of rows, or the rows of columns.
func transposed(rows []string) []string {
	columns := make([]string, len(rows))
	for _, row := range rows {
		for x := range row {
			columns[x] += row[x : x+1]
		}
	}
	return columns
}

// Moves returns the positions after each move, by the names of the moves: the squares, a letter for the column
// and a number for the row from the top, from which a cube is taken and where it is pushed in.
func (q naiveQuixo) Moves(text string) map[string]string {
	board, mover, _ := strings.Cut(text, " ")
	moves := make(map[string]string)
	rows := strings.Split(board, "/")
	along := func(rows []string, square func(line, place int) string, join func([]string) string) {
		for line, row := range rows {
			for place := range row {
				inside := line > 0 && line < len(rows)-1 && place > 0 && place < len(row)-1
				if inside || row[place:place+1] == other(mover) {
					continue
				}
				left := row[:place] + row[place+1:]
				for end, pushed := range map[int]string{0: mover + left, len(row) - 1: left + mover} {
					if end != place {
						after := append([]string{}, rows...)
						after[line] = pushed
						moves[square(line, place)+"-"+square(line, end)] = join(after) + " " + other(mover)
					}
				}
			}
		}
	}
	name := func(x, y int) string { return fmt.Sprintf("%c%d", 'a'+x, y+1) }
	along(rows, func(line, place int) string { return name(place, line) }, func(rows []string) string { return strings.Join(rows, "/") })
	along(transposed(rows), name, func(columns []string) string { return strings.Join(transposed(columns), "/") })
	return moves
}

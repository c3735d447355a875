package naive

import (
	"math"
	"strings"
)

// MNK is m,n,k tic-tac-toe on a board with W columns and H rows: X and O in turn place a
// piece on any empty square, X first, and Connect pieces in a line win.
type MNK struct{ W, H, Connect int }

// Solve returns the value bytes of all positions that can be reached from the empty board,
// by their text, which is that of Connect N. The mover delays a tie, like a loss.
func (m MNK) Solve() map[string]byte {
	values, _ := solveAll(start(m.W, m.H, m.Connect), (*position).empty, math.MaxInt)
	return values
}

// empty returns the empty squares.
func (p *position) empty() (squares []int) {
	for i, piece := range p.squares {
		if piece == ' ' {
			squares = append(squares, i)
		}
	}
	return squares
}

// Rows formats a board with the text of Connect N as rows from the top with / between them,
// and a dot for an empty square.
func Rows(board string, w, h int) string {
	var rows []string
	for y := h - 1; y >= 0; y-- {
		row := ""
		for x := range w {
			row += board[x*h+y : x*h+y+1]
		}
		rows = append(rows, strings.ReplaceAll(row, " ", "."))
	}
	return strings.Join(rows, "/")
}

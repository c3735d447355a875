package naive

import "strings"

// MNK is m,n,k tic-tac-toe on a board with W columns and H rows: X and O in turn place a
// piece on any empty square, X first, and Connect pieces in a line win.
type MNK struct{ W, H, Connect int }

// Solve returns the value bytes of all positions that can be reached from the empty board,
// by their text, which is that of Connect N. The mover delays a tie, like a loss.
func (m MNK) Solve() map[string]byte {
	values := make(map[string]byte)
	m.solve(start(m.W, m.H, m.Connect), values)
	return values
}

// solve returns the value byte of p by minimax, and stores it.
func (m MNK) solve(p *position, values map[string]byte) byte {
	board := string(p.squares)
	if v, ok := values[board]; ok {
		return v
	}
	var best byte
	if result := p.finished(); result != 0 {
		best = value(result, 0)
	} else {
		mover := p.mover()
		for i := range p.squares {
			if p.squares[i] != ' ' {
				continue
			}
			p.squares[i] = mover
			result, remoteness := split(m.solve(p, values))
			p.squares[i] = ' '
			if v := value(result, remoteness+1); best == 0 || better(mover, v, best) {
				best = v
			}
		}
	}
	values[board] = best
	return best
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

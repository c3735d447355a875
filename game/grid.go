package game

import (
	"fmt"
	"strconv"
	"strings"
)

// A Grid is a board of squares, a1, b1, … in the first row at the top, a2, b2, … in the next.
// It provides the texts and pictures of games with such a board. The content of a square is an
// index into Pieces.
type Grid struct {
	Width, Height int     // at most 26 columns
	Pieces        string  // one byte per kind; the first is the empty square, usually '.'
	Owners        []Owner // the owners of Pieces; nil if they belong to neither player
}

// Square returns the name of the square in column x and row y, both from 0.
func (g Grid) Square(x, y int) string { return string(rune('a'+x)) + strconv.Itoa(y+1) }

// Lines returns the lines of n squares along a row, a column or a diagonal, as the
// coordinates x, y of their squares. If n is 1, each square is one line.
func (g Grid) Lines(n int) [][][2]int {
	directions := [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}}
	if n == 1 {
		directions = directions[:1]
	}
	var lines [][][2]int
	for y := range g.Height {
		for x := range g.Width {
			for _, d := range directions {
				endX, endY := x+(n-1)*d[0], y+(n-1)*d[1]
				if endX < 0 || endX >= g.Width || endY >= g.Height {
					continue
				}
				line := make([][2]int, n)
				for i := range line {
					line[i] = [2]int{x + i*d[0], y + i*d[1]}
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// Symmetries returns the reflections and rotations of the board, the identity among them: functions from a square to
// the one in its place.
func (g Grid) Symmetries() (all []func(x, y int) (int, int)) {
	const mirrored, upsideDown, transposed = 1, 2, 4
	kinds := mirrored | upsideDown
	if g.Width == g.Height {
		kinds |= transposed
	}
	for kind := range kinds + 1 {
		all = append(all, func(x, y int) (int, int) {
			if kind&mirrored != 0 {
				x = g.Width - 1 - x
			}
			if kind&upsideDown != 0 {
				y = g.Height - 1 - y
			}
			if kind&transposed != 0 {
				x, y = y, x
			}
			return x, y
		})
	}
	return all
}

// AppendText appends the rows, separated by /: "X.O/.X./...".
func (g Grid) AppendText(dst []byte, at func(x, y int) int) []byte {
	for y := range g.Height {
		if y > 0 {
			dst = append(dst, '/')
		}
		for x := range g.Width {
			dst = append(dst, g.Pieces[at(x, y)])
		}
	}
	return dst
}

// Parse reads the text of AppendText, which may be in single quotes; an empty square may also
// be ' ' or '_'. It calls put for each square that is not empty.
func (g Grid) Parse(text string, put func(x, y, piece int)) error {
	board := text
	if len(board) >= 2 && board[0] == '\'' && board[len(board)-1] == '\'' {
		board = board[1 : len(board)-1]
	}
	rows := strings.Split(board, "/")
	if len(rows) != g.Height {
		return fmt.Errorf("board %q: expected %d rows with / between them, found %d", text, g.Height, len(rows))
	}
	for y, row := range rows {
		if len(row) != g.Width {
			return fmt.Errorf("board %q: expected %d squares in row %d, found %d", text, g.Width, y+1, len(row))
		}
		for x := range len(row) {
			switch piece := strings.IndexByte(g.Pieces, row[x]); {
			case piece > 0:
				put(x, y, piece)
			case piece < 0 && row[x] != ' ' && row[x] != '_':
				return fmt.Errorf("board %q has %q on square %s, expected %s or a blank (%q, ' ', '_')",
					text, row[x], g.Square(x, y), strings.Join(strings.Split(g.Pieces[1:], ""), ", "), g.Pieces[0])
			}
		}
	}
	return nil
}

// Picture returns the board with letters above the columns and numbers to the left of the
// rows.
func (g Grid) Picture(at func(x, y int) int) Picture {
	pic := Picture{Rows: make([][]Square, g.Height)}
	for y := range pic.Rows {
		for x := range g.Width {
			piece := at(x, y)
			s := Square{Text: g.Pieces[piece : piece+1]}
			if g.Owners != nil {
				s.Owner = g.Owners[piece]
			}
			pic.Rows[y] = append(pic.Rows[y], s)
		}
	}
	return pic.WithCoordinates()
}

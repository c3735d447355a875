package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/board"
)

// A square is a square, a label of a column, or a mark at a label, as it is drawn.
type square struct {
	text     string
	lead     string // what fills the space to the left of the text
	style    lipgloss.Style
	link     string
	selected bool // drawn in brackets
}

// A row is a line of the board.
type row struct {
	y       int // in the picture
	left    string
	squares []square
	marks   bool // only the marks of moves at labels
}

// A grid is the board as it is drawn.
type grid struct {
	rows       []row
	cell, left int // the width of a square, and that of the labels on the left
}

// markWidth is the usual width of a mark.
const markWidth = 3

// board returns the board. Its squares are wide enough for marks, with and without them, so that the
// size stays the same; if that does not fit, as wide as necessary; if that does not fit, without marks.
func (m *model) board() grid {
	for _, least := range []int{markWidth, 0} {
		if b := gridOf(m.rows(m.marks), least); b.width() <= m.width-2*margin {
			return b
		}
	}
	return gridOf(m.rows(false), 0).unmarked()
}

// gridOf returns a grid of rows, with squares as wide as the widest, and at least as wide as least.
func gridOf(rows []row, least int) grid {
	b := grid{rows: rows, cell: least}
	for _, r := range rows {
		b.left = max(b.left, lipgloss.Width(r.left))
		for _, sq := range r.squares {
			b.cell = max(b.cell, lipgloss.Width(sq.text))
		}
	}
	return b
}

// width returns the number of columns that a grid takes.
func (b grid) width() int { return b.left + len(b.rows[0].squares)*(b.cell+1) + 1 }

// unmarked returns a grid without the rows of marks.
func (b grid) unmarked() grid {
	b.rows = slices.DeleteFunc(b.rows, func(r row) bool { return r.marks })
	return b
}

// window returns the part of a grid around a place that fits into lines and columns.
func (b grid) window(at board.Place, lines, columns int) grid {
	b.rows = window(b.rows, lines, slices.IndexFunc(b.rows, func(r row) bool { return r.y == at.Y }))
	for i := range b.rows {
		b.rows[i].squares = window(b.rows[i].squares, (columns-b.left-1)/(b.cell+1), at.X)
	}
	return b
}

// window returns the part of a list, around the index at, that has at most space elements.
func window[T any](all []T, space, at int) []T {
	space = min(max(space, 0), len(all))
	from := max(0, min(at-space/2, len(all)-space))
	return all[from : from+space]
}

// text returns the grid as text.
func (m *model) text(b grid) string {
	var lines []string
	dim, bold := m.in(quiet), m.in(plain).Bold(true)
	for _, r := range b.rows {
		line, end := dim.Render(fmt.Sprintf("%*s", b.left, r.left)), ""
		for _, sq := range r.squares {
			begin := ""
			if sq.selected {
				begin = "["
			}
			fill := strings.Repeat(sq.lead, 1+b.cell-len(begin+end)-lipgloss.Width(sq.text))
			line += bold.Render(end) + dim.Hyperlink(sq.link).Render(fill) + bold.Render(begin) + sq.style.Hyperlink(sq.link).Render(sq.text)
			if end = ""; sq.selected {
				end = "]"
			}
		}
		lines = append(lines, line+bold.Render(end))
	}
	return strings.Join(lines, "\n")
}

// focus returns the place that must be visible: that of the selected move or of the first one.
func (m *model) focus() board.Place {
	if len(m.spots) == 0 {
		return board.Place{}
	}
	return m.spots[max(m.selected, 0)].At
}

// rows returns the lines of the board: labels, squares, and marks of moves.
func (m *model) rows(marks bool) (rows []row) {
	pic := m.g.Picture(m.h.Position())
	height := len(pic.Rows)
	changed := slices.Clone(m.clicked)
	if before := m.h.Clone(); before.Undo() {
		changed = append(changed, board.Changes(m.g.Picture(before.Position()), pic)...)
	}
	squares := make([]row, height)
	for y, strokes := range pic.Strokes() {
		squares[y].y = y
		if pic.Left != nil {
			squares[y].left = pic.Left[y]
		}
		for x, sq := range pic.Rows[y] {
			out := m.square(sq, strokes[x], linkTo(x, y))
			out.style = out.style.Reverse(slices.Contains(pic.Won, [2]int{x, y})).Underline(slices.Contains(changed, board.Place{X: x, Y: y}))
			squares[y].squares = append(squares[y].squares, out)
		}
	}
	above, markAbove := m.labels(pic.Above, -1)
	below, markBelow := m.labels(pic.Below, height)
	for i, s := range m.spots {
		if !s.Known {
			continue
		}
		named, marked := below, markBelow
		switch {
		case s.At.Y < 0:
			named, marked = above, markAbove
		case s.At.Y < height:
			named, marked = squares[s.At.Y], squares[s.At.Y]
		}
		if i == m.selected {
			named.squares[s.At.X].selected = true
		}
		if marks && (s.Label || m.shows(i, s.At) && pic.Rows[s.At.Y][s.At.X].Text == game.Empty) {
			sq := &marked.squares[s.At.X]
			sq.text, sq.style = m.boardMark(i)
		}
	}
	rows = append(append([]row{markAbove, above}, squares...), below, markBelow)
	return slices.DeleteFunc(rows, func(r row) bool {
		return len(r.squares) == 0 || r.marks && !slices.ContainsFunc(m.spots, func(s board.Spot) bool { return s.Label && s.At.Y == r.y })
	})
}

// linkTo returns the link of a square.
func linkTo(x, y int) string { return fmt.Sprintf("square:%d,%d", x, y) }

// square returns a square of a picture, as it is drawn.
func (m *model) square(sq game.Square, stroke game.Stroke, link string) square {
	out := square{text: sq.Text, lead: stroke.Lead, link: link, style: m.in(plain).Bold(true)}
	switch {
	case sq.Kind == game.Gap:
		out.text, out.link, out.style = stroke.Text, "", m.in(quiet)
	case sq.Owner == game.OfFirst:
		out.style = m.in(first).Bold(true)
	case sq.Owner == game.OfSecond:
		out.style = m.in(second).Bold(true)
	case sq.Text == game.Empty:
		out.style = m.in(quiet)
	}
	return out
}

// labels returns the row of column labels, and a row for the marks of moves at them.
func (m *model) labels(texts []string, y int) (named, marks row) {
	named.y, marks.y, marks.marks = y, y, true
	for x, text := range texts {
		sq := square{text: text, lead: " ", style: m.in(quiet)}
		if text != "" {
			sq.link = linkTo(x, y)
		}
		named.squares = append(named.squares, sq)
		sq.text = ""
		marks.squares = append(marks.squares, sq)
	}
	return named, marks
}

// boardMark returns the mark of move i on the board.
func (m *model) boardMark(i int) (string, lipgloss.Style) {
	w, best := m.advice.Moves[i].Worth, i == m.advice.Best
	text, c := m.mark(w)
	switch {
	case best && !w.Known && w.Depth == 0:
		text = "*"
	case !w.Known && len(text) > markWidth: // so that the board keeps its size
		text = map[bool]string{true: "++", false: "--"}[w.Score > 0]
	}
	return text, m.in(c).Bold(best)
}

// shows reports whether the place at shows the mark of move i: of the selected move, or
// else of the best of the moves at that place. If no value is known for any of them, only
// the best move of all is shown.
func (m *model) shows(i int, at board.Place) bool {
	best := -1
	values, mover := m.g.Values(), m.h.Turn()
	for j, s := range m.spots {
		o := m.advice.Moves[j]
		switch {
		case !s.Known || s.At != at || !o.Known:
		case j == m.selected:
			return i == j
		case best < 0 || values.Better(mover, o.Child, m.advice.Moves[best].Child):
			best = j
		}
	}
	if best < 0 {
		return i == m.advice.Best
	}
	return i == best
}

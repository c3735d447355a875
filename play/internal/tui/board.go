package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/board"
)

// A square is a square, the label of a column, or the mark of a move at a label, as it is drawn.
type square struct {
	text  string
	style lipgloss.Style
	lead  string // what fills the space to the left of the text; "": blanks
	link  string
}

// A grid is the board as it is drawn. Row -1 of the squares has the labels above the picture, and the row after its
// last those below; the rows beyond these have the marks of moves at the labels.
type grid struct {
	game.Picture
	squares    map[board.Place]square
	xs, ys     []int // the columns and rows that are drawn
	cell, left int   // the width of a square, and that of the labels on the left
}

// markWidth is the usual width of a mark.
const markWidth = 3

// board returns the board. Its squares are wide enough for marks, with and without them, so that the
// size stays the same; if that does not fit, as wide as necessary; if that does not fit, without marks.
func (m *model) board() grid {
	for _, least := range []int{markWidth, 0} {
		if b := m.grid(m.values(), least); b.width() <= m.width-2*margin {
			return b
		}
	}
	return m.grid(false, 0).unmarked()
}

// grid returns the board, with squares as wide as the widest, and at least as wide as least.
func (m *model) grid(marks bool, least int) grid {
	b := grid{Picture: m.g.Picture(m.History().Position()), squares: make(map[board.Place]square), cell: least}
	changed := slices.Clone(m.clicked)
	if before := m.History().Clone(); before.Undo() {
		changed = append(changed, board.Changes(m.g.Picture(before.Position()), b.Picture)...)
	}
	for y, strokes := range b.Strokes() {
		for x, sq := range b.Rows[y] {
			at := board.Place{X: x, Y: y}
			out := square{sq.Text, m.in(plain).Bold(true), strokes[x].Lead, linkTo(at)}
			switch {
			case sq.Kind == game.Gap:
				out.text, out.style, out.link = strokes[x].Text, m.in(quiet), ""
			case sq.Owner == game.OfFirst:
				out.style = m.in(first).Bold(true)
			case sq.Owner == game.OfSecond:
				out.style = m.in(second).Bold(true)
			case sq.Text == game.Empty:
				out.style = m.in(quiet)
			}
			out.style = out.style.Reverse(slices.Contains(b.Won, [2]int{x, y})).Underline(slices.Contains(changed, at))
			b.squares[at] = out
		}
	}
	for y, labels := range map[int][]string{-1: b.Above, len(b.Rows): b.Below} {
		for x, text := range labels {
			at := board.Place{X: x, Y: y}
			label := square{text: text, style: m.in(quiet)}
			if text != "" {
				label.link = linkTo(at)
			}
			b.squares[at] = label
		}
	}
	for at, i := range m.marked() {
		sq, label := b.squares[at], m.spots[i].Label
		if label {
			sq.text = ""
			at.Y += cmp.Compare(at.Y, 0)
		}
		if o := m.advice.Moves[i]; marks && (label || sq.text == game.Empty && (o.Known || i == m.advice.Best)) {
			sq.text, sq.style = m.boardMark(i)
		}
		b.squares[at] = sq
	}
	for at, sq := range b.squares {
		b.xs, b.ys, b.cell = append(b.xs, at.X), append(b.ys, at.Y), max(b.cell, lipgloss.Width(sq.text))
	}
	slices.Sort(b.xs)
	slices.Sort(b.ys)
	b.xs, b.ys = slices.Compact(b.xs), slices.Compact(b.ys)
	for _, label := range b.Left {
		b.left = max(b.left, lipgloss.Width(label))
	}
	return b
}

// linkTo returns the link of a square.
func linkTo(at board.Place) string { return fmt.Sprintf("square:%d,%d", at.X, at.Y) }

// width returns the number of columns that a grid takes.
func (b grid) width() int { return b.left + len(b.xs)*(b.cell+1) + 1 }

// unmarked returns a grid without the rows of marks.
func (b grid) unmarked() grid {
	b.ys = slices.DeleteFunc(b.ys, func(y int) bool { return y < -1 || y > len(b.Rows) })
	return b
}

// window returns the part of a grid around a place that fits into lines and columns.
func (b grid) window(at board.Place, lines, columns int) grid {
	b.ys = window(b.ys, lines, slices.Index(b.ys, at.Y))
	b.xs = window(b.xs, (columns-b.left-1)/(b.cell+1), at.X)
	return b
}

// window returns the part of a list, around the index at, that has at most space elements.
func window[T any](all []T, space, at int) []T {
	space = min(max(space, 0), len(all))
	from := max(0, min(at-space/2, len(all)-space))
	return all[from : from+space]
}

// text returns the grid as text, with the selected move in brackets.
func (m *model) text(b grid) string {
	var lines []string
	dim, bold := m.in(quiet), m.in(plain).Bold(true)
	for _, y := range b.ys {
		label := ""
		if b.Left != nil && y >= 0 && y < len(b.Rows) {
			label = b.Left[y]
		}
		line, end := dim.Render(fmt.Sprintf("%*s", b.left, label)), ""
		for _, x := range b.xs {
			at, begin := board.Place{X: x, Y: y}, ""
			if m.selected >= 0 && m.spots[m.selected].Known && m.focus() == at {
				begin = "["
			}
			sq := b.squares[at]
			fill := strings.Repeat(cmp.Or(sq.lead, " "), 1+b.cell-len(begin+end)-lipgloss.Width(sq.text))
			line += bold.Render(end) + dim.Hyperlink(sq.link).Render(fill) + bold.Render(begin) + sq.style.Hyperlink(sq.link).Render(sq.text)
			end = strings.Replace(begin, "[", "]", 1)
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

// marked returns the move that is marked at each place of moves: one with a known value, the selected or else the best
// one of these; or the best of all.
func (m *model) marked() map[board.Place]int {
	before := func(i, j int) bool {
		a, b := m.advice.Moves[i], m.advice.Moves[j]
		switch {
		case a.Known != b.Known:
			return a.Known
		case !a.Known:
			return i == m.advice.Best
		case i == m.selected || j == m.selected:
			return i == m.selected
		}
		return m.g.Values().Better(m.History().Turn(), a.Child, b.Child)
	}
	at := make(map[board.Place]int)
	for i, s := range m.spots {
		if j, ok := at[s.At]; s.Known && (!ok || before(i, j)) {
			at[s.At] = i
		}
	}
	return at
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

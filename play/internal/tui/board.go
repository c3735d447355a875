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
}

// markWidth is the usual width of a mark.
const markWidth = 3

// board returns the board, and the lines and columns to the end of the selected move. Its squares are wide enough for marks; if
// that does not fit, they are as wide as necessary, without marks.
func (m *model) board(width int) (text string, bottom, right int) {
	pic := m.g.Picture(m.History().Position())
	left := lipgloss.Width(strings.Join(pic.Left, "\n"))
	var squares map[board.Place]square
	var xs, ys []int
	var cell int
	for _, cell = range []int{markWidth, 0} {
		squares, xs, ys = m.squares(pic, cell > 0), nil, nil
		for at, sq := range squares {
			xs, ys, cell = append(xs, at[0]), append(ys, at[1]), max(cell, lipgloss.Width(sq.text))
		}
		slices.Sort(xs)
		slices.Sort(ys)
		if xs, ys = slices.Compact(xs), slices.Compact(ys); left+len(xs)*(cell+1) <= width {
			break
		}
	}
	var lines []string
	for i, y := range ys {
		label := ""
		if pic.Left != nil && y >= 0 && y < len(pic.Rows) {
			label = pic.Left[y]
		}
		row := m.in(quiet).Render(fmt.Sprintf("%*s", left, label))
		for _, x := range xs {
			at := board.Place{x, y}
			sq, link := squares[at], fmt.Sprintf("square %d %d", x, y)
			if m.selected >= 0 && m.spots[m.selected].Known && m.spots[m.selected].At == at {
				sq.style, bottom, right = sq.style.Reverse(true), i+1, lipgloss.Width(row)+cell+1
			}
			fill := strings.Repeat(cmp.Or(sq.lead, " "), 1+cell-lipgloss.Width(sq.text))
			row += m.in(quiet).Hyperlink(link).Render(fill) + sq.style.Hyperlink(link).Render(sq.text)
		}
		lines = append(lines, row)
	}
	return strings.Join(lines, "\n"), bottom, right
}

// squares returns the squares of a picture, with the marks of moves in an analysis. Row -1 has the labels above the
// picture, and the row after its last those below; the rows beyond these have the marks of moves at the labels.
func (m *model) squares(pic game.Picture, marks bool) map[board.Place]square {
	h, all, changed := m.History(), make(map[board.Place]square), slices.Clone(m.clicked)
	if n := len(h.Names()); n > 0 {
		changed = append(changed, board.Changes(m.g.Picture(h.At(n-1)), pic)...)
	}
	for y, strokes := range pic.Strokes() {
		for x, sq := range pic.Rows[y] {
			text, c := sq.Text, [...]colour{plain, first, second}[sq.Owner]
			if sq.Kind == game.Gap {
				text = strokes[x].Text
			}
			if sq.Kind == game.Gap || text == game.Empty {
				c = quiet
			}
			at := board.Place{x, y}
			style := m.in(c).Bold(c != quiet).Reverse(slices.Contains(pic.Won, [2]int{x, y})).Underline(slices.Contains(changed, at))
			all[at] = square{text, style, strokes[x].Lead}
		}
	}
	for y, labels := range map[int][]string{-1: pic.Above, len(pic.Rows): pic.Below} {
		for x, text := range labels {
			all[board.Place{x, y}] = square{text, m.in(quiet), ""}
		}
	}
	if marks && m.Analysing {
		m.mark(all)
	}
	return all
}

// mark adds the marks of moves: at each place that of the selected move or else of the best, as far as is known.
func (m *model) mark(all map[board.Place]square) {
	moves := make(map[board.Place]int)
	for _, i := range m.advice.Order(m.g) {
		if _, ok := moves[m.spots[i].At]; m.spots[i].Known && (i == m.selected || !ok) {
			moves[m.spots[i].At] = i
		}
	}
	for at, i := range moves {
		w, sq, best := m.advice.Moves[i].Worth, all[at], i == m.advice.Best
		text := w.Short(m.g, m.advice.Position)
		if m.spots[i].Label {
			sq.text = ""
			at[1] += cmp.Compare(at[1], 0)
		}
		if m.Shows(m.advice) && (sq.text == "" || sq.text == game.Empty && (w.Known || best)) {
			if best && text == "?" {
				text = "*"
			} else if !w.Known && len(text) > markWidth { // so that the board keeps its size
				text = strings.Repeat(text[:1], 2)
			}
			sq.text, sq.style = text, m.in(m.colour(w)).Bold(best)
		}
		all[at] = sq
	}
}

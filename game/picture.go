package game

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Picture is a position as data for any kind of display, also as JSON: squares in rows and columns, and
// labels around them. String returns it as text.
type Picture struct {
	// Rows are the squares, row by row from the top, each from the left. All rows have
	// the same length.
	Rows [][]Square `json:"rows"`
	// Above and Below are the labels of the columns, Left those of the rows; nil if there
	// are none.
	Above, Below, Left []string
	// Won are the squares, by column and row, of the winning lines, if any: Line squares of each line, in
	// order. If Line is 0, they are all squares by which the game is won.
	Won [][2]int `json:"won"`
	// Line is the number of equal pieces in a row that win; 0 if rows do not win.
	Line int `json:"line"`
	// Links are lines that join squares, by column and row: along rows from the left, columns
	// and diagonals.
	Links [][][2]int `json:"links"`
}

// A Square is a place of a Picture.
type Square struct {
	Kind  SquareKind `json:"kind"`
	Text  string     `json:"text"`  // what to draw: "X", "-", "." for an empty square, "12" for twelve stones
	Owner Owner      `json:"owner"` // the owner of the piece, or of the square
	// Marked squares are drawn in brackets. Games mark none; the user interface does.
	Marked bool `json:"-"`
}

// A SquareKind is the purpose of a square.
type SquareKind uint8

// The kinds of squares.
const (
	Field SquareKind = iota // where pieces are during play
	Goal                    // where pieces are collected, or must go
	Gap                     // no square: nothing is drawn
)

// An Owner is the player to whom a piece or a square belongs.
type Owner uint8

// The owners. Nobody also stands for things that belong to both players.
const (
	Nobody Owner = iota
	OfFirst
	OfSecond
)

// OwnedBy returns the Owner that stands for p.
func OwnedBy(p Player) Owner { return OfFirst + Owner(p) }

// A Stroke is what text shows of links at a square.
type Stroke struct {
	Lead string // before the square: a blank, or the line of a link
	Text string // in place of a gap
}

// Strokes returns the strokes of all squares, row by row. A link between rows is shown only if there are
// gaps in it.
func (pic Picture) Strokes() [][]Stroke {
	strokes := make([][]Stroke, len(pic.Rows))
	for y, row := range pic.Rows {
		strokes[y] = slices.Repeat([]Stroke{{Lead: " "}}, len(row))
	}
	for _, link := range pic.Links {
		at, end := link[0], link[len(link)-1]
		dx, dy := cmp.Compare(end[0], at[0]), cmp.Compare(end[1], at[1])
		text := "─"
		switch {
		case dx == 0:
			text = "│"
		case dx == dy:
			text = "╲"
		case dy != 0:
			text = "╱"
		}
		for at != end {
			at = [2]int{at[0] + dx, at[1] + dy}
			s := &strokes[at[1]][at[0]]
			if pic.Rows[at[1]][at[0]].Kind == Gap {
				s.Text = text
			}
			if dy == 0 {
				s.Lead = text
			}
		}
	}
	return strokes
}

// String draws the picture. All columns have the same width, lines end with \n, and adjacent
// marked squares share one pair of brackets.
func (pic Picture) String() string {
	margin, cell := 0, 0
	for _, label := range pic.Left {
		margin = max(margin, utf8.RuneCountInString(label)+1)
	}
	for _, labels := range [][]string{pic.Above, pic.Below} {
		for _, label := range labels {
			cell = max(cell, utf8.RuneCountInString(label))
		}
	}
	for _, row := range pic.Rows {
		for _, s := range row {
			cell = max(cell, utf8.RuneCountInString(s.Text))
		}
	}
	var b strings.Builder
	line := func(left string, row []Square, strokes []Stroke) {
		var l strings.Builder
		if margin > 0 {
			fmt.Fprintf(&l, "%*s ", margin-1, left)
		}
		before := false
		for x, s := range append(slices.Clip(row), Square{}) {
			stroke := Stroke{Lead: " "}
			if x < len(strokes) {
				stroke = strokes[x]
			}
			switch {
			case s.Marked && !before:
				l.WriteByte('[')
			case before && !s.Marked:
				l.WriteByte(']')
			default:
				l.WriteString(stroke.Lead)
			}
			if before = s.Marked; x < len(row) {
				text := s.Text + stroke.Text
				l.WriteString(strings.Repeat(stroke.Lead, cell-utf8.RuneCountInString(text)) + text)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	labels := func(texts []string) {
		if texts == nil {
			return
		}
		var row []Square
		for _, text := range texts {
			row = append(row, Square{Text: text})
		}
		line("", row, nil)
	}
	labels(pic.Above)
	for y, strokes := range pic.Strokes() {
		left := ""
		if pic.Left != nil {
			left = pic.Left[y]
		}
		line(left, pic.Rows[y], strokes)
	}
	labels(pic.Below)
	return b.String()
}

// Empty is the Text of a Field without a piece, in games that do not count stones.
const Empty = "."

// WithCoordinates returns the picture with letters above the columns, if the alphabet has enough, and numbers to the
// left of the rows.
func (pic Picture) WithCoordinates() Picture {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	if width := len(pic.Rows[0]); width <= len(letters) {
		pic.Above = strings.Split(letters[:width], "")
	}
	for y := range pic.Rows {
		pic.Left = append(pic.Left, strconv.Itoa(y+1))
	}
	return pic
}

// WithLines returns the picture with all rows, columns and diagonals of n equal pieces in
// Won, and with n in Line.
func (pic Picture) WithLines(n int) Picture {
	pic.Line = n
	for _, line := range (Grid{Width: len(pic.Rows[0]), Height: len(pic.Rows)}).Lines(n) {
		piece := pic.Rows[line[0][1]][line[0][0]].Text
		if piece != Empty && !slices.ContainsFunc(line, func(at [2]int) bool { return pic.Rows[at[1]][at[0]].Text != piece }) {
			pic.Won = append(pic.Won, line...)
		}
	}
	return pic
}

// Threats returns, for each player, the squares by column and row on which one more of the player's
// pieces would make a row of Line.
func (pic Picture) Threats() (squares [2][][2]int) {
	if pic.Line < 2 {
		return squares
	}
	for _, line := range (Grid{Width: len(pic.Rows[0]), Height: len(pic.Rows)}).Lines(pic.Line) {
		var piece Square
		var empty [2]int
		free, pieces := 0, 0
		for _, at := range line {
			switch s := pic.Rows[at[1]][at[0]]; {
			case s.Text == Empty:
				empty = at
				free++
			case s.Owner != Nobody && (pieces == 0 || s == piece):
				piece = s
				pieces++
			}
		}
		if owner := piece.Owner; free == 1 && pieces == pic.Line-1 && !slices.Contains(squares[owner-OfFirst], empty) {
			squares[owner-OfFirst] = append(squares[owner-OfFirst], empty)
		}
	}
	return squares
}

// A Look describes how a Picture is drawn where there is more than text. The zero Look draws pieces as
// their text.
type Look struct {
	Square  string            `json:"square"`            // the shape of a square: cell (or ""), hole, pit, point or cube
	Pieces  map[string]string `json:"pieces"`            // the shape of each Square.Text: disc, cross, ring, across, upright, number, lion, giraffe, elephant, chick or hen; "*" stands for any other
	Sight   []string          `json:"sight,omitempty"`   // pieces of these texts see one another along lines, which are drawn
	Colours string            `json:"colours,omitempty"` // white-black or black-red, if the players are called by the colours of their pieces
	// Place is what an editor can put on squares that are no gaps: Empty and the pieces, or
	// Add and Take if squares have numbers. nil: there is no editor.
	Place []Square `json:"place,omitempty"`
}

// The texts in Look.Place that raise and lower a number by one.
const (
	Add  = "+1"
	Take = "-1"
)

// An Arranger is a Game whose squares do not determine the player to move.
type Arranger interface {
	Game
	// Arrange returns the text, for Parse, of the position with these squares and this player to
	// move. The squares are the texts of a Picture of this game, row by row from the top.
	Arrange(squares [][]string, turn Player) string
}

// Arrange returns the position with these squares, the texts of a Picture, row by row from the
// top. The player to move counts only in a game that is an Arranger. The text of a position of
// any other game must be the squares as Grid.AppendText writes them, or column by column from the
// left, each from the bottom up.
func Arrange(g Game, squares [][]string, turn Player) (Position, error) {
	rows := g.Picture(g.Start()).Rows
	if len(squares) != len(rows) {
		return 0, fmt.Errorf("expected a board of %d rows, found %d", len(rows), len(squares))
	}
	for y, row := range squares {
		if len(row) != len(rows[y]) {
			return 0, fmt.Errorf("row %d of the board: expected %d squares, found %d", y+1, len(rows[y]), len(row))
		}
		for x, text := range row {
			if gap := rows[y][x].Kind == Gap; gap != (text == "") || strings.ContainsAny(text, " \t\r\n\"") {
				return 0, fmt.Errorf("row %d of the board: square %d is %q", y+1, x+1, text)
			}
		}
	}
	if a, ok := g.(Arranger); ok {
		return g.Parse(a.Arrange(squares, turn))
	}
	columns := ""
	for x := range squares[0] {
		for _, row := range slices.Backward(squares) {
			if x < len(row) {
				columns += row[x]
			}
		}
	}
	for _, text := range []string{JoinRows(squares), columns} {
		p, err := g.Parse(text)
		if err == nil && slices.EqualFunc(squares, g.Picture(p).Rows, hasTexts) {
			return p, nil
		}
		if err != nil && len(text) == len(g.AppendText(nil, g.Start())) {
			return 0, err
		}
	}
	return 0, errors.New("no position looks like this")
}

// JoinRows returns the rows of a board with / between them, as Grid.AppendText writes them.
func JoinRows(squares [][]string) string {
	var rows []string
	for _, row := range squares {
		rows = append(rows, strings.Join(row, ""))
	}
	return strings.Join(rows, "/")
}

// hasTexts reports whether these are the texts of a row.
func hasTexts(texts []string, row []Square) bool {
	return slices.EqualFunc(texts, row, func(text string, s Square) bool { return s.Text == text })
}

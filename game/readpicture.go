package game

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unmarked takes the brackets out of a picture.
var unmarked = strings.NewReplacer("[", " ", "]", " ")

// ReadPicture reads a position of g as Picture.String draws it, marks and all, with or
// without the labels above and below. After it may come the line that the commands print
// below a board, which begins with its text in double quotes: this one is needed where the
// squares do not tell whose turn it is, as in Mancala. What follows that is passed over.
func ReadPicture(g Game, text string) (Position, error) {
	lines := strings.Split(strings.Trim(text, "\r\n"), "\n")
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `"`) }); i >= 0 {
		quoted, err := strconv.QuotedPrefix(lines[i])
		if err == nil {
			quoted, err = strconv.Unquote(quoted)
		}
		if err != nil {
			return 0, fmt.Errorf("line %d of the board: expected its text in double quotes, found %q", i+1, lines[i])
		}
		p, err := g.Parse(quoted)
		if err == nil && i > 0 && !drawsAs(g, p, lines[:i]) {
			err = fmt.Errorf("the board is not %q, which stands below it", quoted)
		}
		return p, err
	}
	squares, err := readSquares(g.Picture(g.Start()), lines)
	if err != nil {
		return 0, err
	}
	for _, write := range []func([][]string) string{byRows, byColumns} {
		board := write(squares)
		p, err := g.Parse(board)
		if err == nil && drawsAs(g, p, lines) {
			return p, nil
		}
		if err != nil && len(board) == len(g.AppendText(nil, g.Start())) {
			return 0, err
		}
	}
	return 0, errors.New("no position looks like this, or it is not known whose turn it is: the line below a board, with its text in double quotes, tells")
}

// drawsAs reports whether the picture of a position is that of these lines.
func drawsAs(g Game, p Position, lines []string) bool {
	pic := g.Picture(p)
	squares, err := readSquares(pic, lines)
	if err != nil {
		return false
	}
	drawn, err := readSquares(pic, strings.Split(pic.String(), "\n"))
	return err == nil && slices.EqualFunc(squares, drawn, slices.Equal)
}

// readSquares are the texts of the squares of a picture with the labels of another, row by
// row; of gaps there are none.
func readSquares(like Picture, lines []string) (rows [][]string, err error) {
	for _, line := range lines {
		if fields := PictureFields(line); len(fields) > 0 {
			rows = append(rows, fields)
		}
	}
	if len(rows) > len(like.Rows) && like.Above != nil && slices.Equal(rows[0], fieldsOf(like.Above)) {
		rows = rows[1:]
	}
	if last := len(rows) - 1; last >= len(like.Rows) && like.Below != nil && slices.Equal(rows[last], fieldsOf(like.Below)) {
		rows = rows[:last]
	}
	if len(rows) != len(like.Rows) {
		return nil, fmt.Errorf("expected a board of %d lines, found %d", len(like.Rows), len(rows))
	}
	for y, row := range rows {
		want := 0
		for _, s := range like.Rows[y] {
			if s.Text != "" {
				want++
			}
		}
		if like.Left != nil && len(row) > 1 && len(row) == want+1 && row[0] == like.Left[y] {
			rows[y] = row[1:]
		}
		if len(rows[y]) != want {
			return nil, fmt.Errorf("line %d of the board: expected %d squares, found %d", y+1, want, len(rows[y]))
		}
	}
	return rows, nil
}

// PictureFields are the texts of the squares and labels in a line of a picture, marked or
// not.
func PictureFields(line string) []string { return strings.Fields(unmarked.Replace(line)) }

// fieldsOf are labels that are no blanks.
func fieldsOf(labels []string) []string { return strings.Fields(strings.Join(labels, " ")) }

// byRows writes squares as a Grid does.
func byRows(rows [][]string) string {
	var texts []string
	for _, row := range rows {
		texts = append(texts, strings.Join(row, ""))
	}
	return strings.Join(texts, "/")
}

// byColumns writes them column by column from the left, each from the bottom up.
func byColumns(rows [][]string) string {
	var b strings.Builder
	for x := range rows[0] {
		for y := len(rows) - 1; y >= 0; y-- {
			if x < len(rows[y]) {
				b.WriteString(rows[y][x])
			}
		}
	}
	return b.String()
}

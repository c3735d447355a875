package game

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unmarked removes the brackets from a picture.
var unmarked = strings.NewReplacer("[", " ", "]", " ")

// ReadPicture parses a position of g as drawn by Picture.String, with or without the marks
// and the labels above and below. The line that the commands print below a board, which starts
// with the text of the position in double quotes, may follow. It is required if the squares
// do not show whose turn it is, as in Mancala. Everything after the quoted text is ignored.
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
	return 0, errors.New("no position looks like this, or the player to move is unknown: add the line below the board, with its text in double quotes")
}

// drawsAs reports whether these lines are the picture of p.
func drawsAs(g Game, p Position, lines []string) bool {
	pic := g.Picture(p)
	squares, err := readSquares(pic, lines)
	if err != nil {
		return false
	}
	drawn, err := readSquares(pic, strings.Split(pic.String(), "\n"))
	return err == nil && slices.EqualFunc(squares, drawn, slices.Equal)
}

// readSquares returns the texts of the squares in a picture, row by row and without gaps.
// The picture must have the same shape as like, and the same labels or none.
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

// PictureFields returns the texts of the squares and labels in a line of a picture,
// without the brackets of marked squares.
func PictureFields(line string) []string { return strings.Fields(unmarked.Replace(line)) }

// fieldsOf returns the labels that are not blank.
func fieldsOf(labels []string) []string { return strings.Fields(strings.Join(labels, " ")) }

// byRows writes the squares like Grid.AppendText.
func byRows(rows [][]string) string {
	var texts []string
	for _, row := range rows {
		texts = append(texts, strings.Join(row, ""))
	}
	return strings.Join(texts, "/")
}

// byColumns writes the squares column by column from the left, each from the bottom up.
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

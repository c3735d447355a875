// Package board finds the place of each move on the picture of a board, so that a click on the
// board can mean a move. Games do not provide these places: they are derived from the pictures
// before and after a move. The package knows nothing of the display, but contains the script that
// draws pictures in a browser, and its style sheet.
package board

import (
	_ "embed"
	"regexp"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// Script is the JavaScript module that draws a position in a browser.
//
//go:embed board.js
var Script []byte

// StyleSheet is the style sheet of a page with boards. It needs chart.StyleSheet.
//
//go:embed board.css
var StyleSheet string

// A Place is a square of a picture by its column and row. Row -1 is that of the labels
// above the board, and the row after the last that of the labels below.
type Place [2]int

// A Spot is the place of a move on the board. Games do not provide it: it is derived from
// the pictures before and after the move, from the labels, and from the name of the move.
type Spot struct {
	Name    string  `json:"name"`
	At      Place   `json:"at"`      // where the mark of the move is drawn
	Known   bool    `json:"known"`   // At is set; a move that changes nothing, like a pass, has no place
	Label   bool    `json:"label"`   // At is the label of a column that the move changes, and equals the name of the move
	Squares []Place `json:"squares"` // a click on one of them can mean the move: see Spots
	Path    bool    `json:"path"`    // the name contains at least two squares: a1-a4xd7
}

// Spots returns the spots of moves, in the same order. The squares of a move with a label are those of the column with its label;
// if there are labels above and below, those of the nearer half. The squares of a move with a path are those that its name
// contains, in this order, and those of another move are those that it changes.
func Spots(g game.Game, p game.Position, moves []game.Move) []Spot {
	before := g.Picture(p)
	all := make([]Spot, len(moves))
	for i, m := range moves {
		after := g.Picture(m.To)
		changed := Changes(before, after)
		s := Spot{Name: m.Name, Squares: changed}
		changes := func(x int) bool { return slices.ContainsFunc(changed, func(c Place) bool { return c[0] == x }) }
		if path := path(before, m.Name); path != nil {
			s.Squares, s.Path = path, true
		}
		if x := slices.Index(before.Below, m.Name); changes(x) {
			s.label(before, x, len(before.Rows))
		} else if x := slices.Index(before.Above, m.Name); changes(x) {
			s.label(before, x, -1)
		} else if s.Path {
			s.Known = true
			for _, c := range s.Squares { // where the piece is after the move
				if after.Rows[c[1]][c[0]].Text != game.Empty {
					s.At = c
				}
			}
		} else if len(changed) > 0 {
			s.At, s.Known = changed[0], true
			for _, c := range changed { // preferably where a piece is placed
				if before.Rows[c[1]][c[0]].Text == game.Empty && after.Rows[c[1]][c[0]].Text != game.Empty {
					s.At = c
					break
				}
			}
		}
		all[i] = s
	}
	return all
}

// label sets the place of a move to a label of a column.
func (s *Spot) label(pic game.Picture, x, y int) {
	s.At, s.Known, s.Label, s.Squares = Place{x, y}, true, true, nil
	for row := -1; row <= len(pic.Rows); row++ {
		if pic.Above == nil || pic.Below == nil || (y < 0) == (2*row < len(pic.Rows)) {
			s.Squares = append(s.Squares, Place{x, row})
		}
	}
}

// path returns the squares whose names, the labels of column and row, are in the name of a move, if there are at
// least two.
func path(pic game.Picture, move string) (places []Place) {
	squares := map[string]Place{}
	for y := range pic.Left {
		for x := range pic.Above {
			if pic.Left[y] != "" && pic.Above[x] != "" {
				squares[pic.Above[x]+pic.Left[y]] = Place{x, y}
			}
		}
	}
	for _, word := range words.FindAllString(move, -1) {
		if at, ok := squares[word]; ok {
			places = append(places, at)
		}
	}
	if len(places) < 2 {
		return nil
	}
	return places
}

// words are what may be the names of squares.
var words = regexp.MustCompile(`[a-z][0-9]+`)

// Changes returns the squares that differ.
func Changes(before, after game.Picture) []Place {
	places := []Place{}
	for y, row := range after.Rows {
		for x, s := range row {
			old := before.Rows[y][x]
			if old.Text != s.Text || old.Owner != s.Owner {
				places = append(places, Place{x, y})
			}
		}
	}
	return places
}

// meant returns the moves that clicks on squares can mean, and whether they mean exactly one. If paths begin at
// the first square, it is one of these. A path needs at least two clicks.
func meant(all []Spot, clicks []Place) (moves []int, one bool) {
	begins := func(s Spot) bool { return s.Path && s.Squares[0] == clicks[0] }
	begun := slices.ContainsFunc(all, begins)
	for i, s := range all {
		if begun == begins(s) && !slices.ContainsFunc(clicks, func(at Place) bool { return !slices.Contains(s.Squares, at) }) {
			moves = append(moves, i)
		}
	}
	return moves, len(moves) == 1 && (!all[moves[0]].Path || len(clicks) > 1)
}

// Click adds a click on a square to those before it; if they cannot mean a move together, the new one stands alone. move is
// the first of the moves that they can mean, as many as count, or after another click on the same square the one after
// selected; -1: there is none. play reports whether it is the only one, and a second click is not needed.
func Click(all []Spot, before []Place, at Place, selected int) (clicks []Place, count, move int, play bool) {
	again := slices.Contains(before, at)
	if clicks = before; !again {
		clicks = append(slices.Clone(before), at)
	}
	moves, one := meant(all, clicks)
	if len(moves) == 0 {
		clicks = []Place{at}
		moves, one = meant(all, clicks)
	}
	switch i := slices.Index(moves, selected); {
	case len(moves) == 0:
		return clicks, 0, -1, false
	case again && i >= 0:
		move = moves[(i+1)%len(moves)]
	default:
		move = moves[0]
	}
	return clicks, len(moves), move, one || again && len(moves) == 1
}

// Towards returns the index of the move whose place is nearest to that of move from in the
// direction dx, dy, each 1, 0 or -1. If there is none, it returns the next or the previous
// move.
func Towards(all []Spot, from, dx, dy int) int {
	best, least := -1, 0
	for i, s := range all {
		if !s.Known || !all[from].Known {
			continue
		}
		x, y := s.At[0]-all[from].At[0], s.At[1]-all[from].At[1]
		ahead, aside := x*dx+y*dy, x*dy+y*dx
		if far := ahead + 2*max(aside, -aside); ahead > 0 && (best < 0 || far < least) {
			best, least = i, far
		}
	}
	if best < 0 {
		best = (from + dx + dy + len(all)) % len(all)
	}
	return best
}

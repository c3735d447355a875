package tui

import (
	"slices"

	"github.com/treereduce/treereduce/game"
)

// A place is a square of a picture by its column and row. Row -1 is that of the labels
// above the board, and the row after the last that of the labels below.
type place struct{ x, y int }

// A spot is the place of a move on the board. Games do not provide it: it is derived from
// the pictures before and after the move, and from the labels.
type spot struct {
	at      place // where the mark of the move is drawn
	known   bool  // at is set; a move that changes nothing, like a pass, has no place
	label   bool  // at is a column label that equals the name of the move
	changed []place
}

// spots returns the spots of moves, in the same order.
func spots(g game.Game, p game.Position, moves []game.Move) []spot {
	before := g.Picture(p)
	all := make([]spot, len(moves))
	for i, m := range moves {
		after := g.Picture(m.To)
		s := spot{changed: changes(before, after)}
		if x := slices.Index(before.Below, m.Name); x >= 0 {
			s.at, s.known, s.label = place{x, len(before.Rows)}, true, true
		} else if x := slices.Index(before.Above, m.Name); x >= 0 {
			s.at, s.known, s.label = place{x, -1}, true, true
		} else if len(s.changed) > 0 {
			s.at, s.known = s.changed[0], true
			for _, c := range s.changed { // preferably where a piece is placed
				if before.Rows[c.y][c.x].Text == game.Empty && after.Rows[c.y][c.x].Text != game.Empty {
					s.at = c
					break
				}
			}
		}
		all[i] = s
	}
	return all
}

// changes returns the squares that differ.
func changes(before, after game.Picture) (places []place) {
	for y, row := range after.Rows {
		for x, s := range row {
			old := before.Rows[y][x]
			if old.Text != s.Text || old.Owner != s.Owner {
				places = append(places, place{x, y})
			}
		}
	}
	return places
}

// clicked reports whether a click on a square can mean the move. For a move with a label,
// it may be any square of the label's column; if there are labels above and below, of the
// nearer half.
func (s spot) clicked(pic game.Picture, at place) bool {
	switch {
	case !s.label:
		return slices.Contains(s.changed, at)
	case at.x != s.at.x:
		return false
	case pic.Above == nil || pic.Below == nil:
		return true
	case s.at.y < 0:
		return at.y < len(pic.Rows)/2
	}
	return at.y >= len(pic.Rows)-len(pic.Rows)/2
}

// towards returns the index of the move whose place is nearest to that of move from in the
// direction dx, dy, each 1, 0 or -1. If there is none, it returns the next or the previous
// move.
func towards(all []spot, from, dx, dy int) int {
	best, least := -1, 0
	for i, s := range all {
		if !s.known || !all[from].known {
			continue
		}
		x, y := s.at.x-all[from].at.x, s.at.y-all[from].at.y
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

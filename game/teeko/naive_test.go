package teeko

import (
	"fmt"
	"slices"
	"strings"
)

// A point is a square: column and row from the top left, from 0.
type point struct{ x, y int }

func (p point) name() string { return fmt.Sprintf("%c%d", 'a'+p.x, p.y+1) }

// naiveTeeko is a second implementation of the game, written from the rules alone. A board has the letter of the
// stone on each square with one.
type naiveTeeko struct{ advanced bool }

type board map[point]string

func (b board) text(mover string) string {
	var text strings.Builder
	for y := range 5 {
		for x := range 5 {
			text.WriteString((b[point{x, y}] + ".")[:1])
		}
		text.WriteString("/")
	}
	return strings.TrimSuffix(text.String(), "/") + " " + mover
}

// read returns the board of a text and the player to move.
func read(text string) (board, string) {
	rows, mover, _ := strings.Cut(text, " ")
	b := make(board)
	for y, row := range strings.Split(rows, "/") {
		for x, stone := range row {
			if stone != '.' {
				b[point{x, y}] = string(stone)
			}
		}
	}
	return b, mover
}

func other(player string) string { return map[string]string{"B": "R", "R": "B"}[player] }

// stones returns the squares of a player's stones, column by column.
func (b board) stones(player string) (all []point) {
	for x := range 5 {
		for y := range 5 {
			if b[point{x, y}] == player {
				all = append(all, point{x, y})
			}
		}
	}
	return all
}

// goal reports whether four squares, column by column, are a goal: each is one step from the last in the same direction,
// or they are the corners of a square.
func (t naiveTeeko) goal(s []point) bool {
	if len(s) != 4 {
		return false
	}
	dx, dy := s[1].x-s[0].x, s[1].y-s[0].y
	row := dx <= 1 && dy >= -1 && dy <= 1
	for i := 2; i < 4; i++ {
		row = row && s[i].x-s[i-1].x == dx && s[i].y-s[i-1].y == dy
	}
	side := s[2].x - s[0].x
	corners := []point{s[0], {s[0].x, s[0].y + side}, {s[0].x + side, s[0].y}, {s[0].x + side, s[0].y + side}}
	return row || side > 0 && slices.Equal(s, corners) && (side == 1 || t.advanced)
}

// Winner returns the player with a goal, "" if none.
func (t naiveTeeko) Winner(text string) string {
	b, _ := read(text)
	for _, player := range []string{"B", "R"} {
		if t.goal(b.stones(player)) {
			return player
		}
	}
	return ""
}

// Moves returns the positions after each move, by the names of the moves.
func (t naiveTeeko) Moves(text string) map[string]string {
	b, mover := read(text)
	moves := make(map[string]string)
	for to := range points {
		switch {
		case b[to] != "":
		case len(b) < 8:
			b[to] = mover
			moves[to.name()] = b.text(other(mover))
			delete(b, to)
		default:
			for _, from := range b.stones(mover) {
				if dx, dy := from.x-to.x, from.y-to.y; max(dx, -dx, dy, -dy) == 1 {
					b[to] = mover
					delete(b, from)
					moves[from.name()+"-"+to.name()] = b.text(other(mover))
					delete(b, to)
					b[from] = mover
				}
			}
		}
	}
	return moves
}

// points yields all squares.
func points(yield func(point) bool) {
	for x := range 5 {
		for y := range 5 {
			if !yield(point{x, y}) {
				return
			}
		}
	}
}

// images returns the texts of the reflections and rotations of a position, with the players exchanged or not.
func images(text string) (all []string) {
	b, mover := read(text)
	for range 2 {
		for range 4 {
			turned, mirrored := make(board), make(board)
			for p, stone := range b {
				turned[point{4 - p.y, p.x}] = stone
				mirrored[point{4 - p.x, p.y}] = stone
			}
			all = append(all, b.text(mover), mirrored.text(mover))
			b = turned
		}
		exchanged := make(board)
		for p, stone := range b {
			exchanged[p] = other(stone)
		}
		b, mover = exchanged, other(mover)
	}
	return all
}

package mills

import (
	"fmt"
	"maps"
	"strings"

	"github.com/treereduce/treereduce/internal/testing/naive"
)

// naiveMills is a second implementation of the games, written from the rules alone, for that many pieces of
// each player. A position is the text of the rows of the board from the top, with "/" between them and "-"
// where there is no point, the player to move, and the numbers of pieces that W and B have in hand. Lines
// are what one sees: points in a row or a column are joined if the centre of the board is not between
// them, or if it is a point.
type naiveMills int

var drawings = map[naiveMills]string{
	3: ".../.../...",
	5: ".-.-./-...-/..-../-...-/.-.-.",
	6: ".-.-./-...-/..-../-...-/.-.-.",
	7: ".-.-./-...-/...../-...-/.-.-.",
	9: ".--.--./-.-.-.-/--...--/...-.../--...--/-.-.-.-/.--.--.",
}

// A spot is a column and a row, both from 0 at the top left.
type spot struct{ x, y int }

// start returns the initial position.
func (n naiveMills) start() string { return fmt.Sprintf("%s W %d %d", drawings[n], n, n) }

// size returns the number of rows and columns.
func (n naiveMills) size() int { return strings.Index(drawings[n], "/") }

// name returns the name of a point.
func (n naiveMills) name(s spot) string { return fmt.Sprintf("%c%d", 'a'+s.x, n.size()-s.y) }

// board returns the points of a board, and what is on each.
func (n naiveMills) board(text string) map[spot]byte {
	board := map[spot]byte{}
	for y, row := range strings.Split(text, "/") {
		for x := range len(row) {
			if row[x] != '-' {
				board[spot{x, y}] = row[x]
			}
		}
	}
	return board
}

// text is the inverse of board.
func (n naiveMills) text(board map[spot]byte) string {
	rows := make([]string, n.size())
	for y := range rows {
		for x := range n.size() {
			piece, ok := board[spot{x, y}]
			if !ok {
				piece = '-'
			}
			rows[y] += string(piece)
		}
	}
	return strings.Join(rows, "/")
}

// runs returns the points of each line.
func (n naiveMills) runs() (all [][]spot) {
	points, size, centre := n.board(drawings[n]), n.size(), n.size()/2
	scan := func(at func(i int) spot) {
		var run []spot
		for i := range size {
			if _, ok := points[at(i)]; ok {
				run = append(run, at(i))
			} else if at(i) == (spot{centre, centre}) {
				all = append(all, run)
				run = nil
			}
		}
		all = append(all, run)
	}
	for k := range size {
		scan(func(i int) spot { return spot{k, i} })
		scan(func(i int) spot { return spot{i, k} })
	}
	if n == 3 {
		scan(func(i int) spot { return spot{i, i} })
		scan(func(i int) spot { return spot{i, 2 - i} })
	}
	return all
}

// joined reports whether a piece can slide between two points.
func (n naiveMills) joined(a, b spot) bool {
	for _, run := range n.runs() {
		for i := 1; i < len(run); i++ {
			if run[i-1] == a && run[i] == b || run[i-1] == b && run[i] == a {
				return true
			}
		}
	}
	return false
}

// inMill reports whether the piece on a point is in a mill.
func (n naiveMills) inMill(board map[spot]byte, at spot) bool {
	for _, run := range n.runs() {
		for i := 2; i < len(run); i++ {
			three := [3]spot{run[i-2], run[i-1], run[i]}
			mine := 0
			for _, s := range three {
				if board[s] == board[at] {
					mine++
				}
			}
			if mine == 3 && (three[0] == at || three[1] == at || three[2] == at) {
				return true
			}
		}
	}
	return false
}

// Moves returns the positions after each move, by the names of the moves.
func (n naiveMills) Moves(position string) map[string]string {
	var text string
	var mover byte
	var white, black int
	if _, err := fmt.Sscanf(position, "%s %c %d %d", &text, &mover, &white, &black); err != nil {
		panic(err)
	}
	other, hand := byte('B'), &white
	if mover == 'B' {
		other, hand = 'W', &black
	}
	moves := make(map[string]string)
	if strings.Count(text, string(mover))+*hand < 3 {
		return moves
	}
	place := func(board map[spot]byte, to spot, name string, white, black int) {
		board[to] = mover
		add := func(name string) {
			moves[name] = fmt.Sprintf("%s %c %d %d", n.text(board), other, white, black)
		}
		var free, all []spot
		for s, piece := range board {
			if piece == other {
				all = append(all, s)
				if !n.inMill(board, s) {
					free = append(free, s)
				}
			}
		}
		if !n.inMill(board, to) || len(all) == 0 {
			add(name)
			return
		}
		if len(free) == 0 {
			free = all
		}
		for _, s := range free {
			board[s] = '.'
			add(name + "x" + n.name(s))
			board[s] = other
		}
	}
	board := n.board(text)
	for to, piece := range board {
		switch {
		case piece != '.':
		case mover == 'W' && white > 0:
			place(maps.Clone(board), to, n.name(to), white-1, black)
		case mover == 'B' && black > 0:
			place(maps.Clone(board), to, n.name(to), white, black-1)
		default:
			for from, piece := range board {
				if piece == mover && (n.joined(from, to) || n == 9 && strings.Count(text, string(mover)) == 3) {
					after := maps.Clone(board)
					after[from] = '.'
					place(after, to, n.name(from)+"-"+n.name(to), white, black)
				}
			}
		}
	}
	return moves
}

// Finished returns Lose if the player to move has fewer than three pieces, or no move, and otherwise "".
func (n naiveMills) Finished(position string) string {
	if len(n.Moves(position)) == 0 {
		return naive.Lose
	}
	return ""
}

// Solve returns the values of all positions that can be reached from the initial one.
func (n naiveMills) Solve() map[string]naive.Worth {
	return naive.SolveTexts(n.start(), n.Finished, n.Moves, false)
}

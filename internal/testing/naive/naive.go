// Package naive solves games in the simplest way possible. The tests of the other packages
// compare their results with it: it is a second implementation, written from the rules of
// the games alone and deliberately slow, so that its correctness is easy to see. It must
// not import the other packages of this module.
//
// A board of Connect N has w columns and h rows. X moves first, pieces drop into columns,
// and play stops when a player has connect pieces in a line (row, column or diagonal) or
// when the board is full, which is a tie. connect is at least 1.
//
// The text of a board has w*h characters, column by column from the left and each column
// from the bottom up: ' ' for an empty square, 'O' or 'X'.
//
// A value byte has the result under best play in its low two bits (1: O wins, 2: X wins, 3:
// tie) and the remoteness, the number of moves to the end, in its six high bits. The winner
// shortens play, the loser delays the end, and a tie is made as long as possible.
package naive

import (
	"bytes"
	"math"
	"strings"
)

// The results in the low two bits of a value byte.
const (
	oWins = 1
	xWins = 2
	tie   = 3
)

// value packs a result and a remoteness into a value byte.
func value(result, remoteness int) byte {
	return byte(remoteness<<2 | result)
}

// split is the inverse of value.
func split(v byte) (result, remoteness int) {
	return int(v & 3), int(v >> 2)
}

// position is a board on which moves are made and undone.
type position struct {
	w, h, connect int
	squares       []byte // the board text
}

// start returns the empty board.
func start(w, h, connect int) *position {
	return &position{w, h, connect, []byte(strings.Repeat(" ", w*h))}
}

// mover returns the player whose turn it is: X when both have the same number
// of pieces, O when X has one more.
func (p *position) mover() byte {
	if bytes.Count(p.squares, []byte("X")) == bytes.Count(p.squares, []byte("O")) {
		return 'X'
	}
	return 'O'
}

// line returns the player who has connect pieces in a line, or ' ' if there is no line. It
// tries every piece as the first of a line in each of the four directions.
func (p *position) line() byte {
	directions := [4][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}}
	for column := 0; column < p.w; column++ {
		for row := 0; row < p.h; row++ {
			player := p.squares[column*p.h+row]
			if player == ' ' {
				continue
			}
			for _, d := range directions {
				if p.run(player, column, row, d[0], d[1]) >= p.connect {
					return player
				}
			}
		}
	}
	return ' '
}

// Line returns the player who has a line on a board with a text, or ' ' if there is no line.
func Line(text string, w, h, connect int) byte {
	return (&position{w, h, connect, []byte(text)}).line()
}

// run counts the consecutive pieces of player from a square on in steps of (dc, dr).
func (p *position) run(player byte, column, row, dc, dr int) int {
	n := 0
	for column >= 0 && column < p.w && row >= 0 && row < p.h &&
		p.squares[column*p.h+row] == player {
		n++
		column += dc
		row += dr
	}
	return n
}

// finished returns the result of a position where play has stopped, or 0 otherwise.
func (p *position) finished() int {
	switch p.line() {
	case 'X':
		return xWins
	case 'O':
		return oWins
	}
	if bytes.IndexByte(p.squares, ' ') < 0 {
		return tie
	}
	return 0
}

// Solve returns the value bytes of all positions that can be reached from the empty board, by
// their text.
func Solve(w, h, connect int) map[string]byte {
	values, _ := solveAll(start(w, h, connect), (*position).drops, math.MaxInt)
	return values
}

// Boards solves the boards of Connect N with h rows, whose columns of h+1 bits fit into 64, by width and
// connect, of which at most most positions can be reached. A wider board has at least as many
// positions, and so has a board with longer lines.
func Boards(h, most int, do func(w, connect int, values map[string]byte)) {
	end := 64 // boards with this connect have too many positions
	for w := 1; w*(h+1) <= 64; w++ {
		for connect := 1; connect <= max(w, h) && connect < end; connect++ {
			values, ok := solveAll(start(w, h, connect), (*position).drops, most)
			if !ok {
				end = connect
				break
			}
			do(w, connect, values)
		}
	}
}

// drops returns the lowest empty square of each column that is not full.
func (p *position) drops() (squares []int) {
	for column := range p.w {
		if row := bytes.IndexByte(p.squares[column*p.h:][:p.h], ' '); row >= 0 {
			squares = append(squares, column*p.h+row)
		}
	}
	return squares
}

// solveAll returns the value bytes of the position p and of all positions after it, by minimax.
// moves returns the squares on which a piece can be placed. ok is false if there are more than most
// positions: then the values are incomplete.
func solveAll(p *position, moves func(*position) []int, most int) (_ map[string]byte, ok bool) {
	values := make(map[string]byte)
	var solve func() byte
	solve = func() byte {
		board := string(p.squares)
		if v, ok := values[board]; ok {
			return v
		}
		if len(values) > most {
			return value(tie, 0) // of no meaning
		}
		best := byte(0) // not a value byte: no move has been tried yet
		if result := p.finished(); result != 0 {
			best = value(result, 0)
		} else {
			mover := p.mover()
			for _, i := range moves(p) {
				p.squares[i] = mover
				result, remoteness := split(solve())
				p.squares[i] = ' '
				if v := value(result, remoteness+1); best == 0 || better(mover, v, best) {
					best = v
				}
			}
		}
		values[board] = best
		return best
	}
	solve()
	return values, len(values) <= most
}

// better reports whether the player to move prefers value byte a to b.
func better(mover, a, b byte) bool {
	won, _ := outcomes(mover)
	resultA, remotenessA := split(a)
	resultB, remotenessB := split(b)
	if resultA != resultB {
		// A win is best and a tie is better than a loss.
		return resultA == won || resultA == tie && resultB != won
	}
	if resultA == won {
		return remotenessA < remotenessB
	}
	return remotenessA > remotenessB
}

// outcomes returns the results that are a win and a loss for player.
func outcomes(player byte) (won, lost int) {
	if player == 'X' {
		return xWins, oWins
	}
	return oWins, xWins
}

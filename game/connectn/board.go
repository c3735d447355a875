// Package connectn implements Connect N: players drop pieces into the columns of a board of
// Width columns and Height rows. Connect pieces in a row (along a row, a column or a
// diagonal) win. X moves first; a full board without a line is a tie. Play stops at a win.
//
// # The hash
//
// Each column takes Height+1 bits of the key; the leftmost column is the most
// significant. Its value is the sum over its pieces, numbered from the bottom
// (j = 0), of 1<<j for an O and 2<<j for an X:
//
//	row 2   .  .  .        column 0: X at j=0 and O at j=1: 2 + 2 = 4
//	row 1   O  .  .        column 1: X at j=0:              2
//	row 0   X  X  .        column 2: empty:                 0
//	        0  1  2        key = 4<<8 | 2<<4 | 0            (Height 3: 4 bits each)
//
// The value of a column of n pieces, plus 1, is called its marker form: bit n is set and
// marks the height, and below it there is a bit for each piece from the bottom up, set for
// an X. So the key is unique, and easy to decode:
//
//	4 + 1 = 101: two pieces, 01 from the top down: O on X
//	2 + 1 = 011: one piece, an X
//
// Dropping an O adds the marker bit to the column, dropping an X adds twice the marker
// bit. The key of the empty board is 0.
package connectn

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/game"
)

// Rules are the rules of Connect N for one size of board.
type Rules struct {
	width, height, connect int

	bits  uint // of a column: height + 1
	lines lines
	forms forms
	texts [1 << (maxTextHeight + 1)]uint64 // of columns, indexed by marker form

	layout
}

// lines contains, for each of the four directions, the shifts that find connect pieces in a
// row: x & x>>first, then the result & itself >>second, and so on. Each shift is the step
// of the direction times the number of pieces that it adds: 1, 1 for three in a row; 1, 2
// for four; 1, 2, 1 for five; 1, 0 for two.
type lines struct {
	first, second [4]uint
	long          bool // more is not empty
	more          [4][]uint
}

// newLines returns the shifts for columns of this many bits.
func newLines(bits uint, connect int) lines {
	var l lines
	for i, step := range []uint{1, bits - 1, bits, bits + 1} {
		var shifts []uint
		for have := 1; have < connect || len(shifts) < 2; {
			more := min(have, connect-have)
			shifts = append(shifts, min(step*uint(more), 63)) // bit 63 is never a piece, so nothing is left
			have += more
		}
		l.first[i], l.second[i], l.more[i] = shifts[0], shifts[1], shifts[2:]
		l.long = len(shifts) > 2
	}
	return l
}

// in returns the squares of x where connect pieces in a row begin, for all four directions
// together, or 0 if there are none. For up to four in a row it uses two shifts per direction
// and no branch, because whether there is a line is hard to predict.
func (l *lines) in(x uint64) uint64 {
	y0 := x & (x >> (l.first[0] & 63))
	y1 := x & (x >> (l.first[1] & 63))
	y2 := x & (x >> (l.first[2] & 63))
	y3 := x & (x >> (l.first[3] & 63))
	y0 &= y0 >> (l.second[0] & 63)
	y1 &= y1 >> (l.second[1] & 63)
	y2 &= y2 >> (l.second[2] & 63)
	y3 &= y3 >> (l.second[3] & 63)
	if l.long {
		return l.rest(0, y0) | l.rest(1, y1) | l.rest(2, y2) | l.rest(3, y3)
	}
	return y0 | y1 | y2 | y3
}

// rest applies the shifts of a direction after the first two.
func (l *lines) rest(direction int, y uint64) uint64 {
	for _, s := range l.more[direction] {
		y &= y >> (s & 63)
	}
	return y
}

// New returns the rules. The board must fit into width·(height+1) <= 64 bits, and connect
// must not be longer than the longer side.
func New(width, height, connect int) (*Rules, error) {
	fits := width <= 64 && height <= 64 && width*(height+1) <= 64
	if err := game.CheckLine("connectn", width, height, connect, fits, "width·(height+1) may be 64 at most"); err != nil {
		return nil, err
	}
	r := &Rules{width: width, height: height, connect: connect, bits: uint(height) + 1}
	r.lines = newLines(r.bits, connect)
	r.forms.init(r)
	if height <= maxTextHeight {
		for column := uint64(1); column < 1<<r.bits; column++ {
			text := append(r.appendColumn(nil, column), make([]byte, 8)...)
			r.texts[column] = binary.LittleEndian.Uint64(text)
		}
	}
	r.layout.init(r)
	return r, nil
}

//go:embed rules.txt
var rulesText string

// Kind describes Connect N to a program.
var Kind = game.LineKind("connectn", "Connect N: drop pieces into columns, N in a row wins", "pieces", New)

// Info omits the empty board from final, like the CMU course.
func (r *Rules) Info() game.Info {
	return game.Info{
		Title:      fmt.Sprintf("Connect %d on %d×%d", r.connect, r.width, r.height),
		Rules:      rulesText,
		TierUnit:   "pieces on the board",
		OmitsStart: true,
		Look: game.Look{Square: "hole", Pieces: map[string]string{"*": "disc"},
			Place: []game.Square{{Text: game.Empty}, {Text: "X", Owner: game.OfFirst}, {Text: "O", Owner: game.OfSecond}}},
	}
}

// Spec returns "connectn width=W height=H connect=N".
func (r *Rules) Spec() string {
	return fmt.Sprintf("connectn width=%d height=%d connect=%d", r.width, r.height, r.connect)
}

// KeyBits returns width·(height+1).
func (r *Rules) KeyBits() uint { return uint(r.width) * r.bits }

// Start returns the empty board, 0.
func (r *Rules) Start() game.Position { return 0 }

// column returns column c of p in marker form.
func (r *Rules) column(p game.Position, c int) uint64 {
	return p>>r.shift(c)&(1<<r.bits-1) + 1
}

// shift returns the position of column c's lowest bit in a key.
func (r *Rules) shift(c int) uint { return uint(r.width-1-c) * r.bits }

// drop returns the amount that a piece of player adds to a column, given in marker form.
func drop(column uint64, player game.Player) uint64 {
	marker := uint64(1) << (bits.Len64(column) - 1)
	if player == game.First {
		return 2 * marker
	}
	return marker
}

// pieces returns the number of pieces of a column in marker form: all, and X's.
func pieces(column uint64) (all, x int) {
	return bits.Len64(column) - 1, bits.OnesCount64(column) - 1
}

// Check requires that pieces can form each column, and that X has as many pieces as O, or
// one more.
func (r *Rules) Check(p game.Position) error {
	if r.KeyBits() < 64 && p>>r.KeyBits() != 0 {
		return fmt.Errorf("%#x is not a board of %d×%d: it has more than %d bits", p, r.width, r.height, r.KeyBits())
	}
	all, x := 0, 0
	for c := range r.width {
		column := r.column(p, c)
		if column>>r.bits != 0 {
			return fmt.Errorf("%#x is not a board of %d×%d: column %d holds more than %d pieces", p, r.width, r.height, c, r.height)
		}
		ca, cx := pieces(column)
		all, x = all+ca, x+cx
	}
	if x != (all+1)/2 {
		return fmt.Errorf("%#x is not a board: %d X and %d O, but X moves first and the turns alternate", p, x, all-x)
	}
	return nil
}

// Tier returns the number of pieces.
func (r *Rules) Tier(p game.Position) int {
	tier := 0
	for c := range r.width {
		all, _ := pieces(r.column(p, c))
		tier += all
	}
	return tier
}

// Loops returns false: every move adds a piece.
func (r *Rules) Loops(int) bool { return false }

// Tiers returns width·height.
func (r *Rules) Tiers() int { return r.width * r.height }

// TierToMove returns X in even tiers, O in odd ones.
func (r *Rules) TierToMove(tier int) game.Player { return game.Player(tier & 1) }

// ToMove returns X if the number of pieces is even.
func (r *Rules) ToMove(p game.Position) game.Player { return r.TierToMove(r.Tier(p)) }

// bitboard returns a bit for each piece of player. The bit of a square is
// bits·(width-1-column) + row. The top bit of each column is always zero, so that
// shifts do not carry pieces from one column into the next.
func (r *Rules) bitboard(p game.Position, player game.Player) uint64 {
	var s uint64
	for c := range r.width {
		column := r.column(p, c)
		marker := uint64(1) << (bits.Len64(column) - 1)
		if player == game.First {
			s |= (column ^ marker) << r.shift(c)
		} else {
			s |= (column ^ (2*marker - 1)) << r.shift(c)
		}
	}
	return s
}

// Primitive returns a win in 0 for the player who has a line (for the one who moved last,
// if both have), a tie in 0 for a full board, and 0 otherwise.
func (r *Rules) Primitive(p game.Position) game.Value {
	tier := r.Tier(p)
	last := r.TierToMove(tier).Other()
	for _, player := range []game.Player{last, last.Other()} {
		if r.lines.in(r.bitboard(p, player)) != 0 {
			return game.NewValue(game.WinFor(player), 0)
		}
	}
	if tier == r.Tiers() {
		return game.NewValue(game.Tie, 0)
	}
	return 0
}

// Moves appends a move for each column that is not full; names count from 0 at the left.
func (r *Rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	player := r.ToMove(p)
	for c := range r.width {
		if column := r.column(p, c); column>>r.height == 0 {
			dst = append(dst, game.Move{Name: strconv.Itoa(c), To: p + drop(column, player)<<r.shift(c)})
		}
	}
	return dst
}

// AppendText appends the string of the CMU course: column by column from the left, each
// from the bottom up, with ' ', 'O' or 'X'.
func (r *Rules) AppendText(dst []byte, p game.Position) []byte {
	if r.height > maxTextHeight {
		for c := range r.width {
			dst = r.appendColumn(dst, r.column(p, c))
		}
		return dst
	}
	at, end := len(dst), len(dst)+r.width*r.height
	dst = slices.Grow(dst, r.width*r.height+8)[:end+8]
	for shift := r.KeyBits(); shift > 0; at += r.height {
		shift -= r.bits
		column := uint8(p>>shift&(1<<r.bits-1)) + 1 // at most maxTextHeight+1 bits
		binary.LittleEndian.PutUint64(dst[at:], r.texts[column])
	}
	return dst[:end]
}

// maxTextHeight is the largest height for which texts of columns come from a table. The
// table has 2 KB, and a text fits into 8 bytes.
const maxTextHeight = 7

// appendColumn appends the text of a column in marker form.
func (r *Rules) appendColumn(dst []byte, column uint64) []byte {
	for range r.height {
		switch {
		case column == 1:
			dst = append(dst, ' ')
			continue
		case column&1 != 0:
			dst = append(dst, 'X')
		default:
			dst = append(dst, 'O')
		}
		column >>= 1
	}
	return dst
}

// Parse reads the text of AppendText. An empty square may also be '.' or '_', letters may be
// lower case, and the text may be in single quotes, as in the course's output.
func (r *Rules) Parse(text string) (game.Position, error) {
	board := text
	if len(board) >= 2 && board[0] == '\'' && board[len(board)-1] == '\'' {
		board = board[1 : len(board)-1]
	}
	if len(board) != r.width*r.height {
		return 0, fmt.Errorf("board %q: expected %d squares (%d columns of %d, from the bottom up), found %d", text, r.width*r.height, r.width, r.height, len(board))
	}
	var p game.Position
	for i := range len(board) {
		c, row := i/r.height, uint(i%r.height)
		var piece uint64
		switch board[i] {
		case ' ', '.', '_':
			continue
		case 'O', 'o':
			piece = 1
		case 'X', 'x':
			piece = 2
		default:
			return 0, fmt.Errorf("board %q has %q on square %d, expected X, O or a blank (' ', '.', '_')", text, board[i], i)
		}
		if row > 0 && r.column(p, c)>>row == 0 {
			return 0, fmt.Errorf("board %q has a piece over an empty square in column %d", text, c)
		}
		p += piece << row << r.shift(c)
	}
	if err := r.Check(p); err != nil {
		return 0, fmt.Errorf("board %q: %w", text, err)
	}
	return p, nil
}

// Picture returns the board, with the numbers of its columns below.
func (r *Rules) Picture(p game.Position) game.Picture {
	text := r.AppendText(nil, p)
	pic := game.Picture{Rows: make([][]game.Square, r.height)}
	for c := range r.width {
		pic.Below = append(pic.Below, strconv.Itoa(c))
		for row := range r.height {
			s := game.Square{Text: game.Empty}
			switch piece := text[c*r.height+row]; piece {
			case 'X':
				s = game.Square{Text: "X", Owner: game.OfFirst}
			case 'O':
				s = game.Square{Text: "O", Owner: game.OfSecond}
			}
			y := r.height - 1 - row
			pic.Rows[y] = append(pic.Rows[y], s)
		}
	}
	return pic.WithLines(r.connect)
}

// Values returns values that name a player; players prefer the farthest tie.
func (r *Rules) Values() game.Values { return game.Values{Players: [2]string{"X", "O"}} }

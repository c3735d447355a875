// Package square implements the positions of games on a square board: on each square is nothing
// or a piece of one of the two players, and the hash says whose turn it is. All reflections and
// rotations of the board are images, with the players exchanged or not.
//
// # The hash
//
// Squares are numbered column by column: a1 a2 … b1 b2 …. On a board of n squares, the pieces
// of the first player are the low n bits, those of the second the next n bits. Bit 2n is 1
// if it is the second player's turn.
//
//	    a b c
//	1   X . O     X: a1, bit 0, and b2, bit 4; O: c1, bit 6 of the next nine
//	2   . X .     X to move: key = 1<<(9+6) | 1<<4 | 1<<0
//	3   . . .     O to move: 1<<18 more
//
// In the least of its images, it is the first player's turn.
package square

import (
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// A Board is a square board with the pieces of two players. It has the methods of game.Game and
// game.Symmetric that depend on nothing else.
type Board struct {
	Size    int // rows and columns
	Squares int
	Full    uint64   // one bit for each square
	Names   []string // of the squares
	grid    game.Grid
	images  game.BitMoves // the reflections and rotations but the identity, for both players' pieces
}

// New returns the board of at most 5 rows and columns. The letters of the players' pieces are
// their names in texts.
func New(size int, letters [2]string) *Board {
	b := &Board{Size: size, Squares: size * size, Full: 1<<(size*size) - 1}
	b.grid = game.Grid{Width: size, Height: size, Pieces: game.Empty + letters[0] + letters[1], Owners: []game.Owner{game.Nobody, game.OfFirst, game.OfSecond}}
	for x := range size {
		for y := range size {
			b.Names = append(b.Names, b.grid.Square(x, y))
		}
	}
	for _, to := range b.grid.Symmetries()[1:] {
		moved := make([]int, 2*b.Squares)
		for s := range b.Squares {
			x, y := to(s/size, s%size)
			moved[s], moved[b.Squares+s] = x*size+y, b.Squares+x*size+y
		}
		b.images = append(b.images, game.NewBitMove(moved))
	}
	return b
}

// Lines returns the lines of n squares along a row, a column or a diagonal, as sets of squares.
func (b *Board) Lines(n int) (all []uint64) {
	for _, places := range b.grid.Lines(n) {
		var line uint64
		for _, at := range places {
			line |= 1 << (at[0]*b.Size + at[1])
		}
		all = append(all, line)
	}
	return all
}

// Pieces returns the squares with a piece of player.
func (b *Board) Pieces(p game.Position, player game.Player) uint64 {
	return p >> (int(player) * b.Squares) & b.Full
}

// Turn is the bit that is 1 if it is the second player's turn.
func (b *Board) Turn() game.Position { return 1 << (2 * b.Squares) }

// KeyBits returns two bits for each square and one for the player to move.
func (b *Board) KeyBits() uint { return uint(2*b.Squares + 1) }

// Start returns the empty board; the first player moves.
func (b *Board) Start() game.Position { return 0 }

// ToMove returns the player to move.
func (b *Board) ToMove(p game.Position) game.Player { return game.Player(p >> (2 * b.Squares)) }

// Values returns values from the view of the player to move. There are no ties.
func (b *Board) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{b.grid.Pieces[1:2], b.grid.Pieces[2:]}}
}

// Place returns what an editor can put on the squares.
func (b *Board) Place() []game.Square {
	players := b.Values().Players
	return []game.Square{{Text: game.Empty}, {Text: players[0], Owner: game.OfFirst}, {Text: players[1], Owner: game.OfSecond}}
}

// Check requires at most one piece on each square.
func (b *Board) Check(p game.Position) error {
	if p>>b.KeyBits() != 0 || b.Pieces(p, game.First)&b.Pieces(p, game.Second) != 0 {
		return fmt.Errorf("%#x is not a board of %d×%d with a player to move", p, b.Size, b.Size)
	}
	return nil
}

// exchanged returns p with the players exchanged: the other player is to move.
func (b *Board) exchanged(p game.Position) game.Position {
	return (b.Pieces(p, game.First)<<b.Squares | b.Pieces(p, game.Second) | p&b.Turn()) ^ b.Turn()
}

// byFirst returns that one of p and p with the players exchanged in which it is the first player's turn.
func (b *Board) byFirst(p game.Position) game.Position {
	if p&b.Turn() != 0 {
		return b.exchanged(p)
	}
	return p
}

// Canonical returns the least of the images of p.
func (b *Board) Canonical(p game.Position) game.Position {
	return b.images.Canonical(b.byFirst(p))
}

// Images appends the images of p.
func (b *Board) Images(dst []game.Position, p game.Position) []game.Position {
	n := len(dst)
	dst = b.images.Images(dst, b.byFirst(p))
	for _, image := range dst[n:] {
		dst = append(dst, b.exchanged(image))
	}
	return game.Distinct(dst, n)
}

// Boards returns the number of ways in which pieces of the players can lie on the board.
func (b *Board) Boards(first, second int) float64 {
	ways := 1.0
	for i := range first {
		ways *= float64(b.Squares-i) / float64(i+1)
	}
	for i := range second {
		ways *= float64(b.Squares-first-i) / float64(i+1)
	}
	return ways
}

// on returns the piece on each square, as an index into the grid's Pieces.
func (b *Board) on(p game.Position) func(x, y int) int {
	return func(x, y int) int {
		s := x*b.Size + y
		return int(p>>s&1 | p>>b.Squares>>s&1<<1)
	}
}

// AppendText appends the rows from the top, separated by /, and the letter of the player to
// move: "X.O/.X./... O".
func (b *Board) AppendText(dst []byte, p game.Position) []byte {
	return append(b.grid.AppendText(dst, b.on(p)), ' ', b.grid.Pieces[1+b.ToMove(p)])
}

// Parse reads the text of AppendText, see game.Grid.
func (b *Board) Parse(text string) (p game.Position, err error) {
	players := b.Values().Players
	end := max(0, len(text)-2)
	switch text[end:] {
	case " " + players[0]:
	case " " + players[1]:
		p = b.Turn()
	default:
		return 0, fmt.Errorf("position %q: expected a board and, after a blank, the player to move, %s or %s", text, players[0], players[1])
	}
	err = b.grid.Parse(text[:end], func(x, y, piece int) { p |= 1 << ((piece-1)*b.Squares + x*b.Size + y) })
	return p, err
}

// Arrange is the inverse of Picture.
func (b *Board) Arrange(squares [][]string, turn game.Player) string {
	return game.JoinRows(squares) + " " + b.Values().Players[turn]
}

// Picture returns the board, with these squares as those that have won.
func (b *Board) Picture(p game.Position, won uint64) game.Picture {
	pic := b.grid.Picture(b.on(p))
	for ; won != 0; won &= won - 1 {
		s := bits.TrailingZeros64(won)
		pic.Won = append(pic.Won, [2]int{s / b.Size, s % b.Size})
	}
	return pic
}

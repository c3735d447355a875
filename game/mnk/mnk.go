// Package mnk implements m,n,k tic-tac-toe: X and O take turns to place a stone on an
// empty square, X first. The first player with Connect stones in a row (horizontal,
// vertical or diagonal) wins; a full board without a line is a tie.
//
// # The hash
//
// Squares are numbered column by column: a1 a2 … b1 b2 …. Each square has one bit for
// each player: X's stones are the low Width·Height bits, O's the next Width·Height.
//
//	    a b c
//	1   X . O     X: a1, bit 0, and b2, bit 4; O: c1, bit 6 of the next nine
//	2   . X .
//	3   . . .     key = 1<<(9+6) | 1<<4 | 1<<0
package mnk

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

//go:embed rules.txt
var rulesText string

// Kind registers m,n,k tic-tac-toe.
var Kind = game.Kind{
	Name:  "mnk",
	Usage: "m,n,k tic-tac-toe: put stones on empty squares, N in a row wins",
	Params: []game.Param{
		{Name: "width", Usage: "columns of the board", Default: 3},
		{Name: "height", Usage: "rows of the board", Default: 3},
		{Name: "connect", Usage: "stones in a row that win", Default: 3},
	},
	New: func(args []int) (game.Game, error) { return New(args[0], args[1], args[2]) },
}

type rules struct {
	spec    string
	grid    game.Grid
	squares int
	connect int
	full    uint64   // one bit for each square
	names   []string // names of the squares
	lines   []uint64 // the squares of each line
	game.BitMoves
}

// New returns the rules for a board of at most 32 squares and 26 columns. Connect is at
// most the length of the longer side.
func New(width, height, connect int) (game.Tiered, error) {
	switch {
	case width < 1 || height < 1 || connect < 1:
		return nil, fmt.Errorf("mnk: width, height and connect must be at least 1, found %d, %d and %d", width, height, connect)
	case width > 26 || height > 32 || width*height > 32:
		return nil, fmt.Errorf("mnk: a board of %d×%d does not fit: it may have 32 squares and 26 columns at most", width, height)
	case connect > max(width, height):
		return nil, fmt.Errorf("mnk: connect %d is longer than both sides of a board of %d×%d", connect, width, height)
	}
	r := &rules{squares: width * height, connect: connect, full: 1<<(width*height) - 1}
	r.spec = fmt.Sprintf("mnk width=%d height=%d connect=%d", width, height, connect)
	r.grid = game.Grid{Width: width, Height: height, Pieces: ".XO", Owners: []game.Owner{game.Nobody, game.OfFirst, game.OfSecond}}
	for x := range width {
		for y := range height {
			r.names = append(r.names, r.grid.Square(x, y))
		}
	}
	for _, places := range r.grid.Lines(connect) {
		var line uint64
		for _, at := range places {
			line |= 1 << r.square(at[0], at[1])
		}
		r.lines = append(r.lines, line)
	}
	r.BitMoves = r.symmetries()
	return r, nil
}

// square returns the number of a square.
func (r *rules) square(x, y int) int { return x*r.grid.Height + y }

// stones returns the squares with a stone of player.
func (r *rules) stones(p game.Position, player game.Player) uint64 {
	return p >> (int(player) * r.squares) & r.full
}

func (r *rules) Spec() string         { return r.spec }
func (r *rules) Values() game.Values  { return game.Values{Players: [2]string{"X", "O"}} }
func (r *rules) KeyBits() uint        { return uint(2 * r.squares) }
func (r *rules) Start() game.Position { return 0 }

// Info describes the game: its title is the first part of a result.
func (r *rules) Info() game.Info {
	return game.Info{
		Title: fmt.Sprintf("Tic-tac-toe of %d on %d×%d", r.connect, r.grid.Width, r.grid.Height),
		Rules: rulesText,
		Look: game.Look{Square: "cell", Pieces: map[string]string{"X": "cross", "O": "ring"},
			Place: []game.Square{{Text: game.Empty}, {Text: "X", Owner: game.OfFirst}, {Text: "O", Owner: game.OfSecond}}},
	}
}

// A tier is a number of stones.
func (r *rules) Tiers() int                         { return r.squares }
func (r *rules) Tier(p game.Position) int           { return bits.OnesCount64(p) }
func (r *rules) Loops(int) bool                     { return false }
func (r *rules) ToMove(p game.Position) game.Player { return game.Player(r.Tier(p) & 1) }

func (r *rules) Check(p game.Position) error {
	x, o := r.stones(p, game.First), r.stones(p, game.Second)
	if x|o<<r.squares != p || x&o != 0 {
		return fmt.Errorf("%#x is not a board of %d×%d", p, r.grid.Width, r.grid.Height)
	}
	if nx, no := bits.OnesCount64(x), bits.OnesCount64(o); nx != no && nx != no+1 {
		return fmt.Errorf("%#x is not a board: %d X and %d O, but X moves first and the turns alternate", p, nx, no)
	}
	return nil
}

// Primitive checks the player who moved last first: that player wins if both have a line,
// which play cannot reach.
func (r *rules) Primitive(p game.Position) game.Value {
	last := r.ToMove(p).Other()
	for _, player := range [...]game.Player{last, last.Other()} {
		stones := r.stones(p, player)
		for _, line := range r.lines {
			if stones&line == line {
				return game.NewValue(game.WinFor(player), 0)
			}
		}
	}
	if r.Tier(p) == r.squares {
		return game.NewValue(game.Tie, 0)
	}
	return 0
}

func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	first := int(r.ToMove(p)) * r.squares // lowest bit of the player to move
	for empty := r.full &^ (p | p>>r.squares); empty != 0; empty &= empty - 1 {
		i := bits.TrailingZeros64(empty)
		dst = append(dst, game.Move{Name: r.names[i], To: p | 1<<(first+i)})
	}
	return dst
}

// on returns the piece on each square, as an index into the grid's Pieces.
func (r *rules) on(p game.Position) func(x, y int) int {
	return func(x, y int) int { return int(p>>r.square(x, y)&1 | p>>r.squares>>r.square(x, y)&1<<1) }
}

func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	return r.grid.AppendText(dst, r.on(p))
}
func (r *rules) Picture(p game.Position) game.Picture {
	return r.grid.Picture(r.on(p)).WithLines(r.connect)
}

func (r *rules) Parse(text string) (p game.Position, err error) {
	err = r.grid.Parse(text, func(x, y, piece int) { p |= 1 << ((piece-1)*r.squares + r.square(x, y)) })
	if err == nil {
		err = r.Check(p)
	}
	return p, err
}

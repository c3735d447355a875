// Package quickcross is the rules of Quick Cross: a board of Width columns and
// Height rows, pieces that lie across (-) or upright (|). A move lays a piece on
// an empty square, either way, or turns one that lies there. Whoever gets Connect
// pieces of one kind in a row (along a row, a column or a diagonal) wins at once.
// Both players use the same pieces and may turn any of them: the position alone
// decides, not whose turn it is.
//
// A position that is not finished has two moves for each empty square and one
// for each piece: there are no ties, but play that never ends.
//
// # The hash
//
// The squares are numbered row by row from the top. Square i weighs 3^i; empty
// counts 0, - counts 1, | counts 2:
//
//	    a b c
//	1   - | .     a1: 1·1, b1: 2·3
//	2   . . .
//	3   . . -     c3: 1·3^8
//	              key = 1 + 6 + 6561 = 6568
//
// Every number below 3^squares is a board.
package quickcross

import (
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// maxSquares is what a block.Counter can count the moves of: two for each square.
const maxSquares = block.MaxCount / 2

// maxWidth is how many columns have a letter.
const maxWidth = 26

// The pieces, as in texts and names of moves, at their digits.
const pieces = ".-|"

// Rules is Quick Cross on a board of one size.
type Rules struct {
	width, height, connect int
	squares                int
	weights                [maxSquares + 1]uint64 // 3^i
	lines                  [][]int                // the squares of each, ascending

	layout
}

// New makes the rules. The board has 31 squares and 26 columns at most, and
// connect fits into the longer side at least.
func New(width, height, connect int) (*Rules, error) {
	return newRules(width, height, connect, maxLow)
}

// newRules is New with ranges of at most 3^low hashes.
func newRules(width, height, connect, low int) (*Rules, error) {
	switch {
	case width < 1 || height < 1 || connect < 1:
		return nil, fmt.Errorf("quickcross: width, height and connect must be at least 1, found %d, %d and %d", width, height, connect)
	case width > maxWidth || height > maxSquares || width*height > maxSquares:
		return nil, fmt.Errorf("quickcross: a board of %d×%d does not fit: it may have %d squares and %d columns at most", width, height, maxSquares, maxWidth)
	case connect > max(width, height):
		return nil, fmt.Errorf("quickcross: connect %d is longer than both sides of a board of %d×%d", connect, width, height)
	}
	r := &Rules{width: width, height: height, connect: connect, squares: width * height}
	r.weights[0] = 1
	for i := range r.squares {
		r.weights[i+1] = 3 * r.weights[i]
	}
	for _, places := range r.grid().Lines(connect) {
		line := make([]int, connect)
		for i, at := range places {
			line[i] = at[1]*width + at[0]
		}
		r.lines = append(r.lines, line)
	}
	r.layout.init(r, min(low, r.squares))
	return r, nil
}

// Kind registers Quick Cross.
var Kind = game.Kind{
	Name:  "quickcross",
	Usage: "Quick Cross: lay pieces across or upright or turn them, N of a kind in a row wins",
	Params: []game.Param{
		{Name: "width", Usage: "columns of the board", Default: 3},
		{Name: "height", Usage: "rows of the board", Default: 3},
		{Name: "connect", Usage: "pieces in a row that win", Default: 3},
	},
	New: func(args []int) (game.Game, error) {
		r, err := New(args[0], args[1], args[2])
		if err != nil {
			return nil, err // not r: a nil *Rules in a game.Game is not nil
		}
		return r, nil
	},
}

// Title is "Quick Cross of N on W×H".
func (r *Rules) Title() string {
	return fmt.Sprintf("Quick Cross of %d on %d×%d", r.connect, r.width, r.height)
}

// Spec is "quickcross width=W height=H connect=N".
func (r *Rules) Spec() string {
	return fmt.Sprintf("quickcross width=%d height=%d connect=%d", r.width, r.height, r.connect)
}

// KeyBits is what the largest hash takes.
func (r *Rules) KeyBits() uint { return uint(bits.Len64(r.Positions() - 1)) }

// Positions is 3^squares.
func (r *Rules) Positions() uint64 { return r.weights[r.squares] }

// Start is the empty board, 0.
func (r *Rules) Start() game.Position { return 0 }

// digit is what lies on square i: the index of a piece.
func (r *Rules) digit(p game.Position, i int) int { return int(p / r.weights[i] % 3) }

// Check wants a number below 3^squares.
func (r *Rules) Check(p game.Position) error {
	if p >= r.Positions() {
		return fmt.Errorf("%d is not a board of %d×%d: the largest is %d", p, r.width, r.height, r.Positions()-1)
	}
	return nil
}

// ToMove is First: the position does not tell.
func (r *Rules) ToMove(game.Position) game.Player { return game.First }

// Primitive is a loss in 0 for the player to move if there is a line, else
// undecided.
func (r *Rules) Primitive(p game.Position) game.Value {
	for _, line := range r.lines {
		piece := r.digit(p, line[0])
		for _, i := range line[1:] {
			if r.digit(p, i) != piece {
				piece = 0
				break
			}
		}
		if piece != 0 {
			return game.NewValue(game.WinFor(r.ToMove(p).Other()), 0)
		}
	}
	return 0
}

// Moves are named by the square and what lies there afterwards: a1-, a1|, a2-.
func (r *Rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	for x := range r.width {
		for y := range r.height {
			i := y*r.width + x
			was := r.digit(p, i)
			for piece := 1; piece <= 2; piece++ {
				if piece != was {
					name := r.grid().Square(x, y) + pieces[piece:piece+1]
					dst = append(dst, game.Move{Name: name, To: p - uint64(was)*r.weights[i] + uint64(piece)*r.weights[i]})
				}
			}
		}
	}
	return dst
}

// AppendText appends the rows from the top with / between them: "-|./-|./..-".
func (r *Rules) AppendText(dst []byte, p game.Position) []byte {
	return r.grid().AppendText(dst, r.on(p))
}

// Parse reads AppendText's text, see game.Grid.
func (r *Rules) Parse(text string) (p game.Position, err error) {
	err = r.grid().Parse(text, func(x, y, piece int) { p += uint64(piece) * r.weights[y*r.width+x] })
	if err != nil {
		return 0, err
	}
	return p, nil
}

// Picture draws the board as it stands.
func (r *Rules) Picture(p game.Position) game.Picture {
	return r.grid().Picture(r.on(p)).WithLines(r.connect)
}

func (r *Rules) grid() game.Grid {
	return game.Grid{Width: r.width, Height: r.height, Pieces: pieces}
}

// on is what lies where.
func (r *Rules) on(p game.Position) func(x, y int) int {
	return func(x, y int) int { return r.digit(p, y*r.width+x) }
}

// Values are those of the player to move; of ties the nearest is played for.
func (r *Rules) Values() game.Values { return game.Values{OfMover: true, TiesSoon: true} }

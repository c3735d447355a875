// Package quickcross implements Quick Cross: a board of Width columns and Height rows, with
// pieces that are horizontal (-) or vertical (|). A move puts a piece of either kind on
// an empty square, or rotates a piece on the board. The player who makes a line of Connect
// pieces of one kind (along a row, a column or a diagonal) wins at once. Both players use
// the same pieces and may rotate any of them, so the value of a position does not depend
// on whose turn it is.
//
// A position that is not terminal has two moves for each empty square and one for each
// piece. There are no ties, but play may never end.
//
// # The hash
//
// The squares are numbered row by row from the top. Square i has the weight 3^i; empty
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
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// maxSquares is a limit far beyond the boards that can be solved, so that a hash has 50 bits at most.
const maxSquares = 31

// maxWidth is the number of columns for which there are letters.
const maxWidth = 26

// pieces are the letters of pieces in texts and names of moves, indexed by digit.
const pieces = ".-|"

// Rules are the rules of Quick Cross for one size of board.
type Rules struct {
	width, height, connect int
	squares                int
	weights                [maxSquares + 1]uint64 // 3^i
	lines                  [][]int                // the squares of each line, ascending
	lineBits               []uint32               // the same, as bits
	names                  [][2]string            // of the moves, by square and kind of piece
	kinds                  [groupBoards][2]uint32 // the squares with pieces of each kind, by the digits of a group of squares
	images                 imageTables
}

// New returns the rules. The board must have at most 31 squares and 26 columns, and connect
// must not be longer than the longer side.
func New(width, height, connect int) (*Rules, error) {
	fits := width <= maxWidth && height <= maxSquares && width*height <= maxSquares
	if err := game.CheckLine("quickcross", width, height, connect, fits, fmt.Sprintf("it may have %d squares and %d columns at most", maxSquares, maxWidth)); err != nil {
		return nil, err
	}
	r := &Rules{width: width, height: height, connect: connect, squares: width * height}
	r.weights[0] = 1
	for i := range r.squares {
		r.weights[i+1] = 3 * r.weights[i]
	}
	for _, places := range r.grid().Lines(connect) {
		line, bits := make([]int, connect), uint32(0)
		for i, at := range places {
			line[i] = at[1]*width + at[0]
			bits |= 1 << line[i]
		}
		r.lines, r.lineBits = append(r.lines, line), append(r.lineBits, bits)
	}
	for i := range r.squares {
		square := r.grid().Square(i%width, i/width)
		r.names = append(r.names, [2]string{square + pieces[1:2], square + pieces[2:]})
	}
	for digits := range r.kinds {
		for i, rest := 0, digits; rest > 0; i, rest = i+1, rest/3 {
			if piece := rest % 3; piece != 0 {
				r.kinds[digits][piece-1] |= 1 << i
			}
		}
	}
	r.images = newImageTables(r)
	return r, nil
}

//go:embed rules.txt
var rulesText string

// Kind describes Quick Cross to a program.
var Kind = game.LineKind("quickcross", "Quick Cross: lay pieces across or upright or turn them, N of a kind in a row wins", "pieces", New)

// Info describes the game.
func (r *Rules) Info() game.Info {
	return game.Info{
		Title:  fmt.Sprintf("Quick Cross of %d on %d×%d", r.connect, r.width, r.height),
		Rules:  rulesText,
		Hashes: r.Positions(),
		Look: game.Look{Square: "cell", Pieces: map[string]string{"-": "across", "|": "upright"},
			Place: []game.Square{{Text: game.Empty}, {Text: "-"}, {Text: "|"}}},
	}
}

// Spec returns "quickcross width=W height=H connect=N".
func (r *Rules) Spec() string {
	return fmt.Sprintf("quickcross width=%d height=%d connect=%d", r.width, r.height, r.connect)
}

// KeyBits returns the number of bits of the largest hash.
func (r *Rules) KeyBits() uint { return uint(bits.Len64(r.Positions() - 1)) }

// Positions returns 3^squares.
func (r *Rules) Positions() uint64 { return r.weights[r.squares] }

// Start returns the empty board, 0.
func (r *Rules) Start() game.Position { return 0 }

// digit returns the content of square i, an index into pieces.
func (r *Rules) digit(p game.Position, i int) int { return int(p / r.weights[i] % 3) }

// Check requires a number below 3^squares.
func (r *Rules) Check(p game.Position) error {
	if p >= r.Positions() {
		return fmt.Errorf("%d is not a board of %d×%d: the largest is %d", p, r.width, r.height, r.Positions()-1)
	}
	return nil
}

// ToMove returns First: a position does not contain the player to move.
func (r *Rules) ToMove(game.Position) game.Player { return game.First }

// Primitive returns a loss in 0 for the player to move if there is a line, and 0
// otherwise.
func (r *Rules) Primitive(p game.Position) game.Value {
	across, upright := r.squaresOf(p)
	for _, line := range r.lineBits {
		if across&line == line || upright&line == line {
			return game.NewValue(game.WinFor(r.ToMove(p).Other()), 0)
		}
	}
	return 0
}

// squaresOf returns the squares with pieces of each kind.
func (r *Rules) squaresOf(p game.Position) (across, upright uint32) {
	for i := 0; p > 0; i += groupSquares {
		kinds := &r.kinds[p%groupBoards]
		across |= kinds[0] << i
		upright |= kinds[1] << i
		p /= groupBoards
	}
	return across, upright
}

// Tables of images have each content of a group of consecutive squares.
const (
	groupSquares = 5
	groupBoards  = 243 // 3^groupSquares
	groups       = 4   // of a set of tables, which is enough for boards that can be solved
)

// imageTables are sets of tables with the images of boards on which only one group of squares has pieces, by its digits. An
// image of a board is the sum of those of its groups. The images are those by each symmetry of the board, and those
// with - and | exchanged. A board with fewer than eight symmetries has each of them several times.
type imageTables [][groups][groupBoards][16]game.Position

func newImageTables(r *Rules) imageTables {
	t := make(imageTables, (r.squares-1)/(groupSquares*groups)+1)
	symmetries := r.grid().Symmetries()
	for i := range r.squares {
		group := i / groupSquares
		table := &t[group/groups][group%groups]
		for s := range 8 {
			x, y := symmetries[s%len(symmetries)](i%r.width, i/r.width)
			weight := r.weights[y*r.width+x]
			for digits := range table {
				piece := uint64(r.digit(game.Position(digits), i%groupSquares))
				table[digits][2*s] += piece * weight
				table[digits][2*s+1] += (3 - piece) % 3 * weight
			}
		}
	}
	return t
}

// of returns the images of p.
func (t imageTables) of(p game.Position) (images [16]game.Position) {
	for i := range t {
		a := &t[i][0][p%groupBoards]
		p /= groupBoards
		b := &t[i][1][p%groupBoards]
		p /= groupBoards
		c := &t[i][2][p%groupBoards]
		p /= groupBoards
		d := &t[i][3][p%groupBoards]
		p /= groupBoards
		for s := range images {
			images[s] += a[s] + b[s] + c[s] + d[s]
		}
	}
	return images
}

var _ game.Symmetric = (*Rules)(nil)

// Canonical returns the least of the images of p.
func (r *Rules) Canonical(p game.Position) game.Position {
	images := r.images.of(p)
	least := images[0]
	for _, image := range images[1:] {
		least = min(least, image)
	}
	return least
}

// Images appends the images of p.
func (r *Rules) Images(dst []game.Position, p game.Position) []game.Position {
	images := r.images.of(p)
	return game.Distinct(append(dst, images[:]...), len(dst))
}

var _ game.Reversible = (*Rules)(nil)

// Predecessors appends the boards without one of the pieces of p, and those with one of them turned. Boards with a line
// are among them.
func (r *Rules) Predecessors(dst []game.Position, p game.Position) []game.Position {
	weight := uint64(1)
	for digits := p; digits > 0; digits /= 3 {
		switch digits % 3 {
		case 1:
			dst = append(dst, p-weight, p+weight)
		case 2:
			dst = append(dst, p-2*weight, p-weight)
		}
		weight *= 3
	}
	return dst
}

// Moves appends the moves, named by the square and the piece after the move: a1-, a1|, a2-.
func (r *Rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	across, upright := r.squaresOf(p)
	for x := range r.width {
		for i := x; i < r.squares; i += r.width {
			weight, names := r.weights[i], &r.names[i]
			switch {
			case across>>i&1 != 0:
				dst = append(dst, game.Move{Name: names[1], To: p + weight})
			case upright>>i&1 != 0:
				dst = append(dst, game.Move{Name: names[0], To: p - weight})
			default:
				dst = append(dst, game.Move{Name: names[0], To: p + weight}, game.Move{Name: names[1], To: p + 2*weight})
			}
		}
	}
	return dst
}

// AppendText appends the rows from the top, separated by /: "-|./-|./..-".
func (r *Rules) AppendText(dst []byte, p game.Position) []byte {
	return r.grid().AppendText(dst, r.on(p))
}

// Parse reads the text of AppendText, see game.Grid.
func (r *Rules) Parse(text string) (p game.Position, err error) {
	err = r.grid().Parse(text, func(x, y, piece int) { p += uint64(piece) * r.weights[y*r.width+x] })
	if err != nil {
		return 0, err
	}
	return p, nil
}

// Picture returns the board.
func (r *Rules) Picture(p game.Position) game.Picture {
	return r.grid().Picture(r.on(p)).WithLines(r.connect)
}

func (r *Rules) grid() game.Grid {
	return game.Grid{Width: r.width, Height: r.height, Pieces: pieces}
}

// on returns a function that returns the content of a square.
func (r *Rules) on(p game.Position) func(x, y int) int {
	return func(x, y int) int { return r.digit(p, y*r.width+x) }
}

// Values returns values from the view of the player to move; players prefer the nearest tie.
func (r *Rules) Values() game.Values { return game.Values{OfMover: true, TiesSoon: true} }

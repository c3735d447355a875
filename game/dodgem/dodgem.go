// Package dodgem implements Dodgem, which was invented by Colin Vout and is described in
// Winning Ways: a board of Size rows and columns, and Size-1 cars for each player. The cars of
// the first player, >, start in the left column and drive to the right; those of the second
// player, ^, start in the bottom row and drive up. The corner between them is empty.
//
//	    a b c
//	1   > . .
//	2   > . .
//	3   . ^ ^
//
// A move drives one car to the next square, forward or sideways, never back and never onto
// another car. A car that drives forward over the far edge leaves the board for good. There
// are no captures. The player whose cars are all off the board first wins at once. A player
// who cannot move in his turn has won, because his opponent must not block him. There are no
// ties, but play may never end.
//
// (In a variant, a player whose cars are all off wins only when it is his turn, in which he
// cannot move. This is the same game, in which some endings take one more ply: the other
// player can always move, because the foremost of his cars in a line is free.)
//
// # The hash
//
// A board is two sets of squares, which are numbered from the top left, row by row. The
// number of a set of k squares is the sum of (s choose j), where s is the j-th square of
// the set in ascending order. The boards with k and l cars come after those with fewer.
// Among these, the number of a board is the number of the first player's set times the
// number of possible sets of the second player, plus the number of the second player's set,
// for which only squares without the first player's cars are counted. The key is twice the
// number of the board, plus 1 if the second player is to move. Every key below the number
// of all positions is a position.
package dodgem

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// The sizes of boards. A board of size 6 has 10^11 positions.
const (
	minSize = 2
	maxSize = 5
)

// The letters of the players' cars in texts.
const pieces = ".>^"

//go:embed rules.txt
var rulesText string

// Kind describes Dodgem to a program.
var Kind = game.Kind{
	Name:   "dodgem",
	Usage:  "Dodgem: drive all your cars off the board, and do not shut the other player in",
	Params: []game.Param{{Name: "size", Usage: "rows and columns of the board", Default: 3}},
	New:    func(args []int) (game.Game, error) { return New(args[0]) },
}

// rules are the rules for one size of board.
type rules struct {
	size, cars, squares int

	choose [maxSize*maxSize + 1][maxSize + 1]uint64 // number of sets of k squares of n: choose[n][k]
	first  [maxSize][maxSize]uint64                 // number of the first board with k and l cars
	boards uint64
	names  [2][3][]string // of the mover's steps: [player][step][square]
}

// New returns the rules, for boards of 2 to 5 rows.
func New(size int) (game.Game, error) {
	if size < minSize || size > maxSize {
		return nil, fmt.Errorf("dodgem: size must be %d to %d, found %d", minSize, maxSize, size)
	}
	r := &rules{size: size, cars: size - 1, squares: size * size}
	for n := range r.choose {
		r.choose[n][0] = 1
		for k := 1; n > 0 && k <= maxSize; k++ {
			r.choose[n][k] = r.choose[n-1][k-1] + r.choose[n-1][k]
		}
	}
	for k := range r.cars + 1 {
		for l := range r.cars + 1 {
			r.first[k][l] = r.boards
			r.boards += r.choose[r.squares][k] * r.choose[r.squares-k][l]
		}
	}
	for player, steps := range steps {
		for i, step := range steps {
			for s := range r.squares {
				r.names[player][i] = append(r.names[player][i], r.grid().Square(s%size, s/size)+step.name)
			}
		}
	}
	return r, nil
}

// A board contains the squares of each player's cars, and the player to move.
type board struct {
	cars   [2]uint32
	toMove game.Player
}

func (b board) empty(square uint32) bool { return (b.cars[0]|b.cars[1])&square == 0 }

// board is the inverse of key.
func (r *rules) board(p game.Position) board {
	b := board{toMove: game.Player(p & 1)}
	n := p >> 1
	k, l := r.cars, r.cars
	for n < r.first[k][0] {
		k--
	}
	for n < r.first[k][l] {
		l--
	}
	n -= r.first[k][l]
	others := r.choose[r.squares-k][l]
	b.cars[0] = r.set(n/others, k)
	for set := r.set(n%others, l); set != 0; set &= set - 1 {
		b.cars[1] |= 1 << unsqueeze(bits.TrailingZeros32(set), b.cars[0])
	}
	return b
}

// key returns the position of a board.
func (r *rules) key(b board) game.Position {
	k, l := bits.OnesCount32(b.cars[0]), bits.OnesCount32(b.cars[1])
	var others uint32 // numbered without the first player's squares
	for set := b.cars[1]; set != 0; set &= set - 1 {
		s := bits.TrailingZeros32(set)
		others |= 1 << (s - bits.OnesCount32(b.cars[0]&(1<<s-1)))
	}
	n := r.first[k][l] + r.number(b.cars[0])*r.choose[r.squares-k][l] + r.number(others)
	return n<<1 | uint64(b.toMove)
}

// unsqueeze returns the square that is number n among those not in set.
func unsqueeze(n int, set uint32) int {
	for ; set != 0 && bits.TrailingZeros32(set) <= n; set &= set - 1 {
		n++
	}
	return n
}

// number returns the number of a set among the sets of equal size.
func (r *rules) number(set uint32) (n uint64) {
	for j := 1; set != 0; set &= set - 1 {
		n += r.choose[bits.TrailingZeros32(set)][j]
		j++
	}
	return n
}

// set returns the set of k squares with number n.
func (r *rules) set(n uint64, k int) (set uint32) {
	for s := r.squares - 1; k > 0; s-- {
		if ways := r.choose[s][k]; ways <= n {
			set |= 1 << s
			n -= ways
			k--
		}
	}
	return set
}

// Info describes the game.
func (r *rules) Info() game.Info {
	return game.Info{Title: fmt.Sprintf("Dodgem on %d×%d", r.size, r.size), Rules: rulesText, Hashes: r.hashes(), Look: game.Look{
		Place: []game.Square{{Text: game.Empty}, {Text: ">", Owner: game.OfFirst}, {Text: "^", Owner: game.OfSecond}}}}
}

func (r *rules) Spec() string { return fmt.Sprintf("dodgem size=%d", r.size) }

// Values returns values from the view of the player to move; there are no ties.
func (r *rules) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{">", "^"}}
}

func (r *rules) hashes() uint64       { return 2 * r.boards }
func (r *rules) KeyBits() uint        { return uint(bits.Len64(r.hashes() - 1)) }
func (r *rules) Start() game.Position { return r.key(r.start()) }

// start returns the initial board.
func (r *rules) start() (b board) {
	for i := range r.cars {
		b.cars[game.First] |= 1 << (i * r.size)
		b.cars[game.Second] |= 1 << (r.squares - 1 - i)
	}
	return b
}

// Check requires a number below that of all positions.
func (r *rules) Check(p game.Position) error {
	if p >= r.hashes() {
		return fmt.Errorf("%d is not a position of %d×%d: the largest is %d", p, r.size, r.size, r.hashes()-1)
	}
	return nil
}

func (r *rules) ToMove(p game.Position) game.Player { return game.Player(p & 1) }

// Primitive returns a loss for the player to move if the other's cars are all off, and a win
// if he has no move.
func (r *rules) Primitive(p game.Position) game.Value {
	b := r.board(p)
	if b.cars[b.toMove.Other()] == 0 {
		return game.NewValue(game.WinFor(b.toMove.Other()), 0)
	}
	for s := range r.squares {
		for _, step := range steps[b.toMove] {
			if _, ok := r.drive(b, s, step); ok {
				return 0
			}
		}
	}
	return game.NewValue(game.WinFor(b.toMove), 0)
}

// A step is a direction in which a player's cars move.
type step struct {
	name    string
	x, y    int
	forward bool
}

// The steps of both players, sorted by name.
var steps = [2][3]step{
	{{"d", 0, 1, false}, {"r", 1, 0, true}, {"u", 0, -1, false}},
	{{"l", -1, 0, false}, {"r", 1, 0, false}, {"u", 0, -1, true}},
}

// beside returns the bit of the square at distance x, y from square s, or 0 if it is off the
// board.
func (r *rules) beside(s, x, y int) uint32 {
	x, y = s%r.size+x, s/r.size+y
	if x < 0 || x >= r.size || y < 0 || y >= r.size {
		return 0
	}
	return 1 << (y*r.size + x)
}

// drive returns the board after a step of the mover's car on square s, if the step is legal.
func (r *rules) drive(b board, s int, step step) (after board, ok bool) {
	mine, car := &b.cars[b.toMove], uint32(1)<<s
	to := r.beside(s, step.x, step.y)
	if *mine&car == 0 || to == 0 && !step.forward || !b.empty(to) {
		return b, false
	}
	*mine = *mine&^car | to
	b.toMove = b.toMove.Other()
	return b, true
}

// Moves appends the moves, named by the square of the car and the direction (down, left, right
// or up): a1d, a1r, b3u. A car that leaves the board drives forward like any other.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	b := r.board(p)
	for x := range r.size {
		for y := range r.size {
			for i, step := range steps[b.toMove] {
				if after, ok := r.drive(b, y*r.size+x, step); ok {
					dst = append(dst, game.Move{Name: r.names[b.toMove][i][y*r.size+x], To: r.key(after)})
				}
			}
		}
	}
	return dst
}

func (r *rules) grid() game.Grid {
	return game.Grid{Width: r.size, Height: r.size, Pieces: pieces, Owners: []game.Owner{game.Nobody, game.OfFirst, game.OfSecond}}
}

// on returns a function that returns the content of a square.
func (r *rules) on(b board) func(x, y int) int {
	return func(x, y int) int {
		s := y*r.size + x
		return int(b.cars[0]>>s&1 | b.cars[1]>>s&1<<1)
	}
}

// AppendText appends the rows from the top, separated by /, and the car of the player to
// move: ">../>../.^^ >".
func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	b := r.board(p)
	return append(r.grid().AppendText(dst, r.on(b)), ' ', pieces[1+b.toMove])
}

// Parse reads the text of AppendText, see game.Grid.
func (r *rules) Parse(text string) (game.Position, error) {
	end := max(0, len(text)-2)
	toMove, ok := strings.CutPrefix(text[end:], " ")
	if !ok || toMove != ">" && toMove != "^" {
		return 0, fmt.Errorf("position %q: expected a board and, after a blank, the player to move, > or ^", text)
	}
	b := board{toMove: game.Player(strings.Index(pieces, toMove) - 1)}
	err := r.grid().Parse(text[:end], func(x, y, piece int) { b.cars[piece-1] |= 1 << (y*r.size + x) })
	if err != nil {
		return 0, err
	}
	for player, set := range b.cars {
		if n := bits.OnesCount32(set); n > r.cars {
			return 0, fmt.Errorf("position %q has %d cars %c, expected %d at most", text, n, pieces[1+player], r.cars)
		}
	}
	return r.key(b), nil
}

// Arrange is the inverse of Picture.
func (r *rules) Arrange(squares [][]string, turn game.Player) string {
	return game.JoinRows(squares) + " " + pieces[1+turn:2+turn]
}

// Picture returns the board.
func (r *rules) Picture(p game.Position) game.Picture { return r.grid().Picture(r.on(r.board(p))) }

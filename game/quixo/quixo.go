// Package quixo implements Quixo, which was invented by Thierry Chapeau and published by Gigamic
// in 1995: a board full of Size·Size cubes, which are blank at the start. X and O take turns, X
// first.
//
//	    a b c d
//	1   X . O .
//	2   . O . .
//	3   . . X .
//	4   . . . X
//
// A player takes a cube of the border that is blank or has his mark. He pushes it, with his
// mark on top, into an end of its row or column: the cubes between that end and the gap move on
// by one square and fill the gap. That end may not be the square from which he took the cube. If
// all cubes on the way have his mark, the board stays as it was, but the turn passes.
//
// A row, a column or a long diagonal with one mark only is a line. If there is a line of the
// other player after a move, the other player has won, even if there is a line of the player who
// moved, too. Otherwise a line of the player who moved wins. There are no ties, but play may
// never end. A player always has a move: if all cubes of the border have the other's mark, there
// is a line.
//
// The rules are those of Gigamic's leaflet for two players. On smaller boards, they are those of
// GamesmanOne (GamesCrafters), by which the first player wins 3×3 in 7 moves and 4×4 in 21. On 5×5,
// neither player can force a win: Tanaka, Bonnet, Tixeuil and Tamura, Quixo Is Solved (2020).
//
// Package square describes the hash.
package quixo

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/internal/square"
)

// The sizes of boards. On 2×2, the second cube of a player makes a line.
const (
	minSize = 3
	maxSize = 5
)

//go:embed rules.txt
var rulesText string

// Kind describes Quixo to a program.
var Kind = game.Kind{
	Name:   "quixo",
	Usage:  "Quixo: take a cube of the border, push it in elsewhere, a line of your mark wins",
	Params: []game.Param{{Name: "size", Usage: "rows and columns of the board", Default: 3}},
	New:    func(args []int) (game.Game, error) { return New(args[0]) },
}

// rules are the rules for one size of board.
type rules struct {
	*square.Board
	lines  []uint64
	pushes []push // sorted by name
}

// A push takes the cube of a square and pushes it in at another one.
type push struct {
	name     string
	from, to uint64           // bits of squares
	moved    game.Position    // the bits of both players that move on
	taken    game.Position    // those and the bits of from
	step     int              // by how many bits they move: positive if up
	marked   [2]game.Position // the bit of to, by player
}

var (
	_ game.Tiered    = (*rules)(nil)
	_ game.Symmetric = (*rules)(nil)
	_ game.Arranger  = (*rules)(nil)
	_ game.Evaluator = (*rules)(nil)
)

// New returns the rules, for boards of 3 to 5 rows.
func New(size int) (game.Tiered, error) {
	if size < minSize || size > maxSize {
		return nil, fmt.Errorf("quixo: size must be %d to %d, found %d", minSize, maxSize, size)
	}
	r := &rules{Board: square.New(size, [2]string{"X", "O"})}
	r.lines = r.Lines(size)
	for from := range r.Squares {
		x, y := from/size, from%size
		for to := range r.Squares {
			toX, toY := to/size, to%size
			ends := func(at int) bool { return at == 0 || at == size-1 }
			switch border := ends(x) || ends(y); {
			case border && x == toX && y != toY && ends(toY):
				r.push(from, to, 1)
			case border && y == toY && x != toX && ends(toX):
				r.push(from, to, size)
			}
		}
	}
	return r, nil
}

// push adds the push from a square to another, in a line of squares whose numbers differ by step.
func (r *rules) push(from, to, step int) {
	m := push{name: r.Names[from] + "-" + r.Names[to], from: 1 << from, to: 1 << to, step: step}
	if from < to {
		m.step = -step // towards from
	}
	var moved uint64
	for s := to; s != from; s += m.step {
		moved |= 1 << s
	}
	both := func(set uint64) game.Position { return set | set<<r.Squares }
	m.moved, m.taken = both(moved), both(moved|m.from)
	m.marked = [2]game.Position{m.to, m.to << r.Squares}
	r.pushes = append(r.pushes, m)
}

// Spec returns the name of the game and its parameter.
func (r *rules) Spec() string { return fmt.Sprintf("quixo size=%d", r.Size) }

// Info describes the game.
func (r *rules) Info() game.Info {
	info := game.Info{
		Title:    fmt.Sprintf("Quixo on %d×%d", r.Size, r.Size),
		Rules:    rulesText,
		TierUnit: "marked cubes",
		Boards:   r.boards,
		Look:     game.Look{Square: "cube", Pieces: map[string]string{"X": "cross", "O": "ring"}, Place: r.Place()},
	}
	if r.Size == maxSize {
		info.Vast = 2 * 847288609443 // the number of hashes: twice 3 to the 25
	}
	return info
}

// A tier is a number of marked cubes: a move of a blank cube raises it by one, other moves stay.
func (r *rules) Tiers() int               { return r.Squares }
func (r *rules) Tier(p game.Position) int { return bits.OnesCount64(p &^ r.Turn()) }

// Loops returns false for the tier in which no cube is marked.
func (r *rules) Loops(tier int) bool { return tier > 0 }

// boards returns the number of ways in which the cubes of a tier can be marked, for either player to move.
func (r *rules) boards(tier int) (n float64) {
	for first := range tier + 1 {
		n += 2 * r.Board.Boards(first, tier-first)
	}
	return n
}

// lined returns the squares of all lines of player.
func (r *rules) lined(p game.Position, player game.Player) (all uint64) {
	pieces := r.Pieces(p, player)
	for _, line := range r.lines {
		if pieces&line == line {
			all |= line
		}
	}
	return all
}

// Primitive returns a win of the player to move if he has a line, otherwise of the other if he has.
func (r *rules) Primitive(p game.Position) game.Value {
	mover := r.ToMove(p)
	for _, player := range [...]game.Player{mover, mover.Other()} {
		if r.lined(p, player) != 0 {
			return game.NewValue(game.WinFor(player), 0)
		}
	}
	return 0
}

// Moves appends the moves, named by the square from which a cube is taken and the one at which it
// is pushed in: a1-a4.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	mover := r.ToMove(p)
	others := r.Pieces(p, mover.Other())
	for i := range r.pushes {
		if m := &r.pushes[i]; others&m.from == 0 {
			to := p&^m.taken | bits.RotateLeft64(p&m.moved, m.step) | m.marked[mover]
			dst = append(dst, game.Move{Name: m.name, To: to ^ r.Turn()})
		}
	}
	return dst
}

// Picture returns the board, with the lines of the winner.
func (r *rules) Picture(p game.Position) game.Picture {
	var won uint64
	if v := r.Primitive(p); v != 0 {
		won = r.lined(p, v.Outcome().Winner())
	}
	return r.Board.Picture(p, won)
}

// Evaluate counts the squares of the number of marks in each line, those of the player to move
// less those of the other.
func (r *rules) Evaluate(p game.Position) (sum int) {
	mover := r.ToMove(p)
	mine, others := r.Pieces(p, mover), r.Pieces(p, mover.Other())
	for _, line := range r.lines {
		m, o := bits.OnesCount64(mine&line), bits.OnesCount64(others&line)
		sum += m*m - o*o
	}
	return sum
}

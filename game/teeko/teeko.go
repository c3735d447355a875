// Package teeko implements Teeko, which was invented by John Scarne in 1937: two players, Black
// and Red, have four stones each on a board of 5×5 squares.
//
//	    a b c d e
//	1   . . . . .
//	2   . B R . .
//	3   . R B B .
//	4   . . R . B
//	5   . . R . .
//
// They take turns, Black first. Each puts one stone on an empty square, until all eight are on
// the board; then each moves one of his stones to an empty square beside it, in any of the eight
// directions. The player whose four stones are a goal has won: four in a row along a row, a column
// or a diagonal, or the four squares of a 2×2 square. These are 44 goals, of the variant standard.
// In the variant advanced, the corners of a larger square with sides along the rows are a
// goal, too, which makes 58. There are no ties, but play may never end. A player can always move:
// four stones that are no goal have at least six squares beside them, and the other player
// has four stones.
//
// The rules and the numbers of goals are those of Guy L. Steele Jr., Summary of the Solving of
// the Game of Teeko (1999), who showed that standard is a draw, and that in advanced the
// first player wins if his first stone is in the centre, and only then.
//
// Package square describes the hash. It tells whose turn it is although, while stones are dropped,
// their number does: in an image with the players exchanged, Red has moved first.
package teeko

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/internal/square"
)

const (
	size   = 5 // rows and columns
	stones = 4 // of a player, and squares of a goal

	maxPlies = 200 // a longer play is a draw; with best play, a win takes at most 60
)

//go:embed rules.txt
var rulesText string

const advanced = 1 // the index of a variant

var variant = game.Param{Name: "variant", Usage: "goals: rows and 2×2 squares, or the corners of larger squares too", Words: []string{"standard", "advanced"}}

// Kind describes Teeko to a program.
var Kind = game.Kind{
	Name:   "teeko",
	Usage:  "Teeko: drop four stones, then move them, until they are in a row or a square",
	Params: []game.Param{variant},
	New:    func(args []int) (game.Game, error) { return New(args[0]) },
}

// rules are the rules of one variant.
type rules struct {
	*square.Board
	variant int
	goals   []uint64   // sets of squares
	beside  []uint64   // the squares beside a square
	names   [][]string // of moves, by the squares from and to
	links   [][][2]int // of neighbours
}

var (
	_ game.Tiered    = (*rules)(nil)
	_ game.Symmetric = (*rules)(nil)
	_ game.Arranger  = (*rules)(nil)
)

// New returns the rules of a variant: 0 is standard, 1 advanced.
func New(number int) (game.Tiered, error) {
	if number < 0 || number >= len(variant.Words) {
		return nil, fmt.Errorf("teeko: variant must be 0 or 1, found %d", number)
	}
	r := &rules{Board: square.New(size, [2]string{"B", "R"}), variant: number}
	r.links = game.Grid{Width: size, Height: size}.Lines(2)
	r.goals = r.Lines(stones)
	longest := 1
	if number == advanced {
		longest = size - 1
	}
	for from := range r.Squares {
		x, y := from/size, from%size
		for side := 1; side <= longest && x+side < size && y+side < size; side++ {
			right := from + side*size
			r.goals = append(r.goals, 1<<from|1<<(from+side)|1<<right|1<<(right+side))
		}
		var beside uint64
		names := make([]string, r.Squares)
		for to := range r.Squares {
			if dx, dy := to/size-x, to%size-y; to != from && dx*dx <= 1 && dy*dy <= 1 {
				beside |= 1 << to
				names[to] = r.Names[from] + "-" + r.Names[to]
			}
		}
		r.beside, r.names = append(r.beside, beside), append(r.names, names)
	}
	return r, nil
}

// Spec returns the name of the game and its parameter.
func (r *rules) Spec() string { return "teeko variant=" + variant.Text(r.variant) }

// Info describes the game.
func (r *rules) Info() game.Info {
	title := "Teeko"
	if r.variant == advanced {
		title = "Advanced Teeko"
	}
	return game.Info{
		Title:    title,
		Rules:    rulesText,
		Draw:     game.DrawRule{Repetitions: 3, Plies: maxPlies},
		TierUnit: "stones on the board",
		Boards:   func(tier int) float64 { return 2 * r.Board.Boards(tier/2, tier-tier/2) },
		Look:     game.Look{Square: "point", Pieces: map[string]string{"*": "disc"}, Colours: "black-red", Place: r.Place()},
	}
}

// A tier is a number of stones on the board. When there are eight, they move.
func (r *rules) Tiers() int               { return 2 * stones }
func (r *rules) Tier(p game.Position) int { return bits.OnesCount64(p &^ r.Turn()) }
func (r *rules) Loops(tier int) bool      { return tier == r.Tiers() }

// Check requires as many stones of the player to move as of the other, or one less, and at most four.
func (r *rules) Check(p game.Position) error {
	if err := r.Board.Check(p); err != nil {
		return err
	}
	mover := r.ToMove(p)
	mine, others := bits.OnesCount64(r.Pieces(p, mover)), bits.OnesCount64(r.Pieces(p, mover.Other()))
	if others > stones || mine != others && mine != others-1 {
		return fmt.Errorf("%#x is not a position: the player to move has %d stones, the other %d, expected as many or one more, at most %d", p, mine, others, stones)
	}
	return nil
}

// goal reports whether a set of squares contains a goal.
func (r *rules) goal(set uint64) bool {
	for _, goal := range r.goals {
		if set == goal {
			return true
		}
	}
	return false
}

// Primitive checks the player who moved last first: that player wins if both have a goal, which
// play cannot reach.
func (r *rules) Primitive(p game.Position) game.Value {
	last := r.ToMove(p).Other()
	for _, player := range [...]game.Player{last, last.Other()} {
		if r.goal(r.Pieces(p, player)) {
			return game.NewValue(game.WinFor(player), 0)
		}
	}
	return 0
}

// Moves appends the moves: a drop is named by its square, c3, a move by the squares from and to,
// a1-b2.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	mover := int(r.ToMove(p)) * r.Squares // lowest bit of the player to move
	empty := r.Full &^ (p | p>>r.Squares)
	after := p ^ r.Turn()
	if r.Tier(p) < r.Tiers() {
		for ; empty != 0; empty &= empty - 1 {
			to := bits.TrailingZeros64(empty)
			dst = append(dst, game.Move{Name: r.Names[to], To: after | 1<<(mover+to)})
		}
		return dst
	}
	for set := p >> mover & r.Full; set != 0; set &= set - 1 {
		from := bits.TrailingZeros64(set)
		for to := r.beside[from] & empty; to != 0; to &= to - 1 {
			to := bits.TrailingZeros64(to)
			dst = append(dst, game.Move{Name: r.names[from][to], To: after ^ (1<<from|1<<to)<<mover})
		}
	}
	return dst
}

// Parse reads the text of AppendText, see game.Grid.
func (r *rules) Parse(text string) (game.Position, error) {
	p, err := r.Board.Parse(text)
	if err == nil {
		err = r.Check(p)
	}
	return p, err
}

// Picture returns the board, with the goal of the winner.
func (r *rules) Picture(p game.Position) game.Picture {
	var won uint64
	if v := r.Primitive(p); v != 0 {
		won = r.Pieces(p, v.Outcome().Winner())
	}
	pic := r.Board.Picture(p, won)
	pic.Links = r.links
	return pic
}

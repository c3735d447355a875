package testgames

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/treereduce/treereduce/game"
)

// A Graph is a game given by a list of moves. Position 0 is the initial position; positions
// without moves are terminal.
type Graph struct {
	Next map[game.Position][]game.Position
	End  map[game.Position]game.Result
	Size uint64 // the last position plus one

	numbers
}

var _ game.Reversible = Graph{}

// TieGame returns a game in which ties must be decided after wins, and a tie is reached
// through ties. Position 2 could move to the tie 7, but wins by 3. So the player at 11 loses
// by moving to 2, and stays in the cycle 11, 12: both are draws. From 0, the tie 7 is two
// plies away through 1; through 8 and 9 it is farther.
func TieGame() Graph {
	return Graph{
		Next: map[game.Position][]game.Position{
			0: {1, 11}, 1: {7, 8, 0}, 8: {1, 9}, 9: {8, 8}, 11: {2, 12}, 12: {11},
			2: {7, 3, 7}, 3: {4}, 4: {5}, 6: {7},
		},
		End:  map[game.Position]game.Result{5: game.Loses, 7: game.Ties},
		Size: 13,
	}
}

// Spec returns the name of the game.
func (g Graph) Spec() string { return "graph size=" + strconv.FormatUint(g.Size, 10) }

// KeyBits returns the number of bits of the last position.
func (g Graph) KeyBits() uint { return uint(max(1, bits.Len64(g.Size-1))) }

// Start returns 0.
func (g Graph) Start() game.Position { return 0 }

// Info returns the number of positions.
func (g Graph) Info() game.Info { return game.Info{Hashes: g.Size} }

// Check requires a number below the size.
func (g Graph) Check(p game.Position) error {
	if p >= g.Size {
		return errors.New("not in the graph")
	}
	return nil
}

// Primitive returns the result in End.
func (g Graph) Primitive(p game.Position) game.Value {
	if result, ok := g.End[p]; ok {
		return game.NewValue(game.Outcome(result), 0)
	}
	return 0
}

// Moves names each move after the position that it leads to.
func (g Graph) Moves(dst []game.Move, p game.Position) []game.Move {
	for _, to := range g.Next[p] {
		dst = append(dst, game.Move{Name: strconv.FormatUint(to, 10), To: to})
	}
	return dst
}

// Predecessors searches all moves.
func (g Graph) Predecessors(dst []game.Position, p game.Position) []game.Position {
	for from := range g.Size {
		for _, to := range g.Next[from] {
			if to == p {
				dst = append(dst, from)
			}
		}
	}
	return dst
}

// ToMove returns First: a position does not contain the player to move.
func (g Graph) ToMove(game.Position) game.Player { return game.First }

// Parse reads a number.
func (g Graph) Parse(text string) (game.Position, error) { return parseNumber(g.Check, text) }

// Values returns values from the view of the player to move.
func (g Graph) Values() game.Values { return game.Values{OfMover: true, TiesSoon: true} }

// numbers is the part of a game that writes its positions as numbers.
type numbers struct{}

// AppendText appends the position as a number.
func (numbers) AppendText(dst []byte, p game.Position) []byte { return strconv.AppendUint(dst, p, 10) }

// Picture shows the position as a number.
func (numbers) Picture(p game.Position) game.Picture {
	return game.Picture{Rows: [][]game.Square{{{Text: strconv.FormatUint(p, 10)}}}}
}

// parseNumber reads a position that passes check.
func parseNumber(check func(game.Position) error, text string) (game.Position, error) {
	p, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		err = check(p)
	}
	return p, err
}

// RandomGraph returns a game of n positions (n >= 2) whose terminal positions can have any
// result. In Quick Cross, the player to move has always lost at the end; here, positions can
// receive a win and a loss in the same pass. Some positions cannot be reached, and several
// moves may lead to the same position.
func RandomGraph(r *rand.Rand, n int) Graph {
	g := Graph{Next: make(map[game.Position][]game.Position), End: make(map[game.Position]game.Result), Size: uint64(n)}
	ends := 1 + r.IntN(max(1, n/4))
	for p := range n {
		if p >= n-ends {
			g.End[game.Position(p)] = []game.Result{game.Loses, game.Wins, game.Wins, game.Ties}[r.IntN(4)]
			continue
		}
		for range 1 + r.IntN(3) {
			to := r.IntN(n)
			if r.IntN(2) == 0 {
				to = min(n-1, p+1+r.IntN(3)) // for long paths
			}
			g.Next[game.Position(p)] = append(g.Next[game.Position(p)], game.Position(to))
		}
	}
	return g
}

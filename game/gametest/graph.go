package gametest

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/treereduce/treereduce/game"
)

// A Graph is a game as a list of moves. Play begins at 0; positions without
// moves are finished.
type Graph struct {
	Next map[game.Position][]game.Position
	End  map[game.Position]game.Result
	Size uint64 // one more than the last position
}

var (
	_ game.Plain   = Graph{}
	_ game.Counted = Graph{}
)

// RulesOnly is a game of which nothing is known but its rules, whatever else it knows.
func RulesOnly(g game.Game) game.Game { return struct{ game.Game }{g} }

// TieGame is a game in which ties must wait for wins, and a tie is reached through
// ties: 2 could end in the tie 7, but wins by 3; so whoever is at 11 can only
// follow the ring 11, 12, or go to 2, and both go round. From 0 the tie 7 is two
// moves away through 1, and 8 and 9 lie farther.
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

// Spec names the game.
func (g Graph) Spec() string { return "graph size=" + strconv.FormatUint(g.Size, 10) }

// KeyBits is as many bits as the last position has.
func (g Graph) KeyBits() uint { return uint(max(1, bits.Len64(g.Size-1))) }

// Start is 0.
func (g Graph) Start() game.Position { return 0 }

// Positions is the size.
func (g Graph) Positions() uint64 { return g.Size }

// Check wants a number below the size.
func (g Graph) Check(p game.Position) error {
	if p >= g.Size {
		return errors.New("not in the graph")
	}
	return nil
}

// Primitive is what End says.
func (g Graph) Primitive(p game.Position) game.Value {
	if result, ok := g.End[p]; ok {
		return game.NewValue(game.Outcome(result), 0)
	}
	return 0
}

// Moves are named after the position to which they lead.
func (g Graph) Moves(dst []game.Move, p game.Position) []game.Move {
	for _, to := range g.Next[p] {
		dst = append(dst, game.Move{Name: strconv.FormatUint(to, 10), To: to})
	}
	return dst
}

// Parents looks through all moves.
func (g Graph) Parents(dst []game.Position, p game.Position) []game.Position {
	for from := range g.Size {
		for _, to := range g.Next[from] {
			if to == p {
				dst = append(dst, from)
			}
		}
	}
	return dst
}

// ToMove does not tell.
func (g Graph) ToMove(game.Position) game.Player { return game.First }

// AppendText appends the number.
func (g Graph) AppendText(dst []byte, p game.Position) []byte { return strconv.AppendUint(dst, p, 10) }

// Parse reads a number.
func (g Graph) Parse(text string) (game.Position, error) {
	p, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		err = g.Check(p)
	}
	return p, err
}

// Values are those of the player to move.
func (g Graph) Values() game.Values { return game.Values{OfMover: true, TiesSoon: true} }

// Picture is the number.
func (g Graph) Picture(p game.Position) game.Picture {
	return game.Picture{Rows: [][]game.Square{{{Text: strconv.FormatUint(p, 10)}}}}
}

// RandomGraph is a game of n positions, two at least, that may end in anything:
// other than Quick Cross, whose player to move has always lost in the end, it has
// positions that hear of a win and of a loss in the same pass. Some cannot be
// reached, and moves may lead to the same position.
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
				to = min(n-1, p+1+r.IntN(3)) // long ways
			}
			g.Next[game.Position(p)] = append(g.Next[game.Position(p)], game.Position(to))
		}
	}
	return g
}

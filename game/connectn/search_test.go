package connectn

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
)

var (
	_ game.Searched  = (*Rules)(nil)
	_ game.Evaluator = (*Rules)(nil)
)

// The contract of game.Searched, also without solving positions with few empty squares
// directly.
func TestExpand(t *testing.T) {
	for _, b := range [][3]int{{3, 3, 3}, {4, 3, 3}, {4, 4, 4}, {5, 3, 3}, {2, 6, 2}, {3, 4, 2}, {5, 1, 2}, {1, 5, 3}} {
		g := mustNew(t, b[0], b[1], b[2])
		gametest.CheckSearched(t, g, 10000)
		g.forms.quick = 0
		gametest.CheckSearched(t, g, 10000)
	}
}

// A spot is an empty square where one more piece makes a line, whether it can be played now
// or not.
func TestSpots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, b := range [][3]int{{7, 6, 4}, {8, 7, 4}, {6, 5, 4}, {5, 5, 3}, {6, 6, 5}, {9, 3, 2}, {1, 63, 4}, {32, 1, 6}, {4, 4, 1}} {
		g := mustNew(t, b[0], b[1], b[2])
		for range 300 {
			all := uint64(0)
			for c := range g.width {
				all |= (1<<r.IntN(g.height+1) - 1) << g.shift(c)
			}
			x := r.Uint64() & all
			if g.lines.in(x) != 0 {
				continue
			}
			spots := g.spots(x)
			for rest := g.forms.board &^ all; rest != 0; rest &= rest - 1 {
				m := rest & -rest
				if got, want := spots&m != 0, g.lines.in(x|m) != 0; got != want {
					t.Fatalf("%s: pieces %#x, square %#x: a spot: %v, want %v", g.Spec(), x, m, got, want)
				}
			}
		}
	}
}

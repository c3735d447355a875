package inline_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestBlocks solves boards by blocks, with much memory and with the least.
func TestBlocks(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {3, 2, 2}, {3, 3, 3}, {4, 3, 3}} {
		g := must.Get(connectn.New(size[0], size[1], size[2]))(t)
		runnertest.Check(t, &inline.Runner{}, g)
		runnertest.Check(t, &inline.Runner{Memory: method.Of(g).LeastInline(-1, true)}, g)
	}
}

// TestEveryBoard compares the boards of Connect N with a second implementation of the game: every one
// that has at most 10,000 positions, and long ones.
func TestEveryBoard(t *testing.T) {
	runnertest.EveryBoard(t, &inline.Runner{}, 10_000, 12)
	for connect := 3; connect <= 5; connect++ {
		runnertest.Board(t, &inline.Runner{}, 2, 10, connect)
	}
	runnertest.Board(t, &inline.Runner{}, 12, 1, 3)
	runnertest.Board(t, &inline.Runner{}, 1, 21, 3)
}

// TestLongEveryBoard compares every board that has at most TREEREDUCE_POSITIONS positions; up to five
// million take an hour or more.
func TestLongEveryBoard(t *testing.T) {
	longtest.SkipShare(t)
	runnertest.EveryBoard(t, &inline.Runner{}, longtest.Number(t, "TREEREDUCE_POSITIONS", 400_000), 24)
}

// TestEverySize compares every small size of all games with brute force.
func TestEverySize(t *testing.T) { runnertest.EverySize(t, &inline.Runner{}, all.Kinds(), 3000) }

// TestLayers solves a board by layers, with much memory and with the least.
func TestLayers(t *testing.T) {
	g := must.Get(mnk.New(3, 2, 2))(t)
	runnertest.Check(t, &inline.Runner{}, g)
	runnertest.Check(t, &inline.Runner{Memory: method.Of(g).LeastInline(-1, true)}, g)
}

// TestLoops solves random games with tiers, inner moves and images, with much memory and with the least, and computes
// predecessors in some.
func TestLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		o := testgames.RandomOptions(r)
		o.OfMover, o.Acyclic, o.TiesLate = true, false, false
		g := testgames.RandomTiered(r, o)
		runnertest.Check(t, &inline.Runner{}, g)
		runnertest.Check(t, &inline.Runner{Memory: method.Of(g).LeastInline(-1, true)}, g.Backward())
	}
}

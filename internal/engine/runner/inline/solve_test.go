package inline_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
)

// TestBlocks solves boards by blocks, with much memory and with the least.
func TestBlocks(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {3, 2, 2}, {3, 3, 3}, {4, 3, 3}} {
		g, err := connectn.New(size[0], size[1], size[2])
		if err != nil {
			t.Fatal(err)
		}
		runnertest.Check(t, &inline.Runner{}, g)
		runnertest.Check(t, &inline.Runner{Memory: inline.Least(game.MethodOf(g), -1, true)}, g)
	}
}

// TestLists solves a board by lists, with much memory and with the least.
func TestLists(t *testing.T) {
	g, err := mnk.New(3, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	runnertest.Check(t, &inline.Runner{}, g)
	runnertest.Check(t, &inline.Runner{Memory: inline.Least(game.MethodOf(g), -1, true)}, g)
}

// TestStates solves random graphs with predecessors, and with rules only, with the inboxes in
// memory and in files.
func TestStates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		graph := gametest.RandomGraph(r, 2+r.IntN(100))
		for _, inbox := range []int{0, 1} {
			runnertest.Check(t, &inline.Runner{InboxMemory: inbox}, game.WithRanges(graph, 8))
			runnertest.Check(t, &inline.Runner{InboxMemory: inbox}, game.WithRanges(gametest.RulesOnly(graph), 8))
		}
	}
}

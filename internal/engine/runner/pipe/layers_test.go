package pipe_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestLayers solves random games with tiers, inner moves and images with processes.
func TestLayers(t *testing.T) {
	games := 30
	if testing.Short() {
		games = 2 // as in TestSolve
	}
	solveLayers(t, 0, games)
}

// TestLongLayers tests TREEREDUCE_GAMES games.
func TestLongLayers(t *testing.T) {
	longtest.Skip(t)
	solveLayers(t, 30, longtest.Number(t, "TREEREDUCE_GAMES", 200))
}

func solveLayers(t *testing.T, first, end int) {
	kind := testgames.TieredKind()
	for seed := first; seed < end; seed++ {
		g, random := must.Get(kind.New([]int{seed, seed % 3}))(t), rand.New(rand.NewPCG(uint64(seed), 3))
		r := &pipe.Runner{Bin: programs.Dir(t), Memory: []int{0, pipe.Least(method.Of(g), 3)}[random.IntN(2)]}
		runnertest.Layers(t, r, g, random)
	}
}

package pipe_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestLayers solves random games with tiers, inner moves and images with processes.
func TestLayers(t *testing.T) {
	r, games := &pipe.Runner{Bin: programs.Dir(t)}, 30
	if testing.Short() {
		games = 2 // as in TestSolve
	}
	kind := testgames.LayeredKind()
	for seed := range games {
		g := must.Get(kind.New([]int{seed, seed % 3}))(t)
		runnertest.Layers(t, r, g, rand.New(rand.NewPCG(uint64(seed), 3)))
	}
}

package gametest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestSearch compares the values of random games with those of the naive solver, which does not use
// game.Values.Better.
func TestSearch(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(6, seed))
		var g game.Game = testgames.RandomTiered(r, testgames.RandomOptions(r))
		if seed%5 == 0 {
			g = testgames.RandomAcyclic(r, 1+r.IntN(300))
		}
		want, got := testgames.Solve(g), gametest.Search(g)
		if len(got) != len(want) {
			t.Fatalf("seed %d, %s: %d positions, want %d", seed, g.Spec(), len(got), len(want))
		}
		for p, v := range want {
			if got[p] != v {
				t.Fatalf("seed %d, %s: %d is %v, want %v", seed, g.Spec(), p, g.Values().Text(got[p]), g.Values().Text(v))
			}
		}
	}
}

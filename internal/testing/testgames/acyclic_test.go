package testgames_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestRandomAcyclic checks that random games satisfy the contract.
func TestRandomAcyclic(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		gametest.Contract(t, testgames.RandomAcyclic(r, 1+r.IntN(300)))
	}
}

package mancala

import (
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// The bound on a tier is the number of valid keys in that tier.
func TestBoards(t *testing.T) {
	for _, b := range [][2]int{{1, 3}, {2, 2}, {3, 1}} {
		g := must.Get(New(b[0], b[1]))(t)
		r := g.(*Searched).Rules
		want := make([]float64, r.Tiers()+1)
		for p := range 2 * r.boards() {
			if r.Check(p) == nil {
				want[r.Tier(p)]++
			}
		}
		sum := 0.0
		for tier, n := range want {
			if got := g.Info().Boards(tier); got != n {
				t.Errorf("%s: tier %d has %v boards, want %v", r.Spec(), tier, got, n)
			}
			sum += n
		}
		if sum < 50 {
			t.Errorf("%s: %v boards are too few for a test", r.Spec(), sum)
		}
	}
}

package gametest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
)

// CheckSampled compares a small game.Sampled with an enumeration of all its positions. For
// each tier, the mean of the samples must agree with the true numbers within four standard
// errors, each sample must be within its bounds, and the same random numbers must give
// the same sample.
func CheckSampled(t testing.TB, g game.Sampled, draws int) {
	t.Helper()
	last := g.SampledTiers()
	positions, open, won, moves, canonical := make([]float64, last+2), make([]float64, last+2), make([]float64, last+2), make([]float64, last+2), make([]float64, last+2)
	_, symmetric := g.(game.Symmetric)
	count := func(p game.Position, tier, n int) {
		if tier > last {
			t.Fatalf("%s: a position of tier %d, the last one that is drawn is %d", g.Spec(), tier, last)
		}
		positions[tier]++
		moves[tier] += float64(n)
		if o := g.Primitive(p).Outcome(); o == game.Undecided || o == game.Tie {
			open[tier]++
		} else {
			won[tier]++
			if symmetric && game.CanonicalOf(g, p) == p {
				canonical[tier]++
			}
		}
	}
	seen := map[game.Position]bool{g.Start(): true}
	for todo := []game.Position{g.Start()}; len(todo) > 0; todo = todo[1:] {
		all := g.Moves(nil, todo[0])
		count(todo[0], g.SampledTier(todo[0]), len(all))
		for _, m := range all {
			if !seen[m.To] {
				seen[m.To] = true
				todo = append(todo, m.To)
			}
		}
	}
	one, other, most := g.NewSampler(), g.NewSampler(), float64(g.MostMoves())
	for tier := range last + 1 {
		r, same := rand.New(rand.NewPCG(1, uint64(tier))), rand.New(rand.NewPCG(1, uint64(tier)))
		boards := g.Boards(tier)
		if positions[tier] > boards*(1+1e-9) {
			t.Fatalf("%s: tier %d has %v positions, of %v boards", g.Spec(), tier, positions[tier], boards)
		}
		var sums, squares [4]float64
		for range draws {
			s := one.Sample(tier, r)
			if again := other.Sample(tier, same); s != again {
				t.Fatalf("%s: tier %d: %+v is drawn, and %+v with the same random numbers", g.Spec(), tier, s, again)
			}
			if !(s.Open >= 0 && s.Open <= boards*(1+1e-9)) || !(s.Moves >= 0 && s.Moves <= most*s.Open*(1+1e-9)) || !(s.Won >= 0 && s.Won <= most*s.Open*(1+1e-9)) {
				t.Fatalf("%s: tier %d: %+v, of %v boards and %v moves at most", g.Spec(), tier, s, boards, most)
			}
			if !symmetric {
				s.WonCanonical = 0
			}
			for i, x := range [...]float64{s.Open, s.Moves, s.Won, s.WonCanonical} {
				sums[i] += x / float64(draws)
				squares[i] += x * x / float64(draws)
			}
		}
		for i, of := range [...]struct {
			what string
			want float64
		}{{"open positions", open[tier]}, {"moves", moves[tier]}, {"positions won after it", won[tier+1]}, {"canonical positions won after it", canonical[tier+1]}} {
			deviation := math.Sqrt(max(0, squares[i]-sums[i]*sums[i]) / float64(draws))
			if off := math.Abs(sums[i] - of.want); !(off <= 4*deviation+1e-9*of.want) {
				t.Fatalf("%s: tier %d: %v ± %v %s are estimated, there are %v", g.Spec(), tier, sums[i], deviation, of.what, of.want)
			}
		}
	}
}

package connectn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// reached returns the positions of each tier, found by a forward search.
func reached(r *Rules) []map[game.Position]bool {
	tiers := make([]map[game.Position]bool, r.Tiers()+1)
	for i := range tiers {
		tiers[i] = make(map[game.Position]bool)
	}
	tiers[0][r.Start()] = true
	for i, tier := range tiers {
		for p := range tier {
			for _, m := range r.Moves(nil, p) {
				tiers[i+1][m.To] = true
			}
		}
	}
	return tiers
}

// For every board without a line, judge agrees with a forward search on whether it can be
// reached; and the sum of all shares of won positions is the number of won positions.
func TestJudge(t *testing.T) {
	for _, b := range [][3]int{{3, 3, 3}, {4, 3, 3}, {3, 4, 3}, {4, 4, 3}, {4, 4, 4}, {2, 6, 2}, {3, 5, 4}, {1, 7, 7}, {6, 1, 3}, {2, 3, 1}} {
		r := must.Get(New(b[0], b[1], b[2]))(t)
		s := r.NewSampler().(*sampler)
		tiers := reached(r)
		open, won, moves := make([]float64, r.Tiers()+2), make([]float64, r.Tiers()+2), make([]float64, r.Tiers()+1)
		for p := range game.Position(1) << r.KeyBits() {
			if r.Check(p) != nil || r.Primitive(p).Outcome() != game.Undecided && r.Primitive(p).Outcome() != game.Tie {
				continue
			}
			tier := r.Tier(p)
			n, wins, ok := s.judge(p, tier)
			if ok != tiers[tier][p] {
				t.Fatalf("%s: %q can be reached: %v, want %v", r.Spec(), r.AppendText(nil, p), ok, tiers[tier][p])
			}
			if ok {
				open[tier]++
				moves[tier] += n
				won[tier+1] += wins
			}
		}
		for i, tier := range tiers {
			wantMoves, wantWon := 0, 0
			for p := range tier {
				wantMoves += len(r.Moves(nil, p))
				if o := r.Primitive(p).Outcome(); o == game.FirstWins || o == game.SecondWins {
					wantWon++
				}
			}
			if math.Abs(won[i]-float64(wantWon)) > 1e-6 || open[i] != float64(len(tier)-wantWon) || moves[i] != float64(wantMoves) {
				t.Errorf("%s, tier %d: open %v, won %v, moves %v, want %d, %d and %d", r.Spec(), i, open[i], won[i], moves[i], len(tier)-wantWon, wantWon, wantMoves)
			}
		}
	}
}

func TestSampled(t *testing.T) {
	for _, b := range [][3]int{{3, 3, 3}, {4, 3, 3}, {3, 5, 4}, {5, 2, 3}, {2, 6, 3}} {
		gametest.CheckSampled(t, mustNew(t, b[0], b[1], b[2]), 4000)
	}
}

// The estimated numbers of ranges and slots agree with the true numbers within ten per cent.
func TestSampleRanges(t *testing.T) {
	for _, b := range [][3]int{{3, 7, 3}, {3, 6, 4}, {4, 4, 3}, {2, 10, 4}, {4, 5, 3}} {
		r := must.Get(New(b[0], b[1], b[2]))(t)
		random := rand.New(rand.NewPCG(5, 6))
		s := r.NewSampler()
		ranges, slots, wantRanges, wantSlots := 0.0, 0.0, 0.0, 0.0
		for tier, positions := range reached(r) {
			seen := make(map[uint64]bool)
			for p := range positions {
				if rng := p >> r.LowBits(); !seen[rng] {
					seen[rng] = true
					wantRanges++
					wantSlots += float64(len(r.Low(tier, rng)))
				}
			}
			const draws = 2000
			for range draws {
				found := s.Sample(tier, random)
				ranges += (found.Ranges + found.WonRanges) / draws
				slots += (found.Slots + found.WonSlots) / draws
			}
		}
		t.Logf("%s: %.0f ranges with %.0f slots are estimated, there are %.0f with %.0f", r.Spec(), ranges, slots, wantRanges, wantSlots)
		if math.Abs(ranges-wantRanges) > 0.1*wantRanges || math.Abs(slots-wantSlots) > 0.1*wantSlots {
			t.Errorf("%s: %.0f ranges with %.0f slots are estimated, there are %.0f with %.0f", r.Spec(), ranges, slots, wantRanges, wantSlots)
		}
	}
}

// Any allowed board can be sampled, including tall ones and those of 64 bits.
func TestSampleLargest(t *testing.T) {
	for _, b := range [][3]int{{8, 7, 4}, {2, 31, 4}, {1, 63, 40}, {32, 1, 3}, {7, 6, 7}} {
		r := must.Get(New(b[0], b[1], b[2]))(t)
		s, random := r.NewSampler(), rand.New(rand.NewPCG(1, 2))
		for _, tier := range []int{0, 1, 4, r.Tiers() / 2, r.Tiers()} {
			sum := 0.0
			for range 200 {
				sum += s.Sample(tier, random).Open / 200
			}
			if math.IsNaN(sum) || sum <= 0 && tier <= 4 || sum > r.Boards(tier)*(1+1e-9) {
				t.Errorf("%s, tier %d: %v of %v boards", r.Spec(), tier, sum, r.Boards(tier))
			}
		}
	}
}

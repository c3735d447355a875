package count

import (
	"math/rand/v2"
	"testing"
)

// Without hits, the interval is from 0 to a valid bound; with nothing but hits, it is the same
// at the other end; without samples, nothing is known.
func TestIntervalEnds(t *testing.T) {
	var s sums
	if i := s.of(0, 7); i != (interval{0, 0, 7}) {
		t.Errorf("no draws: %+v", i)
	}
	// (1 - p)^100 = 0.025 at p = 0.0362
	if i := s.of(100, 7); i.mean != 0 || i.low != 0 || i.high/7 < 0.0362 || i.high/7 > 0.045 {
		t.Errorf("no hits: %+v", i)
	}
	for range 100 {
		s.add(7)
	}
	if i := s.of(100, 7); i.mean != 7 || i.high != 7 || i.low/7 > 1-0.0362 || i.low/7 < 1-0.045 {
		t.Errorf("no misses: %+v", i)
	}
}

// For any share of hits, few or nearly all, the interval contains the true number in at least
// 95 of 100 cases if all hits have the same weight, and in at least 90 if not: if four hits
// are expected, all the heavy ones may be missing.
func TestIntervalHolds(t *testing.T) {
	const draws, cases = 400, 1500
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{0.0005, 0.003, 0.01, 0.05, 0.3, 0.7, 0.97, 0.99, 0.9995} {
		for _, light := range []float64{1, 0.3} {
			held := 0
			for range cases {
				var s sums
				for range draws {
					if r.Float64() < p {
						weight := 1.0
						if r.Float64() < 0.5 {
							weight = light
						}
						s.add(weight)
					}
				}
				if i := s.of(draws, 1); i.low <= p*(1+light)/2 && p*(1+light)/2 <= i.high {
					held++
				}
			}
			least := cases * 90 / 100
			if light == 1 {
				least = cases * 95 / 100
			}
			if held < least {
				t.Errorf("hits of %v, half of weight %v: the interval holds in %d of %d", p, light, held, cases)
			}
		}
	}
}

// The squared errors of the sum are the sum of the squared errors.
func TestPlus(t *testing.T) {
	got := interval{10, 7, 16}.plus(interval{5, 1, 13})
	if want := (interval{15, 10, 25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

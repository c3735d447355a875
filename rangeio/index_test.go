package rangeio

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The runs of an index against a list of all ranges.
func TestIndexNext(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for ranges := uint64(1); ranges < 40; ranges++ {
		x := &Index{Runs: []Run{{0, "create"}}}
		model := make([]string, ranges)
		for i := range model {
			model[i] = "create"
		}
		for pass := range 10 {
			name := fmt.Sprint("mark", pass)
			share := r.Float64()
			var written []uint64
			for rng := range ranges {
				if r.Float64() < share {
					written = append(written, rng)
					model[rng] = name
				}
			}
			x = x.Next(ranges, Found{Pass: name}, written)
			for rng, want := range model {
				if got := x.dirOf(uint64(rng)); got != want {
					t.Fatalf("range %d is in %s, want %s: %v", rng, got, want, x.Runs)
				}
			}
			for i, run := range x.Runs {
				if run.First >= ranges || i > 0 && (run.First <= x.Runs[i-1].First || run.Dir == x.Runs[i-1].Dir) {
					t.Fatalf("%v", x.Runs)
				}
			}
		}
	}
}

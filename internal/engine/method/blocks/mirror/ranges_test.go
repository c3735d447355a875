package mirror

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRangeSet compares a RangeSet with a sorted list, for ranges close together and far apart.
func TestRangeSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 64 {
		var sets [2]RangeSet
		var want []uint64
		for range 40 * n {
			rng := r.Uint64() >> n
			sets[r.IntN(2)].Add(rng)
			want = append(want, rng)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		sets[0].Union(&sets[1])
		c := sets[0].Cursor()
		for i, rng := range want {
			if got, ok := c.Next(); !ok || got != rng || c.Share() != float64(i+1)/float64(len(want)) {
				t.Fatalf("range %d of %d: %#x, %v, share %v; want %#x", i, len(want), got, ok, c.Share(), rng)
			}
		}
		for range 2 {
			if rng, ok := c.Next(); ok {
				t.Fatalf("%#x after the last range", rng)
			}
		}
	}
}

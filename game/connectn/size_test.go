package connectn

import (
	"math"
	"testing"
)

// What a game says of its size is what its ranges, or the ways to play there, and its
// lists come to; of the lists, that of a color too many is never made.
func TestSize(t *testing.T) {
	for _, board := range [][3]int{{1, 4, 2}, {2, 2, 2}, {3, 3, 3}, {4, 3, 3}, {3, 6, 4}, {4, 5, 3}, {5, 4, 4}} {
		r, err := New(board[0], board[1], board[2])
		if err != nil {
			t.Fatal(err)
		}
		spaces := map[*uint32]int{}
		bytes := 4 * len(r.slots)
		for tier := range r.Tiers() + 1 {
			n := 0
			for rng := range uint64(1) << (r.KeyBits() - r.LowBits()) {
				if low := r.Low(tier, rng); low != nil {
					n++
					spaces[&low[0]] = cap(low)
				}
			}
			want := min(float64(n), math.Pow(float64(board[0]), float64(tier)))
			if got := r.Ranges(tier); got != want {
				t.Errorf("%s: tier %d has %v ranges, want %v", r.Spec(), tier, got, want)
			}
		}
		for _, n := range spaces {
			bytes += 4 * n * (1 + 2 + 2*r.columns)
		}
		if got := r.Tables(); got < bytes || got > 2*bytes {
			t.Errorf("%s: tables of %d bytes, want about %d", r.Spec(), got, bytes)
		}
	}
}

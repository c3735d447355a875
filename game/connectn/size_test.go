package connectn

import (
	"math"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// Ranges and Tables agree with the actual ranges (or the number of move sequences) and tables.
// Tables with too many pieces of one player are never built.
func TestSize(t *testing.T) {
	for _, board := range [][3]int{{1, 4, 2}, {2, 2, 2}, {3, 3, 3}, {4, 3, 3}, {3, 6, 4}, {4, 5, 3}, {5, 4, 4}, {3, 8, 3}, {2, 11, 3}} {
		r := must.Get(New(board[0], board[1], board[2]))(t)
		spaces := map[*uint32]int{}
		bytes := 4 * len(r.slots)
		for tier := range r.Tiers() + 1 {
			n := 0 // ranges in which no column has a line older than the last move
			for rng := range uint64(1) << (r.KeyBits() - r.LowBits()) {
				if low := r.Low(tier, rng); low != nil {
					if mayOccur(r, tier, rng) {
						n++
					}
					spaces[&low[0]] = cap(low)
				}
			}
			want := min(float64(n), math.Pow(float64(board[0]), float64(tier)))
			if got := r.Ranges(tier); got != want {
				t.Errorf("%s: tier %d has %v ranges, want %v", r.Spec(), tier, got, want)
			}
		}
		for _, n := range spaces {
			bytes += 4*n*(1+2*r.columns) + n*(1+len(r.ends))/4
		}
		if got := r.Tables(); got < bytes || got > 2*bytes {
			t.Errorf("%s: tables of %d bytes, want about %d", r.Spec(), got, bytes)
		}
	}
}

// mayOccur reports whether no column of a range has a vertical line, except for one made by
// the last move.
func mayOccur(r *Rules, tier int, rng uint64) bool {
	last, lines := r.TierToMove(tier).Other(), 0
	for c := range r.width - r.columns {
		column := r.column(rng<<r.LowBits(), c)
		height, _ := pieces(column)
		run := 0
		for i := range height {
			if i > 0 && column>>i&1 == column>>(i-1)&1 {
				run++
			} else {
				run = 1
			}
			if run < r.connect {
				continue
			}
			if lines++; i < height-1 || game.Player(1-column>>i&1) != last {
				return false
			}
		}
	}
	return lines <= 1
}

package connectn

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
)

// On small boards, the stored positions are those with a ≤ b, reachable or not, and all of them
// satisfy the contract.
func TestStored(t *testing.T) {
	for _, size := range [][2]int{{1, 6}, {2, 2}, {2, 4}, {3, 2}, {3, 3}, {4, 2}, {5, 2}, {6, 1}, {9, 1}} {
		g := mustNew(t, size[0], size[1], 2)
		half := mirror.HalfOf(g)
		for p := range game.Position(1) << g.KeyBits() {
			if g.Check(p) != nil {
				continue
			}
			a, b := 0, 0
			for c := range g.width {
				switch n, _ := pieces(g.column(p, c)); {
				case 2*c+1 < g.width:
					a += n
				case 2*c+1 > g.width:
					b += n
				}
			}
			if stored := half.IsStored(p); stored != (a <= b) {
				t.Fatalf("%s, %#x: stored is %v, but %d pieces are on the left and %d on the right", g.Spec(), p, stored, a, b)
			}
			gametest.CheckHalved(t, g, p)
		}
	}
}

// HalfSlots, HalfRanges and HalfBorder count what Stored returns.
func TestHalfCounts(t *testing.T) {
	for _, size := range append(rangeBoards, [3]int{4, 3, 3}, [3]int{4, 5, 4}, [3]int{5, 2, 3}, [3]int{1, 5, 3}) {
		g := mustNew(t, size[0], size[1], size[2])
		half, list := mirror.HalfOf(g), ranges(g)
		sums := make([]float64, len(list)+1) // number of stored slots before each range
		for tier := range g.Tiers() + 1 {
			nonempty := 0.0
			for i, rng := range list {
				stored, _ := g.Stored(tier, rng)
				sums[i+1] = sums[i] + float64(stored.Count())
				if stored != nil {
					nonempty++
				}
			}
			if n := half.Ranges(tier); n > nonempty || n > g.Ranges(tier) || n == 0 {
				t.Errorf("%s, tier %d: HalfRanges is %v, Ranges %v; %v have stored slots", g.Spec(), tier, n, g.Ranges(tier), nonempty)
			}
			checkBorders(t, half, tier, list, sums)
		}
	}
}

// HalfRanges is an upper bound on the ranges of the stored positions that random games reach,
// and the number of ranges of a small tier.
func TestHalfRangesBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][3]int{{4, 4, 3}, {5, 4, 3}, {6, 3, 3}, {9, 2, 3}, {3, 11, 4}} {
		g := mustNew(t, size[0], size[1], size[2])
		half := mirror.HalfOf(g)
		found := make([]map[uint64]bool, g.Tiers()+1)
		for range 3000 {
			for tier, p := range gametest.Walk(r, g, g.Tiers()) {
				for _, p := range []game.Position{p, g.Mirror(p)} {
					if half.IsStored(p) {
						if found[tier] == nil {
							found[tier] = make(map[uint64]bool)
						}
						found[tier][p>>g.LowBits()] = true
					}
				}
			}
		}
		for tier, ranges := range found {
			if float64(len(ranges)) > half.Ranges(tier)+1e-6 {
				t.Errorf("%s, tier %d: %d ranges are reached, HalfRanges is %v", g.Spec(), tier, len(ranges), half.Ranges(tier))
			}
		}
	}
}

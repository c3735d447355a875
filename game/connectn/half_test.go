package connectn

import (
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

// TestHalfSlots compares HalfSlots with what Stored returns.
func TestHalfSlots(t *testing.T) {
	for _, size := range append(rangeBoards, [3]int{4, 3, 3}, [3]int{4, 5, 4}, [3]int{5, 2, 3}, [3]int{1, 5, 3}) {
		g := mustNew(t, size[0], size[1], size[2])
		half := mirror.HalfOf(g)
		for tier := range g.Tiers() + 1 {
			sum := 0.0
			for _, rng := range ranges(g) {
				stored, _ := g.Stored(tier, rng)
				sum += float64(stored.Count())
			}
			if n := half.Slots(tier); n != sum {
				t.Errorf("%s, tier %d: HalfSlots is %v, want %v", g.Spec(), tier, n, sum)
			}
		}
	}
}

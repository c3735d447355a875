package mirror

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestLowImages checks that lowImages has the mirror image of every slot, also of lists with more than 65,536 different parts of
// ranges or of low parts.
func TestLowImages(t *testing.T) {
	for _, size := range [][2]int{{1, 21}, {2, 10}, {3, 5}, {3, 10}, {4, 4}, {5, 3}, {6, 2}} {
		rules := must.Get(connectn.New(size[0], size[1], 3))(t)
		g, seen := HalfOf(rules), make(map[*uint32]bool)
		for tier := range g.Tiers() + 1 {
			for rng := range uint64(1) << min(g.KeyBits()-g.LowBits(), 11) { // the first column at least
				low := rules.Low(tier, rng)
				if low == nil || seen[&low[0]] {
					continue
				}
				seen[&low[0]] = true
				images := g.lowImages(low)
				for slot, l := range low {
					got := images.ranges[images.rangeOf[slot]] << g.LowBits()
					if images.low != nil {
						got |= game.Position(images.low[slot])
					}
					if want := rules.Mirror(game.Position(l)); got != want {
						t.Fatalf("%s, tier %d, slot %d of %d: the mirror image of %#x is %#x, want %#x", g.Spec(), tier, slot, len(low), l, got, want)
					}
				}
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s: no list of low parts", g.Spec())
		}
	}
}

package game_test

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// LowImages has the mirror image of every slot, also of lists with more than 65,536 different parts of
// ranges or of low parts.
func TestLowImages(t *testing.T) {
	for _, size := range [][2]int{{1, 21}, {2, 10}, {3, 5}, {3, 10}, {4, 4}, {5, 3}, {6, 2}} {
		rules := must.Get(connectn.New(size[0], size[1], 3))(t)
		g, seen := game.HalfOf(rules), make(map[*uint32]bool)
		for tier := range g.Tiers() + 1 {
			for rng := range uint64(1) << min(g.KeyBits()-g.LowBits(), 11) { // the first column at least
				low := rules.Low(tier, rng)
				if low == nil || seen[&low[0]] {
					continue
				}
				seen[&low[0]] = true
				images := g.LowImages(low)
				for slot, l := range low {
					got := images.Ranges[images.Range[slot]] << g.LowBits()
					if images.Low != nil {
						got |= game.Position(images.Low[slot])
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

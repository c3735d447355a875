package connectn

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// BenchmarkDeduce sorts the slots of the stored half of a tier.
func BenchmarkDeduce(b *testing.B) {
	g := mustNew(b, 6, 5, 4)
	half := game.HalfOf(g)
	deduce := game.DeducerOf(half)
	const tier = 18
	var ranges []uint64
	slots := 0
	for rng := uint64(0); rng < 1<<(g.KeyBits()-g.LowBits()); rng += 7 {
		if low := half.Low(tier, rng); low != nil {
			ranges = append(ranges, rng)
			slots += len(low)
		}
	}
	var d block.Deduced
	all := func() {
		for _, rng := range ranges {
			d.Reset(len(half.Low(tier, rng)))
			deduce(&d, tier, rng, 0, len(d.Open))
		}
	}
	all()
	for b.Loop() {
		all()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(slots), "ns/slot")
	b.ReportMetric(float64(slots)/float64(len(ranges)), "slots/range")
}

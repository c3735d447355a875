package hadoop

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// Ranges is the file of ranges that TotalOrderPartitioner needs for a job with
// this many reducers that writes a tier: a SequenceFile of the keys at which the
// second part and those after it begin. The parts are about equal. The keys
// ascend strictly, or the partitioner says "Split points are out of order": where
// a tier has too few ranges, some parts are empty.
func Ranges(g game.Tiered, tier, reducers int) ([]byte, error) {
	if tier < 0 || tier > g.Tiers() {
		return nil, fmt.Errorf("%s: tier %d, expected 0 to %d", g.Spec(), tier, g.Tiers())
	}
	borders, err := borders(g, tier, reducers)
	if err != nil {
		return nil, err
	}
	width := streamfmt.KeyWidth(g.KeyBits())
	var keys [][]byte
	for _, b := range borders {
		keys = append(keys, streamfmt.AppendKey(nil, b<<g.LowBits(), width))
	}
	return sequenceFile(keys), nil
}

// borders are the ranges at which the parts of a tier begin, without the first.
func borders(g game.Tiered, tier, reducers int) ([]uint64, error) {
	ranges := uint64(1) << (g.KeyBits() - g.LowBits())
	if reducers < 1 || uint64(reducers) > ranges {
		return nil, fmt.Errorf("%s: %d reducers, expected 1 to %d, which is how many ranges its keys have", g.Spec(), reducers, ranges)
	}
	var borders []uint64
	last := uint64(0)
	for i := 1; i < reducers; i++ {
		after := uint64(reducers - i) // this part and those after it need a range each
		last = min(max(last+1, g.Border(tier, float64(i)/float64(reducers))), ranges-after)
		borders = append(borders, last)
	}
	return borders, nil
}

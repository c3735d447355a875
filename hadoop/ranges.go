package hadoop

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// Ranges is the file of ranges that TotalOrderPartitioner needs for a job with
// this many reducers that writes a tier: a SequenceFile of the keys at which the
// second part and those after it begin. The parts are about equal; where a tier
// has fewer ranges than there are reducers, the last ones get nothing.
func Ranges(g game.Tiered, tier, reducers int) []byte {
	width := streamfmt.KeyWidth(g.KeyBits())
	var keys [][]byte
	last := uint64(0)
	for i := 1; i < reducers; i++ {
		if border := g.Border(tier, float64(i)/float64(reducers)); border > last {
			keys = append(keys, streamfmt.AppendKey(nil, border<<g.LowBits(), width))
			last = border
		}
	}
	// The keys must ascend, or the partitioner says "Split points are out of
	// order": those that are missing come after every hexadecimal number.
	for len(keys) < reducers-1 {
		keys = append(keys, fmt.Appendf(nil, "g%08x", len(keys)))
	}
	return sequenceFile(keys)
}

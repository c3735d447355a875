package streaming

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/streamfmt"
)

// Ranges returns the file of ranges that TotalOrderPartitioner needs for a job on lines that
// writes a tier with the given number of reducers: a SequenceFile of the first key of each
// partition, except the first partition. The partitions have about equal size. The keys must
// be strictly ascending, or the partitioner fails with "Split points are out of order". If a
// tier has too few ranges, some partitions are empty.
func Ranges(g game.Tiered, tier, reducers int) ([]byte, error) {
	if tier < 0 || tier > g.Tiers() {
		return nil, fmt.Errorf("%s: tier %d, expected 0 to %d", g.Spec(), tier, g.Tiers())
	}
	if most := blocks.MostParts(g); reducers < 1 || uint64(reducers) > most {
		return nil, fmt.Errorf("%s: %d reducers, expected 1 to %d, which is how many ranges its keys have", g.Spec(), reducers, most)
	}
	var keys [][]byte
	for _, border := range blocks.Borders(g, tier, reducers)[1:] {
		keys = append(keys, streamfmt.AppendKey(nil, border<<g.LowBits(), streamfmt.KeyWidth(g.KeyBits())))
	}
	return sequenceFile(textClass, keys), nil
}

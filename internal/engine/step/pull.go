package step

import (
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// A Puller makes blocks of what those of a tier say to them, where all of these can be
// read: its shuffle is a look at the right place. It is one worker's.
type Puller struct {
	Step
	From *jobdir.TierCursor // of the tier that Map reads; nil: nobody speaks
	// Speaks is what of a block speaks; nil: all of it.
	Speaks func(*block.Block) *block.Block

	sources []uint64
}

// Pull adds to a block what is said to its range, and turns it into the range's records.
func (p *Puller) Pull(into *block.Block) error {
	if p.From == nil {
		return p.Reduce(into)
	}
	p.sources = p.Inputs(p.sources[:0], into.Tier, into.Range)
	for _, source := range p.sources {
		from, err := p.From.Block(into.Range, source)
		if err != nil {
			return err
		}
		if from != nil && p.Speaks != nil {
			from = p.Speaks(from)
		}
		if from != nil {
			p.Map(from, into)
		}
	}
	return p.Reduce(into)
}

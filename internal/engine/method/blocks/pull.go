package blocks

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A puller computes the blocks of a tier by reading the blocks that send messages to them
// directly, without a shuffle. All of these must be readable by this process. It is used by
// one goroutine.
type puller struct {
	Step
	Game game.Blockwise // for Load
	Tier int            // the tier that Load loads
	From *TierCursor    // reads the input tier of Deliver; nil: there are no messages

	sources []uint64
}

// Load resets a block to a range without positions; in tier 0 it has the initial position. ok is
// false if the range has no slots.
func (p *puller) Load(b *block.Block, rng uint64) (ok bool, err error) {
	low := p.Game.Low(p.Tier, rng)
	switch {
	case low == nil:
		return false, nil
	case p.Tier == 0:
		*b = *Start(p.Game)
	default:
		b.Reset(p.Tier, rng, p.Game.LowBits(), low)
	}
	return true, nil
}

// Merge merges all messages to the range of a block into it.
func (p *puller) Merge(into *block.Block) error {
	if p.From == nil {
		return nil
	}
	p.sources = p.Inputs(p.sources[:0], into.Tier, into.Range)
	for _, source := range p.sources {
		from, err := p.From.Block(into.Range, source)
		if err != nil {
			return err
		}
		if from != nil {
			p.Deliver(from, into)
		}
	}
	return nil
}

package blocks

import (
	"cmp"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A pusher runs the map of a step over blocks, sends their messages to other ranges, and
// combines them. It buffers each range until no further block can send messages to it,
// provided that the input ascends, and so emits one piece for each range, in order.
type pusher struct {
	g      game.Blockwise
	step   Step
	emit   func(*block.Block) error
	memory int

	pending []*pendingBlock // the receivers, of one tier, in ascending order of range
	bytes   int             // the memory of pending
	free    []*pendingBlock
	tier    int    // the tier of the last block that was pushed
	last    uint64 // its range
	ranges  []uint64
}

// newPusher returns a pusher that calls emit with pieces (see Step.Send), which emit must
// not keep. memory limits the buffered pieces, in bytes; 0 means DefaultMemory.
func newPusher(s Step, g game.Blockwise, memory int, emit func(*block.Block) error) *pusher {
	if memory == 0 {
		memory = step.DefaultMemory
	}
	return &pusher{g: g, step: s, emit: emit, memory: memory}
}

// A pendingBlock accumulates messages until all blocks up to range until have sent theirs.
type pendingBlock struct {
	block.Block
	until uint64
	bytes int
}

// Push merges the messages of b into the ranges that receive them.
func (p *pusher) Push(b *block.Block) error {
	if b.Tier != p.tier || b.Range < p.last {
		if err := p.Flush(); err != nil { // the input does not ascend: emit everything
			return err
		}
	}
	p.tier, p.last = b.Tier, b.Range
	for len(p.pending) > 0 && p.pending[0].until < b.Range {
		if err := p.flushFirst(); err != nil {
			return err
		}
	}
	p.ranges = p.step.Outputs(p.ranges[:0], b.Tier, b.Range)
	for _, rng := range p.ranges {
		into, err := p.receiver(b.Range, p.step.OutputTier(b.Tier), rng)
		if err != nil {
			return err
		}
		if into != nil {
			p.step.Deliver(b, into)
		}
	}
	if p.bytes > p.memory {
		return p.Flush()
	}
	return nil
}

// receiver returns the buffered block of a range to which home sends messages; nil if the range
// cannot contain positions of the tier.
func (p *pusher) receiver(home uint64, tier int, rng uint64) (*block.Block, error) {
	at, ok := slices.BinarySearchFunc(p.pending, rng, func(h *pendingBlock, rng uint64) int { return cmp.Compare(h.Range, rng) })
	if ok {
		return &p.pending[at].Block, nil
	}
	low := p.g.Low(tier, rng)
	if low == nil {
		return nil, nil
	}
	h := new(pendingBlock)
	if n := len(p.free); n > 0 {
		h, p.free = p.free[n-1], p.free[:n-1]
	}
	h.Reset(tier, rng, p.g.LowBits(), low)
	if err := p.step.Expect(home, &h.Block); err != nil {
		return nil, err
	}
	h.until = slices.Max(p.step.Inputs(nil, tier, rng))
	p.pending = slices.Insert(p.pending, at, h)
	h.bytes = blockMemory(len(low))
	p.bytes += h.bytes
	return &h.Block, nil
}

// flushFirst emits the first buffered range.
func (p *pusher) flushFirst() error {
	h := p.pending[0]
	p.pending = p.pending[1:]
	p.bytes -= h.bytes
	p.step.Send(&h.Block)
	p.free = append(p.free, h)
	if h.Empty() {
		return nil
	}
	return p.emit(&h.Block)
}

// Flush emits all buffered ranges.
func (p *pusher) Flush() error {
	for len(p.pending) > 0 {
		if err := p.flushFirst(); err != nil {
			return err
		}
	}
	return nil
}

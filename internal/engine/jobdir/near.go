package jobdir

import (
	"sync"

	"github.com/treereduce/treereduce/game/block"
)

// NearBits is the number of bits of a Near that fits into the memory of any job.
const NearBits = 7

// A Near contains decoded blocks of a tier, which its cursors share: the blocks of the section
// that is being processed, so that each is decoded once for all ranges of the section. A section
// is the ranges that differ only in their lowest bits.
type Near struct {
	t       *Tier
	bits    uint // of a range within its section
	readers func(dst []uint64, rng uint64) []uint64
	kept    *Kept // blocks that stay in memory; nil: none

	mu      sync.Mutex // guards the fields below, and the users of blocks
	ranges  []uint64   // from readers
	section uint64     // the highest one so far
	blocks  map[uint64]*nearBlock
	done    []*nearBlock // blocks that are not needed any more, the oldest first
}

// A nearBlock is a block of a Near.
type nearBlock struct {
	block.Block
	users int    // cursors that read it
	last  uint64 // see Near.last; 0: not known
	done  bool   // whether it is in Near.done

	loaded sync.WaitGroup // until ok and err are set
	ok     bool
	err    error
}

// NearSpare is the number of blocks that a Near keeps when they are not needed any more, for
// cursors that are behind others.
const NearSpare = 32

// Near returns an empty cache of the blocks of sections of 2^bits ranges. readers appends the
// ranges that need the block of a range; if readers is nil, blocks are needed until their section
// ends.
func (t *Tier) Near(bits uint, readers func(dst []uint64, rng uint64) []uint64) *Near {
	return &Near{t: t, bits: bits, readers: readers, blocks: make(map[uint64]*nearBlock)}
}

// Use makes n use blocks of the tier that are in memory.
func (n *Near) Use(k *Kept) { n.kept = k }

// Again returns a cache of the same blocks for a job that reads the tier once more.
func (n *Near) Again() *Near {
	again := n.t.Near(n.bits, n.readers)
	again.kept = n.kept
	return again
}

// Cursor returns a cursor whose streams read ahead the given number of bytes.
func (n *Near) Cursor(ahead int) *TierCursor { return &TierCursor{t: n.t, near: n, ahead: ahead} }

// acquire returns the block of a range, which is needed to process range home. If load is set,
// the caller must load it.
func (n *Near) acquire(home, rng uint64) (b *nearBlock, load bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if section := home >> n.bits; section > n.section {
		n.section = section
		for rng, b := range n.blocks {
			if rng>>n.bits < section {
				n.drop(b)
			}
		}
	}
	if b = n.blocks[rng]; b != nil {
		b.users++
		return b, false
	}
	for len(n.done) > NearSpare && b == nil {
		oldest := n.done[0]
		n.done, oldest.done = n.done[1:], false
		if oldest.users == 0 {
			delete(n.blocks, oldest.Range)
			b = oldest
		}
	}
	if b == nil {
		b = new(nearBlock)
	}
	b.Range, b.users, b.last = rng, 1, 0
	b.loaded.Add(1)
	n.blocks[rng] = b
	return b, true
}

// release ends the use of a block for range home.
func (n *Near) release(b *nearBlock, home uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b.users--
	if b.ok && n.readers != nil && b.last == 0 {
		b.last = n.last(b.Range)
	}
	if !b.ok || n.readers != nil && home >= b.last {
		n.drop(b)
	}
}

// last returns the last range of the section that needs the block of a range.
func (n *Near) last(rng uint64) uint64 {
	last := uint64(0)
	n.ranges = n.readers(n.ranges[:0], rng)
	for _, r := range n.ranges {
		if r>>n.bits == rng>>n.bits {
			last = max(last, r)
		}
	}
	return last
}

// drop marks a block as not needed any more.
func (n *Near) drop(b *nearBlock) {
	if !b.done {
		b.done = true
		n.done = append(n.done, b)
	}
}

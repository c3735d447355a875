package jobdir

import (
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game/block"
)

// A Kept is the output of a job in memory, so that the next job need not decode it: of each block the open
// positions, or the values. It may lack blocks that take too much memory.
type Kept struct {
	memory block.Memory
	values bool // whether it has values, not open positions

	mu    sync.Mutex
	lacks bool     // whether there are blocks that it lacks
	index []uint32 // by range: 0 or 1 more than the index in open or val
	open  []block.Set
	val   [][]byte
	sums  []uint32 // the checksums of its files; nil: they are not complete
}

// MostKeptBits is the largest number of bits of ranges with which a Kept can have blocks.
const MostKeptBits = 20

// Reset empties k, for ranges with a number of bits. It will take at most the given number of bytes, and four for
// each range.
func (k *Kept) Reset(bits uint, bytes int, values bool) {
	k.memory.Reset(bytes)
	ranges := 1 << bits
	k.index = slices.Grow(k.index[:0], ranges)[:ranges]
	clear(k.index)
	clear(k.open)
	clear(k.val)
	k.values, k.lacks, k.open, k.val, k.sums = values, false, k.open[:0], k.val[:0], nil
}

// Keep adds a block. It is safe for concurrent use.
func (k *Kept) Keep(b *block.Block) {
	if k == nil || !k.values && b.Open.Empty() {
		return
	}
	var open block.Set
	var val []byte
	if k.values {
		val = k.memory.Values(len(b.Val))
		copy(val, b.Val)
	} else {
		open = k.memory.Set(b.Len())
		copy(open, b.Open)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if val == nil && open == nil {
		k.lacks = true
		return
	}
	k.open, k.val = append(k.open, open), append(k.val, val)
	k.index[b.Range] = uint32(len(k.val)) // at most 1<<MostKeptBits
}

// Complete says that all blocks were added, and that they are in files with these checksums.
func (k *Kept) Complete(sums []uint32) { k.sums = sums }

// Of reports whether k contains all blocks of t: those that the retrograde job writes, with values, or, if values is
// false, those that the forward job writes, with open positions. The checksums do not show which job has written a
// file: if all positions of a tier are terminal, both write the same bytes.
func (k *Kept) Of(t *Tier, values bool) bool {
	return k.values == values && k.sums != nil && slices.Equal(t.Sums(), k.sums)
}

// Lacks reports whether k lacks blocks.
func (k *Kept) Lacks() bool { return k.lacks }

// Memory returns the number of bytes that k takes.
func (k *Kept) Memory() int { return k.memory.Used() + 4*len(k.index) }

// block sets the range of b, and its open positions or its values; ok is false if k does not have them.
func (k *Kept) block(b *block.Block, rng uint64) (ok bool) {
	i := k.index[rng]
	if i == 0 {
		return false
	}
	b.Range, b.Open, b.Val = rng, k.open[i-1], k.val[i-1]
	return true
}

package blocks

import (
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game/block"
)

// A Cache has decoded blocks of one tier, so that they need not be decoded again.
// The job that writes the tier adds the open positions or the values of its blocks as long as there is memory (Keep).
// Cursors add the blocks that they decode; these replace the ones that were added first. It is safe for concurrent use.
type Cache struct {
	memory block.Memory // has the blocks that Keep has added
	values bool         // whether these have values, not open positions

	mu    sync.Mutex
	lacks bool     // whether Keep has left out blocks
	index []uint32 // by range: 0 or 1 more than the index in kept
	kept  []decoded
	sums  []uint32 // the checksums of the tier's files; nil: they are not complete

	read  map[uint64]decoded // blocks that a job has decoded, by range
	order []uint64           // their ranges, the oldest first
	used  int                // bytes that they take
	most  int
}

// decoded is a block in a Cache, without its range.
type decoded struct {
	open, done block.Set
	val        []byte
}

// NewCache returns a Cache for cursors, which takes at most the given number of bytes.
func NewCache(most int) *Cache { return &Cache{lacks: true, most: most} }

// mostCacheBits is the largest number of bits of ranges with which Keep adds blocks.
const mostCacheBits = 20

// Reset empties c, for the job that writes a tier with ranges of a number of bits. Keep will take at most the given number of bytes, and four
// for each range.
func (c *Cache) Reset(bits uint, bytes int, values bool) {
	if bits > mostCacheBits {
		bits, bytes = 0, 0
	}
	c.memory.Reset(bytes)
	ranges := 1 << bits
	c.index = slices.Grow(c.index[:0], ranges)[:ranges]
	clear(c.index)
	clear(c.kept)
	c.values, c.lacks, c.kept, c.sums = values, bytes == 0, c.kept[:0], nil
	c.read, c.order, c.used, c.most = nil, nil, 0, 0
}

// Keep adds a block.
func (c *Cache) Keep(b *block.Block) {
	if c == nil || !c.values && b.Open.Empty() {
		return
	}
	d := decoded{}
	if c.values {
		d.val = c.memory.Values(len(b.Val))
		copy(d.val, b.Val)
	} else {
		d.open = c.memory.Set(b.Len())
		copy(d.open, b.Open)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.val == nil && d.open == nil {
		c.lacks = true
		return
	}
	c.kept = append(c.kept, d)
	c.index[b.Range] = uint32(len(c.kept)) // at most 1<<mostCacheBits
}

// Complete says that all blocks were given to Keep, and that they are in files with these checksums.
func (c *Cache) Complete(sums []uint32) { c.sums = sums }

// Of reports whether c has the blocks of t: with values, as the retrograde job has written them, or, if values is false, with
// open positions, as the forward job has. The checksums do not show which job has written a file: if all positions of a tier are terminal, both
// write the same bytes.
func (c *Cache) Of(t *Tier, values bool) bool {
	return c.values == values && c.sums != nil && slices.Equal(t.Sums(), c.sums)
}

// Lacks reports whether Keep has left out blocks.
func (c *Cache) Lacks() bool { return c.lacks }

// Memory returns the number of bytes that the blocks of Keep take.
func (c *Cache) Memory() int { return c.memory.Used() + 4*len(c.index) }

// Limit sets how many bytes the blocks that are decoded may take.
func (c *Cache) Limit(most int) { c.most = most }

// get sets the range of b, and its open positions or its values. known is false if c does not know whether there is a block.
func (c *Cache) get(b *block.Block, rng uint64) (ok, known bool) {
	var d decoded
	if rng < uint64(len(c.index)) {
		if i := c.index[rng]; i > 0 {
			d, ok = c.kept[i-1], true
		}
	}
	if !ok && !c.lacks {
		return false, true
	}
	if !ok {
		c.mu.Lock()
		d, ok = c.read[rng]
		c.mu.Unlock()
	}
	b.Range, b.Open, b.Done, b.Val = rng, d.open, d.done, d.val
	return ok, ok
}

// size returns the number of bytes that a block takes.
func (d *decoded) size() int { return block.ValuesMemory(len(d.val) + 8*(len(d.open)+len(d.done))) }

// put adds a block that a cursor has decoded, and that is needed again within 1<<bits ranges.
func (c *Cache) put(b *block.Block, bits int) {
	d := decoded{b.Open, b.Done, b.Val}
	size := d.size()
	if size > c.most>>bits {
		return
	}
	d = decoded{slices.Clone(b.Open), slices.Clone(b.Done), slices.Clone(b.Val)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.read[b.Range]; ok {
		return
	}
	for c.used+size > c.most {
		oldest := c.read[c.order[0]]
		c.used -= oldest.size()
		delete(c.read, c.order[0])
		c.order = c.order[1:]
	}
	if c.read == nil {
		c.read = make(map[uint64]decoded)
	}
	c.read[b.Range], c.order, c.used = d, append(c.order, b.Range), c.used+size
}

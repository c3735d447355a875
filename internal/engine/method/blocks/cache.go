package blocks

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Cache has decoded blocks of one tier, so that they need not be decoded again: their values or their open positions.
// It is safe for concurrent use.
//
// A block is packed: a bit for each word of its sets, and for each word that is needed, 64 values or 64 bits.
type Cache struct {
	values bool  // whether it has values, not open positions
	ended  byte  // a value that is not needed
	memory *pool // where slabs are taken from

	mu     sync.RWMutex
	blocks map[uint64][]byte // packed, by range
	slabs  []*slab           // the oldest first
	sums   []uint32          // the checksums of the tier's files if all blocks were given to keep
}

// A slab is the memory of blocks that are dropped together.
type slab struct {
	bytes  []byte
	ranges []uint64
	last   uint64 // the largest of ranges
}

const (
	slabBytes  = 256 << 10
	slabRanges = slabBytes / 512
	slabMemory = slabBytes + slabRanges*64 // with what refers to its blocks
)

// A pool is memory for slabs. It is not safe for concurrent use.
type pool struct {
	most, made int // slabs
	free       []*slab
}

// limit sets the number of bytes that p may take. Slabs in use may take more.
func (p *pool) limit(most int) {
	for p.most = most / slabMemory; p.made > p.most && len(p.free) > 0; p.made-- {
		p.free = p.free[1:]
	}
}

// full reports whether there is no slab left.
func (p *pool) full() bool { return len(p.free) == 0 && p.made >= p.most }

// take returns an empty slab. The pool must not be full.
func (p *pool) take() (taken *slab) {
	if n := len(p.free) - 1; n >= 0 {
		taken, p.free = p.free[n], p.free[:n]
		return taken
	}
	p.made++
	return &slab{bytes: make([]byte, 0, slabBytes), ranges: make([]uint64, 0, slabRanges)}
}

func newCache(values bool, memory *pool) *Cache {
	return &Cache{values: values, memory: memory, blocks: make(map[uint64][]byte)}
}

// NewCache returns a Cache for blocks that cursors decode, which takes at most the given number of bytes.
func NewCache(values bool, most int) *Cache { return newCache(values, &pool{most: most / slabMemory}) }

// put adds a block that a cursor has decoded, and that is needed again within 1<<bits ranges. It replaces those that were added
// first. It uses scratch, and returns it for the next call.
func (c *Cache) put(b *block.Block, bits int, scratch []byte) []byte {
	packed := c.pack(scratch[:0], b)
	if len(packed) > c.memory.most*slabBytes>>bits || c.values && !b.Open.Empty() {
		return packed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks[b.Range] == nil {
		if !c.hasRoom(packed) && c.memory.full() {
			c.drop()
		}
		c.add(b.Range, packed)
	}
	return packed
}

// keep adds a block of a job's output as long as there is memory: the next job reads the lowest ranges first. The input of the
// job has memory of the same pool; in the step Solve, keep drops what no range after its own reads. It uses scratch as put does.
func (c *Cache) keep(b *block.Block, input *Cache, scratch []byte) []byte {
	if c == nil || !c.values && b.Open.Empty() {
		return scratch
	}
	packed := c.pack(scratch[:0], b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasRoom(packed) && c.values && len(c.memory.free) == 0 {
		input.passed(b.Range)
	}
	c.add(b.Range, packed)
	return packed
}

// hasRoom reports whether the newest slab has room for a packed block.
func (c *Cache) hasRoom(packed []byte) bool {
	if len(c.slabs) == 0 {
		return false
	}
	p := c.slabs[len(c.slabs)-1]
	return len(p.bytes)+len(packed) <= slabBytes && len(p.ranges) < slabRanges
}

// add adds a packed block to the newest slab, or to a new one; if there is no memory for that, it does nothing.
func (c *Cache) add(rng uint64, packed []byte) {
	if !c.hasRoom(packed) {
		if c.memory.full() || len(packed) > slabBytes {
			return
		}
		c.slabs = append(c.slabs, c.memory.take())
	}
	p := c.slabs[len(c.slabs)-1]
	n := len(p.bytes)
	p.bytes, p.ranges, p.last = append(p.bytes, packed...), append(p.ranges, rng), max(p.last, rng)
	c.blocks[rng] = p.bytes[n:]
}

// drop drops the blocks of the oldest slab, if there is one.
func (c *Cache) drop() {
	if len(c.slabs) == 0 {
		return
	}
	p := c.slabs[0]
	c.slabs = c.slabs[1:]
	for _, rng := range p.ranges {
		delete(c.blocks, rng)
	}
	p.bytes, p.ranges, p.last = p.bytes[:0], p.ranges[:0], 0
	c.memory.free = append(c.memory.free, p)
}

// passed drops the blocks of the oldest slab if their ranges are at most rng.
func (c *Cache) passed(rng uint64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.slabs) > 0 && c.slabs[0].last <= rng {
		c.drop()
	}
}

// release drops all blocks. c is not used any more.
func (c *Cache) release() {
	for c != nil && len(c.slabs) > 0 {
		c.drop()
	}
}

// isOf reports whether the blocks of c are those of t: with values, as the retrograde job has written them, or, if values is
// false, with open positions, as the forward job has. The checksums do not show which job has written a file: if all positions of a tier
// are terminal, both write the same bytes.
func (c *Cache) isOf(t *Tier, values bool) bool {
	return c != nil && c.values == values && slices.EqualFunc(t.files, c.sums, func(f *streamfmt.File, sum uint32) bool { return f.Sum == sum })
}

// get resets b to a range of t, with its values or its open positions, if c has them.
func (c *Cache) get(b *block.Block, t *Tier, rng uint64) (ok bool) {
	if c == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	packed := c.blocks[rng]
	if packed == nil {
		return false
	}
	if low := t.g.Low(t.tier, rng); c.values {
		b.Assign(t.tier, rng, t.g.LowBits(), low)
	} else {
		b.ResetOpen(t.tier, rng, t.g.LowBits(), low)
	}
	c.unpack(b, packed)
	return true
}

// pack appends a block.
func (c *Cache) pack(dst []byte, b *block.Block) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (len(b.Open)+7)/8)...)
	for i, open := range b.Open {
		switch {
		case !c.values && open != 0:
			dst = binary.LittleEndian.AppendUint64(dst, open)
		case c.values && b.Done[i] != 0 && c.needs(b.Word(i)):
			dst = append(dst, b.Word(i)[:]...)
		default:
			continue
		}
		dst[at+i>>3] |= 1 << (i & 7)
	}
	return dst
}

// needs reports whether any of the values is needed.
func (c *Cache) needs(values *[64]byte) bool {
	all, ended := uint64(0), uint64(c.ended)*0x0101010101010101
	for i := 0; i < len(values); i += 8 {
		all |= binary.LittleEndian.Uint64(values[i:]) &^ ended
	}
	return all != 0
}

// unpack sets what pack has appended.
func (c *Cache) unpack(b *block.Block, src []byte) {
	words, src := src, src[(len(b.Open)+7)/8:]
	for i := range b.Open {
		there := words[i>>3]>>(i&7)&1 != 0
		switch {
		case c.values && there:
			*b.Word(i), src = [64]byte(src), src[64:]
		case c.values:
			*b.Word(i) = [64]byte{}
		case there:
			b.Open[i], src = binary.LittleEndian.Uint64(src), src[8:]
		}
	}
	if c.values {
		b.Val[b.Len()] = 0
	}
}

package blocks

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// cacheTest has blocks of a tier without files, for a Cache.
type cacheTest struct {
	*Tier
	ranges []uint64 // with slots, ascending
}

func newCacheTest(t *testing.T) *cacheTest {
	g := must.Get(connectn.New(6, 5, 4))(t)
	c := &cacheTest{Tier: &Tier{g: g, tier: 15}}
	for rng := uint64(0); len(c.ranges) < 1500; rng++ {
		if len(g.Low(c.tier, rng)) > 0 {
			c.ranges = append(c.ranges, rng)
		}
	}
	return c
}

// block returns a block with random values or open positions in some of its words; there are always the same ones in a range.
func (c *cacheTest) block(rng uint64, values bool) *block.Block {
	b, r := new(block.Block), rand.New(rand.NewPCG(1, rng))
	b.Reset(c.tier, rng, c.g.LowBits(), c.g.Low(c.tier, rng))
	for slot := range b.Low {
		switch {
		case slot>>6%3 == int(rng%3) || r.IntN(4) == 0:
		case values:
			b.Done.Add(slot)
			b.Val[slot] = byte(1 + r.IntN(200))
		default:
			b.Open.Add(slot)
		}
	}
	return b
}

// get reports whether a Cache has a block, and checks it.
func (c *cacheTest) get(t *testing.T, cache *Cache, rng uint64) (ok bool) {
	got, want := &block.Block{Val: slices.Repeat([]byte{9}, 1<<16)}, c.block(rng, cache.values)
	if ok = cache.get(got, c.Tier, rng); ok && (got.Range != rng || !slices.Equal(got.Open, want.Open) || cache.values && !slices.Equal(got.Val, want.Val)) {
		t.Errorf("the block of range %#x is wrong", rng)
	}
	return ok
}

// TestPut has two goroutines add blocks to a Cache that has memory for some of them. It has the last ones, and no more than fit.
func TestPut(t *testing.T) {
	c := newCacheTest(t)
	for _, values := range []bool{false, true} {
		cache := NewCache(values, 3*slabMemory)
		var writers sync.WaitGroup
		for i := range 2 {
			writers.Go(func() {
				var scratch []byte
				for _, rng := range c.ranges[:len(c.ranges)-1] {
					if rng%2 == uint64(i) {
						scratch = cache.put(c.block(rng, values), 0, scratch)
						c.get(t, cache, rng)
					}
				}
			})
		}
		writers.Wait()
		last := c.ranges[len(c.ranges)-1]
		cache.put(c.block(last, values), 0, nil)
		if !c.get(t, cache, last) || c.get(t, cache, c.ranges[0]) == values || cache.memory.made != 3 {
			t.Errorf("values: %v: it has %d slabs, and not the last block, or the first", values, cache.memory.made)
		}
	}
}

// TestKeep keeps the output of two jobs in memory for half of a tier. The second job finds the blocks of the first in all ranges
// that it has not passed, and its own take their memory.
func TestKeep(t *testing.T) {
	c, memory := newCacheTest(t), new(pool)
	memory.limit(1 << 30)
	all := newCache(true, memory)
	for _, rng := range c.ranges {
		all.keep(c.block(rng, true), nil, nil)
	}
	most := memory.made * 2 / 3
	all.release()
	if memory.limit(most * slabMemory); len(memory.free) != most || memory.made != most {
		t.Fatalf("%d slabs, %d of them free, want %d", memory.made, len(memory.free), most)
	}
	fill := func(input *Cache, has int) (cache *Cache, kept int) {
		cache = newCache(true, memory)
		for i, rng := range c.ranges {
			cache.keep(c.block(rng, true), input, nil)
			if i+1 < has && !c.get(t, input, c.ranges[i+1]) {
				t.Fatalf("block %d of the input is dropped before it has been read", i+1)
			}
		}
		for _, rng := range c.ranges {
			if c.get(t, cache, rng) {
				kept++
			}
		}
		return cache, kept
	}
	first, kept := fill(nil, 0)
	lowest := slices.IndexFunc(c.ranges, func(rng uint64) bool { return first.blocks[rng] == nil })
	if lowest < kept*9/10 || kept < len(c.ranges)/3 {
		t.Errorf("%d blocks are kept, among them the lowest %d", kept, lowest)
	}
	second, again := fill(first, lowest)
	if again < kept*9/10 || memory.made != most {
		t.Errorf("%d slabs have %d blocks of the first job, and %d of the second", memory.made, kept, again)
	}
	first.release()
	if second.release(); len(memory.free) != most {
		t.Errorf("%d of %d slabs are free after both jobs", len(memory.free), most)
	}
}

// TestPack leaves out words whose values are not needed.
func TestPack(t *testing.T) {
	c := newCacheTest(t)
	cache, b := newCache(true, new(pool)), c.block(c.ranges[100], true)
	cache.ended = 2
	for slot := range b.Done.All() {
		b.Val[slot] = cache.ended
		if slot >= 128 && slot%64 == 0 {
			b.Val[slot] = 3 * cache.ended
		}
	}
	packed := cache.pack(nil, b)
	got := new(block.Block)
	got.Assign(b.Tier, b.Range, b.LowBits, b.Low)
	cache.unpack(got, packed)
	for slot, v := range b.Val {
		if word := slot >> 6; word >= 2 && word < len(b.Done) && b.Done[word]&1 != 0 && got.Val[slot] != v || got.Val[slot] != 0 && got.Val[slot] != v {
			t.Errorf("slot %d: %d, want %d", slot, got.Val[slot], v)
		}
	}
	if got.Val[0] != 0 || len(packed) > (len(b.Open)+7)/8+64*(len(b.Open)-2) {
		t.Errorf("%d bytes for %d words", len(packed), len(b.Open))
	}
	got.Val = slices.Repeat([]byte{9}, 200)
	got.Assign(b.Tier, b.Range, b.LowBits, b.Low[:64])
	if cache.unpack(got, []byte{0}); !slices.Equal(got.Val, make([]byte, 65)) {
		t.Errorf("values of an empty block: %d", got.Val)
	}
	cache.memory.limit(slabMemory)
	b.Open.Add(b.Len() - 1)
	if cache.put(b, 0, nil); cache.get(got, c.Tier, b.Range) {
		t.Error("it has the values of a block with an open position")
	}
}

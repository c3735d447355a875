package blocks_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// loads counts the calls of Deduce, of which there are some for each block that a cursor decodes.
type loads struct {
	game.Halved
	mu  sync.Mutex
	all map[uint64]int // by range
}

// Deduce is that of the game.
func (l *loads) Deduce(d *block.Deduced, tier int, rng uint64, from, to int) {
	if from == 0 {
		l.mu.Lock()
		l.all[rng]++
		l.mu.Unlock()
	}
	l.Halved.(game.Deduced).Deduce(d, tier, rng, from, to)
}

// TestCached reads all blocks that both steps need of a tier, with one cursor and with two at a
// time, and compares each block with that of a plain cursor. If the cache has room, one cursor decodes each block once;
// without a cache, more often.
func TestCached(t *testing.T) {
	whole := solved.Game(t, "connectn width=4 height=5 connect=3").(game.Halved)
	const tier = 10
	file := filepath.Join(solved.Dir(t, whole), table.TierFile(tier))
	g := mirror.HalfOf(whole)
	plain := must.Get(blocks.OpenTier(store.Local{}, file, g, tier))(t)
	defer plain.Close()
	for _, name := range []string{step.Possible, step.Solve} {
		s := blocks.NewStep(name, g)
		for _, most := range []int{1 << 30, 0} {
			for _, cursors := range []int{1, 2} {
				counted := &loads{Halved: whole, all: make(map[uint64]int)}
				in := must.Get(blocks.OpenTier(store.Local{}, file, mirror.HalfOf(counted), tier))(t)
				defer in.Close()
				cache := blocks.NewCache(true, most)
				var homes []uint64
				for e, err := range in.Entries() {
					must.OK(t, err)
					homes = s.Outputs(homes, tier, e.First)
				}
				slices.Sort(homes)
				homes = slices.Compact(homes)
				var readers sync.WaitGroup
				for i := range cursors {
					readers.Go(func() {
						c, p := in.Cached(100, nil, cache), plain.Cursor(100)
						var want block.Block
						for at := i; at < len(homes); at += cursors {
							for _, rng := range s.Inputs(nil, s.OutputTier(tier), homes[at]) {
								got, err := c.Block(homes[at], rng)
								if err != nil {
									t.Error(err)
									return
								}
								ok, err := p.Load(&want, rng)
								if err != nil || ok != (got != nil) || ok && (got.Range != rng || !slices.Equal(got.Val, want.Val)) {
									t.Errorf("%s, %d cursors: the block of range %#x is wrong, %v", name, cursors, rng, err)
									return
								}
							}
						}
					})
				}
				readers.Wait()
				again := 0
				for _, n := range counted.all {
					again = max(again, n)
				}
				if cursors == 1 && (again > 1) != (most < 1<<30) {
					t.Errorf("%s, a cache of %d bytes: blocks are decoded up to %d times", name, most, again)
				}
			}
		}
	}
}

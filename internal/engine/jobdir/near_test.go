package jobdir_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// loads counts the calls of Low, one for each block that a cursor decodes.
type loads struct {
	game.Halved
	mu  sync.Mutex
	all int
}

func (l *loads) Low(tier int, rng uint64) []uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all++
	return l.Halved.Low(tier, rng)
}

// Deduce is that of the game.
func (l *loads) Deduce(d *block.Deduced, tier int, rng uint64, from, to int) {
	l.Halved.(game.Deduced).Deduce(d, tier, rng, from, to)
}

// TestNear reads all blocks that both steps need of a tier, with one cursor and with two at a
// time. Each block must be the one of its range. One cursor decodes each once if the section is
// the tier, and more often if sections are smaller.
func TestNear(t *testing.T) {
	whole := solved.Game(t, "connectn width=4 height=5 connect=3").(game.Halved)
	const tier = 10
	files := []string{filepath.Join(solved.Dir(t, whole), table.TierFile(tier))}
	g := game.HalfOf(whole)
	plain := must.Get(jobdir.OpenTierFiles(store.Local{}, files, g, tier))(t)
	defer plain.Close()
	all := g.KeyBits() - g.LowBits()
	for _, name := range []string{step.Possible, step.Solve} {
		s := step.New(name, g)
		for _, bits := range []uint{all, 2} {
			for _, cursors := range []int{1, 2} {
				counted := &loads{Halved: whole}
				in := must.Get(jobdir.OpenTierFiles(store.Local{}, files, game.HalfOf(counted), tier))(t)
				defer in.Close()
				near := in.Near(bits, func(dst []uint64, rng uint64) []uint64 { return s.Outputs(dst, tier, rng) })
				ranges := must.Get(in.Ranges())(t)
				var homes []uint64
				for _, rng := range ranges {
					homes = s.Outputs(homes, tier, rng)
				}
				slices.Sort(homes)
				homes = slices.Compact(homes)
				// A cursor that is far behind the others still reads its block at their end.
				behind := must.Get(near.Cursor(100).Block(ranges[0], ranges[0]))(t)
				var readers sync.WaitGroup
				for i := range cursors {
					readers.Go(func() {
						c, p := near.Cursor(100), plain.Cursor(100)
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
				var want block.Block
				if _, err := plain.Cursor(100).Load(&want, ranges[0]); err != nil || behind.Range != ranges[0] || !slices.Equal(behind.Val, want.Val) {
					t.Errorf("%s, sections of %d bits, %d cursors: the block of range %#x was used again while it was read, %v", name, bits, cursors, ranges[0], err)
				}
				if cursors == 1 && (counted.all > in.Len()) != (bits < all) {
					t.Errorf("%s, sections of %d bits: %d blocks are decoded %d times", name, bits, in.Len(), counted.all)
				}
			}
		}
	}
}

// TestKept reads all blocks of a tier from a Kept with memory for all, for some, and for none of them.
func TestKept(t *testing.T) {
	whole := solved.Game(t, "connectn width=4 height=5 connect=3").(game.Halved)
	const tier = 10
	g := game.HalfOf(whole)
	in := must.Get(jobdir.OpenTierFiles(store.Local{}, []string{filepath.Join(solved.Dir(t, whole), table.TierFile(tier))}, g, tier))(t)
	defer in.Close()
	bits, all := g.KeyBits()-g.LowBits(), 0
	for _, share := range []int{1, 2, 1000} {
		k, c, b := new(jobdir.Kept), in.Cursor(0), new(block.Block)
		k.Reset(bits, cmp.Or(all/share, 1<<30), true)
		for _, rng := range must.Get(in.Ranges())(t) {
			must.Get(c.Load(b, rng))(t)
			k.Keep(b)
		}
		if k.Lacks() != (share > 1) {
			t.Errorf("memory for 1/%d of the blocks: it lacks some: %v", share, k.Lacks())
		}
		all = max(all, k.Memory())
		near := in.Near(jobdir.NearBits, nil)
		near.Use(k)
		kept := near.Cursor(0)
		for rng := range uint64(1) << bits {
			got, err := kept.Block(rng, rng)
			ok := must.Get(c.Load(b, rng))(t)
			if err != nil || ok != (got != nil) || ok && (got.Range != rng || !slices.Equal(got.Val, b.Val)) {
				t.Fatalf("memory for 1/%d of the blocks: that of range %#x is wrong, %v", share, rng, err)
			}
		}
	}
}

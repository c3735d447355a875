package images

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// sizes are boards whose low columns are less than the right half, the right half, or more.
var sizes = [][2]int{{1, 5}, {2, 3}, {2, 11}, {3, 3}, {3, 10}, {4, 11}, {4, 2}, {4, 4}, {5, 2}, {5, 3}, {6, 2}, {7, 1}, {7, 2}, {8, 1}}

// randomBlocks returns blocks of a tier with random stored positions, open or with a value, and
// the values of all positions; 0: open.
func randomBlocks(r *rand.Rand, g *game.Half, tier int) (blocks []*block.Block, values map[game.Position]byte) {
	values = make(map[game.Position]byte)
	var ranges []uint64
	for range 50 {
		if walk := gametest.Walk(r, g, tier); len(walk) > tier {
			p := walk[tier]
			ranges = append(ranges, p>>g.LowBits(), g.Mirror(p)>>g.LowBits())
		}
	}
	slices.Sort(ranges)
	for _, rng := range slices.Compact(ranges) {
		low := g.Low(tier, rng)
		if low == nil || r.IntN(5) == 0 {
			continue
		}
		b := new(block.Block)
		b.Reset(tier, rng, g.LowBits(), low)
		for slot := range low {
			switch r.IntN(3) {
			case 0:
				b.Open.Add(slot)
			case 1:
				b.Done.Add(slot)
			}
			b.Val[slot] = byte(1 + r.IntN(200))
		}
		g.Keep(b)
		if b.Empty() {
			continue
		}
		blocks = append(blocks, b)
		for slot := range low {
			if b.Open.Has(slot) {
				values[b.Key(slot)] = 0
			} else if b.Done.Has(slot) {
				values[b.Key(slot)] = b.Val[slot]
			}
		}
	}
	return blocks, values
}

// merge returns a Merge that copies blocks.
func merge(g *game.Half, tier int, blocks []*block.Block) Merge {
	return func(b *block.Block, rng uint64) (bool, error) {
		low := g.Low(tier, rng)
		if low == nil {
			return false, nil
		}
		b.Reset(tier, rng, g.LowBits(), low)
		if i := slices.IndexFunc(blocks, func(b *block.Block) bool { return b.Range == rng }); i >= 0 {
			copy(b.Open, blocks[i].Open)
			copy(b.Done, blocks[i].Done)
			copy(b.Val, blocks[i].Val)
		}
		return true, nil
	}
}

// cutAt returns a random part of ranges, ascending, without the first.
func cutAt(r *rand.Rand, ranges []uint64) (borders []uint64) {
	for i, rng := range ranges {
		if i > 0 && r.IntN(4) == 0 {
			borders = append(borders, rng)
		}
	}
	return borders
}

// FuzzImages compares images with those of position after position.
func FuzzImages(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed, uint8(seed), uint8(3*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size, tier uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		wh := sizes[int(size)%len(sizes)]
		rules, err := connectn.New(wh[0], wh[1], max(wh[0], wh[1]))
		if err != nil {
			t.Fatal(err)
		}
		g := game.HalfOf(rules)
		n := int(tier) % (g.Tiers() + 1)
		blocks, values := randomBlocks(r, g, n)
		checkBalanced(t, r, g, n, Reached, blocks, values)
		checkBalanced(t, r, g, n, Scores, blocks, values)
		checkTier(t, r, g, n, blocks, values)
	})
}

// checkBalanced merges blocks with the images of their open balanced positions.
func checkBalanced(t *testing.T, r *rand.Rand, g *game.Half, tier int, kind Kind, blocks []*block.Block, values map[game.Position]byte) {
	var ranges []uint64
	scores := make(map[game.Position]byte)
	for _, b := range blocks {
		ranges = append(ranges, b.Range)
		for _, slot := range b.OpenSlots() {
			scores[b.Key(int(slot))] = b.Val[slot]
		}
	}
	for _, keep := range []bool{false, true} {
		h := NewBalanced(g, tier, kind, ranges, func() func() Merge { return func() Merge { return merge(g, tier, blocks) } })
		all := slices.Clone(ranges)
		if h != nil {
			all = append(all, h.Ranges()...)
			slices.Sort(all)
			all = slices.Compact(all)
			if h.Limit(1 << 30); !keep {
				h.kept, h.borders = nil, cutAt(r, h.rows)
			}
		}
		one, b := merge(g, tier, blocks), new(block.Block)
		found := 0
		for _, rng := range all {
			if ok, err := h.Merge(t.Context(), b, rng, one); !ok || err != nil {
				t.Fatalf("range %#x: %v, %v", rng, ok, err)
			}
			for slot := range b.Len() {
				p := b.Key(slot)
				own, open := scores[p]
				image, openImage := scores[g.Mirror(p)]
				wantOpen, want := open, own
				if g.IsStored(p) && g.IsStored(g.Mirror(p)) && openImage {
					if kind == Reached {
						wantOpen = true
					} else {
						want = max(own, image)
					}
				}
				if b.Open.Has(slot) != wantOpen {
					t.Fatalf("%s, tier %d, kind %d, %#x: open is %v, want %v", g.Spec(), tier, kind, p, b.Open.Has(slot), wantOpen)
				}
				if kind == Scores && open && b.Val[slot] != want {
					t.Fatalf("%s, tier %d, %#x: %d, want %d", g.Spec(), tier, p, b.Val[slot], want)
				}
				if b.Open.Has(slot) {
					found++
				}
			}
		}
		if found < len(scores) {
			t.Fatalf("%s, tier %d: %d open positions, want at least %d", g.Spec(), tier, found, len(scores))
		}
	}
}

// checkTier reads all positions of a tier that stores half of them.
func checkTier(t *testing.T, r *rand.Rand, g *game.Half, tier int, blocks []*block.Block, values map[game.Position]byte) {
	name := filepath.Join(t.TempDir(), "tier.blocks")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[game.Position]byte)
	w := jobdir.NewWriter(file, g, tier, jobdir.Packed)
	for _, b := range blocks {
		clear(b.Open)
		if err := w.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	for p, v := range values {
		if v != 0 {
			want[p] = v
			if image := g.Mirror(p); !g.IsStored(image) {
				want[image] = v
			}
		}
	}
	stored, err := jobdir.OpenTier(store.Local{}, name, g, tier)
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	if counts := stored.Counts(); counts.Total() != uint64(len(want)) {
		t.Fatalf("%s, tier %d: the file counts %d positions, want %d", g.Spec(), tier, counts.Total(), len(want))
	}
	ranges, err := stored.Ranges()
	if err != nil {
		t.Fatal(err)
	}
	all := NewTier(g, tier, ranges, func() Loader { return stored.Cursor(0) }, 1<<20)
	all.borders = cutAt(r, all.ranges)
	if !slices.IsSorted(all.Ranges()) {
		t.Fatalf("the ranges %x do not ascend", all.Ranges())
	}
	got := make([]map[game.Position]byte, len(all.Ranges()))
	if err := parallel.Each(t.Context(), 3, len(got), 1, func() func(int) error {
		c, b := all.Cursor(), new(block.Block)
		return func(i int) error {
			ok, err := c.Load(b, all.Ranges()[i])
			if err != nil || !ok {
				return err
			}
			got[i] = make(map[game.Position]byte)
			for slot := range b.Done.All() {
				got[i][b.Key(slot)] = b.Val[slot]
			}
			return nil
		}
	}); err != nil {
		t.Fatal(err)
	}
	merged := make(map[game.Position]byte)
	for _, of := range got {
		maps.Copy(merged, of)
	}
	if !maps.Equal(merged, want) {
		t.Fatalf("%s, tier %d: %s, want %s", g.Spec(), tier, fmt.Sprint(merged), fmt.Sprint(want))
	}
}

// TestLimit checks that images are made in intervals if memory is short, and messages are not
// kept then.
func TestLimit(t *testing.T) {
	rules, err := connectn.New(5, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	g, tier := game.HalfOf(rules), 14
	var ranges []uint64
	for rng := range uint64(1) << (g.KeyBits() - g.LowBits()) {
		if g.Low(tier, rng) != nil {
			ranges = append(ranges, rng)
		}
	}
	of := func(memory int) (*Balanced, int) {
		h := NewBalanced(g, tier, Scores, ranges, nil)
		return h, h.Limit(memory)
	}
	all, used := of(1 << 30)
	if all.kept == nil || all.borders != nil || used > 1<<30 {
		t.Errorf("with enough memory: %d intervals, %d bytes", len(all.borders)+1, used)
	}
	for _, memory := range []int{used - 1, used / 4, 0} {
		h, least := of(memory)
		if h.kept != nil || least > max(memory, 4*leastInterval) || memory < used/2 && len(h.borders) == 0 || !slices.IsSorted(h.borders) {
			t.Errorf("with %d bytes: %d intervals, %d bytes", memory, len(h.borders)+1, least)
		}
	}
}

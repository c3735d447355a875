package mirror

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// sizes are boards whose low columns are less than the right half, the right half, or more.
var sizes = [][2]int{{1, 5}, {2, 3}, {2, 11}, {3, 3}, {3, 6}, {4, 11}, {4, 2}, {4, 4}, {5, 2}, {5, 3}, {6, 2}, {7, 1}, {7, 2}, {8, 1}}

// randomBlocks returns blocks of a tier with random stored positions, open or with a value, and
// the values of all positions; 0: open.
func randomBlocks(r *rand.Rand, g *Half, tier int) (blocks []*block.Block, values map[game.Position]byte) {
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

// copied are messages that are copied from blocks.
type copied struct {
	g      *Half
	tier   int
	kind   Kind
	blocks []*block.Block
}

func (m copied) Load(b *block.Block, rng uint64) (bool, error) {
	low := m.g.Low(m.tier, rng)
	if low == nil {
		return false, nil
	}
	b.Reset(m.tier, rng, m.g.LowBits(), low)
	if from := m.of(rng); from != nil {
		copy(b.Open, from.Open)
		if m.kind == Reached {
			return true, nil
		}
		copy(b.Done, from.Done)
		for slot := range from.Done.All() {
			b.Val[slot] = from.Val[slot]
		}
	}
	return true, nil
}

func (m copied) Merge(b *block.Block) error {
	if from := m.of(b.Range); from != nil {
		for slot := range from.Open.All() {
			b.Val[slot] = from.Val[slot]
		}
	}
	return nil
}

func (m copied) of(rng uint64) *block.Block {
	if i := slices.IndexFunc(m.blocks, func(b *block.Block) bool { return b.Range == rng }); i >= 0 {
		return m.blocks[i]
	}
	return nil
}

// places are a place with enough memory, and others with so little that there are several bands: in a directory, and in that for
// temporary files.
func places(t *testing.T) []Place {
	const little = 4000
	return []Place{
		{Dir: t.TempDir(), Keep: 1 << 20},
		{Dir: t.TempDir(), Memory: little, Keep: 1000},
		{Dir: "/missing", Memory: little},
		{Dir: t.TempDir(), Memory: little, Blocks: memory(1 << 30)},
		{Dir: t.TempDir(), Memory: little, Blocks: memory(4000)},
	}
}

// memory returns the memory of blocks that take some bytes at most.
func memory(bytes int) *block.Memory {
	m := new(block.Memory)
	m.Reset(bytes)
	return m
}

// FuzzImages compares images with those of position after position.
func FuzzImages(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed, uint8(seed), uint8(3*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size, tier uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		wh := sizes[int(size)%len(sizes)]
		rules := must.Get(connectn.New(wh[0], wh[1], max(wh[0], wh[1])))(t)
		g := HalfOf(rules)
		n := int(tier) % (g.Tiers() + 1)
		blocks, values := randomBlocks(r, g, n)
		checkBalanced(t, g, n, Reached, blocks, values)
		checkBalanced(t, g, n, Scores, blocks, values)
		checkTier(t, g, n, blocks, values)
	})
}

// checkBalanced merges blocks with the images of their open balanced positions.
func checkBalanced(t *testing.T, g *Half, tier int, kind Kind, blocks []*block.Block, values map[game.Position]byte) {
	var ranges []uint64
	scores := make(map[game.Position]byte)
	for _, b := range blocks {
		ranges = append(ranges, b.Range)
		for slot := range b.Open.All() {
			scores[b.Key(slot)] = b.Val[slot]
		}
	}
	for _, place := range places(t) {
		h := NewImages(g, tier, kind, place)
		h.place.Memory = cmp.Or(place.Memory, h.place.Memory)
		m := copied{g, tier, kind, blocks}
		pass := Pass{Ranges: setOf(ranges), Messages: func() Messages { return m }}
		must.OK(t, h.Prepare(t.Context(), pass))
		sampler, merger := h.Merger(m), h.Merger(m) // a range is merged twice
		found := 0
		for rng := range pass.Ranges.All() {
			sampled, b := new(block.Block), new(block.Block)
			must.Get(sampler.Merge(sampled, rng))(t)
			must.Get(merger.Merge(b, rng))(t)
			if !slices.Equal(sampled.Open, b.Open) || !slices.Equal(sampled.Val, b.Val) {
				t.Fatalf("range %#x: %v, and as a sample %v", rng, b, sampled)
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
		must.OK(t, h.Close())
		checkEmpty(t, place)
	}
}

// checkEmpty requires that no temporary files are left.
func checkEmpty(t *testing.T, place Place) {
	if place.Dir == "/missing" {
		return
	}
	if files, err := os.ReadDir(place.Dir); err != nil || len(files) > 0 {
		t.Fatalf("temporary files: %v, %v", files, err)
	}
}

func setOf(ranges []uint64) *RangeSet {
	set := new(RangeSet)
	for _, rng := range ranges {
		set.Add(rng)
	}
	return set
}

// inMemory are stored positions, for the kind Values.
type inMemory struct{ copied }

func (m inMemory) Load(b *block.Block, rng uint64) (bool, error) {
	low := m.g.Halved.Low(m.tier, rng)
	if low == nil {
		return false, nil
	}
	if from := m.of(rng); from != nil {
		b.Copy(from)
	} else {
		b.Reset(m.tier, rng, m.g.LowBits(), low)
	}
	return true, nil
}

// checkTier reads all positions of a tier that stores half of them.
func checkTier(t *testing.T, g *Half, tier int, blocks []*block.Block, values map[game.Position]byte) {
	want := make(map[game.Position]byte)
	stored := inMemory{copied{g: g, tier: tier}}
	for _, b := range blocks {
		clear(b.Open)
		if !b.Empty() {
			stored.blocks = append(stored.blocks, b)
		}
	}
	for p, v := range values {
		if v != 0 {
			want[p] = v
			if image := g.Mirror(p); !g.IsStored(image) {
				want[image] = v
			}
		}
	}
	for _, place := range places(t) {
		all := NewImages(g, tier, Values, place)
		all.place.Memory = cmp.Or(place.Memory, all.place.Memory)
		pass := Pass{Ranges: setOf(rangesOf(stored.blocks)), Messages: func() Messages { return stored }}
		must.OK(t, all.Prepare(t.Context(), pass))
		checkWhole(t, slices.Collect(pass.Ranges.All()), func() *Merger { return all.Merger(stored) }, want)
		must.OK(t, all.Close())
		checkEmpty(t, place)
	}
}

// checkWhole compares what Mergers read with the values of all positions.
func checkWhole(t *testing.T, ranges []uint64, merger func() *Merger, want map[game.Position]byte) {
	got := make([]map[game.Position]byte, len(ranges))
	if err := parallel.Each(t.Context(), 3, len(got), 1, func() func(int) error {
		m, b := merger(), new(block.Block)
		return func(i int) error {
			ok, err := m.Merge(b, ranges[i])
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
		t.Fatalf("%v, want %v", merged, want)
	}
}

// TestManyBands adds images again and again with so little memory that each makes a band.
func TestManyBands(t *testing.T) {
	rules := must.Get(connectn.New(4, 4, 4))(t)
	g := HalfOf(rules)
	blocks, _ := randomBlocks(rand.New(rand.NewPCG(1, 1)), g, 6)
	place := Place{Dir: t.TempDir()}
	s := newSorter(g, 6, Values, place)
	s.place.Memory = 1
	want := make(map[game.Position]byte)
	for range 20 {
		for _, b := range blocks {
			must.OK(t, s.add(b))
			for slot := range b.Done.All() {
				if image := g.Mirror(b.Key(slot)); !g.IsStored(image) {
					want[image] = b.Val[slot]
				}
			}
		}
	}
	must.OK(t, s.end())
	if s.Len() < 100 || s.files != s.Len() {
		t.Errorf("%d bands, %d files, want the same, at least 100", s.Len(), s.files)
	}
	got := make(map[game.Position]byte)
	cursors, b := s.cursors(), new(block.Block)
	for rng := range s.reached.All() {
		b.Reset(6, rng, g.LowBits(), g.Halved.Low(6, rng))
		must.OK(t, mergeAll(cursors, b))
		for slot := range b.Done.All() {
			got[b.Key(slot)] = b.Val[slot]
		}
	}
	if len(want) == 0 || !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	must.OK(t, s.Close())
	checkEmpty(t, place)
}

func rangesOf(blocks []*block.Block) (ranges []uint64) {
	for _, b := range blocks {
		ranges = append(ranges, b.Range)
	}
	return ranges
}

// TestUnnamedFiles checks that bands are in the directory of a Place, not in
// that for temporary files, and that they have no names: a killed process leaves nothing.
func TestUnnamedFiles(t *testing.T) {
	places := []Place{{Dir: t.TempDir()}, {}}
	t.Setenv("TMPDIR", "/missing")
	rules := must.Get(connectn.New(4, 4, 4))(t)
	g := HalfOf(rules)
	blocks, _ := randomBlocks(rand.New(rand.NewPCG(1, 1)), g, 6)
	for _, place := range places {
		s := newSorter(g, 6, Values, place)
		s.place.Memory = 1
		var err error
		for _, b := range blocks {
			err = cmp.Or(err, s.add(b))
		}
		if (err == nil) != (place.Dir != "") || err == nil && (s.Len() == 0 || s.bands[0].file == nil) {
			t.Errorf("%q: %d bands, %v", place.Dir, s.Len(), err)
		}
		if place.Dir != "" {
			checkEmpty(t, place)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// failing are messages of which a range cannot be read.
type failing struct {
	copied
	rng uint64
	err error
}

func (m failing) Load(b *block.Block, rng uint64) (bool, error) {
	if rng == m.rng {
		return false, m.err
	}
	return m.copied.Load(b, rng)
}

// TestPrepareFails has one range fail.
func TestPrepareFails(t *testing.T) {
	rules := must.Get(connectn.New(4, 4, 4))(t)
	g, failed := HalfOf(rules), errors.New("failed")
	blocks, _ := randomBlocks(rand.New(rand.NewPCG(1, 1)), g, 4)
	h := NewImages(g, 4, Reached, Place{})
	defer h.Close()
	m, ranges := failing{copied{g, 4, Reached, blocks}, 0, failed}, rangesOf(blocks)
	for _, rng := range ranges {
		if h.has(rng) {
			m.rng = rng // the last one
		}
	}
	pass := Pass{Ranges: setOf(ranges), Messages: func() Messages { return m }, Workers: 1}
	if err := h.Prepare(t.Context(), pass); !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
}

// TestBandChanged changes a byte of the file of a band.
func TestBandChanged(t *testing.T) {
	s := &sorter{kind: Reached, place: Place{Dir: t.TempDir()}}
	w := s.writer(false)
	must.OK(t, w.finish(w.add(5, block.Set{1}, nil)))
	defer func() { must.OK(t, s.Close()) }()
	must.Get(s.bands[0].file.WriteAt([]byte{255}, 1))(t)
	c := bandCursor{band: s.bands[0], kind: Reached}
	if err := c.seek(5); err == nil {
		t.Error("the change is not noticed")
	}
}

// TestPages reads a band of many pages, in memory and in a file, forward and backward.
func TestPages(t *testing.T) {
	const ranges = 3000
	set, val := block.Set{1<<40 | 5}, make([]byte, 64)
	for _, keep := range []bool{true, false} {
		s := &sorter{kind: Values, place: Place{Dir: t.TempDir()}}
		w := s.writer(keep)
		for rng := range uint64(ranges) {
			val[0], val[2], val[40] = byte(1+rng%200), byte(1+rng%100), 9
			must.OK(t, w.add(3*rng, set, val))
		}
		must.OK(t, w.finish(nil))
		if n := len(s.bands[0].pages); n < 2 {
			t.Fatalf("%d pages, want several", n)
		}
		c, b, low := bandCursor{band: s.bands[0], kind: Values}, new(block.Block), make([]uint32, 64)
		for i := range uint64(2 * ranges) {
			rng := min(i, 2*ranges-1-i)
			b.Reset(1, 3*rng, 6, low)
			must.OK(t, c.merge(b))
			if b.Done[0] != set[0] || b.Val[0] != byte(1+rng%200) || b.Val[2] != byte(1+rng%100) || b.Val[40] != 9 {
				t.Fatalf("keep %v: range %d has %x, %d", keep, 3*rng, b.Done, b.Val)
			}
			b.Reset(1, 3*rng+1, 6, low)
			if must.OK(t, c.merge(b)); !b.Empty() {
				t.Fatalf("keep %v: range %d is not empty", keep, 3*rng+1)
			}
		}
		must.OK(t, s.Close())
	}
}

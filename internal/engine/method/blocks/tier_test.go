package blocks_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/records"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/streamfmt"
)

// seal seals a directory with all of its files.
func seal(t *testing.T, dir string, g game.Game) {
	t.Helper()
	files, err := jobdir.SealAll(store.Local{}, dir)
	if err == nil {
		err = (&store.Seal{Game: g.Spec(), Job: filepath.Base(dir), Files: files}).Write(store.Local{}, dir)
	}
	must.OK(t, err)
}

// newDir creates a directory.
func newDir(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must.OK(t, os.Mkdir(dir, 0o777))
	return dir
}

// writeTier writes records into a sealed directory, the first n and the others each into a
// shard of their own.
func writeTier(t *testing.T, g game.Blockwise, tier int, recs []streamfmt.Record, n int) string {
	t.Helper()
	dir := newDir(t, "data_first9")
	for i, some := range [][]streamfmt.Record{recs[:n], recs[n:]} {
		out := must.Get(os.Create(filepath.Join(dir, jobdir.PartName(i))))(t)
		w := blocks.NewWriter(out, g, tier)
		if err := w.Finish(w.AppendLines(strings.NewReader(records.Text(some, streamfmt.KeyWidth(g.KeyBits()))), "in")); err != nil {
			t.Fatal(err)
		}
	}
	seal(t, dir, g)
	return dir
}

// linesOf returns all records of a tier as lines.
func linesOf(dir string, g game.Blockwise, tier int) (string, error) {
	in, err := blocks.OpenTier(store.Local{}, dir, g, tier)
	if err != nil {
		return "", err
	}
	defer in.Close()
	var out bytes.Buffer
	err = in.WriteLines(&out, 0, in.Len())
	return out.String(), err
}

// TestTier writes a tier and reads it back: all records in order, any range in
// any order, and the numbers of records by value.
func TestTier(t *testing.T) {
	const tier = 9
	r := rand.New(rand.NewPCG(3, 4))
	g := solved.Game(t, "connectn width=4 height=5 connect=3").(game.Blockwise)
	recs := records.Random(r, g, tier, 3000)
	var counts streamfmt.Counts
	inRange := make(map[uint64]int) // by range
	for _, rec := range recs {
		counts[rec.Value]++
		inRange[rec.Key>>g.LowBits()]++
	}
	border := len(recs) / 2
	for recs[border].Key>>g.LowBits() == recs[border-1].Key>>g.LowBits() {
		border++
	}
	want := records.Text(recs, streamfmt.KeyWidth(g.KeyBits()))
	dir := writeTier(t, g, tier, recs, border)
	if _, err := jobdir.Check(context.Background(), store.Local{}, dir, g.Spec()); err != nil {
		t.Errorf("%v", err)
	}
	if got, err := linesOf(dir, g, tier); err != nil || got != want {
		t.Errorf("the lines change on their way: %v", err)
	}
	in := must.Get(blocks.OpenTier(store.Local{}, dir, g, tier))(t)
	defer in.Close()
	if in.Len() != len(inRange) || in.Counts() != counts {
		t.Errorf("%d ranges, %v; want %d, %v", in.Len(), in.Counts(), len(inRange), counts)
	}
	var ranges []uint64
	for e, err := range in.Entries() {
		must.OK(t, err)
		ranges = append(ranges, e.First)
	}
	if len(ranges) != in.Len() || !slices.IsSorted(ranges) {
		t.Fatalf("ranges %x", ranges)
	}
	cursor := in.Cursor(100)
	var b block.Block
	var v blocks.View
	for range 2000 {
		rng := ranges[r.IntN(in.Len())] + r.Uint64N(2)
		below, _ := slices.BinarySearch(ranges, rng)
		if n, err := cursor.Search(rng); err != nil || n != below {
			t.Fatalf("%d ranges below %#x, %v, want %d", n, rng, err, below)
		}
		ok, err := cursor.Load(&b, rng)
		if err != nil || ok != (inRange[rng] > 0) || ok && b.Count() != inRange[rng] {
			t.Fatalf("range %#x: loaded %v, %v, want %d records", rng, ok, err, inRange[rng])
		}
		near, err := cursor.Block(ranges[r.IntN(in.Len())], rng)
		if err != nil || (near != nil) != ok || ok && !bytes.Equal(near.AppendValues(nil), b.AppendValues(nil)) {
			t.Fatalf("range %#x: block %v, %v", rng, near, err)
		}
		if err := cursor.View(&v, rng); err != nil || (v.Low != nil) != ok {
			t.Fatalf("range %#x: view of %d slots, %v", rng, len(v.Low), err)
		}
		shard := 0
		if rng >= recs[border].Key>>g.LowBits() {
			shard = 1
		}
		if err := v.Damaged(io.ErrUnexpectedEOF); ok && !strings.Contains(err.Error(), jobdir.PartName(shard)) {
			t.Fatalf("range %#x: error %v, want one of shard %d", rng, err, shard)
		}
	}
	if borders := in.Split(3); borders[0] != 0 || len(borders) > 3 || !slices.IsSorted(borders) {
		t.Errorf("split at %x", borders)
	}
}

// TestTierFiles opens pairs of packed files that do not belong together, or not to the tier.
func TestTierFiles(t *testing.T) {
	whole := solved.Game(t, "connectn width=4 height=4 connect=4").(game.Halved)
	half := mirror.HalfOf(whole)
	file := func(g game.Blockwise, tier int, positions ...game.Position) jobdir.File {
		name := filepath.Join(t.TempDir(), jobdir.PartName(0))
		out := must.Get(os.Create(name))(t)
		w := blocks.NewWriter(out, g, tier)
		for _, p := range positions {
			b, rng := new(block.Block), p>>g.LowBits()
			b.Reset(tier, rng, g.LowBits(), g.Low(tier, rng))
			b.Open.Add(0)
			must.OK(t, w.Add(b))
		}
		must.OK(t, w.Finish(nil))
		return jobdir.File{Name: name}
	}
	// Positions of tier 2 in ranges of which some positions are stored.
	var at []game.Position
	for _, m := range whole.Moves(nil, whole.Start()) {
		for _, m := range whole.Moves(nil, m.To) {
			if len(half.Low(2, m.To>>half.LowBits())) > 0 {
				at = append(at, m.To)
			}
		}
	}
	low, high := slices.Min(at), slices.Max(at)
	for _, test := range []struct {
		what  string
		files []jobdir.File
		want  string // "": no error
	}{
		{"in order", []jobdir.File{file(whole, 2, low), file(whole, 2, high)}, ""},
		{"in another order", []jobdir.File{file(whole, 2, high), file(whole, 2, low)}, "do not come after"},
		{"a shared range", []jobdir.File{file(whole, 2, low), file(whole, 2, low, high)}, "do not come after"},
		{"of another tier", []jobdir.File{file(whole, 1, whole.Moves(nil, whole.Start())[0].To)}, "of tier 1, expected tier 2"},
		{"half, then whole", []jobdir.File{file(half, 2, low), file(whole, 2, high)}, "some files store half"},
		{"whole, then half", []jobdir.File{file(whole, 2, low), file(half, 2, high)}, "some files store half"},
	} {
		in, err := blocks.OpenTierFiles(store.Local{}, test.files, half, 2)
		if err == nil {
			in.Close()
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.what, err, test.want)
		}
	}
	if _, err := blocks.OpenTierFiles(store.Local{}, []jobdir.File{file(half, 2, low)}, whole, 2); err == nil || !strings.Contains(err.Error(), "it stores half of the positions, expected all") {
		t.Errorf("half, expected all: error %v", err)
	}
}

// TestTierDamaged flips bits, and removes a shard. Each time the check and the
// reader must report it.
func TestTierDamaged(t *testing.T) {
	const tier = 5
	r := rand.New(rand.NewPCG(5, 6))
	g := solved.Game(t, "connectn width=3 height=3 connect=3").(game.Blockwise)
	recs := records.Random(r, g, tier, 300)
	dir := writeTier(t, g, tier, recs, 0)
	name := filepath.Join(dir, jobdir.PartName(1))
	whole := must.Get(os.ReadFile(name))(t)
	for range 200 {
		at, bit := r.IntN(len(whole)), byte(1)<<r.IntN(8)
		damaged := bytes.Clone(whole)
		damaged[at] ^= bit
		must.OK(t, os.WriteFile(name, damaged, 0o666))
		if _, err := jobdir.Check(context.Background(), store.Local{}, dir, g.Spec()); !jobdir.Damaged(err) {
			t.Errorf("bit %#x of byte %d: check: %v", bit, at, err)
		}
		if _, err := linesOf(dir, g, tier); err == nil {
			t.Errorf("bit %#x of byte %d: it was read", bit, at)
		}
	}
	must.OK(t, os.Remove(name))
	if _, err := linesOf(dir, g, tier); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
		t.Errorf("without a shard: %v", err)
	}
}

// TestSplitPages divides a tier with many ranges: the partitions have about as many bytes, and the pages of the index
// are not read for that.
func TestSplitPages(t *testing.T) {
	const tier, ranges, n = 12, 30_000, 5
	g := solved.Game(t, "connectn width=7 height=6 connect=4").(game.Blockwise)
	name := filepath.Join(t.TempDir(), jobdir.PartName(0))
	out := must.Get(os.Create(name))(t)
	w, b := blocks.NewWriter(out, g, tier), new(block.Block)
	for rng, written := uint64(0), 0; written < ranges; rng++ {
		low := g.Low(tier, rng)
		if low == nil {
			continue
		}
		b.Reset(tier, rng, g.LowBits(), low)
		for slot := range min(len(low), 1+written%40) {
			b.Open.Add(slot)
		}
		must.OK(t, w.Add(b))
		written++
	}
	must.OK(t, w.Finish(nil))
	fsys := &storetest.Reads{FS: store.Local{}}
	in := must.Get(blocks.OpenTier(fsys, name, g, tier))(t)
	defer in.Close()
	opened := fsys.Bytes.Load()
	borders := in.Split(n)
	if len(borders) != n || borders[0] != 0 {
		t.Fatalf("split at %x", borders)
	}
	if more := fsys.Bytes.Load() - opened; more > 0 {
		t.Errorf("%d bytes were read to split", more)
	}
	sizes, all, c := make([]int, n), 0, in.Cursor(0)
	for i := range in.Len() {
		e := must.Get(c.Entry(i))(t)
		p, found := slices.BinarySearch(borders, e.First)
		if !found {
			p--
		}
		sizes[p] += int(e.Length)
		all += int(e.Length)
	}
	for _, size := range sizes {
		if size < all/n*9/10 || size > all/n*11/10 {
			t.Errorf("partitions of %d bytes", sizes)
		}
	}
}

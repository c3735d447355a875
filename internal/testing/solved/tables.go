package solved

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// SameTable checks that the table in the data directory got of fsys is that of the local one want. Compact
// files must have the same positions, values and counts as those of want, which may be of a version without
// compact files. Their bytes depend on the way of solving, since the frequencies of each come from other
// blocks. All other files must have the same bytes.
func SameTable(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	got, want = path.Join(got, table.Dir), filepath.Join(want, table.Dir)
	files, wanted := contents(t, fsys, got), contents(t, store.Local{}, want)
	if len(wanted) == 0 {
		t.Errorf("%s: no table", want)
	}
	compact := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		a, b := blockFile(files[name]), blockFile(wanted[name])
		if a == nil || b == nil || a.Model() == nil {
			continue
		}
		compact[name] = true
		delete(files, name)
		delete(wanted, name)
		g := Game(t, b.Spec()).(game.Tiered)
		if half := game.HalfOf(g); half != nil {
			g = half
		}
		if err := sameTier(newReader(t, fsys, got, name, a, g, b.Tier()), newReader(t, store.Local{}, want, name, b, g, b.Tier())); err != nil {
			t.Errorf("%s: %v", path.Join(got, name), err)
		}
	}
	if len(compact) > 0 {
		files[store.Success] = sealOf(t, fsys, got, compact)
		wanted[store.Success] = sealOf(t, store.Local{}, want, compact)
	}
	if diff := storetest.Differences(files, wanted); diff != nil {
		t.Errorf("%s: %v", got, diff)
	}
}

// blockFile opens a block file in memory; nil: it is none.
func blockFile(text string) *streamfmt.File {
	file, err := streamfmt.OpenFile(strings.NewReader(text), int64(len(text)), "")
	if err != nil {
		return nil
	}
	return file
}

// sealOf returns the seal of a directory as text, without what depends on the bytes of its compact files.
func sealOf(t testing.TB, fsys store.FS, dir string, compact map[string]bool) string {
	t.Helper()
	seal, err := store.ReadSeal(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range seal.Files {
		if f := &seal.Files[i]; compact[f.Name] {
			f.Length, f.Sum = 0, 0
		}
	}
	text, err := json.Marshal(seal)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A blockReader reads the blocks of a file of a table.
type blockReader struct {
	*jobdir.Tier
	cursor *jobdir.TierCursor
	block  block.Block
	exact  bool // the index has the number of records of each block
}

// newReader opens a file of a directory as a tier of a game. The test closes it.
func newReader(t testing.TB, fsys store.FS, dir, name string, file *streamfmt.File, g game.Tiered, number int) *blockReader {
	t.Helper()
	tier, err := jobdir.OpenTierFiles(fsys, []string{path.Join(dir, name)}, g, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tier.Close() })
	return &blockReader{Tier: tier, cursor: tier.Cursor(1 << 16), exact: file.Model() != nil}
}

// read reads the i-th block.
func (r *blockReader) read(i int) error {
	e, err := r.cursor.Entry(i)
	if err != nil {
		return err
	}
	if _, err := r.cursor.Load(&r.block, e.Range); err != nil {
		return err
	}
	if n := r.block.Count(); n == 0 || r.exact && n != e.MostRecords() {
		return fmt.Errorf("range %#x has %d positions, and %d in the index", e.Range, n, e.MostRecords())
	}
	return nil
}

// sameTier compares all positions and values of two files, and the numbers of those with each value.
func sameTier(got, want *blockReader) error {
	if half, wanted := got.Half() != nil, want.Half() != nil; half != wanted {
		return fmt.Errorf("it stores half of the positions: %t, want %t", half, wanted)
	}
	counts, wanted := got.Counts(), want.Counts()
	for v := range counts {
		if counts[v] != wanted[v] {
			return fmt.Errorf("it counts %d positions with the value %d, want %d", counts[v], v, wanted[v])
		}
	}
	if got.Len() != want.Len() {
		return fmt.Errorf("%d ranges, want %d", got.Len(), want.Len())
	}
	for i := range got.Len() {
		if err := cmp.Or(got.read(i), want.read(i)); err != nil {
			return err
		}
		if err := sameBlock(&got.block, &want.block); err != nil {
			return err
		}
	}
	return nil
}

// A record is what a block has of a slot.
type record struct {
	Open, Done bool
	Value      byte
}

func recordOf(b *block.Block, slot int) record {
	return record{b.Open.Has(slot), b.Done.Has(slot), b.Val[slot]}
}

// sameBlock compares the positions and values of two blocks.
func sameBlock(got, want *block.Block) error {
	if got.Range != want.Range || got.Len() != want.Len() {
		return fmt.Errorf("range %#x with %d slots, want %#x with %d", got.Range, got.Len(), want.Range, want.Len())
	}
	for slot := range want.Len() {
		if a, b := recordOf(got, slot), recordOf(want, slot); a != b {
			return fmt.Errorf("%#x (slot %d of range %#x): %+v, want %+v", want.Key(slot), slot, want.Range, a, b)
		}
	}
	return nil
}

package layers

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// tableOf returns the table of a game without images, whose tiers have several cells, and its values.
func tableOf(t *testing.T) (*Table, *storetest.Reads, map[game.Position]game.Value) {
	g := struct{ game.Tiered }{must.Get(mnk.New(3, 3, 3))(t)}
	right, tiers := gametest.Search(g), make([][]Row, g.Tiers()+1)
	for p, v := range right {
		tiers[g.Tier(p)] = append(tiers[g.Tier(p)], Row{Key: p, Word: uint64(v)})
	}
	disk, dir := &storetest.Reads{FS: &storetest.Memory{HDFS: true}}, "table"
	for tier, rows := range tiers {
		SortRows(rows)
		w := NewPartWriter(must.Get(disk.Create(dir+"/"+jobdir.PartName(tier)))(t), g, tier, Values)
		must.OK(t, w.Finish(w.Append(rows)))
	}
	files := stored.Files{FS: disk, Dir: dir}
	for _, f := range must.Get(jobdir.SealAll(disk, dir))(t) {
		files.Tiers = append(files.Tiers, stored.Tier{Name: f.Name, Sealed: []store.SealedFile{f}})
	}
	return OpenTable(g, files), disk, right
}

// TestLookupReads checks that a look-up reads the cell of the position, and no other.
func TestLookupReads(t *testing.T) {
	tab, disk, _ := tableOf(t)
	defer tab.Close()
	cells := must.Get(tab.tier(6))(t).files[0].cells
	for _, c := range cells {
		before := disk.Bytes.Load()
		if _, ok, err := tab.Lookup(c.First); !ok || err != nil {
			t.Errorf("%#x: %v, %v", c.First, ok, err)
		}
		if n := disk.Bytes.Load() - before; n != int64(c.Length) || len(cells) < 2 {
			t.Errorf("%d bytes of %d cells were read, want %d", n, len(cells), c.Length)
		}
	}
}

// TestPartReaderKeeps checks that a partReader caches no more rows than allowed, and finds every successor.
func TestPartReaderKeeps(t *testing.T) {
	tab, _, right := tableOf(t)
	defer tab.Close()
	tab.keep = 1600
	parts := must.Get(tab.Parts(func(int) bool { return true }))(t)
	r := parts[0].Reader(0).(*partReader)
	for range 2 {
		for p, want := range right {
			if _, _, v, ok, err := r.Find(p); err != nil || !ok || v != want {
				t.Fatalf("%#x: %d, %v, %v; want %d", p, v, ok, err, want)
			}
			held := 0
			for _, rows := range r.kept {
				held += len(rows)
			}
			if held != r.held || held > tab.keep+1520 { // a tier
				t.Fatalf("%d rows are held, %d counted, %d may be", held, r.held, tab.keep)
			}
		}
	}
}

package layers

import (
	"slices"
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

// TestPartReaderKeeps checks that a partReader caches no more rows than allowed, and finds every successor.
func TestPartReaderKeeps(t *testing.T) {
	g := struct{ game.Layered }{must.Get(mnk.New(3, 3, 3))(t)} // without images; its tiers have several cells
	right, tiers := gametest.Search(g), make([][]Row, g.Tiers()+1)
	for p, v := range right {
		tiers[g.Tier(p)] = append(tiers[g.Tier(p)], Row{Key: p, Word: uint64(v)})
	}
	disk, dir := &storetest.Memory{HDFS: true}, "table"
	for tier, rows := range tiers {
		slices.SortFunc(rows, func(a, b Row) int { return int(a.Key) - int(b.Key) })
		w := NewPartWriter(must.Get(disk.Create(dir+"/"+jobdir.PartName(tier)))(t), g, tier, Values)
		must.OK(t, w.Finish(w.Append(rows)))
	}
	files := stored.Files{FS: disk, Dir: dir}
	for _, f := range must.Get(jobdir.SealAll(disk, dir))(t) {
		files.Tiers = append(files.Tiers, stored.Tier{Name: f.Name, Sealed: []store.SealedFile{f}})
	}
	tab := OpenTable(g, files)
	defer tab.Close()
	tab.Interval, tab.keep = 100, 1600
	parts := must.Get(tab.Parts())(t)
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

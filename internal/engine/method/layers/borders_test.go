package layers

import (
	"math"
	"testing"

	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/streamfmt"
)

// TestBorders checks that the parts of a job have about the same number of rows, where a cell has many close keys, and
// others have few.
func TestBorders(t *testing.T) {
	g, disk, dir := must.Get(mnk.New(3, 3, 3))(t), new(storetest.Memory), "first"
	var rows []Row
	for i := range uint64(6 * streamfmt.CellRows) {
		key := i // two cells; the keys of the four others are less close
		if i >= 2*streamfmt.CellRows {
			key += (i - 2*streamfmt.CellRows) * 49
		}
		rows = append(rows, Row{Key: key, Word: key})
	}
	must.OK(t, disk.MkdirAll(dir))
	w := NewPartWriter(must.Get(disk.Create(dir+"/"+jobdir.PartName(0)))(t), g, 1, Predecessors)
	must.OK(t, w.Finish(w.Append(rows)))
	must.OK(t, (&store.Seal{Game: g.Spec(), Job: dir, Files: must.Get(jobdir.SealAll(disk, dir))(t)}).Write(disk, dir))
	for n := 2; n < 20; n++ {
		borders := must.Get(bordersOf(disk, dir, g, n))(t)
		if len(borders) != n-1 {
			t.Fatalf("%d borders of %d parts", len(borders), n)
		}
		counts := make([]int, n)
		for _, r := range rows {
			part := 0
			for part < len(borders) && r.Key >= borders[part] {
				part++
			}
			counts[part]++
		}
		for i, got := range counts {
			if want := float64(len(rows)) / float64(n); math.Abs(float64(got)-want) > 2 {
				t.Errorf("part %d of %d has %d rows, want %.0f", i, n, got, want)
			}
		}
	}
}

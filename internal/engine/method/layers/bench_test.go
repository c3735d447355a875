package layers_test

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// BenchmarkSort sorts rows like those of an interval.
func BenchmarkSort(b *testing.B) {
	for _, n := range []int{100, 1000, 1 << 14, 1 << 17, 1 << 20} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			all := make([]layers.Row, n)
			for i := range all {
				all[i] = layers.Row{Key: r.Uint64() >> 36, Word: r.Uint64() >> 28}
			}
			rows := make([]layers.Row, n)
			b.ResetTimer()
			for range b.N {
				copy(rows, all)
				layers.SortRows(rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

// BenchmarkLoad loads intervals of 4,096 rows from files with more and more cells. The time per
// interval must not grow with the number of cells.
func BenchmarkLoad(b *testing.B) {
	for _, cells := range []int{1 << 8, 1 << 10, 1 << 12, 1 << 14} {
		b.Run(strconv.Itoa(cells)+"cells", func(b *testing.B) {
			g := must.Get(mnk.New(4, 4, 4))(b)
			name := filepath.Join(b.TempDir(), "0"+jobdir.Suffix)
			out := must.Get(store.Local{}.Create(name))(b)
			w := layers.NewPartWriter(out, g, 1, layers.Predecessors)
			rows := make([]layers.Row, streamfmt.CellRows)
			for cell := range uint64(cells) {
				for i := range rows {
					rows[i] = layers.Row{Key: cell*streamfmt.CellRows + uint64(i)}
				}
				must.OK(b, w.Append(rows))
			}
			must.OK(b, w.Finish(nil))
			s := must.Get(layers.Open(store.Local{}, g, layers.Predecessors, 1, name))(b)
			defer s.Close()
			var l layers.Loader
			for i := range b.N {
				first := uint64(i*7919%(cells-4)) * streamfmt.CellRows
				rows = must.Get(l.Load(rows, s, layers.Interval{First: first, Last: first + 4*streamfmt.CellRows - 1}))(b)
				if len(rows) != 4*streamfmt.CellRows {
					b.Fatal(len(rows))
				}
			}
		})
	}
}

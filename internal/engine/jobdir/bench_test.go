package jobdir_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// BenchmarkWriteTable writes the table of the largest tiers of a board, from all of their positions.
// The environment variable GOMAXPROCS sets the number of cores.
func BenchmarkWriteTable(b *testing.B) {
	g := solved.Game(b, "connectn width=5 height=5 connect=4").(game.Tiered)
	dir := solved.Dir(b, g, func(o *solve.Options) { o.KeepAll = true })
	n := uint64(0)
	for b.Loop() {
		n = 0
		for tier := 15; tier < 23; tier++ {
			in, err := jobdir.OpenTier(store.Local{}, filepath.Join(dir, fmt.Sprintf("data_second%d", tier)), g, tier)
			must.OK(b, err)
			counts := in.Counts()
			n += counts.Total()
			must.OK(b, jobdir.WriteTable(b.Context(), discard{}, game.HalfOf(g), in))
			must.OK(b, in.Close())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/position")
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

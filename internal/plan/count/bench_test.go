package count

import (
	"cmp"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// BenchmarkCount counts the positions of games with $TREEREDUCE_DRAWS samples, and reports the
// error relative to the true number, if known, and the 95 % interval.
func BenchmarkCount(b *testing.B) {
	draws := longtest.Number(b, "TREEREDUCE_DRAWS", 10_000)
	for _, of := range []struct {
		spec      string
		positions float64
	}{
		{"connectn width=5 height=5 connect=4", published[[2]int{5, 5}]},
		{"connectn width=6 height=6 connect=4", published[[2]int{6, 6}]},
		{"connectn width=8 height=4 connect=4", published[[2]int{8, 4}]},
		{"connectn width=7 height=6 connect=4", published[[2]int{7, 6}]},
		{"connectn width=8 height=7 connect=4", 0},
		{"connectn width=7 height=6 connect=3", 0},
		{"quickcross width=4 height=4 connect=4", 2_675_506},
		{"quickcross width=6 height=5 connect=4", 0},
		{"mnk width=5 height=5 connect=4", 0},
		{"mancala pits=4 stones=3", 0},
		{"mancala pits=6 stones=4", 0},
	} {
		b.Run(of.spec, func(b *testing.B) {
			g := solved.Game(b, of.spec)
			for b.Loop() {
				began := system.CPU()
				found := must.Get(Of(b.Context(), g, Options{Draws: int64(draws), Seed: 1}))(b)
				b.ReportMetric((system.CPU() - began).Seconds(), "CPU-s")
				b.Log(found.How)
				b.ReportMetric(found.Sum.Positions, "positions")
				b.ReportMetric(float64(found.Sum.Draws), "draws")
				if of.positions > 0 {
					b.ReportMetric(100*(found.Sum.Positions/of.positions-1), "%off")
				}
				if found.How != Sampled {
					continue
				}
				b.ReportMetric(100*found.Sum.Error(), "±%")
				hit := slices.DeleteFunc(slices.Clone(found.Tiers), func(t Tier) bool { return t.Positions == 0 })
				worst := slices.MaxFunc(hit, func(t, u Tier) int { return cmp.Compare(t.Error(), u.Error()) })
				b.ReportMetric(float64(worst.Tier), "worst-tier")
				b.ReportMetric(100*worst.Error(), "±%-worst-tier")
				b.ReportMetric(float64(len(found.Tiers)-len(hit)), "tiers-not-hit")
			}
		})
	}
}

package network

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/search"
)

// BenchmarkHorizon searches positions of each phase of the game for five seconds, on one core
// with a table of 85 MB, and reports the depth of the search in plies. Positions that are
// proven early are left out.
func BenchmarkHorizon(b *testing.B) {
	const limit = 5 * time.Second
	g := New()
	s := must.Get(search.New(g, search.Options{Memory: 85 << 20}))(b)
	look := func(p game.Position, l search.Limit) search.Result {
		s.Forget()
		return must.Get(s.Search(b.Context(), p, l))(b)
	}
	r := rand.New(rand.NewPCG(20, 26))
	var adds []int
	for _, phase := range []struct {
		name     string
		from, to int // number of chips on the board
		count    int
	}{{"opening", 4, 7, 10}, {"middle", 8, 15, 10}, {"steps", 2 * Chips, 2 * Chips, 5}} {
		b.Run(phase.name, func(b *testing.B) {
			var positions []game.Position
			for len(positions) < phase.count {
				chips := phase.from + r.IntN(phase.to-phase.from+1)
				walk := gametest.Walk(r, g, chips+r.IntN(4)*(chips/(2*Chips)))
				p := walk[len(walk)-1]
				if g.Primitive(p) != 0 || len(walk) <= chips {
					continue
				}
				if soon := look(p, search.Limit{Time: limit / 10}); !soon.Exact && max(soon.Score, -soon.Score) < game.MostAssessed {
					positions = append(positions, p)
				}
			}
			for b.Loop() {
				var depths []int
				nodes, began := uint64(0), system.CPU()
				for _, p := range positions {
					found := look(p, search.Limit{Time: limit})
					nodes, depths = nodes+found.Nodes, append(depths, found.Depth)
				}
				b.ReportMetric(float64(nodes)/(system.CPU()-began).Seconds()/1e6, "Mnodes/CPU-s")
				b.ReportMetric(float64(nodes), "nodes")
				slices.Sort(depths)
				b.ReportMetric(float64(depths[len(depths)/2]), "plies-median")
				b.ReportMetric(float64(depths[0]), "plies-least")
				b.ReportMetric(float64(depths[len(depths)-1]), "plies-most")
				if phase.to < 2*Chips {
					adds = append(adds, depths...)
				}
			}
		})
	}
	if slices.Sort(adds); len(adds) > 0 {
		b.Run("adds", func(b *testing.B) { b.ReportMetric(float64(adds[len(adds)/2]), "plies-median") })
	}
	// Two plies from the position with the most moves, among those not won within them.
	var busiest game.Position
	most := 0
	for range 2000 {
		for _, p := range gametest.Walk(r, g, 60) {
			if n := len(g.Moves(nil, p)); n > most && !look(p, search.Limit{Depth: 2}).Exact {
				busiest, most = p, n
			}
		}
	}
	b.Run(fmt.Sprintf("twoplies/moves=%d", most), func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(float64(look(busiest, search.Limit{Depth: 2}).Nodes), "nodes")
		}
	})
}

package book

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/search"
)

// BenchmarkBook compares the embedded book with direct searches of $TREEREDUCE_BOOK random positions of
// plies 2 to 5, as many of each ply as possible. Their values in the book follow from those of ply 6.
func BenchmarkBook(b *testing.B) {
	n := longtest.Number(b, "TREEREDUCE_BOOK", 4)
	g := acyclic(b, "connectn width=7 height=6 connect=4")
	embedded := Embedded(g)
	all := levels(g, 5)
	random := rand.New(rand.NewPCG(1, 2))
	for _, level := range all {
		random.Shuffle(len(level), func(i, j int) { level[i], level[j] = level[j], level[i] })
	}
	var positions []game.Position
	for i := 0; len(positions) < n; i++ {
		for _, level := range all[2:] {
			if i < len(level) && len(positions) < n {
				positions = append(positions, level[i])
			}
		}
	}
	s := must.Get(search.New(g, search.Options{Memory: 256 << 20}))(b)
	for b.Loop() {
		equal := 0
		for _, p := range positions {
			r := must.Get(s.Search(b.Context(), p, search.Limit{Bare: true}))(b)
			if v, ok := embedded.Lookup(p); ok && v == r.Value {
				equal++
			} else {
				b.Errorf("%q: %s in the book, %s by search", g.AppendText(nil, p), g.Values().Text(v), g.Values().Text(r.Value))
			}
		}
		b.ReportMetric(float64(len(positions)), "positions")
		b.ReportMetric(float64(equal), "equal")
	}
}

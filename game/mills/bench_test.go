package mills

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// BenchmarkEdges measures what a solve computes of a position, for each move: the canonical forms of successors.
func BenchmarkEdges(b *testing.B) {
	for _, men := range []int{5, 7, 9} {
		b.Run(fmt.Sprint(men), func(b *testing.B) {
			g := must.Get(New(men))(b)
			s := g.(game.Symmetric)
			r := rand.New(rand.NewPCG(1, 1))
			var walks []game.Position
			for len(walks) < 10000 {
				walks = append(walks, gametest.Walk(r, g, 100)...)
			}
			edges := 0
			var moves []game.Move
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := walks[i%len(walks)]
				if g.Primitive(p) != 0 {
					continue
				}
				moves = g.Moves(moves[:0], p)
				for _, m := range moves {
					s.Canonical(m.To)
				}
				edges += len(moves)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(edges), "ns/edge")
		})
	}
}

package solve_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	solvedtest "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestLayers solves random games with tiers, inner moves and images, with many options, and compares the values with
// those of a plain solver of all positions.
func TestLayers(t *testing.T) { solveLayers(t, 0, 60) }

// TestLongLayers tests TREEREDUCE_GAMES games.
func TestLongLayers(t *testing.T) {
	longtest.SkipShare(t)
	solveLayers(t, 60, uint64(longtest.Number(t, "TREEREDUCE_GAMES", 20_000)))
}

// Games with more extensions.
type (
	batchedTiered     struct{ *testgames.Tiered }
	batchedBackward   struct{ *testgames.TieredBackward }
	expandingTiered   struct{ *testgames.Tiered }
	expandingBackward struct{ *testgames.TieredBackward }
)

func (g batchedTiered) Batch([]game.Position) (game.Game, error)   { return g.Tiered, nil }
func (g batchedBackward) Batch([]game.Position) (game.Game, error) { return g.TieredBackward, nil }

func (g expandingTiered) Successors(dst []game.Successor, p game.Position) []game.Successor {
	for _, m := range g.Moves(nil, p) {
		to := g.Canonical(m.To)
		dst = append(dst, game.Successor{Position: to, Known: g.Known(to)})
	}
	return dst
}

func (g expandingBackward) Successors(dst []game.Successor, p game.Position) []game.Successor {
	return expandingTiered{g.Tiered}.Successors(dst, p)
}

// A mirroredTiered is a game whose positions have at most two images, by a mirror: all of them are stored.
type mirroredTiered struct {
	game.Tiered
	images *testgames.Tiered
}

func (g mirroredTiered) Mirror(p game.Position) game.Position {
	images := g.images.Images(nil, p)
	return images[len(images)-1-slices.Index(images, p)]
}

// isMirrored reports whether no position of a game has more than two images.
func isMirrored(g *testgames.Tiered) bool {
	return !slices.ContainsFunc(g.Positions(), func(p game.Position) bool { return len(g.Images(nil, p)) > 2 })
}

func solveLayers(t *testing.T, first, end uint64) {
	for seed := first; seed < end; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		graph := testgames.RandomTiered(r, testgames.RandomOptions(r))
		games := []game.Game{graph, graph.Backward()}
		switch r.IntN(4) {
		case 0:
			games[0] = batchedTiered{graph}
		case 1:
			games[1] = batchedBackward{graph.Backward()}
		case 2:
			games[0] = expandingTiered{graph}
		case 3:
			games[1] = expandingBackward{graph.Backward()}
		}
		if graph.Tiers() == 0 && graph.Values().TiesSoon {
			games = append(games, struct{ game.Symmetric }{graph})
		}
		if isMirrored(graph) {
			games = append(games, mirroredTiered{graph, graph})
		}
		for i, g := range games {
			o := options()
			o.Final, o.Reducers = solve.FinalNo, 1+r.IntN(3)
			o.Runner = &inline.Runner{Memory: []int{0, 64 << 20}[r.IntN(2)]}
			if o.KeepAll = r.IntN(3) == 0; o.KeepAll && r.IntN(2) == 0 {
				o.Lines = true
			}
			o.MinDrop = int64(r.IntN(2))
			fsys, dir := new(storetest.Memory), "/data/d"
			if _, err := solveWith(t, fsys, dir, g, o, store.Fresh); err != nil {
				t.Fatalf("seed %d, game %d: %v", seed, i, err)
			}
			if err := testgames.Compare(g, solvedtest.Values(t, fsys, dir, g)); err != nil {
				t.Fatalf("seed %d, game %d: %v", seed, i, err)
			}
		}
	}
}

// valuesIn returns the values that a table stores.
func valuesIn(t *testing.T, g game.Game, dir string) map[game.Position]game.Value {
	t.Helper()
	return solvedtest.Values(t, store.Local{}, dir, g)
}

package mancala

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/search"
)

// fewStones is a number of stones in the pits that can be solved within the time of a move.
const fewStones = 16

// BenchmarkEndgames builds the endgames of 6 pits per row.
func BenchmarkEndgames(b *testing.B) {
	for _, stones := range []int{10, 12, fewStones} {
		b.Run(fmt.Sprint(stones), func(b *testing.B) {
			for b.Loop() {
				newDatabase(6, stones)
			}
			b.ReportMetric(boardsUpTo(6, stones), "bytes")
		})
	}
}

// searcherOf returns a searcher that uses all cores.
func searcherOf(b *testing.B, g game.Game, memory int64) *search.Searcher {
	b.Helper()
	return must.Get(search.New(g, search.Options{Threads: runtime.GOMAXPROCS(0), Memory: memory}))(b)
}

// BenchmarkSecond searches positions of 6,4 for one second each: from the middle of random
// games, and with few stones left.
func BenchmarkSecond(b *testing.B) {
	const count, plies = 20, 12
	g := fast(b, 6, 4, 12)
	s := searcherOf(b, g, 85<<20)
	r := rand.New(rand.NewPCG(1, 2))
	var middle, late []game.Position
	for len(middle) < count || len(late) < count {
		walk := gametest.Walk(r, g, 1000)
		if p := walk[min(plies, len(walk)-1)]; g.Primitive(p) == 0 && len(middle) < count {
			middle = append(middle, p)
		}
		if at := slices.IndexFunc(walk, func(p game.Position) bool { return g.InPits(p) == fewStones }); at >= 0 && len(late) < count {
			late = append(late, walk[at])
		}
	}
	for _, set := range []struct {
		name      string
		positions []game.Position
	}{{"middle", middle}, {"late", late}} {
		b.Run(set.name, func(b *testing.B) {
			for b.Loop() {
				var depths, nodes []int
				var times []time.Duration
				for _, p := range set.positions {
					s.Forget()
					found := must.Get(s.Search(b.Context(), p, search.Limit{Time: time.Second, First: true}))(b)
					if !found.Exact {
						depths = append(depths, found.Depth)
					}
					nodes, times = append(nodes, int(found.Nodes)), append(times, found.Time)
				}
				slices.Sort(depths)
				slices.Sort(nodes)
				slices.Sort(times)
				b.ReportMetric(float64(count-len(depths)), "solved")
				b.ReportMetric(float64(nodes[count/2]), "nodes-median")
				b.ReportMetric(times[count/2].Seconds(), "s-median")
				if len(depths) > 0 { // a solved position is searched to the end
					b.ReportMetric(float64(depths[0]), "plies-least")
				}
				if count/2 < len(depths) {
					b.ReportMetric(float64(depths[count/2]), "plies-median")
				}
			}
		})
	}
}

// BenchmarkWhole solves boards from their initial position, after building the endgames.
func BenchmarkWhole(b *testing.B) {
	for _, board := range []struct {
		pits, stones, endgames int
		want                   game.Outcome // Undecided: not published
		long                   bool
	}{
		{4, 4, 12, game.Tie, false}, {5, 3, 12, game.Undecided, false},
		{4, 8, fewStones, game.Undecided, true}, {5, 4, fewStones, game.Undecided, true}, {6, 3, fewStones, game.FirstWins, true},
	} {
		b.Run(fmt.Sprintf("%d,%d", board.pits, board.stones), func(b *testing.B) {
			if board.long {
				longtest.Skip(b)
			}
			for b.Loop() {
				g := fast(b, board.pits, board.stones, board.endgames)
				found := must.Get(searcherOf(b, g, 512<<20).Search(b.Context(), g.Start(), search.Limit{Bare: true}))(b)
				if v := found.Value.Outcome(); board.want != game.Undecided && v != board.want {
					b.Fatalf("%s, expected %s", g.Values().Word(v), g.Values().Word(board.want))
				}
				b.Log(g.Values().Word(found.Value.Outcome()))
				b.ReportMetric(float64(found.Nodes), "nodes")
				b.ReportMetric(float64(found.Nodes)/found.Time.Seconds()/1e6, "Mnodes/s")
			}
		})
	}
}

package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// benchMemory is the memory of the table in benchmarks: that of the solvers to which
// docs/notes/benchmarks.md compares the search.
const benchMemory = 85 << 20

// connectFour parses 7×6 connect 4.
func connectFour(b *testing.B) *connectn.Rules {
	b.Helper()
	return parse(b, board(7, 6, 4)).(*connectn.Rules)
}

// solveAll solves positions in each iteration, starting with an empty table, and reports
// the cost. If values is not nil, it contains the exact values of positions. limit returns
// the limit for position i.
func solveAll(b *testing.B, g game.Game, o Options, positions []game.Position, values []game.Value, limit func(i int) Limit) {
	o.Memory = benchMemory
	s := newSearcher(b, g, o)
	var nodes, lookups, hits, cut uint64
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		s.Forget()
		b.StartTimer()
		began := system.CPU()
		for i, p := range positions {
			l := limit(i)
			l.Bare = true
			r := searchOf(b, s, p, l)
			nodes, lookups, hits = nodes+r.Nodes, lookups+r.Lookups, hits+r.Hits
			switch {
			case !r.Exact:
				cut++
			case values != nil && promised(r, r.Value) != promised(r, values[i]):
				b.Fatalf("%q is %s, expected %s", g.AppendText(nil, p), g.Values().Text(r.Value), g.Values().Text(values[i]))
			}
		}
		cpu += system.CPU() - began
	}
	all := float64(b.N * len(positions))
	b.ReportMetric(float64(cpu.Microseconds())/all, "CPU-µs/position")
	b.ReportMetric(float64(nodes)/all, "nodes/position")
	b.ReportMetric(float64(nodes)/cpu.Seconds()/1e6, "Mnodes/CPU-s")
	b.ReportMetric(float64(lookups)/float64(nodes), "lookups/node")
	b.ReportMetric(100*float64(hits)/float64(lookups), "%hits")
	if cut > 0 {
		b.ReportMetric(float64(cut)/float64(b.N), "unsolved")
	}
}

// searchOf returns the result of a search.
func searchOf(b *testing.B, s *Searcher, p game.Position, l Limit) Result {
	b.Helper()
	return must.Get(s.Search(b.Context(), p, l))(b)
}

// unlimited returns the limit for a search until the position is solved.
func unlimited(int) Limit { return Limit{} }

// weak returns the limit for a search until the winner is known.
func weak(int) Limit { return Limit{Weak: true} }

// forBitBully writes positions for scripts/bitbully.sh to a file in $TREEREDUCE_POSITIONS,
// if that is set: the board row by row, and 1, 0 or -1 if the player to move wins, ties or
// loses.
func forBitBully(b *testing.B, g *connectn.Rules, name string, positions []game.Position, values []game.Value) {
	b.Helper()
	dir := os.Getenv("TREEREDUCE_POSITIONS")
	if dir == "" {
		return
	}
	var lines strings.Builder
	for i, p := range positions {
		text := g.AppendText(nil, p)
		for row := 5; row >= 0; row-- {
			for column := range 7 {
				lines.WriteByte("012"[strings.IndexByte(" XO", text[column*6+row])])
			}
			lines.WriteByte(' ')
		}
		fmt.Fprintln(&lines, map[game.Result]int{game.Wins: 1, game.Ties: 0, game.Loses: -1}[values[i].Outcome().For(g.ToMove(p))])
	}
	must.OK(b, os.WriteFile(filepath.Join(dir, name+".txt"), []byte(lines.String()), 0o666))
}

// BenchmarkLongWhole solves 7×6 connect 4 from the empty board.
func BenchmarkLongWhole(b *testing.B) {
	longtest.Skip(b)
	g := connectFour(b)
	start, won := []game.Position{g.Start()}, []game.Value{game.NewValue(game.FirstWins, 41)}
	forBitBully(b, g, "whole", start, won)
	for _, threads := range []int{1, 2} {
		o := Options{Threads: threads}
		b.Run(fmt.Sprintf("winner/cores=%d", threads), func(b *testing.B) { solveAll(b, g, o, start, won, weak) })
		b.Run(fmt.Sprintf("exact/cores=%d", threads), func(b *testing.B) { solveAll(b, g, o, start, won, unlimited) })
	}
}

// BenchmarkSets solves sets of 1,000 positions, reached by random legal moves to a random
// number of stones, that are solved within 600,000 nodes and end in a number of moves
// within a range. Most of the positions with few stones need more nodes: they are counted
// as left out.
func BenchmarkSets(b *testing.B) {
	g := connectFour(b)
	for _, set := range []struct {
		name          string
		stones, moves [2]int // first and last
	}{
		{"late", [2]int{29, 40}, [2]int{1, 13}},
		{"middle", [2]int{15, 28}, [2]int{14, 27}},
		{"early", [2]int{8, 13}, [2]int{1, 13}},
	} {
		b.Run(set.name, func(b *testing.B) {
			s := newSearcher(b, g, Options{Memory: benchMemory})
			r := rand.New(rand.NewPCG(1, 2))
			var positions []game.Position
			var values []game.Value
			left := 0
			for len(positions) < 1000 {
				p := ofStones(g, r, set.stones[0]+r.IntN(set.stones[1]-set.stones[0]+1))
				if p == g.Start() {
					continue
				}
				found := searchOf(b, s, p, Limit{Nodes: 600_000, Bare: true})
				if in := found.Value.Remoteness(); !found.Exact {
					left++
				} else if set.moves[0] <= in && in <= set.moves[1] {
					positions, values = append(positions, p), append(values, found.Value)
				}
			}
			forBitBully(b, g, set.name, positions, values)
			b.Run("exact", func(b *testing.B) {
				solveAll(b, g, Options{}, positions, values, unlimited)
				b.ReportMetric(float64(left), "left-out")
			})
			b.Run("winner", func(b *testing.B) { solveAll(b, g, Options{}, positions, values, weak) })
		})
	}
}

// ofStones returns the position after random moves to a number of stones, or the initial
// position if the game ends before or at that number.
func ofStones(g *connectn.Rules, r *rand.Rand, stones int) game.Position {
	walk := gametest.Walk(r, g, stones)
	if p := walk[len(walk)-1]; len(walk) == stones+1 && g.Primitive(p) == 0 {
		return p
	}
	return g.Start()
}

// BenchmarkTechniques solves ten positions of eight stones with all techniques of the
// search, and without each of them.
func BenchmarkTechniques(b *testing.B) {
	benchTechniques(b, "eight", rand.New(rand.NewPCG(3, 4)), 8, 10, 0, 1<<62)
}

// BenchmarkLongTechniques does the same with three positions of four stones that take
// seconds; without a technique they may take four times as many nodes.
func BenchmarkLongTechniques(b *testing.B) {
	longtest.Skip(b)
	benchTechniques(b, "hard", rand.New(rand.NewPCG(5, 6)), 4, 3, 10_000_000, 40_000_000)
}

// benchTechniques finds n random positions that are solved within from to to nodes, and
// solves them.
func benchTechniques(b *testing.B, name string, r *rand.Rand, stones, n int, from, to uint64) {
	g := connectFour(b)
	s := newSearcher(b, g, Options{Memory: benchMemory})
	var positions []game.Position
	var values []game.Value
	var nodes []uint64
	for len(positions) < n {
		p := ofStones(g, r, stones)
		if p == g.Start() {
			continue
		}
		if found := searchOf(b, s, p, Limit{Nodes: to, Bare: true}); found.Exact && found.Nodes > from {
			positions, values, nodes = append(positions, p), append(values, found.Value), append(nodes, found.Nodes)
		}
	}
	forBitBully(b, g, name, positions, values)
	b.Run("all", func(b *testing.B) { solveAll(b, g, Options{}, positions, values, unlimited) })
	b.Run("cores=2", func(b *testing.B) { solveAll(b, g, Options{Threads: 2}, positions, values, unlimited) })
	for _, without := range slices.Sorted(maps.Keys(byName())) {
		if byName()[without] == Killers { // only used by other games
			continue
		}
		b.Run("without="+without, func(b *testing.B) {
			solveAll(b, g, Options{Without: byName()[without]}, positions, values, func(i int) Limit {
				if from == 0 {
					return Limit{}
				}
				return Limit{Nodes: 4 * nodes[i]}
			})
		})
	}
}

// BenchmarkMoves searches for a move in the first $TREEREDUCE_MOVES positions of
// testdata/moves.txt, each for $TREEREDUCE_MOVE_TIME, and reports how many of the moves
// give value away.
func BenchmarkMoves(b *testing.B) {
	limit := time.Second
	if text := os.Getenv("TREEREDUCE_MOVE_TIME"); text != "" {
		limit = must.Get(time.ParseDuration(text))(b)
	}
	n := longtest.Number(b, "TREEREDUCE_MOVES", 10)
	for b.Loop() {
		found := searchMoves(b, n, limit, benchMemory, func(*Searcher) {})
		b.ReportMetric(float64(found.moves), "moves")
		b.ReportMetric(float64(found.away), "gave-value-away")
		b.ReportMetric(float64(found.proven), "proven")
		b.ReportMetric(float64(found.nodes)/float64(found.moves), "nodes/move")
	}
}

// byName maps names to techniques.
func byName() map[string]Techniques {
	return map[string]Techniques{
		"threats": Threats, "history": History, "tablemove": TableMove, "buckets": Buckets,
		"enhanced": Enhanced, "bounds": Bounds, "symmetry": Symmetry,
		"killers": Killers,
	}
}

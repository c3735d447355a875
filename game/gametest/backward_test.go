package gametest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A backward game is a Graph that satisfies the contract, unless spoil changes its predecessors.
type backward struct {
	testgames.Graph
	spoil func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position
}

func (g backward) AppendText(dst []byte, p game.Position) []byte {
	return g.Graph.AppendText(append(dst, 'p'), p)
}

func (g backward) Parse(text string) (game.Position, error) {
	digits, ok := strings.CutPrefix(text, "p")
	if !ok {
		return 0, fmt.Errorf("%q does not begin with p", text)
	}
	return g.Graph.Parse(digits)
}

func (g backward) Moves(dst []game.Move, p game.Position) []game.Move {
	for i, to := range g.Next[p] {
		dst = append(dst, game.Move{Name: strconv.Itoa(i), To: to})
	}
	return dst
}

func (g backward) Predecessors(dst []game.Position, p game.Position) []game.Position {
	return append(dst, g.spoil(g.Graph, g.Graph.Predecessors(nil, p), p)...)
}

// TestBackwardContract checks that Contract detects wrong Predecessors on random games. Terminal
// positions among the predecessors are allowed.
func TestBackwardContract(t *testing.T) {
	graph := testgames.RandomGraph(rand.New(rand.NewPCG(7, 7)), 40)
	graph.Size++ // the last position is unreachable
	graph.Next[3] = append(graph.Next[3], graph.Next[3][0])
	end := slices.Max(slices.Collect(func(yield func(game.Position) bool) {
		for p := range graph.End {
			if !yield(p) {
				return
			}
		}
	}))
	graph.End[graph.Size-1] = game.Loses
	for want, spoil := range map[string]func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position{
		"": func(_ testgames.Graph, predecessors []game.Position, _ game.Position) []game.Position {
			return append(predecessors, end, end)
		},
		"but it has 0 moves there": func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position {
			return append(predecessors, (p+1)%20)
		},
		"but is among the Predecessors there 0 times": func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position {
			return slices.DeleteFunc(predecessors, func(from game.Position) bool { return from < p })
		},
		"2 times, but it has 1 moves": func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position {
			return append(predecessors, predecessors...)
		},
		"Predecessors has 41, which is no position": func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position {
			return append(predecessors, g.Size)
		},
	} {
		if f := failure(t, backward{graph, spoil}); (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// tiers is a backward game in which a position is of the tier of its number, but 3 of tier 1, and loops has a tier in which
// moves may stay.
type tiers struct {
	backward
	loops int
}

func (g tiers) Tiers() int          { return int(g.Size) - 1 }
func (g tiers) Loops(tier int) bool { return tier == g.loops }
func (g tiers) Tier(p game.Position) int {
	if p == 3 {
		return 1
	}
	return int(p)
}

// TestBackwardTiersContract checks that Contract detects predecessors of later tiers, and of the same tier unless moves
// may stay in it.
func TestBackwardTiersContract(t *testing.T) {
	more := func(to, from game.Position) func(testgames.Graph, []game.Position, game.Position) []game.Position {
		return func(_ testgames.Graph, predecessors []game.Position, p game.Position) []game.Position {
			if p == to {
				predecessors = append(predecessors, from)
			}
			return predecessors
		}
	}
	graph := testgames.Graph{
		Next: map[game.Position][]game.Position{0: {1}, 1: {2}},
		End:  map[game.Position]game.Result{2: game.Loses, 3: game.Loses, 4: game.Wins},
		Size: 5,
	}
	for _, test := range []struct {
		to, from game.Position
		loops    int
		want     string
	}{
		{9, 0, 4, ""},
		{2, 3, 4, ""},
		{1, 3, 1, ""},
		{1, 3, 2, "Predecessors has 3, of tier 1: no move leads from there to tier 1"},
		{1, 4, 1, "Predecessors has 4, of tier 4: no move leads from there to tier 1"},
		{2, 0, 1, "Predecessors has 0 (\"p0\") 1 times, but it has 0 moves there"},
	} {
		f := failure(t, tiers{backward{graph, more(test.to, test.from)}, test.loops})
		if (f == "") != (test.want == "") || !strings.Contains(f, test.want) {
			t.Errorf("%d before %d, loops in %d: the failure is %q, want %q", test.from, test.to, test.loops, f, test.want)
		}
	}
}

// doubled is a backward game in which each position of a graph is two, which are images of each other: 2p and 2p+1.
type doubled struct{ backward }

func (g doubled) Canonical(p game.Position) game.Position { return p &^ 1 }
func (g doubled) Images(dst []game.Position, p game.Position) []game.Position {
	return append(dst, p&^1, p|1)
}

// TestBackwardSymmetricContract checks that Contract accepts images of predecessors, in any number, but not that one is
// missing, nor another one.
func TestBackwardSymmetricContract(t *testing.T) {
	one := testgames.RandomGraph(rand.New(rand.NewPCG(12, 12)), 20)
	graph := testgames.Graph{Next: make(map[game.Position][]game.Position), End: make(map[game.Position]game.Result), Size: 2 * one.Size}
	for p, next := range one.Next {
		for i, to := range next {
			graph.Next[2*p] = append(graph.Next[2*p], 2*to+uint64(i&1))
			graph.Next[2*p+1] = append(graph.Next[2*p+1], 2*to+1)
		}
	}
	for p, end := range one.End {
		graph.End[2*p], graph.End[2*p+1] = end, end
	}
	for want, spoil := range map[string]func(predecessors []game.Position, p game.Position) []game.Position{
		"": func(predecessors []game.Position, p game.Position) []game.Position {
			return append(predecessors, predecessors...)
		},
		"among the Predecessors there 0 times": func(predecessors []game.Position, p game.Position) []game.Position {
			return slices.DeleteFunc(predecessors, func(from game.Position) bool { return from < p })
		},
		"but it has 0 moves there": func(predecessors []game.Position, p game.Position) []game.Position {
			return append(predecessors, (p+2)%10)
		},
	} {
		images := func(g testgames.Graph, _ []game.Position, p game.Position) (all []game.Position) {
			for _, from := range append(g.Predecessors(nil, p&^1), g.Predecessors(nil, p|1)...) {
				all = append(all, from&^1)
			}
			return spoil(all, p&^1)
		}
		if f := failure(t, doubled{backward{graph, images}}); (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// TestMoveCountContract checks that Contract detects positions that have too many successors, or no move but no result.
func TestMoveCountContract(t *testing.T) {
	const end = game.MaxMoves + 3
	for _, c := range []struct {
		moves     int
		different bool // moves lead to different positions
		want      string
	}{
		{game.MaxMoves, true, ""},
		{game.MaxMoves + 1, true, "it has 65536 successors, at most 65535"},
		{game.MaxMoves + 1, false, ""},
		{0, true, "finished is false, but there are 0 moves"},
	} {
		g := backward{Graph: testgames.Graph{Next: map[game.Position][]game.Position{0: {1}}, End: map[game.Position]game.Result{}, Size: end + 1}}
		for p := game.Position(2); p <= end; p++ {
			g.End[p] = game.Loses
			if int(p) < 2+c.moves && c.different {
				g.Next[1] = append(g.Next[1], p)
			} else if int(p) < 2+c.moves {
				g.Next[1] = append(g.Next[1], end)
			}
		}
		if f := failure(t, gametest.RulesOnly(g)); (f == "") != (c.want == "") || !strings.Contains(f, c.want) {
			t.Errorf("%d moves: the failure is %q, want %q", c.moves, f, c.want)
		}
	}
}

// TestSearchTiersWithCycle checks that Search rejects a cycle in a game that must have none.
func TestSearchTiersWithCycle(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "play comes back to 1") {
			t.Errorf("panic %v", r)
		}
	}()
	gametest.Search(drawnOut{testgames.TieGame()})
}

// drawnOut is a Graph with Values that a game with cycles must not have.
type drawnOut struct{ testgames.Graph }

func (drawnOut) Values() game.Values { return game.Values{OfMover: true} }

package gametest_test

import (
	"errors"
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
// and invalid positions among the predecessors are allowed.
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
		"Predecessors has 41, but the last hash is 40": func(g testgames.Graph, predecessors []game.Position, p game.Position) []game.Position {
			return append(predecessors, g.Size)
		},
	} {
		g := backward{graph, spoil}
		for _, g := range []game.Game{g, game.WithRanges(g, 64)} {
			if f := failure(t, g); (f == "") != (want == "") || !strings.Contains(f, want) {
				t.Errorf("%T: the failure is %q, want %q", g, f, want)
			}
		}
	}
}

// A misled is a game with tiers that appends wrong predecessors.
type misled struct {
	*testgames.LayeredBackward
	spoil func(predecessors []game.Position) []game.Position
}

func (g misled) Predecessors(dst []game.Position, p game.Position) []game.Position {
	return append(dst, g.spoil(g.LayeredBackward.Predecessors(nil, p))...)
}

// TestTiersBackwardContract checks that Contract detects wrong Predecessors of a game with tiers.
func TestTiersBackwardContract(t *testing.T) {
	g := testgames.RandomLayered(rand.New(rand.NewPCG(11, 11)), testgames.LayeredOptions{Positions: 300, Long: true})
	for want, spoil := range map[string]func(predecessors []game.Position) []game.Position{
		"":                           func(all []game.Position) []game.Position { return all },
		"Predecessors there 0 times": func(all []game.Position) []game.Position { return nil },
		"Predecessors there 4 times": func(all []game.Position) []game.Position { return append(all, all...) },
	} {
		if f := failure(t, misled{g.Backward(), spoil}); (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// TestMoveCountContract checks that Contract detects positions of games with cycles that have too
// many moves, or none but no result. In a game of rules only, moves to one successor count once.
func TestMoveCountContract(t *testing.T) {
	const end = 70
	as := func(_ testgames.Graph, predecessors []game.Position, _ game.Position) []game.Position {
		return predecessors
	}
	for _, c := range []struct {
		moves     int
		different bool   // moves lead to different positions
		reverse   string // the failure of a game with predecessors
		rules     string // that of its rules only
	}{
		{63, true, "", ""},
		{64, true, "it has 64 moves, at most 63", "it has 64 moves, at most 63"},
		{64, false, "it has 64 moves, at most 63", ""},
		{0, true, "finished is false, but there are 0 moves", "finished is false, but there are 0 moves"},
	} {
		g := testgames.Graph{Next: map[game.Position][]game.Position{}, End: map[game.Position]game.Result{}, Size: end + 1}
		for p := range game.Position(end) {
			g.End[p+1] = game.Loses
			if int(p) < c.moves && c.different {
				g.Next[0] = append(g.Next[0], p+1)
			} else if int(p) < c.moves {
				g.Next[0] = append(g.Next[0], end)
			}
		}
		for want, g := range map[*string]game.Game{&c.reverse: backward{g, as}, &c.rules: gametest.RulesOnly(backward{g, as})} {
			if f := failure(t, g); (f == "") != (*want == "") || !strings.Contains(f, *want) {
				t.Errorf("%d moves, %T: the failure is %q, want %q", c.moves, g, f, *want)
			}
		}
	}
}

// TestHashesOfNoPosition checks that Check skips invalid hashes, including hash 0, and
// still detects a missing predecessor.
func TestHashesOfNoPosition(t *testing.T) {
	for want, drop := range map[string]int{"": 0, "is not emitted": 1} {
		g := game.WithRanges(shifted{testgames.RandomGraph(rand.New(rand.NewPCG(9, 9)), 40), drop}, 5)
		f := failureOf(t, func(t testing.TB) { gametest.Check(t, g) })
		if (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// shifted is a Graph whose hashes are increased by one, so that hash 0 is invalid, and the
// methods panic on it. It drops some predecessors of each position.
type shifted struct {
	testgames.Graph
	drop int
}

func (g shifted) graph(p game.Position) game.Position {
	if p == 0 {
		panic("hash 0 is no position")
	}
	return p - 1
}

func (g shifted) Info() game.Info                      { return game.Info{Hashes: g.Size + 1} }
func (g shifted) Start() game.Position                 { return 1 }
func (g shifted) Primitive(p game.Position) game.Value { return g.Graph.Primitive(g.graph(p)) }

func (g shifted) Check(p game.Position) error {
	if p == 0 {
		return errors.New("hash 0 is no position")
	}
	return g.Graph.Check(p - 1)
}

func (g shifted) Moves(dst []game.Move, p game.Position) []game.Move {
	n := len(dst)
	dst = g.Graph.Moves(dst, g.graph(p))
	for i := range dst[n:] {
		dst[n+i].To++
	}
	return dst
}

func (g shifted) Predecessors(dst []game.Position, p game.Position) []game.Position {
	dst = append(dst, 0) // an invalid hash, which receivers drop
	predecessors := g.Graph.Predecessors(nil, g.graph(p))
	for _, from := range predecessors[min(g.drop, len(predecessors)):] {
		dst = append(dst, from+1)
	}
	return dst
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

// wide is a game with larger KeyBits, but the same positions.
type wide struct {
	game.Game
	bits uint
}

func (g wide) KeyBits() uint   { return g.bits }
func (g wide) Info() game.Info { return game.Info{} }

// TestKeyBitsOfCycles checks that hashes of a game with cycles have at most 45 bits.
func TestKeyBitsOfCycles(t *testing.T) {
	g := backward{testgames.RandomGraph(rand.New(rand.NewPCG(10, 10)), 40), nil}
	for bits, want := range map[uint]string{45: "", 46: "its positions are 67108864 ranges, at most 33554432 can be solved: a hash may have 45 bits", 64: "8796093022208 ranges"} {
		if f := failure(t, wide{gametest.RulesOnly(g), bits}); (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("%d bits: the failure is %q, want %q", bits, f, want)
		}
	}
}

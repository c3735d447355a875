package game_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

// graph is a game given by lists of moves. Positions without moves are terminal; in
// odd positions the second player is to move.
type graph struct {
	game.Game // for the methods that are not needed here
	moves     [][]game.Position
	finished  map[game.Position]game.Result
	partizan  bool
}

func (g *graph) Spec() string         { return fmt.Sprintf("graph of %d", len(g.moves)) }
func (g *graph) Start() game.Position { return 0 }
func (g *graph) Values() game.Values  { return game.Values{OfMover: true, TiesSoon: true} }
func (g *graph) Info() game.Info      { return game.Info{Hashes: uint64(len(g.moves))} }

func (g *graph) Check(p game.Position) error {
	if p >= g.Info().Hashes {
		return errors.New("not in the graph")
	}
	return nil
}

func (g *graph) ToMove(p game.Position) game.Player {
	if g.partizan {
		return game.Player(p & 1)
	}
	return game.First
}

func (g *graph) Primitive(p game.Position) game.Value {
	result, ok := g.finished[p]
	if !ok {
		return 0
	}
	for _, o := range []game.Outcome{game.FirstWins, game.SecondWins, game.Tie} {
		if o.For(g.ToMove(p)) == result {
			return game.NewValue(o, 0)
		}
	}
	panic("no outcome")
}

func (g *graph) Moves(dst []game.Move, p game.Position) []game.Move {
	for _, to := range g.moves[p] {
		dst = append(dst, game.Move{To: to})
	}
	return dst
}

func (g *graph) Predecessors(dst []game.Position, p game.Position) []game.Position {
	for from, moves := range g.moves {
		for _, to := range moves {
			if to == p {
				dst = append(dst, game.Position(from))
			}
		}
	}
	return dst
}

// worth returns the oracle's values of all reachable positions.
func (g *graph) worth() map[uint64]naive.Worth {
	return naive.SolveCyclic(0,
		func(p uint64) string {
			if result, ok := g.finished[p]; ok {
				return result.String()
			}
			return ""
		},
		func(p uint64) []uint64 { return g.moves[p] })
}

// randomGraph returns a game of n positions with all results. Some positions cannot be
// reached, and several moves may lead to the same position.
func randomGraph(r *rand.Rand, n int) *graph {
	g := &graph{moves: make([][]game.Position, n), finished: map[game.Position]game.Result{}, partizan: r.IntN(2) == 0}
	ends := 1 + r.IntN(n/2)
	for p := range g.moves {
		if p >= n-ends {
			g.finished[game.Position(p)] = []game.Result{game.Loses, game.Loses, game.Wins, game.Ties}[r.IntN(4)]
			continue
		}
		for range 1 + r.IntN(3) {
			to := r.IntN(n)
			if r.IntN(2) == 0 {
				to = min(n-1, p+1+r.IntN(3)) // for long paths
			}
			g.moves[p] = append(g.moves[p], game.Position(to))
		}
	}
	return g
}

// The set methods of WithRanges agree with the moves, and gametest.Search finds the values of the
// oracle: wins, losses, ties and draws.
func TestWithRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[string]int{}
	for range 300 {
		plain := randomGraph(r, 2+r.IntN(200))
		g := game.WithRanges(plain, 1+r.IntN(100))
		gametest.Check(t, g)
		rules := game.WithRanges(gametest.RulesOnly(plain), g.RangeSize())
		if game.KnowsBackward(rules) || !game.KnowsBackward(g) {
			t.Fatal("moves backwards are known of rules alone, or not of a Reversible game")
		}
		gametest.Check(t, rules)
		want := plain.worth()
		values := gametest.Search([]game.Cyclic{g, rules}[r.IntN(2)])
		for p := range plain.Info().Hashes {
			v, ok := values[p]
			got := naive.Worth{Result: game.Result(v.Outcome()).String(), Remoteness: v.Remoteness()}
			if w, reached := want[p]; ok != reached || ok && got != w {
				t.Fatalf("%v, finished %v: %d is %v, reached: %v, want %v", plain.moves, plain.finished, p, got, ok, w)
			}
			if ok && (v.Remoteness() != 0 || v == 0) {
				seen[got.Result]++
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("the games do not have all results: %v", seen)
	}
}

// If ties were propagated before all wins and losses are decided, these draws would become
// ties: see the test of the oracle.
func TestTiesSettleAfterWins(t *testing.T) {
	plain := &graph{
		moves:    [][]game.Position{{1, 5}, {6, 2}, {3}, {4}, nil, {0}, nil},
		finished: map[game.Position]game.Result{4: game.Loses, 6: game.Ties},
	}
	values := gametest.Search(plain)
	for p, want := range []string{"DRAW", "WIN in 3", "LOSE in 2", "WIN in 1", "LOSE in 0", "DRAW", "TIE in 0"} {
		if got := plain.Values().Text(values[game.Position(p)]); got != want {
			t.Errorf("%d is %s, want %s", p, got, want)
		}
	}
}

func TestResults(t *testing.T) {
	for _, p := range []game.Player{game.First, game.Second} {
		for outcome, want := range map[game.Outcome]string{
			game.Undecided: "DRAW", game.Tie: "TIE", game.WinFor(p): "WIN", game.WinFor(p.Other()): "LOSE",
		} {
			result := outcome.For(p)
			if result.String() != want {
				t.Errorf("outcome %d is %v for %v, want %s", outcome, result, p, want)
			}
			if p == game.First && uint8(result) != uint8(outcome) {
				t.Errorf("outcome %d is the result %d for the first player, want the same number", outcome, result)
			}
		}
	}
}

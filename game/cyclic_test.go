package game_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/naive"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// partizan is a graph in which the second player moves in odd positions.
type partizan struct{ testgames.Graph }

func (g partizan) ToMove(p game.Position) game.Player { return game.Player(p & 1) }

func (g partizan) Primitive(p game.Position) game.Value {
	for _, o := range []game.Outcome{game.FirstWins, game.SecondWins, game.Tie} {
		if o.For(g.ToMove(p)) == g.End[p] {
			return game.NewValue(o, 0)
		}
	}
	return 0
}

// The set methods of WithRanges agree with the moves, and gametest.Search finds the values of the
// oracle: wins, losses, ties and draws.
func TestWithRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[string]int{}
	for range 300 {
		graph := testgames.RandomGraph(r, 2+r.IntN(200))
		var plain game.Reversible = graph
		if r.IntN(2) == 0 {
			plain = partizan{graph}
		}
		g := game.WithRanges(plain, 1+r.IntN(100))
		gametest.Check(t, g)
		rules := game.WithRanges(gametest.RulesOnly(plain), g.RangeSize())
		if game.KnowsBackward(rules) || !game.KnowsBackward(g) {
			t.Fatal("moves backwards are known of rules alone, or not of a Reversible game")
		}
		gametest.Check(t, rules)
		want := graph.Worth()
		values := gametest.Search([]game.Cyclic{g, rules}[r.IntN(2)])
		for p := range plain.Info().Hashes {
			v, ok := values[p]
			got := naive.Worth{Result: game.Result(v.Outcome()).String(), Remoteness: v.Remoteness()}
			if w, reached := want[p]; ok != reached || ok && got != w {
				t.Fatalf("%+v: %d is %v, reached: %v, want %v", plain, p, got, ok, w)
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
	plain := testgames.Graph{
		Next: map[game.Position][]game.Position{0: {1, 5}, 1: {6, 2}, 2: {3}, 3: {4}, 5: {0}},
		End:  map[game.Position]game.Result{4: game.Loses, 6: game.Ties},
		Size: 7,
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

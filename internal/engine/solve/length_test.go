package solve_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A longGame is a game with the given number of tiers.
type longGame struct {
	game.Tiered
	tiers int
}

func (g longGame) Tiers() int { return g.tiers }

// TestTooManyTiers checks that a game that can last longer than a value can express is refused
// before the first job.
func TestTooManyTiers(t *testing.T) {
	rules := must.Get(connectn.New(3, 3, 3))(t)
	dir := t.TempDir()
	g := longGame{rules, 64}
	data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	before := must.Get(os.ReadDir(dir))(t)
	_, err := solve.Run(context.Background(), data, g, options())
	if want := "it can last 64 moves, at most 63 are provided for"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	after := must.Get(os.ReadDir(dir))(t)
	if len(after) > len(before)+1 { // jobs.json may have been written
		t.Errorf("%v have become %v", before, after)
	}
	if err := game.MethodOf(longGame{rules, 63}).CheckLength(); err != nil {
		t.Error(err)
	}
}

// chain returns a game with a single line of play, with the given number of moves.
func chain(moves uint64) game.Cyclic {
	g := testgames.Graph{
		Next: make(map[game.Position][]game.Position),
		End:  map[game.Position]game.Result{moves: game.Loses},
		Size: moves + 1,
	}
	for p := range moves {
		g.Next[p] = []game.Position{p + 1}
	}
	return game.WithRanges(g, 16)
}

// TestMostMoves checks games with cycles, whose length is only known when they are solved:
// 63 moves are solved correctly, one more is refused.
func TestMostMoves(t *testing.T) {
	r, err := solveInto(t, t.TempDir(), chain(63), options(), store.Fresh)
	if err != nil || r.Value != "WIN in 63" {
		t.Errorf("%q, %v, want WIN in 63", r.Value, err)
	}
	r, err = solveInto(t, t.TempDir(), chain(64), options(), store.Fresh)
	want := "solve64: a position is decided in 64 moves: at most 63 are provided for in a game without tiers (use tiers, see docs/rules.md)"
	if err == nil || err.Error() != want {
		t.Errorf("%q, %v, want %s", r.Value, err, want)
	}
}

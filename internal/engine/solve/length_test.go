package solve_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A longGame is a game with the given number of tiers.
type longGame struct {
	game.Blockwise
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
	if err := game.CheckLength(longGame{rules, 63}); err != nil {
		t.Error(err)
	}
}

// chain returns a game with a single line of play, with the given number of moves.
func chain(moves uint64) game.Game {
	g := testgames.Graph{
		Next: make(map[game.Position][]game.Position),
		End:  map[game.Position]game.Result{moves: game.Loses},
		Size: moves + 1,
	}
	for p := range moves {
		g.Next[p] = []game.Position{p + 1}
	}
	return gametest.RulesOnly(g)
}

// TestMoves solves games with many plies, and with as many successors as a state can count. One more is refused, and
// nothing is written.
func TestMoves(t *testing.T) {
	if r, err := solveInto(t, t.TempDir(), chain(100), options(), store.Fresh); err != nil || r.Value != "LOSE in 100" {
		t.Errorf("%q, %v, want LOSE in 100", r.Value, err)
	}
	for n, want := range map[game.Position]string{65535: "", 65536: "position 0x0: it has 65536 successors, at most 65535 are provided for"} {
		g := testgames.Graph{Next: make(map[game.Position][]game.Position), End: make(map[game.Position]game.Result), Size: n + 1}
		for p := range n {
			g.Next[0], g.End[p+1] = append(g.Next[0], p+1), game.Wins
		}
		dir, o := t.TempDir(), options()
		o.Final = solve.FinalNo
		r, err := solveInto(t, dir, gametest.RulesOnly(g), o, store.Fresh)
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d moves: %q, %v, want %q", n, r.Value, err, want)
		}
		if made := glob(t, dir, "data_*"); err != nil && len(made) > 0 {
			t.Errorf("%d moves: %v were written", n, made)
		}
	}
}

// TestLongMostMoves solves a game with the largest remoteness. One move more is refused.
func TestLongMostMoves(t *testing.T) {
	longtest.SkipShare(t)
	r, err := solveWith(t, new(storetest.Memory), "/data/d", chain(game.MaxRemoteness), options(), store.Fresh)
	if err != nil || r.Value != "WIN in 16383" {
		t.Errorf("%q, %v, want WIN in 16383", r.Value, err)
	}
	o := options()
	r, err = solveWith(t, new(storetest.Memory), "/data/d", chain(game.MaxRemoteness+1), o, store.Fresh)
	if want := "it is reached after 16383 moves in its tier, and has another one there: at most 16383 are provided for"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%q, %v, want %s", r.Value, err, want)
	}
}

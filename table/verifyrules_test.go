package table

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A batched is a game that computes many positions at once. If it lies, they then have no moves.
type batched struct {
	game.Game
	lies bool
}

func (g batched) Batch([]game.Position) (game.Game, error) {
	if g.lies {
		return stuck{g.Game}, nil
	}
	return nameless{g.Game}, nil
}

type stuck struct{ game.Game }

func (stuck) Moves(dst []game.Move, _ game.Position) []game.Move { return dst }

type nameless struct{ game.Game }

func (g nameless) Moves(dst []game.Move, p game.Position) []game.Move {
	dst = g.Game.Moves(dst, p)
	for i := range dst {
		dst[i].Name = ""
	}
	return dst
}

// TestRulesBatched checks that a missing position is found where many are computed at once, with the name of the move
// that leads to it, and a game that computes positions in another way then.
func TestRulesBatched(t *testing.T) {
	g := testgames.TieGame()
	values := testgames.Solve(g)
	verify := func(g game.Game) error {
		tab := must.Get(OpenOf(tableOf(t, g, rowsOf(g, values)), ".", g))(t)
		defer tab.Close()
		_, _, err := Rules{}.Verify(t.Context(), tab)
		return err
	}
	if err := verify(batched{g, true}); err == nil || !strings.Contains(err.Error(), "the rules contradict themselves") {
		t.Errorf("a game that lies: %v", err)
	}
	var fault *Fault
	missing := g.Moves(nil, g.Start())[0]
	delete(values, missing.To)
	if err := verify(batched{g, false}); !errors.As(err, &fault) || fault.Position != g.Start() || !strings.Contains(err.Error(), "its move "+missing.Name+" leads to") {
		t.Errorf("a missing position: %v", err)
	}
}

// TestRulesUnled checks that a position without predecessors is found, even if its value is
// right.
func TestRulesUnled(t *testing.T) {
	g := testgames.TieGame() // 6 leads to a tie, but nothing leads to 6
	values := testgames.Solve(g)
	values[6] = game.Ties.In(1)
	tab := must.Get(OpenOf(tableOf(t, g, rowsOf(g, values)), ".", g))(t)
	defer tab.Close()
	var fault *Fault
	if _, _, err := (Rules{}).Verify(context.Background(), tab); !errors.As(err, &fault) || fault.Position != 6 {
		t.Errorf("got %v, want the fault at 6", err)
	}
}

// TestRulesReleases checks that a part, with the blocks that it caches, is garbage when the next one is checked.
func TestRulesReleases(t *testing.T) {
	var first weak.Pointer[stored.Part]
	parts, checked := make([]*stored.Part, 2), 0
	for i := range parts {
		parts[i] = numbers([][2]int{{0, 0}}, 0)
		parts[i].Slots = func(uint64) int { return 1 }
		parts[i].Reader = func(int) stored.Reader {
			if runtime.GC(); i == 1 && first.Value() != nil {
				t.Error("the first part is in memory")
			}
			checked += i
			return &numbersReader{counts: make([][2]int, 1)}
		}
	}
	first = weak.Make(parts[0])
	c := &rulesCheck{g: &plainRules{Game: testgames.TieGame()}}
	if err := c.run(t.Context(), parts); err != nil || checked == 0 {
		t.Errorf("the last part is read %d times, %v", checked, err)
	}
}

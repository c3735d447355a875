package step_test

import (
	"fmt"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// passes runs the passes of a game in memory. It returns the states and the number of new
// positions of each pass of each step.
func passes(t *testing.T, g game.Cyclic) (states []block.State, fresh map[string][]int, messages int64) {
	t.Helper()
	states = make([]block.State, game.Ranges(g))
	inboxes := make([]block.Inbox, len(states))
	news := make([]block.State, len(states))
	var first []block.State // positions that were terminal when they were reached
	fresh = make(map[string][]int)
	for rng := range states {
		states[rng].Reset(game.RangeLen(g, uint64(rng)))
	}
	run := func(name string, number int, from []block.State) int {
		p := step.NewPass(g, name, number)
		for rng := range states {
			inboxes[rng].Reset(game.RangeLen(g, uint64(rng)))
		}
		send := func(rng uint64, set block.Set, counted bool) {
			if !counted {
				inboxes[rng].Some.Union(set)
			} else if !inboxes[rng].Times.Add(set) {
				t.Fatal("too many")
			}
		}
		if name == step.Create {
			p.MapStart(send)
		}
		for i := range from {
			must.OK(t, p.Map(uint64(i%len(states)), &from[i], send))
		}
		found := 0
		for rng := range states {
			var new block.State
			must.Get(p.Reduce(uint64(rng), &states[rng], &inboxes[rng], &new))(t)
			found += new.Reached.Count()
			news[rng] = new
		}
		if name == step.Create || name == step.Mark {
			first = append(first, news...)
		}
		if name == step.Mark {
			messages += p.Messages
		}
		fresh[name] = append(fresh[name], found)
		return found
	}
	run(step.Create, 1, nil)
	for run(step.Mark, len(fresh[step.Mark])+1, news) > 0 {
	}
	from := first
	for run(step.Solve, len(fresh[step.Solve])+1, from) > 0 {
		from = news
	}
	from = first
	for run(step.Ties, len(fresh[step.Ties])+1, from) > 0 {
		from = news
	}
	return states, fresh, messages
}

// worth returns the oracle's value of a position in the encoding of a state.
func worth(w naive.Worth) byte {
	if w.Result == naive.Draw {
		return 0
	}
	result := map[string]game.Result{naive.Lose: game.Loses, naive.Win: game.Wins, naive.Tie: game.Ties}[w.Result]
	return byte(w.Remoteness<<2) | byte(result)
}

// compareStates compares states with the oracle.
func compareStates(t *testing.T, g game.Cyclic, states []block.State, want map[uint64]naive.Worth) {
	t.Helper()
	for p := range g.Positions() {
		value, reached := states[p/uint64(g.RangeSize())].Value(int(p % uint64(g.RangeSize())))
		w, ok := want[p]
		if reached != ok || reached && value != worth(w) {
			t.Fatalf("position %d: value %d, reached %v; want %v, %v", p, value, reached, w, ok)
		}
	}
}

// TestPassesQuickCross solves small boards with the steps and compares them with brute
// force.
func TestPassesQuickCross(t *testing.T) {
	for _, test := range []struct {
		w, h, connect int
		messages      int64
		solve         string
	}{
		{2, 3, 2, 844, "[86 1 0]"},
		{3, 3, 3, 140200, "[10666 12 56 60 90 9 0]"},
	} {
		g := must.Get(quickcross.New(test.w, test.h, test.connect))(t)
		states, fresh, messages := passes(t, g)
		compareStates(t, g, states, naive.QuickCross{W: test.w, H: test.h, Connect: test.connect}.Solve())
		if messages != test.messages || fmt.Sprint(fresh[step.Solve]) != test.solve {
			t.Errorf("%d messages forward, %v solved, want %d and %s", messages, fresh[step.Solve], test.messages, test.solve)
		}
	}
}

// TestPassesTies checks that draws and ties are not confused, with ranges of several sizes.
func TestPassesTies(t *testing.T) {
	graph := testgames.TieGame()
	want := naive.SolveCyclic(0,
		func(p uint64) string {
			if result, ok := graph.End[p]; ok {
				return result.String()
			}
			return ""
		},
		func(p uint64) []uint64 { return graph.Next[p] })
	for p, w := range map[uint64]naive.Worth{
		0: {Result: naive.Tie, Remoteness: 2}, 2: {Result: naive.Win, Remoteness: 3}, 9: {Result: naive.Tie, Remoteness: 3},
		11: {Result: naive.Draw}, 12: {Result: naive.Draw},
	} {
		if want[p] != w {
			t.Fatalf("this game does not show it: %d is %v", p, want[p])
		}
	}
	for _, size := range []int{1, 2, 5, 64} {
		g := game.WithRanges(graph, size)
		states, _, _ := passes(t, g)
		compareStates(t, g, states, want)
	}
}

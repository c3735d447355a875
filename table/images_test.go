package table

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

var canonical = game.StoredOf

// canonicalOnly returns the values of the canonical positions of a game.
func canonicalOnly(g game.Game, values map[game.Position]game.Value) map[game.Position]game.Value {
	stored := make(map[game.Position]game.Value)
	for p, v := range values {
		stored[canonical(g, p)] = v
	}
	return stored
}

// tieredGames returns random games with tiers, inner moves and images, graphs without tiers, and listGames.
func tieredGames(t *testing.T) (games []game.Game) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 3))
		g := testgames.RandomTiered(r, testgames.RandomOptions(r))
		games = append(games, g, g.Backward())
		graph := testgames.RandomGraph(r, 2+r.IntN(40))
		games = append(games, graph, struct{ game.Game }{graph}, batched{graph, false})
	}
	for _, g := range listGames(t) {
		games = append(games, g)
	}
	return append(games, testgames.TieGame())
}

// TestImages checks look-ups, predecessors, scans and statistics of positions and their images.
func TestImages(t *testing.T) {
	for i, g := range tieredGames(t) {
		stored := canonicalOnly(g, testgames.Stored(g))
		withImages := func(of map[game.Position]game.Value) map[game.Position]game.Value {
			all := make(map[game.Position]game.Value)
			for p, v := range of {
				for _, image := range game.ImagesOf(nil, g, p) {
					all[image] = v
				}
			}
			return all
		}
		all, reached := withImages(stored), withImages(testgames.Solve(g))
		tab := must.Get(OpenOf(tableOf(t, g, rowsOf(g, stored)), ".", g))(t)
		before := make(map[game.Position][]Predecessor)
		inOrder := slices.SortedFunc(func(yield func(game.Position) bool) {
			for p := range all {
				if !yield(p) {
					return
				}
			}
		}, func(p, q game.Position) int {
			return cmp.Or(cmp.Compare(game.TierOf(g, p), game.TierOf(g, q)), cmp.Compare(p, q))
		})
		for _, p := range inOrder {
			if v, ok, err := tab.Lookup(p); err != nil || !ok || v != all[p] {
				t.Fatalf("game %d: %d: %v, %t, %v; want %v", i, p, v, ok, err, all[p])
			}
			seen := make(map[game.Position]bool)
			for _, m := range g.Moves(nil, p) {
				if !seen[m.To] {
					before[m.To] = append(before[m.To], Predecessor{p, m.Name, all[p]})
				}
				seen[m.To] = true
			}
			choices := must.Get(tab.Choices(p))(t)
			for j, c := range choices {
				if c.Value != reached[c.To] || j > 0 && g.Values().Better(g.ToMove(p), c.Value, choices[j-1].Value) {
					t.Fatalf("game %d: %d: choices %+v, want %v", i, p, choices, reached[c.To])
				}
			}
		}
		for _, p := range inOrder {
			if got, err := tab.Predecessors(p); err != nil || !slices.Equal(got, before[p]) {
				t.Fatalf("game %d: before %d: %v, %v; want %v", i, p, got, err, before[p])
			}
		}
		for _, images := range []bool{false, true} {
			scan := must.Get(tab.Scan(t.Context(), Selection{Images: images}))(t)
			want := slices.DeleteFunc(slices.Clone(inOrder), func(p game.Position) bool { return !images && canonical(g, p) != p })
			var got []game.Position
			tier := 0
			for b, err := range scan.Batches() {
				must.OK(t, err)
				if b.Tier < tier {
					t.Fatalf("game %d: tier %d after tier %d", i, b.Tier, tier)
				}
				tier = b.Tier
				for j, p := range b.Positions {
					if got = append(got, p); b.Tier != game.TierOf(g, p) || b.Values[j] != all[p] {
						t.Fatalf("game %d: %d in tier %d: %v, want %v", i, p, b.Tier, b.Values[j], all[p])
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("game %d, images %t: %d positions %v, want %d: %v", i, images, len(got), got, len(want), want)
			}
		}
		s, whole := must.Get(tab.Stats())(t), must.Get(tab.StatsWithImages(t.Context()))(t)
		if s.Positions != uint64(len(stored)) || whole.Positions != uint64(len(all)) {
			t.Errorf("game %d: %d positions, %d with images; want %d and %d", i, s.Positions, whole.Positions, len(stored), len(all))
		}
		must.OK(t, tab.Close())
	}
}

// TestUnreachableCycle checks that positions are found that lead to one another, but that play cannot reach.
func TestUnreachableCycle(t *testing.T) {
	g := testgames.Graph{
		Next: map[game.Position][]game.Position{0: {3, 1}, 1: {2}, 2: {0}, 4: {5}, 5: {4, 0}},
		End:  map[game.Position]game.Result{3: game.Wins},
		Size: 6,
	}
	values := testgames.Solve(g)
	if n, err := verifyLayers(t, tableOf(t, g, rowsOf(g, values)), g); err != nil || n != 4 {
		t.Errorf("%d positions, %v", n, err)
	}
	values[4], values[5] = 0, 0
	var fault *Fault
	if _, err := verifyLayers(t, tableOf(t, g, rowsOf(g, values)), g); !errors.As(err, &fault) || fault.Position != 4 {
		t.Errorf("%v, want that 4 cannot be reached", err)
	}
}

// TestRulesLayers checks that a correct table passes, and that each wrong, extra or missing position is found, at the
// position itself or at one that leads to it or to an image of it.
func TestRulesLayers(t *testing.T) {
	for i, g := range tieredGames(t) {
		r := rand.New(rand.NewPCG(uint64(i), 4))
		right := canonicalOnly(g, testgames.Stored(g))
		verify := func() error {
			n, err := verifyLayers(t, tableOf(t, g, rowsOf(g, right)), g)
			if err == nil && n != uint64(len(right)) {
				t.Errorf("game %d: %d positions, want %d", i, n, len(right))
			}
			return err
		}
		if err := verify(); err != nil {
			t.Fatalf("game %d: %v", i, err)
		}
		var positions []game.Position
		for p := range right {
			positions = append(positions, p)
		}
		if random, ok := g.(*testgames.Acyclic); ok {
			positions = random.Positions() // includes unreachable ones
		}
		slices.Sort(positions)
		for range 10 {
			p := positions[r.IntN(len(positions))]
			if images := game.ImagesOf(nil, g, p); r.IntN(4) == 0 {
				p = images[r.IntN(len(images))]
			}
			was, there := right[p]
			wrong := game.NewValue(game.Outcome(r.IntN(4)), max(0, was.Remoteness()+r.IntN(3)-1))
			if !wrong.Valid() {
				wrong = 0
			}
			switch remove := r.IntN(3) == 0; {
			case remove && there:
				delete(right, p)
			case remove || there && wrong == was:
				continue
			default:
				right[p] = wrong
			}
			leads := func(from game.Position) bool {
				return slices.ContainsFunc(g.Moves(nil, from), func(m game.Move) bool { return canonical(g, m.To) == p })
			}
			var fault *Fault
			if err := verify(); !errors.As(err, &fault) || fault.Position != p && canonical(g, fault.Position) != p && !leads(fault.Position) {
				t.Fatalf("game %d: position %d: value %v, stored %t, became %v: %v", i, p, was, there, right[p], err)
			}
			delete(right, p)
			if there {
				right[p] = was
			}
		}
	}
}

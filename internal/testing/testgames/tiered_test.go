package testgames_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// eachTiered calls do for random games of every kind.
func eachTiered(t *testing.T, n int, do func(o testgames.TieredOptions, g *testgames.Tiered)) {
	t.Helper()
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 2))
		o := testgames.RandomOptions(r)
		if do(o, testgames.RandomTiered(r, o)); t.Failed() {
			t.Fatalf("seed %d, %+v", seed, o)
		}
	}
}

// TestRandomTiered checks that random games satisfy the contract.
func TestRandomTiered(t *testing.T) {
	eachTiered(t, 100, func(_ testgames.TieredOptions, g *testgames.Tiered) {
		gametest.Contract(t, g)
		gametest.Contract(t, g.Backward())
	})
}

// TestSolve checks that the images of a position have its value.
func TestSolve(t *testing.T) {
	eachTiered(t, 500, func(_ testgames.TieredOptions, g *testgames.Tiered) {
		values := testgames.Solve(g)
		for p, v := range values {
			for _, image := range g.Images(nil, p) {
				if w, reached := values[image]; reached && w != v {
					t.Errorf("%s: %d is %s, its image %d is %s", g.Spec(), p, g.Values().Text(v), image, g.Values().Text(w))
				}
			}
		}
	})
}

// TestCompare checks that Compare accepts the values of canonical positions, and finds wrong, missing and
// superfluous ones.
func TestCompare(t *testing.T) {
	eachTiered(t, 50, func(_ testgames.TieredOptions, g *testgames.Tiered) {
		right := make(map[game.Position]game.Value)
		for p, v := range testgames.Stored(g) {
			right[g.Canonical(p)] = v
		}
		keys := slices.Sorted(maps.Keys(right))
		one := keys[len(keys)/2]
		for want, spoil := range map[string]func(values map[game.Position]game.Value){
			"":                   func(map[game.Position]game.Value) {},
			"has no value":       func(values map[game.Position]game.Value) { delete(values, one) },
			", want ":            func(values map[game.Position]game.Value) { values[one] ^= 1 << 2 },
			"has a value, but i": func(values map[game.Position]game.Value) { values[^one] = 0 },
		} {
			values := maps.Clone(right)
			spoil(values)
			if err := testgames.Compare(g, values); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}

// TestTieredKinds checks that random games have everything that they are meant to test.
func TestTieredKinds(t *testing.T) {
	games := make(map[string]int)
	eachTiered(t, 1000, func(o testgames.TieredOptions, g *testgames.Tiered) {
		values := testgames.Solve(g)
		has := map[string]bool{
			"unreachable positions":         len(g.Positions()) > len(values),
			"positions that are not stored": len(values) > len(testgames.Stored(g)),
		}
		for p, v := range values {
			images := g.Images(nil, p)
			one := images[0]
			_, reached := values[one]
			for what, yes := range map[string]bool{
				"a key of 60 bits or more":        p>>60 != 0,
				"images":                          len(images) > 1,
				"an unreached canonical position": !reached,
				"exchanged players":               g.ToMove(one) != g.ToMove(images[len(images)-1]),
				"more than 63 plies":              v.Remoteness() > 63,
				"more than 150 plies":             v.Remoteness() > 150,
				"long play without inner moves":   o.Acyclic && v.Remoteness() > 63,
				"a draw":                          !v.Valid(),
				"a tie":                           v.Outcome() == game.Tie && v.Remoteness() > 0,
				"a draw of players in any order":  !o.OfMover && !v.Valid(),
				"a far tie":                       o.TiesLate && v.Outcome() == game.Tie && v.Remoteness() > 0,
				"a position known as won":         g.Known(p) != g.Primitive(p),
			} {
				has[what] = has[what] || yes
			}
			var led []game.Position
			near, far := game.MaxRemoteness, 0 // remoteness of ties in later tiers
			for _, m := range g.Moves(nil, p) {
				c := g.Canonical(m.To)
				if n := values[m.To].Remoteness(); values[m.To].Outcome() == game.Tie && g.Tier(m.To) > g.Tier(p) {
					near, far = min(near, n), max(far, n)
				}
				for what, yes := range map[string]bool{
					"several moves to images":          slices.Contains(led, c),
					"a move to itself":                 m.To == p,
					"a move to another image of it":    m.To != p && c == one,
					"an inner move":                    g.Tier(m.To) == g.Tier(p),
					"a move to a distant tier":         g.Tier(m.To) > g.Tier(p)+1,
					"the same player twice in a row":   !o.OfMover && g.ToMove(p) == g.ToMove(m.To),
					"turns that positions do not show": o.OfMover && g.ToMove(p) == g.ToMove(m.To),
				} {
					has[what] = has[what] || yes
				}
				led = append(led, c)
			}
			has["a tie by the nearest of ties in later tiers"] = has["a tie by the nearest of ties in later tiers"] ||
				g.Loops(g.Tier(p)) && near < far && v.Outcome() == game.Tie && v.Remoteness() == near+1
		}
		for what, yes := range has {
			if yes {
				games[what]++
			} else {
				games[what] += 0
			}
		}
	})
	for what, n := range games {
		if n < 10 {
			t.Errorf("%d games have %s, want 10", n, what)
		}
	}
	t.Log(games)
}

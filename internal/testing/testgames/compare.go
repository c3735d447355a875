package testgames

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

// Solve returns the values of all reachable positions of a small game, as naive.Graph finds them. 0 is a draw.
func Solve(g game.Game) map[game.Position]game.Value {
	vs := g.Values()
	worth := naive.Graph{
		Start: g.Start(),
		Finished: func(p uint64) string {
			if v := g.Primitive(p); v != 0 {
				return v.Outcome().For(g.ToMove(p)).String()
			}
			return ""
		},
		Successors: func(p uint64) (all []uint64) {
			for _, m := range g.Moves(nil, p) {
				all = append(all, m.To)
			}
			return all
		},
		Again:    func(p, s uint64) bool { return !vs.OfMover && g.ToMove(p) == g.ToMove(s) },
		TiesLate: !vs.TiesSoon,
	}.Solve()
	values := make(map[game.Position]game.Value)
	for p, w := range worth {
		mover := game.First // if values are those of the mover, a Result has the number of the Outcome for First
		if !vs.OfMover {
			mover = g.ToMove(p)
		}
		outcome := map[string]game.Outcome{naive.Win: game.WinFor(mover), naive.Lose: game.WinFor(mover.Other()), naive.Tie: game.Tie}[w.Result]
		values[p] = game.NewValue(outcome, w.Remoteness)
	}
	return values
}

// Stored returns the values of the reachable positions that a solution stores: of those after a position that the rules
// decide, only the ones that other moves reach.
func Stored(g game.Game) map[game.Position]game.Value {
	values := Solve(g)
	stored := map[game.Position]game.Value{g.Start(): values[g.Start()]}
	for next := []game.Position{g.Start()}; len(next) > 0; next = next[1:] {
		if game.KnownValue(g, next[0]) != 0 {
			continue
		}
		for _, m := range g.Moves(nil, next[0]) {
			if _, found := stored[m.To]; !found {
				stored[m.To] = values[m.To]
				next = append(next, m.To)
			}
		}
	}
	return stored
}

// Compare compares the values of canonical positions with those that Solve finds. The error lists the first
// stored positions whose canonical position has no value or another one, and the first keys that are not
// the canonical position of a stored position.
func Compare(g game.Game, values map[game.Position]game.Value) error {
	want := Stored(g)
	var faults []string
	canonical := make(map[game.Position]bool)
	for _, p := range slices.Sorted(maps.Keys(want)) {
		c := game.StoredOf(g, p)
		canonical[c] = true
		if v, ok := values[c]; !ok {
			faults = append(faults, fmt.Sprintf("%d (tier %d): its canonical position %d has no value", p, game.TierOf(g, p), c))
		} else if v != want[p] {
			faults = append(faults, fmt.Sprintf("%d (tier %d, canonical %d) is %s, want %s", p, game.TierOf(g, p), c, g.Values().Text(v), g.Values().Text(want[p])))
		}
	}
	for _, c := range slices.Sorted(maps.Keys(values)) {
		if !canonical[c] {
			faults = append(faults, fmt.Sprintf("%d has a value, but is not the canonical position of a stored position", c))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	const most = 10
	return fmt.Errorf("%s: %d faults in %d positions:\n%s", g.Spec(), len(faults), len(want), strings.Join(faults[:min(most, len(faults))], "\n"))
}

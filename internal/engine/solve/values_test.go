package solve_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/table"
)

// TestValues solves a Blockwise game with each kind of values, by blocks and by lists, and
// compares every position with a plain search. The four solutions differ.
func TestValues(t *testing.T) {
	seen := make(map[string]game.Values)
	for _, values := range testgames.AllValues() {
		for _, size := range [][3]int{{3, 3, 3}, {4, 3, 3}} {
			g := testgames.Reread{Blockwise: rules(t, size[0], size[1], size[2]), Reading: values}
			var want strings.Builder
			found := gametest.Search(g)
			for _, p := range slices.Sorted(maps.Keys(found)) {
				if game.Listed(g, p) {
					fmt.Fprintf(&want, "'%s'\t%d\n", g.AppendText(nil, p), found[p])
				}
			}
			if other, ok := seen[want.String()]; ok {
				t.Errorf("%s: the same solution with %+v and %+v", g.Spec(), values, other)
			}
			seen[want.String()] = values
			for _, rules := range []game.Game{g, rulesOnly{g}} {
				dir, result := solved(t, rules, nil)
				if got := final(t, dir); got != want.String() {
					t.Errorf("%T %s, %+v: %s", rules, g.Spec(), values, difference(got, want.String()))
				}
				if text := values.Text(found[g.Start()]); result.Value != text {
					t.Errorf("%T %s, %+v: the start is %s, want %s", rules, g.Spec(), values, result.Value, text)
				}
				tab := must.Get(table.OpenOf(store.Local{}, dir, rules))(t)
				_, err := tab.Verify(t.Context())
				_, _, byRules := table.Rules{}.Verify(t.Context(), tab)
				if err := errors.Join(err, byRules, tab.Close()); err != nil {
					t.Errorf("%T %s, %+v: %v", rules, g.Spec(), values, err)
				}
			}
		}
	}
}

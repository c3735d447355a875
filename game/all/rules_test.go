package all_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/notation"
)

// TestRules checks that each game has rules for people with all sections, which fit into 76 columns, and
// that the board of the example is the position below, in which a move has the result that the text says.
func TestRules(t *testing.T) {
	examples := map[string]struct{ spec, position, move, after string }{ // X stands for the first player, see game.Value
		"connectn":   {"connectn width=7 height=6 connect=4", "1,0,2,2,3,3", "4", "X wins in 0"},
		"mnk":        {"mnk width=3 height=3 connect=3", ".OX/.X./..O", "a3", "X wins in 0"},
		"quickcross": {"quickcross width=3 height=3 connect=3", "--|/..|/|..", "c1-", "O wins in 0"},
		"dodgem":     {"dodgem size=3", ".^>/.../.^. >", "c1r", "X wins in 0"},
		"mancala":    {"mancala pits=3 stones=2", "State([1, 0, 4, 2, 1, 3, 0, 1], 0)", "0", "State([0, 0, 4, 6, 1, 0, 0, 1], 1)"},
		"network":    {"network", "................B....B.....B.B...............B.B................ W", "", "O wins in 0"},
		"mills":      {"mills men=5", "B-.-./-BB.-/..-.W/-...-/W-W-. W 0 0", "e3-e1xb4", "X wins in 0"},
		"dobutsu":    {"dobutsu", ".../.../glc/.../.L./EGE/..C/... L", "C*b2", ".../.../glc/.C./.L./EGE/.../... l"},
		"quixo":      {"quixo size=3", ".XX/O../.O. X", "a1-c1", "X wins in 0"},
		"teeko":      {"teeko variant=standard", "...../.R.R./..BB./..B.B/.R.R. B", "e4-d4", "X wins in 0"},
	}
	for _, kind := range all.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			example, ok := examples[kind.Name]
			if !ok {
				t.Fatal("the test has no example for this game")
			}
			g, err := all.Kinds().Parse(example.spec)
			if err != nil {
				t.Fatal(err)
			}
			rules := game.RulesOf(g)
			for _, section := range []string{"Goal: ", "Moves: ", "End: ", "Example: "} {
				if !strings.HasPrefix(rules, section) && !strings.Contains(rules, "\n\n"+section) {
					t.Errorf("no paragraph begins with %q", section)
				}
			}
			if left := regexp.MustCompile(`\{.*?\}`).FindString(rules); left != "" {
				t.Errorf("%s is no parameter", left)
			}
			for line := range strings.Lines(rules) {
				if len(line) > 76+1 {
					t.Errorf("more than 76 columns: %q", line)
				}
			}
			a, err := notation.Parse(g, example.position, notation.AnyForm)
			if err != nil {
				t.Fatal(err)
			}
			var board strings.Builder
			for line := range strings.Lines(g.Picture(a.Position).String()) {
				board.WriteString("    " + line)
			}
			if !strings.HasSuffix(rules, "\n\n"+board.String()) {
				t.Errorf("expected the board\n%s", board.String())
			}
			after := a.Position
			if i := slices.IndexFunc(g.Moves(nil, after), func(m game.Move) bool { return m.Name == example.move }); i >= 0 {
				after = g.Moves(nil, after)[i].To
			}
			found := string(g.AppendText(nil, after))
			if v := g.Primitive(after); v != 0 {
				found = v.String()
			}
			if found != example.after {
				t.Errorf("after %q, expected %s, found %s", example.move, example.after, found)
			}
		})
	}
}

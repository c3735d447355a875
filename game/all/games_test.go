package all_test

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// Every kind has a unique name and valid defaults; the Spec of its game parses to the
// same game.
func TestAll(t *testing.T) {
	if err := all.Kinds().Check(); err != nil {
		t.Error(err)
	}
	for _, kind := range all.Kinds() {
		if kind.Usage == "" {
			t.Errorf("kind %+v lacks its usage", kind)
		}
		for _, p := range kind.Params {
			if p.Usage == "" {
				t.Errorf("%s: parameter %+v lacks its usage", kind.Name, p)
			}
		}
		g, err := kind.Default()
		if err != nil {
			t.Errorf("%s with its defaults: %v", kind.Name, err)
			continue
		}
		if again, err := all.Kinds().Parse(g.Spec()); err != nil || again.Spec() != g.Spec() {
			t.Errorf("Parse(%q) = %v, %v", g.Spec(), again, err)
		}
		if err := g.Check(g.Start()); err != nil {
			t.Errorf("%s: the start: %v", g.Spec(), err)
		}
	}
}

// Titles for people.
func TestTitles(t *testing.T) {
	for spec, want := range map[string]string{
		"connectn width=4 height=5 connect=3":   "Connect 3 on 4×5",
		"quickcross width=4 height=3 connect=3": "Quick Cross of 3 on 4×3",
		"mancala pits=3 stones=2":               "Mancala, 3 pits of 2 stones",
		"mnk width=4 height=3 connect=3":        "Tic-tac-toe of 3 on 4×3",
		"dodgem size=3":                         "Dodgem on 3×3",
		"network":                               "Network",
	} {
		g := must.Get(all.Kinds().Parse(spec))(t)
		if got := game.TitleOf(g); got != want {
			t.Errorf("the title of %s is %q, want %q", spec, got, want)
		}
	}
}

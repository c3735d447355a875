package all_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"connectn width=4 height=5 connect=3", "connectn width=4 height=5 connect=3"},
		{"  connectn   width=4\theight=5 connect=3\n", "connectn width=4 height=5 connect=3"},
		{"connectn width=04 height=+5 connect=3", "connectn width=4 height=5 connect=3"},
	} {
		g, err := all.Kinds().Parse(tt.spec)
		if err != nil || g.Spec() != tt.want {
			t.Errorf("Parse(%q) = %v, %v, want %q", tt.spec, g, err, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"", `game "" is not one that this program knows`},
		{"chess", `game "chess" is not one that this program knows`},
		{"chess width=4 height=5 connect=3", `game "chess width=4 height=5 connect=3" is not one that this program knows`},
		{"connectn width=x height=5 connect=3", `game "connectn width=x height=5 connect=3": expected width=NUMBER, found "width=x"`},
		{"connectn height=5 width=4 connect=3", `game "connectn height=5 width=4 connect=3": expected width=NUMBER, found "height=5"`},
		{"connectn width=4 height=5 3", `game "connectn width=4 height=5 3": expected connect=NUMBER, found "3"`},
		{"connectn width=4 height= connect=3", `game "connectn width=4 height= connect=3": expected height=NUMBER, found "height="`},
		{"connectn width=99999999999999999999 height=5 connect=3", `game "connectn width=99999999999999999999 height=5 connect=3": expected width=NUMBER, found "width=99999999999999999999"`},
		{"connectn width=0 height=5 connect=3", `connectn: width, height and connect must be at least 1, found 0, 5 and 3`},
		{"connectn width=4 height=5 connect=6", `connectn: connect 6 is longer than both sides of a board of 4×5`},
	} {
		if g, err := all.Kinds().Parse(tt.spec); g != nil || err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%q) = %v, error\n%v, want\n%s", tt.spec, g, err, tt.want)
		}
	}
}

// A game with cycles can be parsed.
func TestParseCyclic(t *testing.T) {
	const spec = "quickcross width=4 height=3 connect=3"
	g, err := all.Kinds().Parse(spec)
	if err != nil || g.Spec() != spec {
		t.Errorf("Parse(%q) = %v, %v", spec, g, err)
	}
}

// Missing or additional parameters are an error.
func TestParseWrongNumberOfParameters(t *testing.T) {
	for _, spec := range []string{"connectn", "connectn width=4 height=5", "connectn width=4 height=5 connect=3 depth=2"} {
		if g, err := all.Kinds().Parse(spec); g != nil || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("game %q", spec)) {
			t.Errorf("Parse(%q) = %v, %v", spec, g, err)
		}
	}
}

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
		args := make([]int, len(kind.Params))
		for i, p := range kind.Params {
			if p.Usage == "" {
				t.Errorf("%s: parameter %+v lacks its usage", kind.Name, p)
			}
			args[i] = p.Default
		}
		g, err := kind.Make(args)
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

package game_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// named is a game that has nothing but its Spec.
type named struct {
	game.Game
	spec string
}

func (n named) Spec() string { return n.spec }

// kinds returns a game with parameters of both types, and one without parameters.
func kinds() game.Kinds {
	return game.Kinds{
		{Name: "nim", Params: []game.Param{
			{Name: "heaps", Usage: "heaps", Default: 3},
			{Name: "play", Usage: "the result of taking the last one", Default: 1, Words: []string{"normal", "misere"}},
		}, New: func(args []int) (game.Game, error) {
			if args[0] < 1 {
				return nil, fmt.Errorf("nim: heaps must be at least 1, found %d", args[0])
			}
			return named{spec: fmt.Sprintf("nim heaps=%d play=%s", args[0], []string{"normal", "misere"}[args[1]])}, nil
		}},
		{Name: "go9", New: func([]int) (game.Game, error) { return named{spec: "go9"}, nil }},
	}
}

func TestKindsParse(t *testing.T) {
	for spec, want := range map[string]string{
		"nim heaps=4 play=misere":      "nim heaps=4 play=misere",
		" nim\theaps=04 play=normal\n": "nim heaps=4 play=normal",
		"nim heaps=+4 play=normal":     "nim heaps=4 play=normal",
		"go9":                          "go9",
	} {
		if g, err := kinds().Parse(spec); err != nil || g.Spec() != want {
			t.Errorf("%q: %v, %v, want %q", spec, g, err, want)
		}
	}
	for spec, want := range map[string]string{
		"":                        `game "" is not one that this program knows`,
		"chess":                   `game "chess" is not one that this program knows`,
		"nim":                     `game "nim": expected nim heaps=NUMBER play=normal|misere`,
		"go9 size=9":              `game "go9 size=9": expected go9`,
		"nim heaps=x play=misere": `game "nim heaps=x play=misere": expected heaps=NUMBER, found "heaps=x"`,
		"nim heaps= play=misere":  `game "nim heaps= play=misere": expected heaps=NUMBER, found "heaps="`,
		"nim heaps=99999999999999999999 play=normal": `game "nim heaps=99999999999999999999 play=normal": expected heaps=NUMBER, found "heaps=99999999999999999999"`,
		"nim heaps=4 play=1":                         `game "nim heaps=4 play=1": expected play=normal|misere, found "play=1"`,
		"nim heaps=4 play=":                          `game "nim heaps=4 play=": expected play=normal|misere, found "play="`,
		"nim heaps=4 misere":                         `game "nim heaps=4 misere": expected play=normal|misere, found "misere"`,
		"nim play=misere heaps=4":                    `game "nim play=misere heaps=4": expected heaps=NUMBER, found "play=misere"`,
		"nim heaps=0 play=normal":                    `nim: heaps must be at least 1, found 0`,
		"nim heaps=4 play=Normal ":                   `game "nim heaps=4 play=Normal ": expected play=normal|misere, found "play=Normal"`,
	} {
		if g, err := kinds().Parse(spec); g != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %q", spec, g, err, want)
		}
	}
}

// An error of a LineKind comes with a nil Game, not with a nil pointer in one.
func TestLineKind(t *testing.T) {
	kind := game.LineKind("line", "", "pieces", func(_, _, _ int) (*named, error) { return nil, errors.New("too long") })
	if g, err := kind.New([]int{3, 3, 4}); g != nil || err == nil {
		t.Errorf("%T, %v", g, err)
	}
}

// Make rejects a game whose Spec is that of another game: its table could not be opened.
func TestKindMake(t *testing.T) {
	for spec, want := range map[string]string{
		"nim heaps=4 play=normal": "",
		"nim heaps=4 play=misere": `game nim: its Spec must be "nim heaps=4 play=normal", found "nim heaps=4 play=misere"`,
		"nim play=normal heaps=4": `game nim: its Spec must be "nim heaps=4 play=normal", found "nim play=normal heaps=4"`,
		"nim heaps=4":             `game nim: its Spec must be "nim heaps=4 play=normal", found "nim heaps=4"`,
		"":                        `game nim: its Spec must be "nim heaps=4 play=normal", found ""`,
	} {
		kind := kinds()[0]
		kind.New = func([]int) (game.Game, error) { return named{spec: spec}, nil }
		for _, by := range []func() (game.Game, error){
			func() (game.Game, error) { return kind.Make([]int{4, 0}) },
			func() (game.Game, error) { return game.Kinds{kind}.Parse("nim heaps=4 play=normal") },
		} {
			g, err := by()
			if want == "" && (err != nil || g == nil) || want != "" && (g != nil || err == nil || err.Error() != want) {
				t.Errorf("%q: %v, %v, want %q", spec, g, err, want)
			}
		}
	}
	if g, err := kinds()[0].Make([]int{0, 0}); g != nil || err == nil || err.Error() != "nim: heaps must be at least 1, found 0" {
		t.Errorf("no heaps: %v, %v", g, err)
	}
}

// Value and Text are inverses of each other.
func TestParam(t *testing.T) {
	for _, p := range kinds()[0].Params {
		for _, value := range []int{0, 1} {
			if got, err := p.Value(p.Text(value)); err != nil || got != value {
				t.Errorf("%s: %q is %d, %v, want %d", p.Name, p.Text(value), got, err, value)
			}
		}
	}
}

func TestKindsNamed(t *testing.T) {
	if k, ok := kinds().Named("go9"); !ok || k.Name != "go9" {
		t.Errorf("go9: %q, %v", k.Name, ok)
	}
	if k, ok := kinds().Named("go"); ok {
		t.Errorf("go: %q", k.Name)
	}
	if got := kinds().Names(); !slices.Equal(got, []string{"nim", "go9"}) {
		t.Errorf("%q", got)
	}
}

// TestKindsCheck changes one thing at a time in a valid list.
func TestKindsCheck(t *testing.T) {
	must.OK(t, kinds().Check())
	for want, change := range map[string]func(ks game.Kinds) game.Kinds{
		"no games":                             func(game.Kinds) game.Kinds { return nil },
		`game "Nim": its name`:                 func(ks game.Kinds) game.Kinds { ks[0].Name = "Nim"; return ks },
		`game "": its name`:                    func(ks game.Kinds) game.Kinds { ks[1].Name = ""; return ks },
		"game nim is given twice":              func(ks game.Kinds) game.Kinds { return append(ks, ks[0]) },
		"game go9: it has no New":              func(ks game.Kinds) game.Kinds { ks[1].New = nil; return ks },
		`parameter "the heaps": its name`:      func(ks game.Kinds) game.Kinds { ks[0].Params[0].Name = "the heaps"; return ks },
		`parameter "last-round": its name`:     func(ks game.Kinds) game.Kinds { ks[0].Params[0].Name = "last-round"; return ks },
		`parameter "heaps": it is given twice`: func(ks game.Kinds) game.Kinds { ks[0].Params[1].Name = "heaps"; return ks },
		"its default is word 2 of 2":           func(ks game.Kinds) game.Kinds { ks[0].Params[1].Default = 2; return ks },
		"its default is word -1 of 2":          func(ks game.Kinds) game.Kinds { ks[0].Params[1].Default = -1; return ks },
		"its default is word 1 of 0":           func(ks game.Kinds) game.Kinds { ks[0].Params[1].Words = []string{}; return ks },
		`word "a b": expected`:                 func(ks game.Kinds) game.Kinds { ks[0].Params[1].Words = []string{"a b", "c"}; return ks },
		`word "c": expected`:                   func(ks game.Kinds) game.Kinds { ks[0].Params[1].Words = []string{"c", "c"}; return ks },
	} {
		if err := change(kinds()).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzKindsParse checks that a parsed game has the Spec that was parsed.
func FuzzKindsParse(f *testing.F) {
	f.Add("nim heaps=4 play=misere")
	f.Add("nim heaps=-4 play=normal")
	f.Add("go9")
	f.Fuzz(func(t *testing.T, spec string) {
		g, err := kinds().Parse(spec)
		if err != nil {
			return
		}
		if again, err := kinds().Parse(g.Spec()); err != nil || again.Spec() != g.Spec() {
			t.Errorf("%q: %v", spec, err)
		}
	})
}

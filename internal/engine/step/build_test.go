package step

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/dodgem"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestCompareBuilds checks which differences between builds are errors.
func TestCompareBuilds(t *testing.T) {
	info := func(main string, deps []*debug.Module, settings ...debug.BuildSetting) string {
		return strings.Join(sources(&debug.BuildInfo{Main: debug.Module{Path: "external", Version: main}, Deps: deps, Settings: settings}), ",")
	}
	vcs := func(revision, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	with := func(version string) []*debug.Module {
		return []*debug.Module{{Path: module, Version: version}, {Path: "example.com/other", Version: version}}
	}
	replaced := []*debug.Module{{Path: module, Version: "v0.0.0", Replace: &debug.Module{Path: "../treereduce"}}}
	clean := info("v0.1.0", with("v1.0.0"), vcs("abc", "false")...)
	for name, test := range map[string]struct {
		driver, own string
		differ      string // "" if they do not differ
	}{
		"the same":                 {clean, clean, ""},
		"another revision":         {clean, info("v0.1.0", with("v1.0.0"), vcs("def", "false")...), "(vcs.revision abc in the driver, def here)"},
		"modified":                 {clean, info("v0.1.0+dirty", with("v1.0.0"), vcs("abc", "true")...), ""},
		"another version of ours":  {clean, info("v0.1.0", with("v1.0.1"), vcs("abc", "false")...), "(" + module + " v1.0.0 in the driver, v1.0.1 here)"},
		"another version of it":    {info("v0.1.0", nil), info("v0.2.0", nil), "(external v0.1.0 in the driver, v0.2.0 here)"},
		"-buildvcs=off":            {clean, info("(devel)", with("v1.0.0")), ""},
		"go run of the driver":     {info("(devel)", with("v1.0.0")), clean, ""},
		"a replaced module":        {info("", replaced), clean, ""},
		"no build information":     {"", clean, ""},
		"another build's property": {"future=1", clean, ""},
	} {
		err := compareBuilds(test.driver, test.own)
		switch {
		case test.differ == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.differ != "" && (err == nil || !strings.Contains(err.Error(), test.differ) || !strings.HasSuffix(err.Error(), ": rebuild driver, mapper and reducer together: make build")):
			t.Errorf("%s: %v, want %s", name, err, test.differ)
		}
	}
}

// TestBuildOfRules checks that the tasks of every job have the property of the build, and that a
// difference of one move in the rules is noticed.
func TestBuildOfRules(t *testing.T) {
	for _, kind := range []game.Kind{connectn.Kind, mnk.Kind, dodgem.Kind} {
		g := must.Get(kind.Default())(t)
		ps := Properties(g)
		i := slices.IndexFunc(ps, func(p Property) bool { return p.Name == BuildProperty })
		if i < 0 {
			t.Fatalf("%s: no build among %v", g.Spec(), ps)
		}
		if err := CheckRules(g, ps[i].Value); err != nil {
			t.Errorf("%s: %v", g.Spec(), err)
		}
		sampled := &asked{Game: g}
		rulesSum(sampled)
		if err := CheckRules(sameMove{g, sampled.positions}, ps[i].Value); err == nil || !strings.Contains(err.Error(), "(rules ") {
			t.Errorf("%s with other successors: %v", g.Spec(), err)
		}
		if err := CheckRules(fewerMoves{g}, ps[i].Value); err == nil || !strings.Contains(err.Error(), "(rules ") {
			t.Errorf("%s with other rules: %v", g.Spec(), err)
		}
	}
}

// fewerMoves are rules that omit the last move of a position with several.
type fewerMoves struct{ game.Game }

func (f fewerMoves) Moves(dst []game.Move, p game.Position) []game.Move {
	moves := f.Game.Moves(dst, p)
	return moves[:max(len(dst)+1, len(moves)-1)]
}

// asked lists the positions whose moves were asked for.
type asked struct {
	game.Game
	positions []game.Position
}

func (a *asked) Moves(dst []game.Move, p game.Position) []game.Move {
	a.positions = append(a.positions, p)
	return a.Game.Moves(dst, p)
}

// sameMove are rules by which all moves of a position lead to the one that follows it in positions, so
// that the same positions are sampled. The position is the last one that occurs once and has several
// moves.
type sameMove struct {
	game.Game
	positions []game.Position
}

func (s sameMove) Moves(dst []game.Move, p game.Position) []game.Move {
	n := len(dst)
	dst = s.Game.Moves(dst, p)
	for i := len(s.positions) - 2; i >= 0; i-- {
		at, next := s.positions[i], s.positions[i+1]
		if len(s.Game.Moves(nil, at)) < 2 || slices.Index(s.positions, at) < i || slices.Contains(s.positions[i+1:], at) {
			continue
		}
		for j := range dst[n:] {
			if p == at {
				dst[n+j].To = next
			}
		}
		break
	}
	return dst
}

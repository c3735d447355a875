package measure

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// made returns a game and its kind.
func made(t *testing.T, spec string) (game.Kind, game.Game) {
	t.Helper()
	kind, _ := all.Kinds().Named(strings.Fields(spec)[0])
	return kind, must.Get(all.Kinds().Parse(spec))(t)
}

// TestSmaller checks that smaller boards lead to the game: each next one is larger in one parameter, and the length of
// a line stays.
func TestSmaller(t *testing.T) {
	for spec, want := range map[string]string{
		"connectn width=7 height=6 connect=4": "3×4 4×4 4×5 5×5 5×6 6×6",
		"connectn width=3 height=6 connect=3": "2×3 3×3 3×4 3×5",
		"mnk width=3 height=3 connect=3":      "2×3",
	} {
		kind, g := made(t, spec)
		var got []string
		for _, board := range smaller(kind, g) {
			title := game.TitleOf(board)
			got = append(got, title[strings.LastIndex(title, " ")+1:])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
	kind, g := made(t, "mancala pits=2 stones=1")
	if boards := smaller(kind, g); len(boards) != 1 || boards[0].Spec() != "mancala pits=1 stones=1" {
		t.Errorf("%v", boards)
	}
}

// TestAllowed checks the promise that a plan takes at most ten seconds, and less than a tenth of a solve of more than
// ten seconds.
func TestAllowed(t *testing.T) {
	for _, seconds := range []float64{0, 1, 10, 11, 50, 100, 1e3, 1e9} {
		if of := allowed(seconds); of < time.Second || of >= 10*time.Second || seconds > 10 && of.Seconds() > seconds/10 {
			t.Errorf("a solve of %v s: %v", seconds, of)
		}
	}
}

// TestPlan checks plans with each method: the rate is that of a board that was solved, the counts are those asked for.
func TestPlan(t *testing.T) {
	here := plan.Where{Runner: plan.Inline, Nodes: 1, Cores: 2}
	for spec, positions := range map[string]float64{
		"connectn width=4 height=4 connect=4":   161_029,
		"mnk width=3 height=3 connect=3":        765,
		"quickcross width=3 height=3 connect=3": 1_359,
		"mills men=3":                           731,
		"mancala pits=3 stones=2":               4_726,
	} {
		kind, g := made(t, spec)
		p := must.Get(Plan(t.Context(), kind, g, here, count.Options{}))(t)
		if p.How != count.Exact || p.Total.Positions != positions || p.Total.CPUHours <= 0 || p.Rate.Cores < 1 || !strings.HasPrefix(p.Rate.On, kind.Name+" ") {
			t.Errorf("%s: %+v, %+v", spec, p.Total, p.Rate)
		}
	}
	kind, g := made(t, "connectn width=6 height=5 connect=4")
	o := count.Options{Draws: 3000, Seed: 3, Exact: 50_000}
	p, counts := must.Get(Plan(t.Context(), kind, g, here, o))(t), must.Get(count.Of(t.Context(), g, o))(t)
	if p.Note != counts.Note || p.Rate.Seconds <= 0 {
		t.Errorf("%s, %+v, want %s", p.Note, p.Rate, counts.Note)
	}
	kind, g = made(t, "dodgem size=5")
	if p := must.Get(Plan(t.Context(), kind, g, here, count.Options{Draws: 1, Exact: 1000}))(t); p.How != count.AtLeast || p.Rate.Seconds != 0 {
		t.Errorf("a lower bound: %+v", p.Rate)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Plan(ctx, kind, g, here, count.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestSlice checks that a board that takes too long is stopped, and a caller that stops is obeyed.
func TestSlice(t *testing.T) {
	_, g := made(t, "connectn width=7 height=6 connect=4")
	if _, work, whole, err := solved(t.Context(), g, 0); whole || err != nil || work <= 0 {
		t.Errorf("%v, %v, %v", work, whole, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, _, err := solved(ctx, g, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

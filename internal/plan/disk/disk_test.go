package disk

import (
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestBound checks that the bound of the disk usage is at least what was measured on solved
// boards, those of Connect N before their tables were compact, and less than ten times that.
func TestBound(t *testing.T) {
	for _, test := range []struct {
		spec string
		o    solve.Options
		took float64
	}{
		{"connectn width=5 height=5 connect=4", solve.Options{UntilTier: -1}, 42_654_511},
		{"connectn width=6 height=6 connect=4", solve.Options{UntilTier: -1}, 45.7e9},
		{"connectn width=5 height=5 connect=4", solve.Options{UntilTier: 3}, 0},
		{"mnk width=4 height=4 connect=3", solve.Options{UntilTier: -1}, 0},
	} {
		g := solved.Game(t, test.spec)
		if n := Bound(g, &test.o); n < test.took || n > 10*test.took {
			t.Errorf("%s, until %d: %.3g bytes, it took %.3g", test.spec, test.o.UntilTier, n, test.took)
		}
	}
}

// TestPlanned checks that the plan gives a closer estimate than the bound, with a margin:
// for 7×6 connect 4, at least the table of 126 GB, and less than a tenth of the bound.
func TestPlanned(t *testing.T) {
	g, err := all.Kinds().Parse("connectn width=7 height=6 connect=4")
	must.OK(t, err)
	o := solve.Options{UntilTier: -1}
	bound := Bound(g, &o)
	const least = 126e9
	if n, err := Planned(t.Context(), g, &o, bound); err != nil || n < least || n > bound/10 {
		t.Errorf("%.3g bytes, %v; it cannot be less than %.3g, and %.3g are the bound", n, err, least, bound)
	}
	o.KeepAll = true
	if n, err := Planned(t.Context(), g, &o, bound); err != nil || n != bound {
		t.Errorf("with all that is kept %.3g bytes, %v, want the bound", n, err)
	}
	g = solved.Game(t, "connectn width=5 height=5 connect=4")
	const took = 4_458_011
	if n, err := Planned(t.Context(), g, &solve.Options{UntilTier: -1}, bound); err != nil || n < 1.15*took {
		t.Errorf("5×5: %.4g bytes, %v; a run took %.4g, which leaves no margin", n, err, float64(took))
	}
}

// TestPlannedEmptyTiers checks the estimate of a game that ends with the first move, for which solve
// could not compute the space.
func TestPlannedEmptyTiers(t *testing.T) {
	g := solved.Game(t, "connectn width=7 height=6 connect=1")
	o := solve.Options{UntilTier: -1}
	if n, err := Planned(t.Context(), g, &o, Bound(g, &o)); err != nil || !(n > 0 && n < 1e6) {
		t.Errorf("%v bytes, %v", n, err)
	}
}

// TestText checks that both estimates include final if the run writes it. With 161,029 positions,
// 4×4 connect 4 has 3,478,515 bytes of it.
func TestText(t *testing.T) {
	for spec, took := range map[string]float64{"connectn width=4 height=4 connect=4": 3_478_515} {
		g := solved.Game(t, spec)
		without := Bound(g, &solve.Options{Final: solve.FinalNo, UntilTier: -1})
		for _, final := range []solve.Final{solve.FinalYes, solve.FinalAuto} {
			o := solve.Options{Final: final, UntilTier: -1}
			bound := Bound(g, &o)
			n, err := Planned(t.Context(), g, &o, bound)
			if err != nil || n < took || bound < without+took {
				t.Errorf("%s, %s: %.4g bytes, at most %.4g, %v; without final at most %.4g, final has %.4g", spec, final, n, bound, err, without, took)
			}
		}
	}
}

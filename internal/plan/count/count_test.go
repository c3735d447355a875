package count

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// of counts a game.
func of(t testing.TB, g game.Game, o Options) *Counts {
	t.Helper()
	return must.Get(Of(context.Background(), g, o))(t)
}

// positions returns the numbers of positions by tier.
func positions(c *Counts) (all []float64) {
	for _, tier := range c.Tiers {
		all = append(all, tier.Positions)
	}
	return all
}

// Small games are counted exactly: the published numbers, with all images.
func TestExact(t *testing.T) {
	for spec, want := range map[string]float64{
		"connectn width=2 height=2 connect=2":   13,
		"connectn width=3 height=3 connect=3":   694,
		"connectn width=4 height=3 connect=3":   7_157,
		"connectn width=3 height=4 connect=3":   2_715,
		"connectn width=4 height=5 connect=3":   195_472,
		"connectn width=4 height=4 connect=4":   161_029,
		"quickcross width=2 height=3 connect=2": 349,
		"quickcross width=3 height=3 connect=3": 18_753,
		"mnk width=3 height=3 connect=3":        5_478,
		"mills men=3":                           5_262,
	} {
		c := of(t, solved.Game(t, spec), Options{})
		if c.Sum.Images != want || !c.Sum.Exact() || c.How != Exact || c.Sum.Error() != 0 {
			t.Errorf("%s: %+v by %v, want %.0f", spec, c.Sum, c.How, want)
		}
	}
}

// For random games, whose moves skip tiers or form cycles, and for our games, the count agrees
// with a plain search.
func TestExactSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 50 {
		g := testgames.RandomAcyclic(r, 100)
		if c, want := of(t, g, Options{Workers: 2}), len(gametest.Search(g)); c.Sum.Positions != float64(want) || c.How != Exact {
			t.Errorf("%s: %v positions, want %d", g.Spec(), c.Sum.Positions, want)
		}
		graph := testgames.RandomGraph(r, 50)
		if c, want := of(t, graph, Options{Exact: 1000}), len(gametest.Search(graph)); c.Sum.Positions != float64(want) || c.How != Exact {
			t.Errorf("%+v: %v positions, want %d", graph, c.Sum.Positions, want)
		}
	}
	for _, spec := range []string{"mancala pits=3 stones=2", "mancala pits=2 stones=4"} {
		g := solved.Game(t, spec)
		if c, want := of(t, g, Options{}), len(gametest.Search(g)); c.Sum.Positions != float64(want) {
			t.Errorf("%s: %v positions, want %d", spec, c.Sum.Positions, want)
		}
	}
}

// The tiers of Quick Cross have a number of pieces each. Positions are canonical ones, with their distinct successors.
func TestExactCanonical(t *testing.T) {
	c := of(t, solved.Game(t, "quickcross width=3 height=3 connect=3"), Options{})
	images := []float64{1, 18, 144, 672, 2016, 4032, 5320, 4344, 1890, 316}
	for i, tier := range c.Tiers {
		if tier.Images != images[i] {
			t.Errorf("tier %d: %v with their images, want %v", i, tier.Images, images[i])
		}
	}
	if want := []float64{1, 3, 16, 54, 154, 286, 373, 305, 137, 30}; !slices.Equal(positions(c), want) || c.Sum.Moves != 9_108 || c.Sum.Won != 553 {
		t.Errorf("%v, %+v, want %v", positions(c), c.Sum, want)
	}
	// By its rules alone, the game has one tier, without images.
	plain := of(t, struct{ game.Game }{solved.Game(t, "quickcross width=3 height=3 connect=3")}, Options{})
	if !slices.Equal(positions(plain), []float64{18_753}) || plain.Sum.Moves != 140_200 || plain.Sum.Won != 7_628 || plain.How != Exact {
		t.Errorf("by its rules: %+v", plain.Sum)
	}
}

// The 95 % interval contains the true number for at least 90 of 100 seeds: for the sum and,
// apart from chance, for each tier. The means of Won and Moves are correct.
func TestIntervals(t *testing.T) {
	intervals(t, 6_000, "connectn width=4 height=4 connect=4", "quickcross width=3 height=3 connect=3", "mnk width=3 height=3 connect=3")
}

func TestLongIntervals(t *testing.T) {
	longtest.Skip(t)
	intervals(t, 8_000, "connectn width=4 height=5 connect=3", "connectn width=5 height=4 connect=3", "connectn width=3 height=5 connect=2",
		"quickcross width=4 height=3 connect=3", "mnk width=4 height=3 connect=3")
}

// intervals counts games both exactly and by sampling all but the first positions.
func intervals(t *testing.T, draws int64, specs ...string) {
	const seeds, least, leastTier = 100, 90, 87 // with this many tiers, one may be below 90 by chance
	for _, spec := range specs {
		g := solved.Game(t, spec)
		truth := of(t, g, Options{Time: time.Hour})
		sum, within := 0, make([]int, len(truth.Tiers))
		won, moves := 0.0, 0.0
		for seed := range uint64(seeds) {
			c := of(t, g, Options{Exact: 10, Draws: draws, Seed: seed})
			if c.How != Sampled || len(c.Tiers) != len(truth.Tiers) || c.Sum.Draws != draws {
				t.Fatalf("%s: %v, %d tiers, %d draws, want %d tiers", spec, c.How, len(c.Tiers), c.Sum.Draws, len(truth.Tiers))
			}
			if holds(c.Sum, truth.Sum) {
				sum++
			}
			for i, tier := range c.Tiers {
				if holds(tier, truth.Tiers[i]) {
					within[i]++
				}
			}
			won += c.Sum.Won / seeds / truth.Sum.Won
			moves += c.Sum.Moves / seeds / truth.Sum.Moves
		}
		t.Logf("%s: sum %d, tiers %v, won %.4f, moves %.4f", spec, sum, within, won, moves)
		if sum < least || slices.Min(within) < leastTier {
			t.Errorf("%s: the interval of the sum holds in %d of %d seeds, those of the tiers in %v", spec, sum, seeds, within)
		}
		if math.Abs(won-1) > 0.01 || math.Abs(moves-1) > 0.01 {
			t.Errorf("%s: won are %.4f of the truth, moves %.4f", spec, won, moves)
		}
	}
}

// holds reports whether an interval contains the true number.
func holds(found, truth Tier) bool {
	return found.Low <= truth.Positions && truth.Positions <= found.High
}

// The sum is correct for any limit on enumerated positions, up to the last tier.
func TestAnyLimit(t *testing.T) {
	for _, spec := range []string{"connectn width=3 height=3 connect=3", "quickcross width=3 height=3 connect=3"} {
		g := solved.Game(t, spec)
		truth := of(t, g, Options{Time: time.Hour})
		for exact := int64(1); exact < int64(truth.Sum.Positions)+2; exact += 23 {
			c := of(t, g, Options{Exact: exact, Draws: 3_000, Seed: 2})
			if c.Sum.Low > truth.Sum.Positions*1.01 || c.Sum.High < truth.Sum.Positions*0.99 || c.Sum.Error() > 0.1 || len(c.Tiers) < len(truth.Tiers) {
				t.Errorf("%s, from %d positions on: %+v, want %v", spec, exact, c.Sum, truth.Sum.Positions)
			}
		}
		few := of(t, g, Options{Exact: int64(truth.Sum.Positions) - 1, Draws: 100})
		if !holds(few.Sum, truth.Sum) || math.IsNaN(few.Sum.Moves) {
			t.Errorf("%s, all but the last position counted, and few draws: %+v", spec, few.Sum)
		}
	}
}

// The samples do not depend on the number of workers, but on the seed.
func TestWorkers(t *testing.T) {
	g := solved.Game(t, "connectn width=5 height=5 connect=4")
	o := Options{Exact: 1000, Draws: 10_000, Seed: 7, Workers: 1}
	one := of(t, g, o)
	o.Workers = 3
	if three := of(t, g, o); !reflect.DeepEqual(one, three) {
		t.Errorf("%+v with one worker, %+v with three", one.Sum, three.Sum)
	}
	o.Seed = 8
	if other := of(t, g, o); other.Sum.Positions == one.Sum.Positions {
		t.Error("another seed draws the same")
	}
}

// Samples drawn within a time limit can be reproduced by their number.
func TestRepeat(t *testing.T) {
	g := solved.Game(t, "connectn width=5 height=5 connect=4")
	timed := of(t, g, Options{Exact: 1000, Time: 50 * time.Millisecond, Seed: 3})
	if again := of(t, g, Options{Exact: 1000, Draws: timed.Sum.Draws, Seed: 3}); !reflect.DeepEqual(timed, again) {
		t.Errorf("%+v in some time, %+v by number", timed.Sum, again.Sum)
	}
}

// A tier without hits is reported: its positions are between 0 and a bound, and the note names
// it.
func TestNeverHit(t *testing.T) {
	// There is no full board of 7×6 without two in a row, and there are hardly any with one
	// piece less.
	g := solved.Game(t, "connectn width=7 height=6 connect=2")
	c := of(t, g, Options{Exact: 1000, Draws: 20_000})
	last := c.Tiers[42]
	if last.Positions != 0 || last.Low != 0 || last.High <= 0 || last.High > g.(game.Blockwise).Slots(42) || last.Exact() {
		t.Errorf("the last tier: %+v", last)
	}
	if !strings.Contains(c.Note, " without a hit, of which only the upper bound is known") {
		t.Errorf("the note %q does not say that tiers have no hit", c.Note)
	}
	if c.Sum.High < c.Sum.Positions+last.High/2 {
		t.Errorf("the bound on the last tier, %g, is not in that of the sum: %+v", last.High, c.Sum)
	}
}

// The count of a game that cannot be sampled, and has too many positions, is marked as a lower bound, and is below the true
// number and the upper bound.
func TestAtLeast(t *testing.T) {
	for _, spec := range []string{"dodgem size=4"} {
		g := solved.Game(t, spec)
		truth := of(t, g, Options{Time: time.Hour})
		c := of(t, g, Options{Exact: 100})
		if truth.How != Exact || c.How != AtLeast || !strings.Contains(c.Note, "there may be many more") {
			t.Fatalf("%s: %v, %v, %q", spec, truth.How, c.How, c.Note)
		}
		if c.Sum.Low != c.Sum.Positions || c.Sum.Positions >= truth.Sum.Positions || c.Sum.High < truth.Sum.Positions || c.Sum.Positions < 50 {
			t.Errorf("%s: %+v, of %.0f", spec, c.Sum, truth.Sum.Positions)
		}
		if len(c.Tiers) == len(truth.Tiers) {
			for i, tier := range c.Tiers {
				if !holds(tier, truth.Tiers[i]) {
					t.Errorf("%s: tier %d is %+v, of %.0f", spec, i, tier, truth.Tiers[i].Positions)
				}
			}
		}
	}
}

// The time limit also applies to the enumeration, with and without cycles; the positions
// found by then are a lower bound.
func TestTime(t *testing.T) {
	for _, spec := range []string{"dodgem size=5", "mancala pits=5 stones=4"} {
		g := solved.Game(t, spec)
		begun := time.Now()
		c := of(t, g, Options{Time: 300 * time.Millisecond})
		// Without a limit, it takes more than a minute, also on an idle machine.
		if took := time.Since(begun); c.How != AtLeast || took > time.Minute {
			t.Errorf("%s: %v after %v", spec, c.How, took)
		}
		if c.Sum.Positions < 100 || c.Sum.Low != c.Sum.Positions || !strings.Contains(c.Note, "there may be many more") {
			t.Errorf("%s: %+v, %s", spec, c.Sum, c.Note)
		}
		few := of(t, g, Options{Exact: 1000})
		for i, tier := range few.Tiers {
			if i < len(c.Tiers) && tier.Exact() && c.Tiers[i].Exact() && tier.Positions != c.Tiers[i].Positions {
				t.Errorf("%s: tier %d has %v positions, %v where fewer were counted", spec, i, c.Tiers[i].Positions, tier.Positions)
			}
		}
	}
}

// A count stops if its context is cancelled, and rejects negative options.
func TestStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	for _, spec := range []string{"connectn width=7 height=6 connect=4", "mancala pits=4 stones=4", "network"} {
		if spec == "network" && !slices.Contains(all.Kinds().Names(), spec) {
			continue
		}
		if _, err := Of(ctx, solved.Game(t, spec), Options{}); err != context.Canceled {
			t.Errorf("%s: %v after it was cancelled", spec, err)
		}
	}
	for _, o := range []Options{{Time: -1}, {Draws: -1}, {Exact: -1}, {Workers: -1}} {
		if _, err := Of(context.Background(), solved.Game(t, "dodgem size=2"), o); err == nil || !strings.Contains(err.Error(), "must not be negative") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Progress is reported from start to end.
func TestProgress(t *testing.T) {
	var reported []string
	last := 0.0
	of(t, solved.Game(t, "connectn width=5 height=5 connect=4"), Options{Exact: 1000, Draws: 15_000, Progress: func(doing string, share float64) {
		if len(reported) == 0 || reported[len(reported)-1] != doing {
			reported, last = append(reported, doing), 0
		}
		if share < last || share > 1 {
			t.Errorf("%s: %v after %v", doing, share, last)
		}
		last = share
	}})
	if want := []string{"counting positions", "drawing boards"}; !slices.Equal(reported, want) || last < 0.5 {
		t.Errorf("%q, at last %v", reported, last)
	}
}

// Boards as large as those that we solve, and larger ones: all published numbers, except for one or two, are
// within their intervals, and the errors are as small as promised. Boards of more than 45 squares have a tier
// with a larger one.
func TestLongPublished(t *testing.T) {
	longtest.Skip(t)
	missed := 0
	for board, want := range published {
		g := must.Get(all.Kinds()[0].Make([]int{board[0], board[1], 4}))(t)
		c := of(t, g, Options{Draws: 300_000, Exact: 50_000, Seed: 1})
		if !holds(c.Sum, Tier{Positions: want}) {
			missed++
		}
		worst := slices.MaxFunc(c.Tiers, func(a, b Tier) int { return int(math.Copysign(1, a.Error()-b.Error())) })
		t.Logf("%d×%d: %+.3f %% off, %s", board[0], board[1], 100*(c.Sum.Positions/want-1), c.Note)
		most := 0.05
		if board[0]*board[1] > 45 {
			most = 0.06
		}
		if off := math.Abs(c.Sum.Positions/want - 1); off > 0.02 || c.Sum.Error() > 0.02 || worst.Error() > most {
			t.Errorf("%d×%d: the sum is %.2f %% off, within %.2f %%, tier %d within %.1f %%", board[0], board[1], 100*off, 100*c.Sum.Error(), worst.Tier, 100*worst.Error())
		}
	}
	if missed > 3 {
		t.Errorf("%d of %d intervals do not hold", missed, len(published))
	}
}

// 7×6 and 6×6 tier by tier, and the won positions of 6×6.
func TestLongTiers(t *testing.T) {
	longtest.Skip(t)
	g := solved.Game(t, "connectn width=7 height=6 connect=4")
	c := of(t, g, Options{Draws: 500_000, Exact: 50_000, Seed: 3})
	missed := 0
	for i, want := range sevenBySix {
		if !holds(c.Tiers[i], Tier{Positions: want}) {
			missed++
		}
		if off := math.Abs(c.Tiers[i].Positions/want - 1); off > 0.05 || c.Tiers[i].Error() > 0.05 {
			t.Errorf("7×6: tier %d is %.0f (%.1f %% off, within %.1f %%), want %.0f", i, c.Tiers[i].Positions, 100*off, 100*c.Tiers[i].Error(), want)
		}
	}
	if missed > 6 {
		t.Errorf("7×6: %d of %d intervals do not hold", missed, len(sevenBySix))
	}
	t.Logf("7×6: %+.3f %% off, %d tiers missed; %s", 100*(c.Sum.Positions/4_531_985_219_092-1), missed, c.Note)
	c = of(t, solved.Game(t, "connectn width=6 height=6 connect=4"), Options{Draws: 500_000, Exact: 50_000, Seed: 3})
	missed = 0
	for i, want := range sixBySix {
		tier := c.Tiers[i]
		if !holds(tier, Tier{Positions: want[0]}) {
			missed++
		}
		if off := math.Abs(tier.Won - want[1]); off > 0.03*want[0] && i < len(sixBySix)-1 {
			t.Errorf("6×6: %.0f of tier %d are won, want %.0f", tier.Won, i, want[1])
		}
	}
	if missed > 5 {
		t.Errorf("6×6: %d of %d intervals do not hold", missed, len(sixBySix))
	}
}

// TestBrief checks that a brief count ends once the counts are precise, and after the same
// samples every time.
func TestBrief(t *testing.T) {
	g := solved.Game(t, "connectn width=5 height=5 connect=4")
	brief := Options{Exact: 10_000, Time: time.Hour, Brief: true}
	c := of(t, g, brief)
	if !precise(c) || c.Sum.Draws > 10_000_000 {
		t.Errorf("%s", c.Note)
	}
	brief.Workers = 1
	if again := of(t, g, brief); again.Sum != c.Sum {
		t.Errorf("%+v, then %+v", c.Sum, again.Sum)
	}
}

// TestBrief55 checks that a brief count looks at few of the positions of a game that is sampled: it must not
// take longer than to solve the game.
func TestBrief55(t *testing.T) {
	c, exact := of(t, solved.Game(t, "connectn width=5 height=5 connect=4"), Options{Seed: 1, Time: time.Hour, Brief: true}), 0.0
	for _, tier := range c.Tiers {
		if tier.Exact() {
			exact += tier.Positions
		}
	}
	if c.How != Sampled || !precise(c) || exact > c.Sum.Positions/50 || c.Sum.Draws > 300_000 {
		t.Errorf("%v: %.0f positions are counted, %d boards drawn: %s", c.How, exact, c.Sum.Draws, c.Note)
	}
}

// TestImprecise checks that the note has no error of more than 100 %.
func TestImprecise(t *testing.T) {
	c := of(t, solved.Game(t, "connectn width=7 height=6 connect=4"), Options{Exact: 1000, Draws: 1})
	if c.Sum.Error() <= 1 || !strings.Contains(c.Note, "the sum is at most ") {
		t.Errorf("%v: %s", c.Sum.Error(), c.Note)
	}
}

// What sampling says of the rules' share of a tier, and of its stored half, is what enumeration says, which asks Deduce.
func TestShape(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=4", "connectn width=5 height=4 connect=3", "connectn width=3 height=8 connect=3"} {
		g := solved.Game(t, spec)
		whole, drawn := of(t, g, Options{Exact: 1 << 22}), of(t, g, Options{Draws: 30_000, Exact: 1000, Seed: 1})
		if whole.How != Exact || drawn.How != Sampled {
			t.Fatalf("%s: %v and %v", g.Spec(), whole.How, drawn.How)
		}
		for what, number := range map[string]func(Tier) float64{
			"ends":         func(t Tier) float64 { return t.Ends },
			"lost":         func(t Tier) float64 { return t.Lost },
			"absent":       func(t Tier) float64 { return t.Absent },
			"stored cells": func(t Tier) float64 { return t.StoredCells },
			"stored slots": func(t Tier) float64 { return t.StoredSlots },
		} {
			sampled, exact := 0.0, 0.0
			for i := range whole.Tiers {
				sampled, exact = sampled+number(drawn.Tiers[i]), exact+number(whole.Tiers[i])
			}
			t.Logf("%s, %s: %.0f sampled, %.0f enumerated", g.Spec(), what, sampled, exact)
			if exact == 0 || math.Abs(sampled/exact-1) > 0.1 {
				t.Errorf("%s, %s: %.0f sampled, %.0f enumerated", g.Spec(), what, sampled, exact)
			}
		}
	}
}

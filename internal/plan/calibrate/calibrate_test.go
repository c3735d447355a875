package calibrate

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// The fit recovers the rates from the costs of games, and noise does not make rates negative.
func TestFit(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	// A machine that takes twice as long, and 4 ms per tier.
	truth := plan.Fastest()
	b := &truth.Blocks
	b.Tier = 0.004
	for _, rate := range []*float64{&b.Start, &b.Value, &b.Slot, &b.Range, &b.Image, &b.Table} {
		*rate *= 2
	}
	var boards [3]took
	var counts [3]*count.Counts
	for i, board := range [...][3]int{{3, 3, 3}, {4, 5, 4}, {4, 5, 3}} {
		g, err := connectn.Kind.Make(board[:])
		must.OK(t, err)
		if counts[i], err = count.Of(t.Context(), g, count.Options{Draws: 1000, Exact: 1000}); err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(g, counts[i], truth, plan.Where{Runner: plan.Inline, Machine: plan.Machine{Cores: 1}})
		must.OK(t, err)
		boards[i] = took{g: g, cpu: p.Total.CPUHours * 3600, tiers: len(p.Tiers)}
	}
	boards[0].cpu = 0.004 * float64(boards[0].tiers)
	r := plan.Fastest()
	must.OK(t, fitBlocks(r, boards, counts))
	near("tier", r.Blocks.Tier, 0.004)
	near("bit of a value", r.Blocks.Value, b.Value)
	near("slot", r.Blocks.Slot, b.Slot)
	near("range", r.Blocks.Range, b.Range)
	boards[1].cpu, boards[2].cpu = 0, 0
	if err := fitBlocks(r, boards, counts); err != nil || r.Blocks.Value <= 0 {
		t.Errorf("of noise: %+v, %v", r.Blocks, err)
	}

	lists := plan.Fastest().Lists
	lists.Tier, lists.Position, lists.Move, lists.Far = 0.01, 2*lists.Position, 2*lists.Move, 2*lists.Far
	of := func(tiers int, positions, moves float64) took {
		return took{tiers: tiers, positions: positions, moves: moves, cpu: lists.Tier*float64(tiers) + 1e-9*(lists.Position*positions+lists.Move*moves)}
	}
	fitLists(r, of(100, 0, 0), of(10, 1e6, 4e6))
	near("tier of lists", r.Lists.Tier, lists.Tier)
	near("position of lists", r.Lists.Position, lists.Position)
	near("move of lists", r.Lists.Move, lists.Move)
	near("far move of lists", r.Lists.Far, lists.Far)

	near("serial share", serial(10, 10*(0.1+0.9/4), 4), 0.1)
	near("serial share of noise", serial(10, 1, 4), 0.005)
}

// A busy machine is rejected, before and after the measurements.
func TestBusy(t *testing.T) {
	for _, shares := range [][]float64{{0.6}, {1, 0.6}} {
		n := 0
		probe := func() float64 { n++; return shares[min(n, len(shares))-1] }
		_, err := Machine(t.Context(), Options{Time: time.Second, Dir: t.TempDir(), Self: []string{"true"}, Probe: probe})
		if err == nil || !strings.Contains(err.Error(), "this machine is busy: ") || !strings.Contains(err.Error(), "60%") || n != len(shares) {
			t.Errorf("%v, after %d probes", err, n)
		}
	}
	if share := Idle(); share <= 0 || share > 1 {
		t.Errorf("idle: %v", share)
	}
}

// TestThisMachine checks that this machine can be measured, and that the rates are valid.
func TestThisMachine(t *testing.T) {
	var shares []float64
	r, err := Machine(t.Context(), Options{Time: time.Second, Dir: t.TempDir(), Self: []string{"true"}, Probe: func() float64 { return 1 },
		Progress: func(_ string, share float64) { shares = append(shares, share) }})
	must.OK(t, err)
	if r.Measured.Before(time.Now().Add(-time.Hour)) || r.Cores < 1 || len(shares) != 5 || shares[0] != 0 {
		t.Errorf("%+v, %v", r, shares)
	}
	if builtin := plan.Builtin(); r.Lists == builtin.Lists || r.Blocks == builtin.Blocks || r.States.Move == builtin.States.Move || r.Disk == builtin.Disk {
		t.Errorf("not measured: %+v", r)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Machine(ctx, Options{Time: time.Second, Dir: t.TempDir(), Self: []string{"true"}, Probe: func() float64 { return 1 }}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// The rates of a cluster are computed from the journals of three runs.
func TestCluster(t *testing.T) {
	run := func(cpu float64, jobs ...runner.Stats) Run {
		j := &solve.Journal{Jobs: []solve.JobRecord{{Job: "data_first3", Seconds: 9}}} // run by the driver itself
		for _, s := range jobs {
			j.Jobs = append(j.Jobs, solve.JobRecord{Job: "data_first17", Tier: 17, Seconds: 10, Stats: s})
		}
		return Run{j, cpu}
	}
	r := plan.Builtin()
	alone := 1e-9 * positionTime(r) * 6789890 / 2
	at := time.Now()
	err := Cluster(r, run(6, runner.Stats{Application: "a", Waiting: 7}, runner.Stats{Application: "b", Waiting: 6}, runner.Stats{Application: "c", Waiting: 8}),
		run(0, runner.Stats{Application: "d", Waiting: 12, CPU: 5, Programs: 1}),
		run(0, runner.Stats{Application: "e", Programs: 2 * alone, Counts: step.Counts{Records: 6789890}}), "hdfs://there", at)
	must.OK(t, err)
	c := r.Cluster
	if c.Uber != 7 || c.Client != 2 || c.Job != 12 || c.Task != 2 || math.Abs(c.Program-2) > 1e-9 || c.Name != "hdfs://there" || !c.Measured.Equal(at) {
		t.Errorf("%+v", c)
	}
	if err := Cluster(r, run(1), run(1), run(1), "", at); !errors.Is(err, ErrNoJobs) {
		t.Errorf("without jobs: %v", err)
	}
}

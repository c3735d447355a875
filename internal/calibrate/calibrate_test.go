package calibrate

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/plan"
	"github.com/treereduce/treereduce/solve"
)

// The rates come out by which the boards took what they took; of noise come no negative ones.
func TestFit(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	of := func(tiers int, positions, slots float64) took {
		return took{tiers: tiers, positions: positions, slots: slots, cpu: 0.004*float64(tiers) + 1e-9*(50*positions+0.7*slots)}
	}
	tiny, dense, sparse := of(10, 0, 0), of(26, 7e7, 1.7e8), of(26, 4e6, 1.7e8)
	_, tier, position, slot := fitBlocks(tiny, dense, sparse)
	near("tier", tier, 0.004)
	near("position", position, 50)
	near("slot", slot, 0.7)
	sparse.cpu = 0
	if _, _, position, slot := fitBlocks(tiny, dense, sparse); slot <= 0 || position <= 0 {
		t.Errorf("of noise: %v ns a position, %v a slot", position, slot)
	}
	near("serial share", serial(10, 10*(0.1+0.9/4), 4), 0.1)
	near("serial share of noise", serial(10, 1, 4), 0.005)
}

// This machine can be measured, and what comes of it holds.
func TestMachine(t *testing.T) {
	var shares []float64
	r, err := Machine(t.Context(), Options{Time: time.Second, Dir: t.TempDir(), Self: []string{"true"},
		Progress: func(_ string, share float64) { shares = append(shares, share) }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Measured.Before(time.Now().Add(-time.Hour)) || r.Cores < 1 || len(shares) != 5 || shares[0] != 0 {
		t.Errorf("%+v, %v", r, shares)
	}
	if builtin := plan.Builtin(); r.Lists.Row == builtin.Lists.Row || r.States.Move == builtin.States.Move || r.Disk == builtin.Disk {
		t.Errorf("not measured: %+v", r)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Machine(ctx, Options{Time: time.Second, Dir: t.TempDir(), Self: []string{"true"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// The rates of a cluster come out of the journals of three runs.
func TestCluster(t *testing.T) {
	g, err := connectn.New(5, 5, 4)
	if err != nil {
		t.Fatal(err)
	}
	run := func(cpu float64, jobs ...runner.Stats) Run {
		j := &solve.Journal{Jobs: []solve.JobRecord{{Job: "data_first3", Seconds: 9}}} // the driver's own
		for _, s := range jobs {
			j.Jobs = append(j.Jobs, solve.JobRecord{Job: "data_first17", Tier: 17, Seconds: 10, Stats: s})
		}
		return Run{j, cpu}
	}
	r := plan.Builtin()
	alone := 1e-9 * (r.Blocks.Position*6789890 + r.Blocks.Slot*g.Slots(17)) / 2
	at := time.Now()
	err = Cluster(r, run(6, runner.Stats{Application: "a", Waiting: 7}, runner.Stats{Application: "b", Waiting: 6}, runner.Stats{Application: "c", Waiting: 8}),
		run(0, runner.Stats{Application: "d", Waiting: 12, CPU: 5, Programs: 1}),
		run(0, runner.Stats{Application: "e", Programs: 2 * alone, Records: 6789890}), g, "hdfs://there", at)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Cluster
	if c.Uber != 7 || c.Client != 2 || c.Job != 12 || c.Task != 2 || math.Abs(c.Program-2) > 1e-9 || c.Name != "hdfs://there" || !c.Measured.Equal(at) {
		t.Errorf("%+v", c)
	}
	if err := Cluster(r, run(1), run(1), run(1), g, "", at); !errors.Is(err, ErrNoJobs) {
		t.Errorf("without jobs: %v", err)
	}
}

package plan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// recorded returns the counts of a board that was solved, from testdata.
func recorded(t testing.TB, name string, width, height, connect int) (game.Blockwise, *count.Counts) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", name+".txt")))(t)
	g := must.Get(connectn.New(width, height, connect))(t)
	c := &count.Counts{How: count.Exact, Note: "solved"}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var tier count.Tier
		if _, err := fmt.Sscan(line, &tier.Tier, &tier.Positions, &tier.Won, &tier.Cells, &tier.Slots,
			&tier.StoredCells, &tier.StoredSlots, &tier.Ends, &tier.Lost, &tier.Absent); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		tier.Low, tier.High = tier.Positions, tier.Positions
		c.Tiers = append(c.Tiers, tier)
		c.Sum.Positions += tier.Positions
	}
	if len(c.Tiers) != g.Tiers()+1 {
		t.Fatalf("%s: %d tiers, expected %d", name, len(c.Tiers), g.Tiers()+1)
	}
	c.Sum.Tier, c.Sum.Low, c.Sum.High = len(c.Tiers), c.Sum.Positions, c.Sum.Positions
	return g, c
}

// within requires that a planned number is within a factor of the measured one.
func within(t *testing.T, factor float64, what string, planned, measured float64) {
	t.Helper()
	if times := planned / measured; !(times < factor && times > 1/factor) {
		t.Errorf("%s: planned %.4g, measured %.4g: %.2f times, expected within %v", what, planned, measured, times, factor)
	}
}

// twoCores describes the machines on which the boards were solved.
func twoCores() plan.Where {
	return plan.Where{Runner: plan.Inline, Nodes: 1, Cores: 2, Memory: 24 << 30}
}

// Tables are within 5 % of the plan. The model is fitted to these boards and others.
// docs/plan.md lists boards that are farther off, among them tall ones of width 3.
func TestRecordedTables(t *testing.T) {
	for board, measured := range map[[3]int]float64{
		{4, 6, 4}: 1151410, {5, 5, 3}: 283548, {5, 5, 4}: 4443973, {7, 3, 4}: 1056061,
		{5, 6, 4}: 58533605, {4, 8, 4}: 81644621, {5, 8, 4}: 10.2e9,
		{6, 4, 4}: 4895157, {4, 7, 4}: 10962384, {7, 4, 3}: 2071736, {3, 12, 3}: 6154135, {5, 6, 3}: 1566506,
	} {
		g := must.Get(connectn.Kind.Make(board[:]))(t)
		counts := must.Get(count.Of(t.Context(), g, count.Options{Draws: 50_000, Exact: 400_000, Seed: 1}))(t)
		p := must.Get(plan.Make(g, counts, twoCores(), plan.Rate{}))(t)
		t.Logf("%s: planned %.4g, measured %.4g", g.Spec(), p.Total.KeptBytes, measured)
		within(t, 1.05, g.Spec()+", table", p.Total.KeptBytes, measured)
	}
	g, counts := recorded(t, "6x6", 6, 6, 4)
	p := must.Get(plan.Make(g, counts, twoCores(), plan.Rate{}))(t)
	within(t, 1.05, "6x6, table", p.Total.KeptBytes, 2.78e9)
}

// The size of data_first, and the disk at the peak of 6×5 with --memory 64M, most of which is the table.
func TestRecordedWork(t *testing.T) {
	for height, measured := range map[int]float64{4: 27563, 5: 697277} {
		name := fmt.Sprintf("5x%d", height)
		g, counts := recorded(t, name, 5, height, 4)
		p := must.Get(plan.Make(g, counts, twoCores(), plan.Rate{}))(t)
		within(t, 1.3, name+", data_first", p.Total.WorkBytes, measured)
	}
	g := must.Get(connectn.New(6, 5, 4))(t)
	counts := must.Get(count.Of(t.Context(), g, count.Options{Draws: 50_000, Exact: 400_000, Seed: 1}))(t)
	p := must.Get(plan.Make(g, counts, twoCores(), plan.Rate{}))(t)
	within(t, 1.15, "6x5, data_first", p.Total.WorkBytes, 13_910_860)
	within(t, 1.15, "6x5, peak", p.Total.PeakBytes, 173.8e6)
}

// The tables of games solved by layers, and the disk space of those with inner moves. The model is fitted to m,n,k, Mancala
// with three pits, and Dodgem.
func TestRecordedOthers(t *testing.T) {
	for spec, of := range map[string]struct{ times, table, peak float64 }{
		"mnk width=4 height=4 connect=3":        {1.1, 714_090, 0},
		"mancala pits=3 stones=5":               {1.1, 1_108_613, 0},
		"mancala pits=4 stones=2":               {1.1, 658_036, 0},
		"dodgem size=4":                         {1.5, 248_659, 18_432_177},
		"quickcross width=4 height=3 connect=3": {3, 19_862, 1_508_826},
	} {
		g := must.Get(all.Kinds().Parse(spec))(t)
		counts := must.Get(count.Of(t.Context(), g, count.Options{Draws: 50_000, Exact: 5_000_000}))(t)
		p := must.Get(plan.Make(g, counts, twoCores(), plan.Rate{}))(t)
		within(t, of.times, spec+", table", p.Total.KeptBytes, of.table)
		if of.peak > 0 {
			within(t, 1.3, spec+", peak", p.Total.PeakBytes, of.peak)
		}
	}
}

// While a tier is solved, the disk contains data_first of all tiers up to it, and the table
// from the next tier on.
func TestPeak(t *testing.T) {
	g, counts := recorded(t, "6x6", 6, 6, 4)
	p := must.Get(plan.Make(g, counts, twoCores(), plan.Rate{}))(t)
	for i, tier := range p.Tiers[:len(p.Tiers)-1] {
		there := 0.0
		for j, other := range p.Tiers {
			if j <= i {
				there += other.WorkBytes
			} else {
				there += other.KeptBytes
			}
		}
		if tier.PeakBytes < there-100 || tier.PeakBytes > p.Total.PeakBytes {
			t.Errorf("tier %d: %.4g bytes at the peak, of %.4g; at least %.4g lie there", i, tier.PeakBytes, p.Total.PeakBytes, there)
		}
	}
}

// A plan reports what does not fit and what would make it fit. HDFS has up to three copies of a file, one on each node.
func TestProblems(t *testing.T) {
	g, counts := recorded(t, "6x6", 6, 6, 4)
	where := twoCores()
	where.Disk, where.Memory, where.Least = 2e9, 1e9, 2e9
	p := must.Get(plan.Make(g, counts, where, plan.Rate{}))(t)
	if len(p.Problems) != 2 || p.Problems[0].What != "memory" || p.Total.MemoryBytes != 2e9 || p.Problems[1].What != "disk" || p.Problems[1].Needs != p.Total.PeakBytes {
		t.Errorf("%+v", p.Problems)
	}
	for nodes, copies := range map[int]float64{1: 1, 2: 2, 5: 3} {
		where = plan.Where{Runner: plan.Hadoop, Nodes: nodes, Cores: 4, Disk: 1e9}
		p = must.Get(plan.Make(g, counts, where, plan.Rate{}))(t)
		if len(p.Problems) != 1 || p.Problems[0].Needs != copies*p.Total.PeakBytes || p.Problems[0].Has != float64(nodes)*1e9 {
			t.Errorf("%d nodes: %+v", nodes, p.Problems)
		}
		where.Disk = copies * p.Total.PeakBytes / float64(nodes)
		if p = must.Get(plan.Make(g, counts, where, plan.Rate{}))(t); len(p.Problems) != 0 {
			t.Errorf("%d nodes: %+v", nodes, p.Problems)
		}
	}
}

// Time is work at a measured rate, divided among all cores; on a cluster, each job that reads more than Above takes its
// start and three times the CPU on the cores of all nodes. Dollars are hours of all machines.
func TestTimes(t *testing.T) {
	g, counts := recorded(t, "5x5", 5, 5, 4)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	rate := plan.Rate{Seconds: 1e-8, Cores: 2}
	cpu := rate.Seconds * plan.Work(g, counts)
	where := twoCores()
	where.Price = 3
	p := must.Get(plan.Make(g, counts, where, rate))(t)
	near("CPU", 3600*p.Total.CPUHours, cpu)
	near("wall", 3600*p.Total.WallHours, cpu/2)
	near("dollars", p.Total.Dollars, 3*p.Total.WallHours)
	rate.Seconds = 0
	if p := must.Get(plan.Make(g, counts, where, rate))(t); p.Total.CPUHours != 0 || p.Total.KeptBytes == 0 {
		t.Errorf("without a rate: %+v", p.Total)
	}
	rate.Seconds = 1e-8
	here := p.Tiers
	where = plan.Where{Runner: plan.Hadoop, Nodes: 5, Cores: 4, Price: 3, Above: 3e6}
	p = must.Get(plan.Make(g, counts, where, rate))(t)
	jobs, wall := 0, 3600*(p.Total.WallHours)
	for i, tier := range counts.Tiers {
		ways := 0.0 // jobs of the tier on the cluster
		if i > 0 && counts.Tiers[i-1].Positions > 3e6 {
			ways++
		}
		if i+1 < len(counts.Tiers) && counts.Tiers[i+1].Positions > 3e6 {
			ways++
		}
		jobs += int(ways)
		job := 3600 * here[i].CPUHours / 2
		near(fmt.Sprintf("CPU of tier %d", tier.Tier), 3600*p.Tiers[i].CPUHours, job*(2-ways)+job*3*ways)
		near(fmt.Sprintf("wall of tier %d", tier.Tier), 3600*p.Tiers[i].WallHours, job*(2-ways)/4+(12+job*3/20)*ways)
		wall -= 3600 * p.Tiers[i].WallHours
	}
	if p.Jobs != jobs || jobs == 0 || wall < 0 {
		t.Errorf("%d jobs, want %d; the start takes %v s", p.Jobs, jobs, wall)
	}
	near("dollars of the cluster", p.Total.Dollars, 15*p.Total.WallHours)
}

// There is a plan for every method, and its JSON has the promised names; a lower bound of the positions has neither
// bytes nor hours; Network cannot be solved.
func TestMethods(t *testing.T) {
	counts := &count.Counts{How: count.Exact}
	for i := range 5 {
		n := math.Pow(10, float64(i))
		tier := count.Tier{Tier: i, Positions: n, Low: n, High: 2 * n, Moves: 3 * n}
		counts.Tiers = append(counts.Tiers, tier)
		counts.Sum.Positions += n
		counts.Sum.Moves += 3 * n
	}
	bound := *counts
	bound.How = count.AtLeast
	rate := plan.Rate{Seconds: 1e-6, On: "that", Cores: 2}
	for _, kind := range []game.Kind{mancala.Kind, quickcross.Kind} {
		g := must.Get(kind.Default())(t)
		for _, runner := range []string{plan.Inline, plan.Pipe, plan.Hadoop} {
			where := twoCores()
			where.Runner = runner
			p := must.Get(plan.Make(g, counts, where, rate))(t)
			if p.Largest != 4 || p.Total.KeptBytes <= 0 || p.Total.CPUHours <= 0 || p.Total.WallHours <= 0 {
				t.Errorf("%s, %s: %+v", kind.Name, runner, p.Total)
			}
			text := must.Get(json.Marshal(p))(t)
			for _, name := range []string{`"total":{`, `"tiers":[`, `"positions":1000,"low":1000,"high":2000`, `"peak_bytes":`, `"wall_hours":`, `"counted":"exact"`, `"measured_on":"that"`} {
				if !strings.Contains(string(text), name) {
					t.Errorf("%s: no %s in %s", kind.Name, name, text)
				}
			}
			if p = must.Get(plan.Make(g, &bound, where, rate))(t); p.Total.Positions != 11111 || p.Total.KeptBytes+p.Total.PeakBytes+p.Total.CPUHours != 0 || p.Problems != nil {
				t.Errorf("%s, %s, at least: %+v", kind.Name, runner, p.Total)
			}
		}
	}
	g := must.Get(network.Kind.Make(nil))(t)
	if _, err := plan.Make(g, counts, twoCores(), rate); err == nil || !strings.Contains(err.Error(), "is not solved") {
		t.Errorf("Network: %v", err)
	}
}

// Invalid places are rejected.
func TestNowhere(t *testing.T) {
	g, counts := recorded(t, "5x4", 5, 4, 4)
	for want, where := range map[string]plan.Where{
		`runner "abacus"`:  {Runner: "abacus", Nodes: 1, Cores: 1},
		"0 cores, 1 nodes": {Runner: plan.Inline, Nodes: 1},
		"4 cores, 0 nodes": {Runner: plan.Hadoop, Cores: 4},
	} {
		if _, err := plan.Make(g, counts, where, plan.Rate{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

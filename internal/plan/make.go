package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan/count"
)

// tableWork is the CPU time of a byte of the tables for the moves of blocks, in positions: docs/notes/plan.md. It is a ratio in
// one program, as those of the methods are, so that the speed of the machine, or of a version of the program, is not in it.
const tableWork = 0.3

// What was measured on other machines: docs/notes/plan.md.
const (
	// jobStart is the time in seconds from the submission of a job on a cluster until its programs work, and from
	// their end until the driver knows.
	jobStart = 12
	// clusterTimes is the CPU time of the programs of a job on a cluster, and pipeTimes that of mapper, sort and
	// reducer with lines, divided by that of the same job in one process.
	clusterTimes = 3
	pipeTimes    = 40
	// hadoopCopies is the number of copies of a file in HDFS, at most one on each node.
	hadoopCopies = 3
)

// Work returns the CPU time of a solve in one process, in units: the time of a position.
func Work(g game.Game, counts *count.Counts) float64 {
	sum := startOf(g)
	for _, c := range method.Of(g).Costs(counts.Tiers, counts.Sum, true) {
		sum += c.CPU
	}
	return sum
}

// startOf returns the part of Work that comes before the first tier.
func startOf(g game.Game) float64 { return tableWork * float64(method.Of(g).Tables()) }

// FinalBytes returns the size of the text of all positions. A line has the board in quotes,
// and its value, which has up to three digits, mostly two.
func FinalBytes(g game.Game, positions float64) float64 {
	return positions * float64(len(g.AppendText(nil, g.Start()))+len("''\t66\n"))
}

// Make estimates the cost of solving a game with these counts at a place. It returns an error if the game cannot be
// solved, or if no runner of where is known. Without a rate, the plan has no time; if the counts are a lower bound,
// it has nothing but positions.
func Make(g game.Game, counts *count.Counts, where Where, rate Rate) (*Plan, error) {
	if n := g.Info().Vast; n > 0 {
		return nil, fmt.Errorf("%s is not solved: about %.0e positions", g.Spec(), n)
	}
	if len(counts.Tiers) == 0 {
		return nil, errors.New("no tier was counted")
	}
	if !slices.Contains([]string{Inline, Pipe, Hadoop}, where.Runner) || where.Cores < 1 || where.Nodes < 1 {
		return nil, fmt.Errorf("runner %q, %d cores, %d nodes: expected %s, %s or %s, and numbers from 1 on", where.Runner, where.Cores, where.Nodes, Inline, Pipe, Hadoop)
	}
	p := &Plan{Game: g.Spec(), Title: game.TitleOf(g), How: counts.How, Note: counts.Note, Where: where, Rate: rate}
	m := method.Of(g)
	costs := m.Costs(counts.Tiers, counts.Sum, where.Runner == Inline)
	p.Method = m.Name()
	_, isSymmetric := g.(game.Symmetric)
	sum, round := &p.Total, math.Round
	sum.Tier, sum.Positions, sum.Low, sum.High = counts.Sum.Tier, round(counts.Sum.Positions), round(counts.Sum.Low), round(counts.Sum.High)
	for i, t := range counts.Tiers {
		planned := Tier{Tier: t.Tier, Positions: round(t.Positions), Low: round(t.Low), High: round(t.High)}
		if counts.How != count.AtLeast {
			planned.Stored, planned.Slots, planned.Ranges, planned.Moves = round(costs[i].Stored), round(t.Slots), round(t.Cells), round(t.Moves)
			planned.KeptBytes, planned.WorkBytes, planned.PeakBytes = round(costs[i].Kept), round(costs[i].Work), round(costs[i].Peak)
		}
		if isSymmetric {
			planned.Images = round(t.Images)
		}
		sum.Images += planned.Images
		sum.Stored += planned.Stored
		sum.Slots += planned.Slots
		sum.Ranges += planned.Ranges
		sum.Moves += planned.Moves
		sum.KeptBytes += planned.KeptBytes
		sum.WorkBytes += planned.WorkBytes
		sum.PeakBytes = max(sum.PeakBytes, planned.PeakBytes)
		p.Tiers = append(p.Tiers, planned)
		if t.Positions > counts.Tiers[p.Largest].Positions {
			p.Largest = i
		}
	}
	if counts.How == count.AtLeast {
		return p, nil
	}
	sum.MemoryBytes = round(where.Least)
	p.fits()
	if rate.Seconds > 0 {
		p.times(startOf(g), counts, costs)
	}
	return p, nil
}

// times sets hours and dollars: of each tier, and of the start in the total.
func (p *Plan) times(start float64, counts *count.Counts, costs []runner.Cost) {
	w := p.Where
	machines, cores := float64(w.Nodes), float64(w.Cores)
	if w.Runner == Pipe {
		p.Assumed = append(p.Assumed, fmt.Sprintf("lines take about %d times the CPU of one process without them", pipeTimes))
	}
	sum := &p.Total
	sum.CPUHours = p.Rate.Seconds * start / 3600
	sum.WallHours = sum.CPUHours / cores
	for i := range p.Tiers {
		t := &p.Tiers[i]
		reads := []float64{0, 0} // of the job forward, and of the job back
		if i > 0 {
			reads[0] = counts.Tiers[i-1].Positions
		}
		if i+1 < len(p.Tiers) {
			reads[1] = counts.Tiers[i+1].Positions
		}
		for _, records := range reads {
			cpu, used, start := p.Rate.Seconds*costs[i].CPU/2, cores, 0.0
			switch {
			case w.Runner == Pipe:
				cpu *= pipeTimes
			case w.Runner == Hadoop && records > w.Above:
				cpu, used, start = cpu*clusterTimes, cores*machines, jobStart
				p.Jobs++
			}
			t.CPUHours += cpu / 3600
			t.WallHours += (start + cpu/used) / 3600
		}
		t.Dollars = w.Price * machines * t.WallHours
		sum.CPUHours += t.CPUHours
		sum.WallHours += t.WallHours
	}
	sum.Dollars = w.Price * machines * sum.WallHours
	if p.Jobs > 0 {
		p.Assumed = append(p.Assumed, fmt.Sprintf("a job on the cluster takes %d s to start, and %d times the CPU of one process", jobStart, clusterTimes))
	}
	if all := w.Cores * w.Nodes; all > p.Rate.Cores {
		p.Assumed = append(p.Assumed, fmt.Sprintf("all %d cores work all the time, each as fast as one of this machine", all))
	}
}

// fits sets what does not fit.
func (p *Plan) fits() {
	w, need := p.Where, p.Total.MemoryBytes
	if w.Memory > 0 && need > w.Memory {
		p.Problems = append(p.Problems, Problem{"memory", need, w.Memory,
			fmt.Sprintf("the driver needs at least %s of memory, and a machine has %s: use a larger machine, or --until-tier", numfmt.Bytes(need), numfmt.Bytes(w.Memory))})
	}
	need, all, how := p.Total.PeakBytes, w.Disk*float64(w.Nodes), "%s, and %s are free: use a larger disk, or a cluster"
	if w.Runner == Hadoop {
		copies := min(hadoopCopies, w.Nodes)
		need *= float64(copies)
		how = fmt.Sprintf("%%s in %d copies, and %%s are free on %s: use more, or larger disks", copies, numfmt.Count(w.Nodes, "node"))
	}
	if w.Disk > 0 && need > all {
		p.Problems = append(p.Problems, Problem{"disk", need, all,
			fmt.Sprintf("the peak on the disk is "+how, numfmt.Bytes(need), numfmt.Bytes(all))})
	}
}

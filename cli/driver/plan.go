package driver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/plan/disk"
	"github.com/treereduce/treereduce/internal/plan/measure"
)

func (p *program) planCommand() *cli.Command {
	return command.OfGame(p.games, &cli.Command{
		Name:  "plan",
		Usage: "estimate positions, disk space, time and cost of solving a game",
		Description: "Small games are enumerated, large ones sampled. Smaller boards of the game are solved for up to\n" +
			"some seconds, to measure how fast this machine is.\n\n" +
			"For each tier it prints the number of positions and its error; the size of the table and the peak\n" +
			"disk space; CPU time and wall time.",
		Flags: p.planFlags(),
	}, p.planGame)
}

func (p *program) planFlags() []cli.Flag {
	var names []string
	for _, r := range p.planned() {
		if r.Model != "" {
			names = append(names, r.Name)
		}
	}
	return slices.Concat(command.Group("plan", []cli.Flag{
		&cli.StringFlag{Name: "runner", Usage: "runner of the jobs: " + strings.Join(names, ", "), Value: plan.Inline},
		&cli.DurationFlag{Name: "time", Usage: "time for sampling a large game, or, if it cannot be sampled, for enumerating positions", DefaultText: "so much that the plan takes ten seconds at most"},
		&cli.Uint64Flag{Name: "seed", Usage: "random seed", Value: 1},
		&cli.Int64Flag{Name: "draws", Usage: "sample `N` boards instead of --time: counts are the same on any machine with the same --seed", DefaultText: "none"},
		&cli.BoolFlag{Name: "json", Usage: "print JSON"},
	}), command.Group("where", []cli.Flag{
		&cli.IntFlag{Name: "nodes", Usage: "number of machines that run tasks, on a cluster", Value: 1},
		&cli.Float64Flag{Name: "price", Usage: "price of a machine in `DOLLARS` per hour"},
		&cli.IntFlag{Name: "cores", Usage: "number of cores of a machine", DefaultText: "of this machine"},
		&cli.StringFlag{Name: "memory", Usage: "memory of a machine, as `SIZE` 64G", DefaultText: "of this machine"},
		&cli.StringFlag{Name: "disk", Usage: "free disk space of a machine, as `SIZE` 500G", DefaultText: "of this machine, at --data; unknown on a cluster"},
		&cli.StringFlag{Name: "data", Usage: "data `DIRECTORY` of a run on this machine", Value: "all_data"},
		&cli.Int64Flag{Name: "cluster-above", Usage: "run a job on the cluster if it reads more than `N` records", DefaultText: "as for solve; on several nodes 16777216"},
	}))
}

// SeveralAbove is the default of --cluster-above with several nodes: more records than one task
// should process alone.
const SeveralAbove = 16 << 20

// mostOfAny is the largest number of machines, of their cores and of dollars: no real one is larger, and no
// result overflows.
const mostOfAny = 1_000_000

// planGame implements driver plan.
func (p *program) planGame(c *cli.Context, kind game.Kind) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	if err := cmp.Or(
		command.Positive(c, "time"),
		command.AtLeast(c, 1, "draws"),
		command.AtLeast(c, 0, "cluster-above"),
		command.Between(c, 1, mostOfAny, "nodes", "cores"),
		command.Between(c, 0, mostOfAny, "price"),
	); err != nil {
		return err
	}
	if c.IsSet("draws") && c.IsSet("time") {
		return command.Usagef("--draws and --time exclude each other")
	}
	g, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	if err := solve.Check(g); err != nil {
		return command.Usagef("%w", err)
	}
	where, err := p.whereOf(c, g)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar := progress.NewBar(c)
	made, err := measure.Plan(ctx, kind, g, where, count.Options{Time: c.Duration("time"), Draws: c.Int64("draws"), Seed: c.Uint64("seed"), Progress: bar.Doing})
	bar.End()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return command.ErrInterrupted
	}
	if err != nil {
		return err
	}
	if made.How != count.AtLeast {
		if n := max(made.Total.Positions, made.Total.Images); n <= solve.FinalLimit {
			made.FinalBytes = math.Round(plan.FinalBytes(g, n))
		}
		if name := c.String("runner"); name != where.Runner {
			made.Assumed = append(made.Assumed, fmt.Sprintf("runner %s takes as long as %s", name, where.Runner))
		}
		if p.asks(kind) {
			made.Assumed = append(made.Assumed, "the rules program itself takes no CPU time")
		}
	}
	return printPlan(c.App.Writer, made, c.Bool("json"))
}

// whereOf returns where the command line wants to solve the game.
func (p *program) whereOf(c *cli.Context, g game.Game) (w plan.Where, err error) {
	r, err := runnerNamed(p.planned(), c.String("runner"))
	if err != nil {
		return w, err
	}
	if r.Model == "" {
		return w, command.Usagef("--runner %s: there is no plan for it", r.Name)
	}
	w = plan.Where{Runner: r.Model, Nodes: c.Int("nodes"), Cores: runtime.GOMAXPROCS(0), Memory: memoryHere(), Price: c.Float64("price"),
		Above: clusterAbove, Least: float64(leastMemory(r.Model, g, &Options{UntilTier: -1}))}
	if c.String("data") == "" {
		return w, command.Usagef("--data: it needs the name of a directory")
	}
	if w.Runner == plan.EMR {
		w.Runner = plan.Hadoop
	}
	cluster := w.Runner == plan.Hadoop
	for _, name := range []string{"nodes", "cluster-above"} {
		if c.IsSet(name) && !cluster {
			return w, command.Usagef("--%s is for --runner %s and %s", name, plan.Hadoop, plan.EMR)
		}
	}
	switch {
	case c.IsSet("cluster-above"):
		w.Above = float64(c.Int64("cluster-above"))
	case w.Nodes > 1:
		w.Above = SeveralAbove
	}
	if free, ok := disk.Free(c.String("data")); ok && !cluster {
		w.Disk = free
	}
	if c.IsSet("cores") {
		w.Cores = c.Int("cores")
	}
	for _, of := range []struct {
		flag string
		to   *float64
	}{{"memory", &w.Memory}, {"disk", &w.Disk}} {
		n, err := command.Size(c, of.flag)
		if err != nil {
			return w, err
		}
		if n > 0 {
			*of.to = float64(n)
		}
	}
	return w, nil
}

// memoryHere returns the memory of this machine in bytes; 0 if unknown.
func memoryHere() float64 {
	text, _ := os.ReadFile("/proc/meminfo") // Linux only
	found := regexp.MustCompile(`(?m)^MemTotal: +(\d+) kB$`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(string(found[1]), 64) // only digits
	return kilobytes * 1024
}

// printPlan prints a plan as text or JSON.
func printPlan(out io.Writer, p *plan.Plan, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(p)
	}
	var text bytes.Buffer
	writePlan(&text, p)
	_, err := out.Write(text.Bytes())
	return err
}

// writePlan writes a plan as text: a line for each tier, the totals, and notes.
func writePlan(out io.Writer, p *plan.Plan) {
	fmt.Fprintf(out, "%s: %s\n\n", p.Title, positionsIn(p))
	writeTiers(out, p)
	fmt.Fprintln(out)
	if len(p.Tiers) > 1 {
		most := p.Tiers[p.Largest]
		fmt.Fprintf(out, "largest tier: %d, %s", most.Tier, numfmt.Count(most.Positions, "position"))
		if most.Ranges > 0 {
			fmt.Fprintf(out, " in %s %s", numfmt.Short(most.Ranges), numfmt.Noun(most.Ranges, "range"))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "counted: %s\n", p.Note)
	if n := p.Total.Stored; n > 0 {
		fmt.Fprintf(out, "stored: %s positions; a position and its mirror image share one entry\n", numfmt.Number(n))
	}
	if n := p.Total.Images; n > 0 {
		fmt.Fprintf(out, "images: %s positions; a position and its images share one entry\n", numfmt.Number(n))
	}
	if p.How == count.AtLeast {
		fmt.Fprintln(out, "disk, memory and time: no estimate, because the positions were not all counted (a longer --time may help)")
		return
	}
	fmt.Fprintf(out, "rate: %.3g ns of CPU a position of a large tier, measured here with %s\n", 1e9*p.Rate.Seconds, p.Rate.On)
	fmt.Fprintf(out, "disk: %s at the peak, %s kept; memory: at least %s (--memory %s)\n", numfmt.Bytes(p.Total.PeakBytes), numfmt.Bytes(p.Total.KeptBytes),
		numfmt.Bytes(p.Total.MemoryBytes), memoryText(int(p.Total.MemoryBytes)))
	if p.FinalBytes > 0 {
		fmt.Fprintf(out, "final, the text of all positions: another %s (none with --final no)\n", numfmt.Bytes(p.FinalBytes))
	}
	writeCosts(out, p)
	for _, problem := range p.Problems {
		fmt.Fprintf(out, "does not fit: %s\n", problem.Text)
	}
	for _, assumed := range p.Assumed {
		fmt.Fprintf(out, "assumed: %s\n", assumed)
	}
}

// writeTiers writes the table of a plan: a line for each tier, and the total. It leaves out the
// columns of which nothing is known.
func writeTiers(out io.Writer, p *plan.Plan) {
	known := p.How != count.AtLeast
	type column struct {
		heading string
		shown   bool
		cell    func(t *plan.Tier) string
	}
	columns := slices.DeleteFunc([]column{
		{"positions", true, func(t *plan.Tier) string { return numfmt.Number(t.Positions) }},
		{"±", true, offBy},
		{"kept", known, func(t *plan.Tier) string { return numfmt.Bytes(t.KeptBytes) }},
		{"at peak", known, func(t *plan.Tier) string { return numfmt.Bytes(t.PeakBytes) }},
		{"CPU", known, func(t *plan.Tier) string { return numfmt.Seconds(3600 * t.CPUHours) }},
		{"wall", known, func(t *plan.Tier) string { return numfmt.Seconds(3600 * t.WallHours) }},
		{"$", p.Total.Dollars > 0, func(t *plan.Tier) string { return fmt.Sprintf("%.2f", t.Dollars) }},
	}, func(c column) bool { return !c.shown })
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "tier\t")
	for _, c := range columns {
		fmt.Fprintf(w, "%s\t", c.heading)
	}
	fmt.Fprintln(w)
	line := func(name string, t *plan.Tier) {
		fmt.Fprintf(w, "%s\t", name)
		for _, c := range columns {
			fmt.Fprintf(w, "%s\t", c.cell(t))
		}
		fmt.Fprintln(w)
	}
	for i := range p.Tiers {
		line(strconv.Itoa(p.Tiers[i].Tier), &p.Tiers[i])
	}
	line("total", &p.Total)
	w.Flush() // out is in memory
}

// writeCosts writes the time and the price of a plan.
func writeCosts(out io.Writer, p *plan.Plan) {
	fmt.Fprintf(out, "with %s on %s: %s", p.Where.Runner, p.Where, numfmt.Seconds(3600*p.Total.WallHours))
	if p.Total.Dollars > 0 {
		fmt.Fprintf(out, ", $%.2f", p.Total.Dollars)
	}
	fmt.Fprintf(out, " (%s of CPU)\n", numfmt.Seconds(3600*p.Total.CPUHours))
	if p.Where.Runner == plan.Hadoop {
		fmt.Fprintf(out, "  jobs on the cluster: %d\n", p.Jobs)
	}
}

// positionsIn describes the number of positions of a game.
func positionsIn(p *plan.Plan) string {
	n := numfmt.Number(p.Total.Positions)
	switch p.How {
	case count.Exact:
		return n + " positions"
	case count.AtLeast:
		return "at least " + n + " positions"
	}
	return fmt.Sprintf("about %s positions (%s)", n, offBy(&p.Total))
}

// offBy returns the uncertainty of the number of positions of a tier.
func offBy(t *plan.Tier) string {
	switch {
	case t.Low == t.High:
		return ""
	case t.Low == t.Positions && t.Positions > 0:
		return "at least"
	case t.High-t.Low > 2*t.Positions:
		return "to " + numfmt.Short(t.High)
	}
	return numfmt.Percent((t.High - t.Low) / 2 / t.Positions)
}

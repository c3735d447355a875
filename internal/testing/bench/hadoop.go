package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// clusterBench performs all measurements of a run on a cluster.
type clusterBench struct {
	*bencher
	c     *minicluster.Cluster
	plain time.Duration // of a nearly empty job, with Hadoop's defaults
}

// RunHadoop starts a cluster on this machine, measures on it, and prints the results.
func RunHadoop(ctx context.Context, out, progress io.Writer, o Options) (err error) {
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := minicluster.Up(ctx, minicluster.Config{Dir: filepath.Join(dir, "cluster"), FreePorts: true, Log: progress})
	if err != nil {
		return err
	}
	defer func() {
		if down := c.Down(context.WithoutCancel(ctx)); err == nil {
			err = down
		}
	}()
	b := &clusterBench{bencher: &bencher{o, out, dir}, c: c}
	measures := []func(context.Context) error{b.jobs, b.loops}
	if o.Large {
		measures = append(measures, b.tiers, b.passes)
	}
	if o.Tax {
		measures = []func(context.Context) error{b.tax}
	}
	for _, measure := range measures {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// solved runs driver solve of a game on the cluster, and returns the resources it used and
// its journal.
func (b *clusterBench) solved(ctx context.Context, flags string) (usage, *solve.Journal, error) {
	data := b.c.DefaultFS() + "/bench"
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(b.Bin, "driver"), args...)
		cmd.Env = b.c.Env()
		return cmd
	}
	args := append(append([]string{"solve"}, strings.Fields(flags)...), "--data", data, "--runner", "hadoop", "--overwrite")
	u, err := timed(run(args...))
	if err != nil {
		return u, nil, err
	}
	text, err := run("status", "--json", "--data", data).Output()
	if err != nil {
		return u, nil, err
	}
	j := new(solve.Journal)
	return u, j, json.Unmarshal(text, j)
}

// jobs measures a nearly empty job, with Hadoop's defaults and with the settings of our
// jobs.
func (b *clusterBench) jobs(ctx context.Context) error {
	input := filepath.Join(b.dir, "lines")
	if err := os.WriteFile(input, []byte(strings.Repeat("0123456789abcde\n", 1<<16)), 0o666); err != nil {
		return err
	}
	if _, err := timed(b.c.Command(ctx, "fs", "-put", input, "/lines")); err != nil {
		return err
	}
	// The cluster on this machine has quick settings; these are Hadoop's defaults.
	defaults := []string{
		"-D", "mapreduce.client.completion.pollinterval=5000", "-D", "mapreduce.client.progressmonitor.pollinterval=1000",
		"-D", "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms=1000", "-D", "yarn.app.mapreduce.am.command-opts=-Xmx400m",
		"-D", "mapreduce.map.java.opts=-Xmx400m", "-D", "mapreduce.reduce.java.opts=-Xmx400m",
	}
	fmt.Fprint(b.out, "| a job of `cat` and `uniq`, 1 MB, 2 maps, 1 reducer | runs | wall s | CPU s of the client |\n|---|---|---|---|\n")
	for _, test := range []struct {
		name string
		args []string
	}{
		{"Hadoop's defaults", defaults},
		{"quick: polls of 100 ms, serial collector, first compiler only", nil},
		{"quick, in the application master (uber mode)", []string{"-D", "mapreduce.job.ubertask.enable=true"}},
	} {
		var us []usage
		for range 3 {
			args := append(append([]string{"jar", b.c.StreamingJar()}, test.args...),
				"-D", "mapreduce.job.reduces=1", "-mapper", "cat", "-reducer", "uniq", "-input", "/lines", "-output", "/out")
			u, err := timed(b.c.Command(ctx, args...))
			if err != nil {
				return err
			}
			if _, err := timed(b.c.Command(ctx, "fs", "-rm", "-r", "/out")); err != nil {
				return err
			}
			us = append(us, u)
		}
		m := median(us)
		if test.args != nil && b.plain == 0 {
			b.plain = m.wall
		}
		fmt.Fprintf(b.out, "| %s | %d | %.1f | %.1f |\n", test.name, len(us), m.wall.Seconds(), m.cpu.Seconds())
	}
	return nil
}

// loops measures complete solves of small boards.
func (b *clusterBench) loops(ctx context.Context) error {
	fmt.Fprint(b.out, "\n| `driver solve --runner hadoop` | runs | wall s | in plain jobs | cluster jobs |\n|---|---|---|---|---|\n")
	for _, test := range []struct {
		flags string
		runs  int
	}{
		{"connectn --width 4 --height 5 --connect 3", b.Runs},
		{"connectn --width 5 --height 4 --connect 4", b.Runs},
		{"connectn --width 5 --height 5 --connect 4 --final no", b.Runs},
		{"connectn --width 4 --height 5 --connect 3 --cluster-above 5000", 1},
		{"connectn --width 4 --height 5 --connect 3 --cluster-above 0", 1},
	} {
		var us []usage
		jobs := 0
		for range test.runs {
			u, j, err := b.solved(ctx, test.flags)
			if err != nil {
				return err
			}
			us, jobs = append(us, u), len(onCluster(j))
		}
		m := median(us)
		fmt.Fprintf(b.out, "| `%s` | %d | %.2f | %.1f | %d |\n", test.flags, test.runs, m.wall.Seconds(), m.wall.Seconds()/b.plain.Seconds(), jobs)
	}
	return nil
}

// onCluster returns the jobs of a run that ran on the cluster.
func onCluster(j *solve.Journal) []solve.JobRecord {
	return slices.DeleteFunc(slices.Clone(j.Jobs), func(r solve.JobRecord) bool { return r.Application == "" })
}

// sum returns the sum of a number over some jobs.
func sum[T int64 | float64](jobs []solve.JobRecord, of func(solve.JobRecord) T) (all T) {
	for _, r := range jobs {
		all += of(r)
	}
	return all
}

// tiers solves 5×5 with its larger tiers on the cluster.
func (b *clusterBench) tiers(ctx context.Context) error {
	fmt.Fprint(b.out, "\n| 5×5 connect 4, `--cluster-above 100000` | |\n|---|---|\n")
	for _, way := range []struct{ name, flags string }{
		{"", ""},
		{", tasks in containers of their own", " -D mapreduce.job.ubertask.enable=false"},
	} {
		u, j, err := b.solved(ctx, "connectn --width 5 --height 5 --connect 4 --final no --cluster-above 100000"+way.flags)
		if err != nil {
			return err
		}
		jobs := onCluster(j)
		fmt.Fprintf(b.out, "| wall%s | %.0f s, %d jobs |\n", way.name, u.wall.Seconds(), len(jobs))
		fmt.Fprintf(b.out, "| waiting for tasks to start and jobs to end; programs at work | %.0f s; %.0f s |\n",
			sum(jobs, func(r solve.JobRecord) float64 { return r.Waiting }), sum(jobs, func(r solve.JobRecord) float64 { return r.Working }))
		for _, name := range []string{step.Possible, step.Solve} {
			of := slices.DeleteFunc(slices.Clone(jobs), func(r solve.JobRecord) bool { return r.Step != name })
			n := float64(sum(of, func(r solve.JobRecord) int64 { return r.Records }))
			fmt.Fprintf(b.out, "| shuffled by %s, a position written | %.2f positions, %.2f bytes |\n", name,
				float64(sum(of, func(r solve.JobRecord) int64 { return r.Shuffled }))/n, float64(sum(of, func(r solve.JobRecord) int64 { return r.Bytes }))/n)
		}
		fmt.Fprintf(b.out, "| CPU: map and reduce programs; tasks with Java's part; driver and clients | %.0f s; %.0f s; %.0f s |\n",
			sum(jobs, func(r solve.JobRecord) float64 { return r.Programs }), sum(jobs, func(r solve.JobRecord) float64 { return r.CPU }), u.cpu.Seconds())
	}
	return nil
}

// passes solves Quick Cross with the largest passes on the cluster.
func (b *clusterBench) passes(ctx context.Context) error {
	const flags = "quickcross --width 4 --height 4 --connect 3 --final no --cluster-above 4000000 --reducers 3"
	u, j, err := b.solved(ctx, flags)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n| `%s`: %.0f s | new | positions sent | bytes shuffled | s | of that waiting |\n|---|---|---|---|---|---|\n", flags, u.wall.Seconds())
	for _, r := range onCluster(j) {
		fmt.Fprintf(b.out, "| %s | %d | %d | %d | %.1f | %.1f |\n", r.Job, r.Records, r.Shuffled, r.Bytes, r.Seconds, r.Waiting)
	}
	return nil
}

// A taxed job is one that ran both in the driver and on the cluster, in every run.
type taxed struct {
	solve.JobRecord
	driver, cluster, waiting []float64 // seconds
}

func (t *taxed) print(out io.Writer, name string) {
	driver, cluster := middle(t.driver), middle(t.cluster)
	fmt.Fprintf(out, "| %s | %d | %.1f | %.1f | %.1f | %.1f |\n", name, t.Records, driver, cluster, middle(t.waiting), cluster/driver)
}

// plus returns the sum of two jobs, run by run.
func (t *taxed) plus(u *taxed) *taxed {
	add := func(a, b []float64) []float64 {
		c := slices.Clone(a)
		for i := range c {
			c[i] += b[i]
		}
		return c
	}
	return &taxed{t.JobRecord, add(t.driver, u.driver), add(t.cluster, u.cluster), add(t.waiting, u.waiting)}
}

// tax compares the largest tiers of a board on the cluster with the same jobs in the
// driver, on the same files. It uses medians of complete runs, alternately of either kind,
// so that other load on the machine affects both.
func (b *clusterBench) tax(ctx context.Context) error {
	jobs := make(map[string]*taxed)
	for range b.Runs {
		_, j, err := b.solved(ctx, fmt.Sprintf("connectn %s --final no --cluster-above %d", b.Board, b.Above))
		if err != nil {
			return err
		}
		for _, r := range onCluster(j) {
			if jobs[r.Job] == nil {
				jobs[r.Job] = &taxed{JobRecord: r}
			}
			t := jobs[r.Job]
			t.cluster, t.waiting = append(t.cluster, r.Seconds), append(t.waiting, r.Waiting)
		}
		_, j, err = b.solved(ctx, fmt.Sprintf("connectn %s --final no --cluster-above %d", b.Board, int64(math.MaxInt64)))
		if err != nil {
			return err
		}
		for _, r := range j.Jobs {
			if t := jobs[r.Job]; t != nil {
				t.driver = append(t.driver, r.Seconds)
			}
		}
	}
	if len(jobs) == 0 {
		return fmt.Errorf("no job of %s reads more than %d positions", b.Board, b.Above)
	}
	fmt.Fprintf(b.out, "| `%s`, medians of %d | positions | driver s | cluster s | of that waiting s | times |\n|---|---|---|---|---|---|\n", b.Board, b.Runs)
	all := slices.SortedFunc(maps.Values(jobs), func(t, u *taxed) int {
		return cmp.Or(cmp.Compare(t.Step, u.Step), t.Tier-u.Tier)
	})
	var both *taxed // the sum of both jobs of the largest tier that ran in the driver and on the cluster
	for _, t := range all {
		from := t.Tier - 1
		if t.Step == step.Solve {
			from = t.Tier + 1
		}
		t.print(b.out, fmt.Sprintf("%s, tier %d to %d", t.Step, from, t.Tier))
		for _, u := range all {
			if t.Step == step.Possible && u.Step == step.Solve && t.Tier == u.Tier && (both == nil || t.Records > both.Records) {
				both = t.plus(u)
			}
		}
	}
	if both != nil {
		both.print(b.out, fmt.Sprintf("tier %d, both ways", both.Tier))
	}
	return nil
}

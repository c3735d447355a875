package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop/cluster"
	"github.com/treereduce/treereduce/solve"
)

// clusterBench is one run of all measurements on a cluster.
type clusterBench struct {
	*bencher
	c     *cluster.Cluster
	plain time.Duration // of a job that does next to nothing, with Hadoop's defaults
}

// RunHadoop starts a cluster on this machine, measures what runs on it, and
// prints.
func RunHadoop(ctx context.Context, out, progress io.Writer, o Options) (err error) {
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := cluster.Up(ctx, cluster.Config{Dir: filepath.Join(dir, "cluster"), FreePorts: true, Log: progress})
	if err != nil {
		return err
	}
	defer func() {
		if down := c.Down(context.WithoutCancel(ctx)); err == nil {
			err = down
		}
	}()
	b := &clusterBench{bencher: &bencher{o, out, dir}, c: c}
	for _, measure := range []func(context.Context) error{b.jobs, b.loops, b.large} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// solved runs driver solve on the cluster and returns what it took, and its
// journal.
func (b *clusterBench) solved(ctx context.Context, flags string) (usage, *solve.Journal, error) {
	data := b.c.DefaultFS() + "/bench"
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(b.Bin, "driver"), args...)
		cmd.Env = b.c.Env()
		return cmd
	}
	args := append([]string{"solve", "connectn", "--data", data, "--runner", "hadoop", "--overwrite"}, strings.Fields(flags)...)
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

// jobs times a job that does next to nothing, with Hadoop's defaults and with
// what a job of ours saves.
func (b *clusterBench) jobs(ctx context.Context) error {
	input := filepath.Join(b.dir, "lines")
	if err := os.WriteFile(input, []byte(strings.Repeat("0123456789abcde\n", 1<<16)), 0o666); err != nil {
		return err
	}
	if _, err := timed(b.c.Command(ctx, "fs", "-put", input, "/lines")); err != nil {
		return err
	}
	// The cluster of this machine has quick settings; these are Hadoop's own.
	defaults := []string{
		"-D", "mapreduce.client.completion.pollinterval=5000", "-D", "mapreduce.client.progressmonitor.pollinterval=1000",
		"-D", "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms=1000", "-D", "yarn.app.mapreduce.am.command-opts=-Xmx400m",
		"-D", "mapreduce.map.java.opts=-Xmx400m", "-D", "mapreduce.reduce.java.opts=-Xmx400m",
	}
	fmt.Fprint(b.out, "| a job of cat and uniq, 1 MB, 2 maps | runs | wall s | CPU s of the client |\n|---|---|---|---|\n")
	for _, test := range []struct {
		name string
		args []string
	}{
		{"Hadoop's defaults, 1 reducer", defaults},
		{"quick: polls of 100 ms, serial collector, first compiler only", nil},
		{"quick, in the application master (uber)", []string{"-D", "mapreduce.job.ubertask.enable=true"}},
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

// loops times whole solves of small boards.
func (b *clusterBench) loops(ctx context.Context) error {
	fmt.Fprint(b.out, "\n| driver solve connectn --runner hadoop | runs | wall s | in plain jobs | cluster jobs |\n|---|---|---|---|---|\n")
	for _, test := range []struct {
		flags string
		runs  int
	}{
		{"--width 4 --height 5 --connect 3", b.Runs},
		{"--width 5 --height 4 --connect 4", b.Runs},
		{"--width 5 --height 5 --connect 4 --final no", b.Runs},
		{"--width 4 --height 5 --connect 3 --cluster-above 5000", 1},
		{"--width 4 --height 5 --connect 3 --cluster-above 0", 1},
	} {
		var us []usage
		jobs := 0
		for range test.runs {
			u, j, err := b.solved(ctx, test.flags)
			if err != nil {
				return err
			}
			us, jobs = append(us, u), len(sum(j).jobs)
		}
		m := median(us)
		fmt.Fprintf(b.out, "| `%s` | %d | %.2f | %.1f | %d |\n", test.flags, test.runs, m.wall.Seconds(), m.wall.Seconds()/b.plain.Seconds(), jobs)
	}
	return nil
}

// sums are the figures of the jobs that ran on the cluster.
type sums struct {
	jobs                            []solve.JobRecord
	records, shuffled, bytes        int64
	waiting, working, cpu, programs float64
}

func sum(j *solve.Journal) (s sums) {
	for _, r := range j.Jobs {
		if r.Application == "" {
			continue
		}
		s.jobs = append(s.jobs, r)
		s.records += r.Records
		s.shuffled += r.Shuffled
		s.bytes += r.Bytes
		s.waiting += r.Waiting
		s.working += r.Working
		s.cpu += r.CPU
		s.programs += r.Programs
	}
	return s
}

// large solves 5×5 with its larger tiers on the cluster, and 6×5 with its
// largest, if what takes minutes is wanted.
func (b *clusterBench) large(ctx context.Context) error {
	if !b.Large {
		return nil
	}
	fmt.Fprint(b.out, "\n| 5×5 connect 4, tiers above 100,000 positions on the cluster | |\n|---|---|\n")
	for _, way := range []struct{ name, flags string }{
		{"", ""},
		{", tasks in containers of their own", " -D mapreduce.job.ubertask.enable=false"},
	} {
		u, j, err := b.solved(ctx, "--width 5 --height 5 --connect 4 --final no --cluster-above 100000"+way.flags)
		if err != nil {
			return err
		}
		s := sum(j)
		n := float64(s.records)
		fmt.Fprintf(b.out, "| wall%s | %.0f s, %d jobs |\n", way.name, u.wall.Seconds(), len(s.jobs))
		fmt.Fprintf(b.out, "| waiting for tasks to start and jobs to end; programs at work | %.0f s; %.0f s |\n", s.waiting, s.working)
		fmt.Fprintf(b.out, "| shuffled, a position written | %.2f positions, %.2f bytes |\n", float64(s.shuffled)/n, float64(s.bytes)/n)
		fmt.Fprintf(b.out, "| CPU of the map and reduce programs; of tasks with Java's part; of driver and clients | %.0f s; %.0f s; %.0f s |\n", s.programs, s.cpu, u.cpu.Seconds())
	}
	return b.tax(ctx)
}

// tax holds the largest tiers of 6×5 on the cluster against the same jobs in the
// driver, on the same files.
func (b *clusterBench) tax(ctx context.Context) error {
	const board = "--width 6 --height 5 --connect 4 --final no"
	var seconds [2]map[string]float64
	var on []solve.JobRecord
	for i, above := range []int64{1 << 62, 300_000_000} {
		_, j, err := b.solved(ctx, fmt.Sprintf("%s --cluster-above %d", board, above))
		if err != nil {
			return err
		}
		seconds[i] = make(map[string]float64)
		for _, r := range j.Jobs {
			seconds[i][r.Job] = r.Seconds
		}
		on = sum(j).jobs
	}
	slices.SortFunc(on, func(a, c solve.JobRecord) int { return a.Tier - c.Tier })
	fmt.Fprint(b.out, "\n| 6×5 connect 4 | positions | in the driver s | on the cluster s | of that waiting s | times |\n|---|---|---|---|---|---|\n")
	for _, r := range on {
		fmt.Fprintf(b.out, "| %s, tier %d | %d | %.1f | %.1f | %.1f | %.1f |\n", r.Step, r.Tier, r.Records,
			seconds[0][r.Job], r.Seconds, r.Waiting, r.Seconds/seconds[0][r.Job])
	}
	return nil
}

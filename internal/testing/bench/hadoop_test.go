//go:build unix

package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// solvedOn runs driver solve on a cluster, and returns its journal.
func solvedOn(b *testing.B, c *minicluster.Cluster, flags string) (usage, *solve.Journal) {
	b.Helper()
	run := func(line string) *exec.Cmd {
		cmd := exec.CommandContext(b.Context(), filepath.Join(bin, "driver"), strings.Fields(line+" --data "+c.DefaultFS()+"/bench")...)
		cmd.Env = c.Env()
		return cmd
	}
	u := timed(b, run("solve "+flags+" --runner hadoop --overwrite"))
	text := must.Get(run("status --json").Output())(b)
	j := new(solve.Journal)
	must.OK(b, json.Unmarshal(text, j))
	return u, j
}

// onCluster returns the jobs of a run that ran on the cluster.
func onCluster(j *solve.Journal) []solve.JobRecord {
	return slices.DeleteFunc(slices.Clone(j.Jobs), func(r solve.JobRecord) bool { return r.Application == "" })
}

// sum returns the sum of a number over some jobs.
func sum[T int64 | float64](jobs []solve.JobRecord, of func(solve.JobRecord) T) (all float64) {
	for _, r := range jobs {
		all += float64(of(r))
	}
	return all
}

// BenchmarkHadoop measures a cluster on this machine.
func BenchmarkHadoop(b *testing.B) {
	c := clustertest.Up(b.Context(), b, minicluster.Config{})
	plain := 0.0 // wall seconds of a nearly empty job, with Hadoop's defaults
	b.Run("job", func(b *testing.B) { benchJobs(b, c, &plain) })
	for _, flags := range []string{
		"connectn --width 4 --height 5 --connect 3",
		"connectn --width 5 --height 4 --connect 4",
		"connectn --width 5 --height 5 --connect 4 --final no",
		"connectn --width 4 --height 5 --connect 3 --cluster-above 5000",
	} {
		b.Run(flags, func(b *testing.B) {
			u, j := solvedOn(b, c, flags)
			report(b, u.wall.Seconds(), "wall-s", u.wall.Seconds()/plain, "plain-jobs", float64(len(onCluster(j))), "cluster-jobs")
		})
	}
	b.Run("tiers", func(b *testing.B) { benchTiers(b, c) })
	b.Run("passes", func(b *testing.B) { benchPasses(b, c) })
}

// benchJobs measures a nearly empty job of cat and uniq, with Hadoop's defaults and with the
// settings of our jobs.
func benchJobs(b *testing.B, c *minicluster.Cluster, plain *float64) {
	input := filepath.Join(b.TempDir(), "lines")
	must.OK(b, os.WriteFile(input, []byte(strings.Repeat("0123456789abcde\n", 1<<16)), 0o666))
	timed(b, c.Command(b.Context(), "fs", "-put", "-f", input, "/lines"))
	for _, test := range []struct {
		name string
		args []string
	}{
		// The cluster on this machine has quick settings; these are Hadoop's defaults.
		{"defaults", []string{
			"-D", "mapreduce.client.completion.pollinterval=5000", "-D", "mapreduce.client.progressmonitor.pollinterval=1000",
			"-D", "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms=1000", "-D", "yarn.app.mapreduce.am.command-opts=-Xmx400m",
			"-D", "mapreduce.map.java.opts=-Xmx400m", "-D", "mapreduce.reduce.java.opts=-Xmx400m"}},
		{"quick", nil},
		{"uber", []string{"-D", "mapreduce.job.ubertask.enable=true"}},
	} {
		b.Run(test.name, func(b *testing.B) {
			u := timed(b, c.Command(b.Context(), append(append([]string{"jar", c.StreamingJar()}, test.args...),
				"-D", "mapreduce.job.reduces=1", "-mapper", "cat", "-reducer", "uniq", "-input", "/lines", "-output", "/out")...))
			timed(b, c.Command(b.Context(), "fs", "-rm", "-r", "/out"))
			if *plain == 0 {
				*plain = u.wall.Seconds()
			}
			report(b, u.wall.Seconds(), "wall-s", u.cpu.Seconds(), "client-cpu-s")
		})
	}
}

// benchTiers solves 5×5 with each of its larger tiers in a job of its own on the cluster.
func benchTiers(b *testing.B, c *minicluster.Cluster) {
	longtest.Skip(b)
	for name, flags := range map[string]string{"uber": "", "containers": " -D mapreduce.job.ubertask.enable=false"} {
		b.Run(name, func(b *testing.B) {
			u, j := solvedOn(b, c, "connectn --width 5 --height 5 --connect 4 --final no --cluster-above 100000"+flags)
			jobs := onCluster(j)
			report(b, u.wall.Seconds(), "wall-s", float64(len(jobs)), "jobs", u.cpu.Seconds(), "driver-cpu-s",
				sum(jobs, func(r solve.JobRecord) float64 { return r.Waiting }), "waiting-s", sum(jobs, func(r solve.JobRecord) float64 { return r.Working }), "working-s",
				sum(jobs, func(r solve.JobRecord) float64 { return r.Programs }), "programs-cpu-s", sum(jobs, func(r solve.JobRecord) float64 { return r.CPU }), "tasks-cpu-s")
			for _, name := range []string{step.Possible, step.Solve} {
				of := slices.DeleteFunc(slices.Clone(jobs), func(r solve.JobRecord) bool { return r.Step != name })
				n := sum(of, func(r solve.JobRecord) int64 { return r.Records })
				report(b, sum(of, func(r solve.JobRecord) int64 { return r.Shuffled })/n, name+"-shuffled/position", sum(of, func(r solve.JobRecord) int64 { return r.Bytes })/n, name+"-B/position")
			}
		})
	}
}

// benchPasses solves Quick Cross with the largest passes on the cluster.
func benchPasses(b *testing.B, c *minicluster.Cluster) {
	longtest.Skip(b)
	u, j := solvedOn(b, c, "quickcross --width 4 --height 4 --connect 3 --final no --cluster-above 4000000 --reducers 3")
	for _, r := range onCluster(j) {
		b.Run(r.Job, func(b *testing.B) {
			report(b, float64(r.Records), "new", float64(r.Shuffled), "sent", float64(r.Bytes), "B-shuffled", r.Seconds, "s", r.Waiting, "waiting-s")
		})
	}
	b.Run("all", func(b *testing.B) { report(b, u.wall.Seconds(), "wall-s") })
}

// BenchmarkTax compares the largest tiers of a board on a cluster on this machine with the same
// jobs in the driver, on the same files. TREEREDUCE_BOARD and TREEREDUCE_ABOVE set the board and
// the number of positions above which a job is compared. With several counts, the runs of
// either kind alternate, so that other load on the machine affects both.
func BenchmarkTax(b *testing.B) {
	board := cmp.Or(os.Getenv("TREEREDUCE_BOARD"), "--width 6 --height 5 --connect 4")
	above := longtest.Number(b, "TREEREDUCE_ABOVE", 300_000_000)
	c := clustertest.Up(b.Context(), b, minicluster.Config{})
	_, cluster := solvedOn(b, c, fmt.Sprintf("connectn %s --final no --cluster-above %d", board, above))
	_, driver := solvedOn(b, c, fmt.Sprintf("connectn %s --final no --cluster-above %d", board, math.MaxInt64))
	jobs := onCluster(cluster)
	if len(jobs) == 0 {
		b.Fatalf("no job of %s reads more than %d positions", board, above)
	}
	inDriver := make(map[string]float64) // seconds of a job
	for _, r := range driver.Jobs {
		inDriver[r.Job] = r.Seconds
	}
	tax := func(b *testing.B, jobs ...solve.JobRecord) {
		here := sum(jobs, func(r solve.JobRecord) float64 { return inDriver[r.Job] })
		there := sum(jobs, func(r solve.JobRecord) float64 { return r.Seconds })
		report(b, float64(jobs[0].Records), "positions", here, "driver-s", there, "cluster-s",
			sum(jobs, func(r solve.JobRecord) float64 { return r.Waiting }), "waiting-s", there/here, "times")
	}
	var both []solve.JobRecord // the jobs of the largest tier both of whose jobs ran on the cluster
	for _, r := range jobs {
		b.Run(r.Job, func(b *testing.B) { tax(b, r) })
		for _, s := range jobs {
			if r.Step == step.Possible && s.Step == step.Solve && r.Tier == s.Tier && (both == nil || r.Records > both[0].Records) {
				both = []solve.JobRecord{r, s}
			}
		}
	}
	if both != nil {
		b.Run(fmt.Sprintf("tier %d both ways", both[0].Tier), func(b *testing.B) { tax(b, both...) })
	}
}

// BenchmarkSlow measures a job on a cluster of three nodes, one of which is slow: its tasks take a
// minute longer. With speculative attempts, Hadoop's default, the job need not wait for them.
func BenchmarkSlow(b *testing.B) {
	c := clustertest.Up(b.Context(), b, minicluster.Config{Nodes: 3})
	slow := must.Get(url.Parse(c.Web(minicluster.DataNode.OfNode(2))))(b)
	programs := b.TempDir()
	for _, name := range []string{"mapper", "reducer"} {
		text := fmt.Sprintf("#!/bin/sh\ntest \"$NM_HOST\" != %s || sleep 60\nexec %s/${0##*/}\n", slow.Hostname(), bin)
		must.OK(b, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o755))
	}
	for _, speculative := range []bool{true, false} {
		b.Run(fmt.Sprintf("speculative=%t", speculative), func(b *testing.B) {
			u, j := solvedOn(b, c, fmt.Sprintf("connectn --width 3 --height 3 --connect 3 --until-tier 8 --cluster-above 150 --reducers 3 --cluster-bin %s"+
				" -D mapreduce.map.speculative=%t -D mapreduce.reduce.speculative=%[2]t", programs, speculative))
			report(b, u.wall.Seconds(), "wall-s", float64(len(onCluster(j))), "cluster-jobs")
		})
	}
}

//go:build hadoop

package streaming_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
)

// TestHadoopNodes solves a game on a cluster of three nodes, one of which is lost for good while
// its maps run. The text in final must be that of a run on one machine.
func TestHadoopNodes(t *testing.T) {
	s := newSite(t, clustertest.Up(t.Context(), t, minicluster.Config{Nodes: 3}))
	s.run(t, "own node", testOwnNode)
	s.run(t, "node lost", testNodeLost)
}

// testOwnNode runs the jobs of a board that read its three largest tiers on the cluster. Maps must run
// where their input is, and read it there: at least four of five, because a node may have no container
// free. Speculative attempts, which a slow machine starts, run on any node.
func testOwnNode(t *testing.T, s *site) {
	b := board{"connectn", 5, 5, 4}
	data := s.dataDir(b.String())
	s.start(t, b, data, "--final no --reducers 3 --cluster-above 9000000 -D mapreduce.map.speculative=false").wantDone(t)
	s.wantTable(t, b, data, "--final no")
	var local, maps, near, read int64
	apps := s.wantJobs(t, map[string]int{"data_first20": 1, "data_first21": 1, "data_first22": 1, "data_second18": 1, "data_second19": 1, "data_second20": 1})
	for name, app := range apps {
		n, err := s.yarn.Counters(t.Context(), app.JobID())
		if err != nil {
			t.Fatal(err)
		}
		job, own := n["org.apache.hadoop.mapreduce.JobCounter"], n[step.CounterGroup("map")]
		t.Logf("%s: %d of %d maps are local, %d of %d bytes", name, job["DATA_LOCAL_MAPS"], job["TOTAL_LAUNCHED_MAPS"], own[step.BytesNear], own[step.BytesRead])
		local += job["DATA_LOCAL_MAPS"]
		maps += job["TOTAL_LAUNCHED_MAPS"]
		if strings.HasPrefix(name, "data_first") { // maps of solve also read predecessors, on all nodes
			near += own[step.BytesNear]
			read += own[step.BytesRead]
		}
	}
	if 5*local < 4*maps || 5*near < 4*read || read == 0 {
		t.Errorf("%d of %d maps are local, %d of %d bytes; want at least 80 %% of both", local, maps, near, read)
	}
	s.reads(t, data, map[string]string{"status --all": "  own node  "})
}

// testNodeLost kills, with its storage, the node that runs a map, and starts it again at the end.
func testNodeLost(t *testing.T, s *site) {
	begun := time.Now()
	step := func(what string) { t.Logf("%.1f s: %s", time.Since(begun).Seconds(), what) }
	g := s.newGate(t, "data_second6", "*")
	s.forward(t, small, g.data, "--reducers 3")
	d := s.start(t, small, g.data, "--resume --reducers 3 --cluster-bin "+s.programs(t, g.hold, "")+twoJobs)
	g.wait(t, d)
	n := g.node(t)
	step(fmt.Sprintf("a map waits on node %d", n))
	s.wantNodes(t, 0)
	s.cluster(t, "kill-node", "--remove-storage", n)
	s.wantNodes(t, n)
	g.open()
	d.wantDone(t)
	step("solved")
	s.wantFinal(t, small, g.data)
	s.wantJobs(t, map[string]int{"data_second6": 1})
	s.cluster(t, "start-node", n)
	step("the node is back")
	s.wantNodes(t, 0)
}

// TestLongHadoopNodes loses nodes of a cluster of three at random, TREEREDUCE_LOSSES of them one
// after the other. Each is killed for good, with its storage, at a stage of a run; then an empty
// one takes its place. The run must end with the same text in final, without intervention or
// after one --resume. At last, a node hangs for two minutes.
func TestLongHadoopNodes(t *testing.T) {
	longtest.Skip(t)
	s := newSite(t, clustertest.Up(t.Context(), t, minicluster.Config{Nodes: 3}))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range longtest.Number(t, "TREEREDUCE_LOSSES", 20) {
		at := stages[i%len(stages)]
		s.run(t, fmt.Sprintf("%d-%s", i+1, at.name), func(t *testing.T, s *site) { testLoss(t, s, at, random) })
	}
	s.run(t, "hangs", testNodeHangs)
}

// A stage is the part of a run in which a node is lost.
type stage struct {
	name  string
	b     board
	job   string // on the cluster, except solve.FinalDir
	flags string
	ended bool // the job has ended on the cluster, and the driver commits it
}

var stages = []stage{
	{"final", board{"connectn", 5, 4, 4}, solve.FinalDir, "", false}, // takes a second
	{"commit", small, "data_second6", "--reducers 3" + twoJobs, true},
	{"possible", small, "data_first8", "--reducers 3" + twoJobs, false},
	{"solve", small, "data_second6", "--reducers 3" + twoJobs, false},
	{"forward-pass", nine, "mark9", "--reducers 3" + threePasses, false},
	{"retrograde-pass", nine, "solve1", "--reducers 3" + threePasses, false},
	{"lists", board{"mnk", 3, 3, 3}, "data_first6", "--reducers 3 --cluster-above 4300", false},
}

// testLoss loses a node at a stage: while its maps wait, at most six seconds after they continue,
// while the driver commits the job, or while it writes final.
func testLoss(t *testing.T, s *site, at stage, random *rand.Rand) {
	n := 1 + random.IntN(3)
	after := time.Duration(random.Int64N(int64(6 * time.Second)))
	waiting := random.IntN(2) == 0
	var when string
	g := s.newGate(t, at.job, "*")
	defer s.files.RemoveAll(g.data)
	d := s.start(t, at.b, g.data, at.flags+" --cluster-bin "+s.programs(t, g.hold, ""))
	if at.job != solve.FinalDir {
		g.wait(t, d)
	}
	switch {
	case at.job == solve.FinalDir:
		when = "while it is written"
		s.waitFor(t, d, func() bool {
			entries, _ := s.files.ReadDir(g.data) // fails until there is a directory
			return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "_attempt-"+at.job) })
		})
	case at.ended:
		when = "at its end"
		g.open()
		s.waitFor(t, d, func() bool {
			return slices.ContainsFunc(s.apps(t), func(app yarn.App) bool {
				return app.Name == "treereduce "+at.job && app.Ended()
			})
		})
	case waiting:
		when = "while its maps wait"
	default:
		when = fmt.Sprintf("%.1f s after its maps waited", after.Seconds())
		g.open()
		time.Sleep(after)
	}
	if err := s.KillNode(n, true); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	g.open()
	out, code := d.wait(t)
	t.Logf("%s, node %d lost %s: exit status %d after %.1f s", at.job, n, when, code, time.Since(begun).Seconds())
	if code != 0 {
		t.Logf("%s", out)
		s.resume(t, at.b, g.data, at.flags)
	}
	s.wantFinal(t, at.b, g.data)
	if err := s.StartNode(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitReplicated(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until a condition is true, or the driver has ended.
func (s *site) waitFor(t *testing.T, d *driver, condition func() bool) {
	t.Helper()
	for begun := time.Now(); !condition() && len(d.err) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > waitTime {
			t.Fatal("the driver does not come to the stage")
		}
	}
}

// testNodeHangs stops the node that runs a map for two minutes.
func testNodeHangs(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "*")
	d := s.start(t, small, g.data, "--reducers 3 --cluster-bin "+s.programs(t, g.hold, "")+twoJobs)
	g.wait(t, d)
	n := g.node(t)
	if err := s.SignalNode(n, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	resumed := make(chan error, 1)
	time.AfterFunc(2*time.Minute, func() { resumed <- s.SignalNode(n, syscall.SIGCONT) })
	g.open()
	out, code := d.wait(t)
	t.Logf("node %d hung: exit status %d after %.1f s", n, code, time.Since(begun).Seconds())
	if code != 0 {
		t.Logf("%s", out)
		s.resume(t, small, g.data, "--reducers 3"+twoJobs)
	}
	s.wantFinal(t, small, g.data)
	if err := <-resumed; err != nil {
		t.Error(err)
	}
}

// node returns the number of a node on which the gate blocks a map.
func (g *gate) node(t *testing.T) (n int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < waitTime; time.Sleep(poll) {
		held, err := os.ReadFile(g.held)
		if err != nil {
			t.Fatal(err)
		}
		switch host := strings.TrimSpace(string(held)); {
		case host != "":
			if _, err := fmt.Sscanf(host, "127.0.0.1%d", &n); err != nil {
				t.Fatalf("a map runs on %q: %v", host, err)
			}
			return n
		}
	}
	t.Fatal("no map says where it runs")
	return 0
}

// cluster runs a command on the cluster, with an argument if it is not 0, and returns its output
// and exit status.
func (s *site) cluster(t *testing.T, args ...any) {
	t.Helper()
	if out, code := s.clusterCommand(t, args...); code != 0 {
		t.Fatalf("cluster %v: exit status %d: %s", args, code, out)
	}
}

func (s *site) clusterCommand(t *testing.T, args ...any) (out string, code int) {
	t.Helper()
	words := append(strings.Fields(fmt.Sprintln(args...)), "--dir", s.Dir())
	cmd := exec.Command(filepath.Join(s.bin, "cluster"), words...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// wantNodes checks that status has a line for each of three nodes, that all of them run except
// node lost (0: none), and that status fails if one does not run.
func (s *site) wantNodes(t *testing.T, lost int) {
	t.Helper()
	out, code := s.clusterCommand(t, "status")
	for n := 1; n <= 3; n++ {
		state := `running +\d+ \d+`
		if n == lost {
			state = `not running +-`
		}
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^node %d +%s +http://[\w.]+:\d+$`, n, state)).MatchString(out) {
			t.Errorf("status of node %d is not %s:\n%s", n, state, out)
		}
	}
	if (code != 0) != (lost != 0) {
		t.Errorf("status: exit status %d with node %d lost", code, lost)
	}
}

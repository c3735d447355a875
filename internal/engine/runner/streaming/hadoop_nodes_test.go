//go:build hadoop

package streaming_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoopNodes solves a game on a cluster of three nodes, one of which is lost for good while
// its maps run. The text in final must be that of a run on one machine.
func TestHadoopNodes(t *testing.T) {
	longtest.Share(t)
	s := newSite(t, clustertest.Up(t.Context(), t, minicluster.Config{Nodes: 3}))
	s.run(t, "node lost", testNodeLost)
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

// TestLongHadoopNodes causes faults on a cluster of three nodes, at the stages of runs of all
// methods. Each run must end with the bytes of a run on one machine, without intervention or after
// one --resume. First, TREEREDUCE_LOSSES nodes are lost for good, one after the other: a random
// one, at a random time of the next stage. An empty node takes its place.
func TestLongHadoopNodes(t *testing.T) {
	longtest.Skip(t)
	s := newSite(t, clustertest.Up(t.Context(), t, minicluster.Config{Nodes: 3}))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range longtest.Number(t, "TREEREDUCE_LOSSES", 20) {
		f := fault{stage: stages[i%len(stages)], node: 1 + random.IntN(3), happens: lost}
		if random.IntN(2) == 0 {
			f.after = time.Duration(random.Int64N(int64(6 * time.Second)))
		}
		s.run(t, fmt.Sprintf("%d %s", i+1, f.stage.name), f.test)
	}
	s.run(t, "mancala", fault{stage: mancala, happens: lost}.test)
	s.run(t, "five men", fault{stage: fiveMen, happens: lost}.test)
	s.run(t, "hangs", fault{stage: stages[2], happens: hangs}.test)
	s.run(t, "paused", testPaused)
	s.run(t, "disk full", testDiskFull)
}

// A stage is the part of a run in which a fault happens.
type stage struct {
	name  string
	b     board
	job   string // on the cluster, except solve.FinalDir
	flags string
	ended bool // the job has ended on the cluster, and the driver commits it
}

const threeJobs = "--reducers 3" + twoJobs

var stages = []stage{
	{"final", board{"connectn", 5, 4, 4}, solve.FinalDir, "", false}, // takes a second
	{"commit", small, "data_second6", threeJobs, true},
	{"possible", small, "data_first8", threeJobs, false},
	{"solve of 5x5", board{"connectn", 5, 5, 4}, "data_second18", "--reducers 3 --cluster-above 9900000", false},
	{"forward pass", men, "data_first6.1", "--reducers 3" + threePasses, false},
	{"retrograde pass", men, "data_second6.2", "--reducers 3" + backJobs, false},
	{"layers forward", board{"mnk", 3, 3, 3}, "data_first6", "--reducers 3 --cluster-above 4300", false},
}

// mancala has six hundred jobs.
var mancala = stage{"layers backward", board{"mancala", 3, 3, 0}, "data_second158", "--reducers 3 --cluster-above 2400", false}

// fiveMen has 274 jobs, of which the largest run on the cluster.
var fiveMen = stage{"five men", board{"mills", 5, 0, 0}, "data_second11.7", "--reducers 3 --cluster-above 100000", false}

// A fault happens at a stage of a run.
type fault struct {
	stage
	node    int           // 0: one that runs a map of the job
	after   time.Duration // that the maps of the job have continued; 0: while they wait
	happens func(t *testing.T, s *site, node int) (end func())
}

// test runs the stage with the fault.
func (f fault) test(t *testing.T, s *site) {
	g := s.newGate(t, f.job, "*")
	defer s.files.RemoveAll(g.data)
	d := s.start(t, f.b, g.data, f.flags+" --cluster-bin "+s.programs(t, g.hold, ""))
	if f.job != solve.FinalDir {
		g.wait(t, d)
	}
	n := f.node
	if n == 0 {
		n = g.node(t)
	}
	when := "while its maps wait"
	switch {
	case f.job == solve.FinalDir:
		when = "while it is written"
		s.waitFor(t, d, func() bool {
			entries, _ := s.files.ReadDir(g.data) // fails until there is a directory
			return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "_attempt-"+f.job) })
		})
	case f.ended:
		when = "at its end"
		g.open()
		s.waitFor(t, d, func() bool {
			return slices.ContainsFunc(s.apps(t), func(app application) bool {
				return app.Name == "treereduce "+f.job && app.State == "FINISHED"
			})
		})
	case f.after > 0:
		when = fmt.Sprintf("%.1f s after its maps waited", f.after.Seconds())
		g.open()
		time.Sleep(f.after)
	}
	defer f.happens(t, s, n)()
	begun := time.Now()
	g.open()
	out, code := d.wait(t)
	t.Logf("%s, node %d, %s: exit status %d after %.1f s", f.job, n, when, code, time.Since(begun).Seconds())
	if code != 0 {
		s.wantLine(t, out, code, 1)
		s.resume(t, f.b, g.data, f.flags)
	}
	s.wantFinal(t, f.b, g.data)
}

// progressLines matches the lines about the progress of a run, which are printed every ten seconds.
var progressLines = regexp.MustCompile(`(?m)^driver: \[[#.]+\] .*\n`)

// wantLine checks that a driver has failed with an exit status and one line.
func (s *site) wantLine(t *testing.T, out string, code, want int) {
	t.Helper()
	out = progressLines.ReplaceAllString(out, "")
	t.Logf("%s", out)
	if code != want || strings.Count(out, "\n") != 1 {
		t.Errorf("exit status %d, want %d and one line", code, want)
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

// lost kills a node for good, with its storage. In the end, an empty one takes its place.
func lost(t *testing.T, s *site, n int) (end func()) {
	must.OK(t, s.KillNode(n, true))
	return func() {
		must.OK(t, s.StartNode(t.Context(), n))
		must.OK(t, s.WaitReplicated(t.Context()))
	}
}

// hangs stops a node for two minutes.
func hangs(t *testing.T, s *site, n int) (end func()) {
	must.OK(t, s.SignalNode(n, syscall.SIGSTOP))
	resumed := make(chan error, 1)
	time.AfterFunc(2*time.Minute, func() { resumed <- s.SignalNode(n, syscall.SIGCONT) })
	return func() {
		if err := <-resumed; err != nil {
			t.Error(err)
		}
	}
}

// diskBytes is the size of the disk of newDisk: a name node puts no block on a data node that has
// less space than two blocks have, 256 MiB.
const diskBytes = 400 << 20

// testDiskFull fills the disk of a node at several stages.
func testDiskFull(t *testing.T, s *site) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	defer newDisk(t, s, 2)()
	for _, at := range stages[1:5] {
		s.run(t, at.name, fault{stage: at, node: 2, happens: diskFull}.test)
	}
}

// newDisk replaces a node by an empty one, whose storage is on a disk of its own, in memory. In the
// end, an empty node without such a disk takes its place.
func newDisk(t *testing.T, s *site, n int) (end func()) {
	t.Helper()
	start := lost(t, s, n)
	disk := diskOf(s, n)
	must.OK(t, os.Mkdir(disk, 0o755))
	must.OK(t, syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", diskBytes)))
	for _, name := range []string{"data", "local"} {
		must.OK(t, os.Mkdir(filepath.Join(disk, name), 0o755))
		must.OK(t, os.Symlink(filepath.Join("disk", name), filepath.Join(filepath.Dir(disk), name)))
	}
	start()
	return func() {
		start := lost(t, s, n)
		must.OK(t, syscall.Unmount(disk, syscall.MNT_DETACH))
		start()
	}
}

func diskOf(s *site, n int) string { return filepath.Join(s.Dir(), fmt.Sprint("node", n), "disk") }

// diskFull fills the disk of a node.
func diskFull(t *testing.T, s *site, n int) (end func()) {
	name := filepath.Join(diskOf(s, n), "filler")
	err := os.WriteFile(name, make([]byte, diskBytes), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		must.OK(t, os.Remove(name))
	}
}

// testPaused stops a driver for three minutes while its job runs. A second driver takes over, and
// finishes the run. Then the first one must end with one line, and change nothing.
func testPaused(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "*")
	d := s.start(t, small, g.data, threeJobs+" --cluster-bin "+s.programs(t, g.hold, ""))
	g.wait(t, d)
	must.OK(t, d.cmd.Process.Signal(syscall.SIGSTOP))
	begun := time.Now()
	g.open()
	s.resume(t, small, g.data, threeJobs)
	before := s.list(t, g.data)
	time.Sleep(time.Until(begun.Add(3 * time.Minute)))
	must.OK(t, d.cmd.Process.Signal(syscall.SIGCONT))
	out, code := d.wait(t)
	s.wantLine(t, out, code, 1)
	if !strings.Contains(out, store.ErrTakenOver.Error()) {
		t.Errorf("the line does not say that another driver took over: %s", out)
	}
	if after := s.list(t, g.data); !maps.Equal(after, before) {
		t.Errorf("there was\n%v\nand is\n%v", before, after)
	}
	s.wantFinal(t, small, g.data)
}

// temporary matches the names of attempts, of drivers' own directories, and of what is being deleted.
var temporary = regexp.MustCompile("^_(attempt|removed|driver)-")

// list returns the files below a directory, with their times, except incomplete ones, which do not
// count.
func (s *site) list(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := make(map[string]time.Time)
	entries := must.Get(s.files.ReadDir(dir))(t)
	for _, e := range entries {
		if temporary.MatchString(e.Name()) {
			continue
		}
		name := path.Join(dir, e.Name())
		info := must.Get(e.Info())(t)
		if e.IsDir() {
			maps.Copy(all, s.list(t, name))
		} else {
			all[name] = info.ModTime()
		}
	}
	return all
}

// node returns the number of a node on which the gate blocks a map.
func (g *gate) node(t *testing.T) (n int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < waitTime; time.Sleep(poll) {
		held := must.Get(os.ReadFile(g.held))(t)
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

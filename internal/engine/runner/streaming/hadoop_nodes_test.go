//go:build hadoop

package streaming_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
)

// TestHadoopNodes solves a game on a cluster of three nodes, one of which is lost for good while
// its maps run. The text in final must be that of a run on one machine.
func TestHadoopNodes(t *testing.T) {
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

// node returns the number of a node on which the gate blocks a map.
func (g *gate) node(t *testing.T) (n int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < waitTime; time.Sleep(poll) {
		held, err := os.ReadFile(g.held)
		if err != nil {
			t.Fatal(err)
		}
		switch host := strings.TrimSpace(string(held)); {
		case host == "localhost":
			return 1
		case host != "":
			if _, err := fmt.Sscanf(host, "127.0.0.%d", &n); err != nil {
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

//go:build unix

package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// BenchmarkScale solves a board on clusters of one to three nodes on this machine, with the default of
// plan --nodes for the jobs that run there, and reports what that takes and what a plan says.
// TREEREDUCE_BOARD sets the board.
func BenchmarkScale(b *testing.B) {
	board := "connectn " + cmp.Or(os.Getenv("TREEREDUCE_BOARD"), "--width 6 --height 5 --connect 4") + " --cluster-above 16777216"
	for nodes := 1; nodes <= 3; nodes++ {
		b.Run(fmt.Sprintf("%s, %d nodes", board, nodes), func(b *testing.B) {
			// A node of package minicluster has two containers more than processors.
			out, err := exec.Command(filepath.Join(bin, "driver"), strings.Fields(fmt.Sprintf("plan %s --runner hadoop --nodes %d --cores %d --json",
				board, nodes, 2+max(2, runtime.NumCPU())))...).Output()
			must.OK(b, err)
			p := new(struct{ Total plan.Tier })
			must.OK(b, json.Unmarshal(out, p))
			c := clustertest.Up(b.Context(), b, minicluster.Config{Nodes: nodes})
			objects := watch(func() int64 {
				return jmx(c, minicluster.NameNode, "Hadoop:service=NameNode,name=FSNamesystem", "FilesTotal", "BlocksTotal")
			})
			u, j := solvedOn(b, c, board+" --final no")
			jobs, moved, containers := onCluster(j), int64(0), 0.0
			for _, d := range c.Status() {
				containers += childrenCPU(d.PID)
			}
			for n := range nodes {
				moved += jmx(c, minicluster.DataNode.OfNode(n+1), "Hadoop:service=DataNode,name=DataNodeActivity*", "BytesRead", "BytesWritten")
			}
			report(b, u.wall.Seconds(), "wall-s", float64(len(jobs)), "jobs", float64(objects()), "NameNode-objects", float64(moved)/1e6, "DataNode-MB",
				sum(jobs, func(r solve.JobRecord) float64 { return r.Programs }), "programs-cpu-s",
				3600*p.Total.CPUHours, "planned-cpu-s", u.cpu.Seconds()+containers, "measured-cpu-s",
				3600*p.Total.WallHours, "planned-wall-s", sum(jobs, func(r solve.JobRecord) int64 { return r.Bytes })/1e6, "shuffled-MB", float64(u.own)/1e6, "driver-MB")
		})
	}
}

// childrenCPU returns the CPU seconds of the ended children of a process, and of theirs: those of a
// NodeManager are containers. Hadoop's counters omit application masters and the end of programs.
func childrenCPU(pid int) (seconds float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	if f := strings.Fields(after); len(f) > 14 {
		for _, ticks := range f[13:15] {
			n, _ := strconv.ParseFloat(ticks, 64) // digits
			seconds += n / 100                    // of a second, on Linux
		}
	}
	return seconds
}

// jmx returns the sum of attributes of a daemon's bean; 0 if it does not answer.
func jmx(c *minicluster.Cluster, d minicluster.Daemon, bean string, attributes ...string) (sum int64) {
	answer, err := http.Get(c.Web(d) + "/jmx?qry=" + url.QueryEscape(bean))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	var found struct{ Beans []map[string]any }
	json.NewDecoder(answer.Body).Decode(&found) // without beans, the sum is 0
	for _, values := range found.Beans {
		for _, name := range attributes {
			n, _ := values[name].(float64)
			sum += int64(n)
		}
	}
	return sum
}

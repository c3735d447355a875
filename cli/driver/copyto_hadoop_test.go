//go:build hadoop

package driver_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestHadoopCopyTo loses a cluster for good while a run works, and goes on from the copy of the run on a new one. The result
// must be that of a run on one machine, in HDFS and in the copy. Small directories are copied by one process, larger ones
// by a job.
func TestHadoopCopyTo(t *testing.T) {
	longtest.Share(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	copied := filepath.Join(t.TempDir(), "copy")
	const data = "/lost"
	line := []string{"--cluster-above", "4000", "--final", "yes", "--copy-to", "file://" + copied}

	first := fresh(ctx, t)
	driver := first.driver(ctx, nil, first.solve(data, line...)...)
	var stderr bytes.Buffer
	driver.Stderr = &stderr
	must.OK(t, driver.Start())
	exited := make(chan error, 1)
	go func() { exited <- driver.Wait() }()
	for !sealed(copied, "data_first8") || !sealed(copied, "data_first1") { // one is copied by a job, the other by a process
		select {
		case err := <-exited:
			t.Fatalf("the run ended before its cluster was lost: %v\n%s", err, stderr.String())
		case <-ctx.Done():
			t.Fatalf("the copy has no data_first8, or no data_first1\n%s", stderr.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	must.OK(t, driver.Process.Kill())
	<-exited
	for _, d := range []minicluster.Daemon{minicluster.NodeManager, minicluster.ResourceManager, minicluster.JobHistoryServer, minicluster.DataNode, minicluster.NameNode} {
		must.OK(t, first.Kill(d))
	}
	must.OK(t, os.RemoveAll(filepath.Join(first.Dir(), "hdfs")))
	if sealed(copied, "final") {
		t.Fatal("the run had ended before its cluster was lost")
	}

	second := fresh(ctx, t)
	out := second.runs(ctx, t, second.solve(data, append(line, "--resume")...)...)
	t.Log(out)
	for _, words := range []string{"fetched ", "X wins in ", "copy: file://" + copied} {
		if !strings.Contains(out, words) {
			t.Errorf("expected %q in the output", words)
		}
	}
	want := filepath.Join(t.TempDir(), "want")
	process.Output(t, exec.Command(filepath.Join(second.bin, "driver"), "solve", "connectn", "--width", "4", "--height", "4", "--connect", "3", "--final", "yes", "--data", want))
	solved.SameText(t, second.fs, data, want)
	sums := must.Get(filepath.Glob(filepath.Join(copied, "*", ".*.crc")))(t) // Hadoop's own, in a local file system
	for _, name := range sums {
		must.OK(t, os.Remove(name))
	}
	solved.SameText(t, store.Local{}, copied, want)
}

// sealed reports whether a local copy has the seal of a directory.
func sealed(copied, dir string) bool {
	_, err := os.Stat(filepath.Join(copied, dir, store.Success))
	return err == nil
}

// fresh returns a new cluster, which no other test uses.
func fresh(ctx context.Context, t *testing.T) *site {
	t.Helper()
	c := clustertest.Up(ctx, t, minicluster.Config{})
	f, _, err := hadoop.Dial(c.DefaultFS() + "/x")
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return &site{c, f, builtPrograms(t)}
}

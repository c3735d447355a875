//go:build hadoop

package yarn

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// A realCluster is a client of a real cluster, with its command and the streaming jar.
type realCluster struct {
	*Client
	dir   string // directory in the cluster's file system
	local string // local directory for scripts
	jar   string
}

// TestHadoop runs jobs on a real cluster: one succeeds, one fails, one is killed.
func TestHadoop(t *testing.T) {
	up := clustertest.Shared(t.Context(), t)
	properties, err := conf.Load(up.ConfDir())
	must.OK(t, err)
	c := &realCluster{
		Client: New(filepath.Join(up.Dir(), "bin", "hadoop"), properties, cmp.Or(os.Getenv("HADOOP_USER_NAME"), os.Getenv("USER"), "root")),
		dir:    "/yarn-test",
		local:  t.TempDir(),
		jar:    up.StreamingJar(),
	}
	input := filepath.Join(c.local, "input")
	must.OK(t, os.WriteFile(input, []byte("a line\n"), 0o666))
	if out, err := up.Command(t.Context(), "fs", "-mkdir", "-p", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := up.Command(t.Context(), "fs", "-put", input, c.dir+"/input").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Run("success", c.testSuccess)
	t.Run("failure", c.testFailure)
	t.Run("queue", c.testQueue)
	t.Run("kill", c.testKill)
}

// submit submits a job with a script as its mapper, and returns the report and the tag. It calls changed as Report.Read does.
func (c *realCluster) submit(t *testing.T, script string, changed func(r *Report, tag string), options ...string) (r *Report, tag string) {
	t.Helper()
	name := strings.NewReplacer("/", "-", "_", "-").Replace(strings.ToLower(t.Name()))
	mapper := filepath.Join(c.local, name+".sh")
	must.OK(t, os.WriteFile(mapper, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	tag = fmt.Sprintf("yarn-test-%d-%s", os.Getpid(), name)
	args := []string{"jar", c.jar, "-D", "mapreduce.job.name=" + name, "-D", "mapreduce.job.tags=" + tag,
		"-D", "mapreduce.job.maps=1", "-D", "mapreduce.map.maxattempts=1"}
	cmd := c.Command(append(append(args, options...), "-files", mapper, "-mapper", filepath.Base(mapper), "-reducer", "cat",
		"-input", c.dir+"/input", "-output", c.dir+"/"+name)...)
	output := must.Get(cmd.StderrPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() }) // after a fatal error
	r = new(Report)
	r.Read(io.TeeReader(output, t.Output()), func() { changed(r, tag) })
	cmd.Wait()
	return r, tag
}

// wantRunning checks which applications with a tag have not ended.
func (c *realCluster) wantRunning(t *testing.T, tag string, want ...string) {
	t.Helper()
	if ids, err := c.Running(t.Context(), tag); err != nil || !slices.Equal(ids, want) {
		t.Errorf("%q, %v, want %q", ids, err, want)
	}
}

// testSuccess checks the report of a good job.
func (c *realCluster) testSuccess(t *testing.T) {
	t.Parallel()
	r, _ := c.submit(t, `echo 'reporter:counter:test,seen,7' >&2; cat`, func(*Report, string) {})
	if r.Counters["test"]["seen"]%7 != 0 || r.Counters["test"]["seen"] == 0 || len(r.Counters) < 5 {
		t.Errorf("%v", r.Counters)
	}
	if !r.Running || r.Map != 1 || r.Reduce != 1 || r.TrackingURL == "" {
		t.Errorf("%+v", r)
	}
	if failure, err := c.Cause(t.Context(), r.App); err == nil {
		t.Errorf("it did not fail: %v", failure)
	}
}

// testFailure checks that Cause returns what a failed mapper wrote.
func (c *realCluster) testFailure(t *testing.T) {
	t.Parallel()
	r, _ := c.submit(t, `echo 'reporter:counter:test,seen,7' >&2; echo 'log4j:WARN none' >&2
echo 'the board is odd' >&2; cat > /dev/null; exit 3`, func(*Report, string) {})
	failure, err := c.Cause(t.Context(), r.App)
	if err != nil || failure.Task != "map 0" || failure.Text != "the board is odd" || failure.Node == "" {
		t.Errorf("%+v, %v", failure, err)
	}
}

// testQueue checks that the client says why a job is not submitted.
func (c *realCluster) testQueue(t *testing.T) {
	t.Parallel()
	r, _ := c.submit(t, "cat", func(*Report, string) {}, "-D", "mapreduce.job.queuename=nosuch")
	if r.App != "" || !strings.Contains(strings.Join(r.Messages, "\n"), "unknown queue: nosuch") {
		t.Errorf("%+v", r)
	}
}

// testKill kills a job that sleeps, as soon as it runs, and once more after its end.
func (c *realCluster) testKill(t *testing.T) {
	t.Parallel()
	killed := false
	r, tag := c.submit(t, "sleep 170", func(r *Report, tag string) {
		if r.Running && !killed {
			killed = true
			c.wantRunning(t, tag, r.App)
			must.OK(t, c.Kill(t.Context(), r.App))
		}
	})
	c.wantRunning(t, tag)
	if err := c.Kill(t.Context(), r.App); err == nil {
		t.Error("killed once more")
	}
	failure, err := c.Cause(t.Context(), r.App)
	if err != nil || !strings.Contains(failure.Text, "Job received Kill while in RUNNING state.") {
		t.Errorf("%q, %v", failure, err)
	}
}

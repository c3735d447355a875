//go:build hadoop

package yarn

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// A realCluster is a client of a real cluster, with its command and the streaming jar.
type realCluster struct {
	*Client
	far   *Client // without access to the logs on this machine
	dir   string  // directory in the cluster's file system
	local string  // local directory for scripts
	jar   string
}

// TestHadoop runs jobs on a real cluster: one fails, one is killed.
func TestHadoop(t *testing.T) {
	up := clustertest.Shared(t.Context(), t)
	properties, err := conf.Load(up.ConfDir())
	must.OK(t, err)
	c := &realCluster{
		Client: New(properties, cmp.Or(os.Getenv("HADOOP_USER_NAME"), os.Getenv("USER"), "root")),
		dir:    "/yarn-test",
		local:  t.TempDir(),
		jar:    up.StreamingJar(),
	}
	c.far = New(properties, c.user)
	c.far.logDirs = nil
	c.Command = filepath.Join(up.Dir(), "bin", "hadoop")

	t.Run("queue", func(t *testing.T) {
		must.OK(t, c.Check(t.Context(), ""))
		err := c.Check(t.Context(), "no_such_queue")
		if err == nil || !strings.Contains(err.Error(), "no queue no_such_queue (there are: ") {
			t.Errorf("the error is %v", err)
		}
	})
	input := filepath.Join(c.local, "input")
	must.OK(t, os.WriteFile(input, []byte("a line\n"), 0o666))
	if out, err := up.Command(t.Context(), "fs", "-mkdir", "-p", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := up.Command(t.Context(), "fs", "-put", input, c.dir+"/input").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Run("failure", c.testFailure)
	t.Run("kill", func(t *testing.T) { c.testKill(t, c.Kill, "was killed by user") })
	t.Run("kill by command", func(t *testing.T) { c.testKill(t, c.killByCommand, "Job received Kill while in RUNNING state.") })
}

// run starts a job with a script as its mapper, and returns its application.
func (c *realCluster) run(ctx context.Context, t *testing.T, script string) App {
	t.Helper()
	name := strings.NewReplacer("/", "-", "_", "-").Replace(strings.ToLower(t.Name()))
	mapper := filepath.Join(c.local, name+".sh")
	must.OK(t, os.WriteFile(mapper, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	tag := fmt.Sprintf("yarn-test-%d-%s", os.Getpid(), name)
	cmd := exec.CommandContext(ctx, c.Command, "jar", c.jar,
		"-D", "mapreduce.job.name="+name, "-D", "mapreduce.job.tags="+tag,
		"-D", "mapreduce.job.maps=1", "-D", "mapreduce.map.maxattempts=1",
		"-files", mapper, "-mapper", filepath.Base(mapper), "-reducer", "cat",
		"-input", c.dir+"/input", "-output", c.dir+"/"+name)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		if err := cmd.Wait(); err == nil || t.Failed() {
			t.Errorf("the job: %v\n%s", err, &said)
		}
	})
	for {
		if apps, err := c.Find(ctx, tag); err != nil {
			t.Fatal(err)
		} else if len(apps) > 0 {
			return apps[0]
		}
		if !sleep(ctx) {
			t.Fatal("the job never came")
		}
	}
}

// testFailure checks that Cause returns what a failed mapper wrote.
func (c *realCluster) testFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	app := c.run(ctx, t, `echo 'reporter:counter:test,seen,7' >&2; echo 'log4j:WARN none' >&2
echo 'the board is odd' >&2; cat > /dev/null; exit 3`)
	for !app.Ended() && sleep(ctx) {
		var err error
		if app, err = c.App(ctx, app.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Progress(ctx, app); err != nil {
			t.Error(err)
		}
	}
	failure, err := c.Cause(ctx, app)
	if err != nil || failure.Task != "map 0" || failure.Text != "the board is odd" || failure.Node == "" {
		t.Errorf("%+v, %v", failure, err)
	}
	if again, err := c.far.Cause(ctx, app); err != nil || again != failure {
		t.Errorf("by HTTP: %+v, %v", again, err)
	}
	if p, err := c.Progress(ctx, app); err != nil || p != (Progress{0, 0, "FAILED"}) {
		t.Errorf("%v, %v", p, err)
	}
}

// testKill kills a job that sleeps, as soon as its application master describes it.
func (c *realCluster) testKill(t *testing.T, kill func(context.Context, string) error, says string) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	app := c.run(ctx, t, "sleep 170")
	for {
		p, err := c.Progress(ctx, app)
		must.OK(t, err)
		if counters, err := c.Counters(ctx, app.JobID()); p.State == "RUNNING" && err == nil && counters[jobCounters][launchedMaps] == 1 {
			break
		}
		if !sleep(ctx) {
			t.Fatal("the job never ran")
		}
	}
	if err := kill(ctx, app.ID); err != nil {
		t.Error(err)
	}
	for !app.Ended() {
		var err error
		if app, err = c.App(ctx, app.ID); err != nil {
			t.Fatal(err)
		}
		if !sleep(ctx) {
			t.Fatal("it does not end")
		}
	}
	failure, err := c.Cause(ctx, app)
	if err != nil || app.FinalStatus != "KILLED" || !strings.Contains(failure.Text, says) {
		t.Errorf("%s %s: %q, %v", app.State, app.FinalStatus, failure, err)
	}
}

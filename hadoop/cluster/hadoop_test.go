//go:build hadoop

package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop/cluster"
)

// TestCluster takes a real cluster through its life: up, files, a job, a
// NodeManager that is killed in mid-job, up again, down.
func TestCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	work, err := os.MkdirTemp("", "cluster-test-")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(work, "cluster")
	config := cluster.Config{Dir: dir, FreePorts: true, Log: t.Output()}
	c := up(ctx, t, config)
	t.Cleanup(func() {
		if err := c.Down(context.Background()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the logs are in %s", filepath.Join(dir, "logs"))
			return
		}
		os.RemoveAll(work)
	})

	input := filepath.Join(work, "input")
	if err := os.WriteFile(input, []byte("000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	hadoop(ctx, t, c, "fs", "-mkdir", "in")
	hadoop(ctx, t, c, "fs", "-put", input, "in/first")
	if got := hadoop(ctx, t, c, "fs", "-cat", "in/*"); got != "000\n" {
		t.Fatalf("in/* is %q", got)
	}
	mapper, reducer := build(t, work, "mapper", "possible_map"), build(t, work, "reducer", "possible_reduce")
	begin := time.Now()
	hadoop(ctx, t, c, "jar", c.StreamingJar(),
		"-D", "treereduce.width=3", "-D", "treereduce.height=3", "-D", "treereduce.connect=3",
		"-files", mapper+","+reducer, "-mapper", "possible_map", "-reducer", "possible_reduce",
		"-input", "in", "-output", "out")
	t.Logf("job: %.1f s", time.Since(begin).Seconds())
	if got := fields(hadoop(ctx, t, c, "fs", "-cat", "out/part-*")); got != "002 020 200" {
		t.Errorf("out is %q", got)
	}

	// A job whose mapper sleeps: its tasks outlive their NodeManager.
	sleeper := c.Command(ctx, "jar", c.StreamingJar(), "-D", "mapreduce.job.reduces=0",
		"-mapper", "sleep 3600", "-input", "in", "-output", "never")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	for !running(dir, "sleep\x003600") {
		if ctx.Err() != nil {
			t.Fatal("no mapper started")
		}
		time.Sleep(200 * time.Millisecond)
	}
	if err := c.Kill(cluster.NodeManager); err != nil {
		t.Fatal(err)
	}
	if !running(dir, "sleep\x003600") {
		t.Error("the mapper ended with its NodeManager, so nothing is tested here")
	}
	before := c.Status()
	c = up(ctx, t, config)
	for i, s := range c.Status() {
		if s.PID == 0 || (s.PID != before[i].PID) != (s.Daemon == cluster.NodeManager) {
			t.Errorf("%s: pid %d, before %d", s.Daemon, s.PID, before[i].PID)
		}
	}
	if got := fields(hadoop(ctx, t, c, "fs", "-cat", "out/part-*")); got != "002 020 200" {
		t.Errorf("out is %q after the restart", got)
	}

	begin = time.Now()
	if err := c.Down(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("down: %.1f s", time.Since(begin).Seconds())
	_ = sleeper.Process.Kill()
	_ = sleeper.Wait()
	if running(dir, "") {
		t.Error("processes are left")
	}

	// What was stored is there when the cluster comes back.
	c = up(ctx, t, config)
	if got := fields(hadoop(ctx, t, c, "fs", "-cat", "out/part-*")); got != "002 020 200" {
		t.Errorf("out is %q after down and up", got)
	}
}

// TestFailure has a daemon that cannot start: the error names it and shows its
// log, and nothing is left running.
func TestFailure(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "cluster")
	c := up(ctx, t, cluster.Config{Dir: dir, FreePorts: true})
	if err := c.Down(ctx); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "hdfs", "name", "current", "VERSION")); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Up(ctx, cluster.Config{Dir: dir, FreePorts: true})
	if err == nil || !strings.Contains(err.Error(), "NameNode: has ended") || !strings.Contains(err.Error(), "NameNode is not formatted") {
		t.Errorf("a name node without its folder: %v", err)
	}
	if running(dir, "") {
		t.Error("processes are left")
	}
}

func up(ctx context.Context, t *testing.T, config cluster.Config) *cluster.Cluster {
	t.Helper()
	begin := time.Now()
	c, err := cluster.Up(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("up: %.1f s", time.Since(begin).Seconds())
	return c
}

// hadoop runs the stand-in and returns its stdout.
func hadoop(ctx context.Context, t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	cmd := c.Command(ctx, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hadoop %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// fields are the words of a text, with a blank between them.
func fields(text string) string { return strings.Join(strings.Fields(text), " ") }

// build builds a command of this module under another name.
func build(t *testing.T, dir, command, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-o", path, "github.com/treereduce/treereduce/cmd/"+command)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// running says whether a process with this in its command line runs whose
// command line or environment names the cluster's folder.
func running(dir, what string) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || !strings.Contains(string(cmdline), what) {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue
		}
		if strings.Contains(string(cmdline)+string(environ), dir) {
			return true
		}
	}
	return false
}

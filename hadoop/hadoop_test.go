//go:build hadoop

package hadoop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/cluster"
	"github.com/treereduce/treereduce/store"
)

// TestHadoop needs a real cluster, and starts one for all that follows.
func TestHadoop(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	c := up(ctx, t, cluster.Config{})
	t.Run("files", func(t *testing.T) { testFiles(t, c) })
	t.Run("lock", func(t *testing.T) { testLock(t, c) })
	t.Run("readme", func(t *testing.T) { testReadme(ctx, t, c) })
	t.Run("solve", func(t *testing.T) { testSolve(ctx, t, c) })
}

// up brings up a cluster that goes down with the test.
func up(ctx context.Context, t *testing.T, config cluster.Config) *cluster.Cluster {
	t.Helper()
	work, err := os.MkdirTemp("", "hadoop-test-")
	if err != nil {
		t.Fatal(err)
	}
	config.Dir, config.FreePorts, config.Log = filepath.Join(work, "cluster"), true, t.Output()
	c, err := cluster.Up(ctx, config)
	if err != nil {
		t.Fatalf("%v (logs in %s)", err, work)
	}
	t.Cleanup(func() {
		if err := c.Down(context.Background()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the logs are in %s", work)
			return
		}
		os.RemoveAll(work)
	})
	return c
}

func dial(t *testing.T, c *cluster.Cluster) *hadoop.FS {
	t.Helper()
	f, path, err := hadoop.Dial(c.DefaultFS() + "/some/path")
	if err != nil || path != "/some/path" {
		t.Fatalf("%q, %v", path, err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// testFiles takes files through their life: made, replaced, listed, renamed,
// read at several places, removed; and asks for one that is not there.
func testFiles(t *testing.T, c *cluster.Cluster) {
	f := dial(t, c)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, data []byte) {
		t.Helper()
		w, err := f.Create(name)
		ok(err)
		_, err = w.Write(data)
		ok(err)
		ok(w.Close())
	}
	ok(f.MkdirAll("/files/deep"))
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB
	write("/files/deep/big", big)
	write("/files/deep/empty", nil)
	write("/files/deep/small", []byte("first"))
	write("/files/deep/small", []byte("second"))

	entries, err := f.ReadDir("/files/deep")
	ok(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "big empty small" {
		t.Errorf("listed %q", got)
	}
	small, err := f.Open("/files/deep/small")
	ok(err)
	text, err := io.ReadAll(small)
	ok(err)
	ok(small.Close())
	if string(text) != "second" {
		t.Errorf("replaced file holds %q", text)
	}
	r, err := f.Open("/files/deep/big")
	ok(err)
	for _, at := range []int64{0, 5, 16 << 19, 100, 16<<20 - 3, 108} {
		buf := make([]byte, 3)
		_, err := r.ReadAt(buf, at)
		ok(err)
		if !bytes.Equal(buf, big[at:at+3]) {
			t.Errorf("at %d: %q", at, buf)
		}
	}
	if _, err := r.ReadAt(make([]byte, 8), 16<<20-3); !errors.Is(err, io.EOF) {
		t.Errorf("past the end: %v", err)
	}
	ok(r.Close())
	ok(f.Rename("/files/deep", "/files/moved"))
	if _, err := f.Stat("/files/moved/big"); err != nil {
		t.Error(err)
	}
	ok(f.RemoveAll("/files/moved"))
	ok(f.RemoveAll("/files/moved"))
	if _, err := f.Open("/files/moved/big"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// testLock wants a lock to be one's own until it is given up.
func testLock(t *testing.T, c *cluster.Cluster) {
	f := dial(t, c)
	if err := f.MkdirAll("/lock"); err != nil {
		t.Fatal(err)
	}
	lock, err := f.Lock("/lock/_lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, c).Lock("/lock/_lock"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := dial(t, c).Lock("/lock/_lock")
	if err != nil {
		t.Fatalf("after it was given up: %v", err)
	}
	again.Close()
}

// testSolve solves with some tiers on the cluster and some here, and wants the
// bytes of a run on one machine.
func testSolve(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	bin := filepath.Join("..", "bin") // make test-hadoop builds it
	driver := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "driver"), args...)
		cmd.Env = c.Env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("driver %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	board := strings.Fields("solve connectn --width 4 --height 5 --connect 3 --data")
	local := t.TempDir()
	driver(append(board, local)...)
	want, err := os.ReadFile(filepath.Join(local, "final", "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"", "--reducers 2 --cluster-above 50000 --streaming-jar " + c.StreamingJar()} {
		args := append(append(board, c.DefaultFS()+"/solved"), "--runner", "hadoop", "--overwrite", "--streaming-jar", c.StreamingJar())
		driver(append(args, strings.Fields(flags)...)...)
		got, err := c.Command(ctx, "fs", "-cat", "/solved/final/part-*").Output()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%q: final is not that of a run on one machine", flags)
		}
	}
	if out := driver("lookup", "--data", c.DefaultFS()+"/solved", "1", "1", "2"); !strings.Contains(out, "O to move: X wins in 2") {
		t.Errorf("lookup: %s", out)
	}
	if out := driver("verify", "--data", c.DefaultFS()+"/solved"); !strings.Contains(out, "195472 positions, every one as it should be") {
		t.Errorf("verify: %s", out)
	}
}

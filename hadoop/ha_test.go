//go:build hadoop

package hadoop_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
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
)

// TestHadoopFailOver runs two name nodes. The standby becomes active while a lock is held, a file is
// written, and a board is solved.
func TestHadoopFailOver(t *testing.T) {
	longtest.Share(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	c := clustertest.Up(ctx, t, minicluster.Config{
		HA:      true,
		Daemons: []minicluster.Daemon{minicluster.NameNode, minicluster.NameNode2, minicluster.DataNode},
	})
	// The configuration maps the name service to its name nodes.
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	t.Run("files", func(t *testing.T) { testFilesFailOver(ctx, t, c) })
	t.Run("solve", func(t *testing.T) { testSolveFailOver(ctx, t, c) })
}

// failOver makes the other name node active, and logs how long that took.
func failOver(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	t.Helper()
	before, err := c.Active(ctx)
	must.OK(t, err)
	begin := time.Now()
	must.OK(t, c.FailOver(ctx))
	after, err := c.Active(ctx)
	if err != nil || after == before {
		t.Fatalf("%s is active after %s, %v", after, before, err)
	}
	t.Logf("%s to %s: %.1f s", before, after, time.Since(begin).Seconds())
}

// testFilesFailOver fails over, and back, with a lock held, a file partly written and another
// partly read. For a time, no name node is active.
func testFilesFailOver(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	must.OK(t, f.MkdirAll("/ha"))
	lock, err := f.Lock("/ha/_lock")
	must.OK(t, err)
	half := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	w, err := f.Create("/ha/file")
	must.OK(t, err)
	_, err = w.Write(half)
	must.OK(t, err)
	old, err := f.Create("/ha/old")
	must.OK(t, err)
	_, err = old.Write(half)
	must.OK(t, err)
	must.OK(t, old.Close())
	r, err := f.Open("/ha/old")
	must.OK(t, err)
	defer r.Close()
	buf := make([]byte, 16)
	_, err = r.ReadAt(buf, 0)
	must.OK(t, err)

	failOver(ctx, t, c)
	_, err = w.Write(half)
	must.OK(t, err)
	must.OK(t, w.Close())
	info, err := f.Stat("/ha/file")
	must.OK(t, err)
	if info.Size() != int64(2*len(half)) {
		t.Errorf("%d bytes, want %d", info.Size(), 2*len(half))
	}
	_, err = r.ReadAt(buf, 1<<20)
	must.OK(t, err)
	if _, err := dial(t, c).Lock("/ha/_lock"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}

	// The calls wait while both name nodes are on standby.
	active, err := c.Active(ctx)
	must.OK(t, err)
	id := map[minicluster.Daemon]string{minicluster.NameNode: "nn1", minicluster.NameNode2: "nn2"}[active]
	run(t, c, "haadmin", "-transitionToStandby", id)
	const pause = 12 * time.Second // longer than hdfs.Client avoids an address
	begin := time.Now()
	back := make(chan error, 1)
	go func() {
		time.Sleep(pause)
		out, err := c.Command(ctx, "haadmin", "-transitionToActive", id).CombinedOutput()
		if err != nil {
			err = errors.Join(err, errors.New(string(out)))
		}
		back <- err
	}()
	must.OK(t, f.Rename("/ha/old", "/ha/new"))
	if waited := time.Since(begin); waited < pause {
		t.Errorf("a call without an active name node came back after %v", waited)
	}
	must.OK(t, <-back)
	must.OK(t, lock.Close())
	again, err := dial(t, c).Lock("/ha/_lock")
	if err != nil {
		t.Fatalf("after it was given up: %v", err)
	}
	must.OK(t, again.Close())
	byDefault, _, err := hadoop.Dial("hdfs:///ha")
	if err != nil {
		t.Fatalf("by the default file system: %v", err)
	}
	must.OK(t, byDefault.Close())
}

// testSolveFailOver fails over twice while a driver solves a game, and checks that the result
// has the same bytes as a run on one machine.
func testSolveFailOver(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	const board = "solve connectn --width 5 --height 4 --connect 4 --keep all --data "
	local := t.TempDir()
	if out, err := driverOn(ctx, c, board+local); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(local, "final", "part-r-00000"))
	must.OK(t, err)
	cmd := driver(ctx, c, board+c.DefaultFS()+"/solved --json --runner hadoop --streaming-jar "+c.StreamingJar())
	cmd.Stderr = t.Output()
	news, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	begin := time.Now()
	var over []time.Duration // when each failover was complete
	var took float64
	for lines := bufio.NewScanner(news); lines.Scan(); {
		var event struct {
			Step    string  `json:"step"`
			Tier    int     `json:"tier"`
			Done    bool    `json:"done"`
			Seconds float64 `json:"seconds"` // in the last line
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		// before most of the work of the forward and of the retrograde passes
		if event.Done && (event.Step == "possible" && event.Tier == 6 || event.Step == "solve" && event.Tier == 18) {
			failOver(ctx, t, c)
			over = append(over, time.Since(begin))
		}
		took = event.Seconds
	}
	must.OK(t, cmd.Wait())
	if len(over) != 2 || over[1].Seconds() > took {
		t.Errorf("fail-overs were done after %v, want two before the driver was, after %.1f s", over, took)
	}
	t.Logf("solved in %.1f s, fail-overs done after %v", took, over)
	got, err := c.Command(ctx, "fs", "-cat", "/solved/final/part-*").Output()
	must.OK(t, err)
	if !bytes.Equal(got, want) {
		t.Error("final is not that of a run on one machine")
	}
	out, err := driverOn(ctx, c, "verify --data hdfs:///solved")
	if err != nil || !strings.Contains(out, "3,945,711 positions verified, all correct") {
		t.Errorf("verify: %v: %s", err, out)
	}
}

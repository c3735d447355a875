//go:build unix

// Package clustertest starts clusters for the tests of other packages. It knows nothing of
// what they test.
package clustertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// Shared returns the cluster in the folder $TREEREDUCE_TEST_CLUSTER. It starts those daemons
// that do not run, and does not stop them at the end of the test. Without this variable, the
// cluster is the test's own, as that of Up.
func Shared(ctx context.Context, t testing.TB) *minicluster.Cluster {
	t.Helper()
	dir := os.Getenv("TREEREDUCE_TEST_CLUSTER")
	if dir == "" {
		return Up(ctx, t, minicluster.Config{})
	}
	return must.Get(minicluster.Up(ctx, minicluster.Config{Dir: dir, FreePorts: true, Log: t.Output()}))(t)
}

// Up starts a cluster on free ports, in its own folder, that is stopped at the end of the
// test. If the test has failed, its logs are kept.
func Up(ctx context.Context, t testing.TB, config minicluster.Config) *minicluster.Cluster {
	t.Helper()
	work := must.Get(os.MkdirTemp("", "cluster-test-"))(t)
	begun := time.Now()
	config.Dir, config.FreePorts, config.Log = filepath.Join(work, "cluster"), true, t.Output()
	c, err := minicluster.Up(ctx, config)
	if err != nil {
		t.Fatalf("%v (logs in %s)", err, work)
	}
	t.Logf("up: %.1f s", time.Since(begun).Seconds())
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

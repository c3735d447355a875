//go:build hadoop

package hadoop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoopStopped stops the daemons of HDFS by SIGSTOP: they accept connections and do not answer.
func TestHadoopStopped(t *testing.T) {
	longtest.Share(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	c := clustertest.Up(ctx, t, minicluster.Config{
		HA:      true,
		Daemons: []minicluster.Daemon{minicluster.NameNode, minicluster.NameNode2, minicluster.DataNode},
	})
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	run(t, c, "fs", "-mkdir", "/stopped")
	t.Run("data node", func(t *testing.T) { testStoppedDataNode(t, c) })
	t.Run("interrupt", func(t *testing.T) { testStoppedInterrupt(ctx, t, c) })
	t.Run("second name node", func(t *testing.T) { testStoppedSecond(ctx, t, c) })
}

// stop stops a daemon, and returns a function that continues it.
func stop(t *testing.T, c *minicluster.Cluster, d minicluster.Daemon) (proceed func()) {
	t.Helper()
	for _, s := range c.Status() {
		if s.Daemon == d {
			must.OK(t, syscall.Kill(s.PID, syscall.SIGSTOP))
			return func() { syscall.Kill(s.PID, syscall.SIGCONT) }
		}
	}
	t.Fatalf("no %s", d)
	return nil
}

// withProperty returns a directory with the configuration of the cluster and one more property.
func withProperty(t *testing.T, c *minicluster.Cluster, name, value string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, file := range []string{"core-site.xml", "hdfs-site.xml"} {
		b, err := os.ReadFile(filepath.Join(c.ConfDir(), file))
		must.OK(t, err)
		more := fmt.Sprintf("<property><name>%s</name><value>%s</value></property></configuration>", name, value)
		must.OK(t, os.WriteFile(filepath.Join(dir, file), bytes.Replace(b, []byte("</configuration>"), []byte(more), 1), 0o644))
	}
	return dir
}

// testStoppedDataNode reads a file from a data node that stops, within its limit and until an interrupt.
func testStoppedDataNode(t *testing.T, c *minicluster.Cluster) {
	for _, test := range []struct {
		limit string
		want  error
	}{{"1000", os.ErrDeadlineExceeded}, {"3600000", context.Canceled}} {
		t.Setenv("HADOOP_CONF_DIR", withProperty(t, c, "dfs.client.socket-timeout", test.limit))
		f := dial(t, c)
		ctx, interrupt := context.WithCancel(t.Context())
		f.EndWith(ctx)
		const size = 4 << 20
		write(t, f, "/stopped/file", string(make([]byte, size)))
		r, err := f.Open("/stopped/file")
		must.OK(t, err)
		proceed := stop(t, c, minicluster.DataNode)
		if test.want == context.Canceled {
			time.AfterFunc(time.Second, interrupt)
		}
		n, err := io.Copy(io.Discard, r)
		proceed()
		if damage := new(store.DamageError); !errors.Is(err, test.want) || errors.As(err, &damage) || n == size {
			t.Errorf("limit %s ms: read %d bytes of %d: %v, want %v", test.limit, n, size, err, test.want)
		}
		r.Close()
		interrupt()
	}
}

// solving starts a driver that solves a board in a directory of the cluster, and waits for its first
// files.
func solving(ctx context.Context, t *testing.T, c *minicluster.Cluster, fileSystem, dir string) (cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	f := dial(t, c)
	said = new(bytes.Buffer)
	cmd = driver(ctx, c, "solve connectn --width 5 --height 5 --connect 4 --data "+fileSystem+dir)
	cmd.Stdout, cmd.Stderr = said, said
	must.OK(t, cmd.Start())
	for {
		if _, err := f.Stat(dir + "/data_first5"); err == nil {
			return cmd, said
		}
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// testStoppedInterrupt interrupts a driver that waits for a name node. The limit is Hadoop's.
func testStoppedInterrupt(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	cmd, said := solving(ctx, t, c, "hdfs://"+c.NameNode(), "/stopped/interrupt")
	defer stop(t, c, minicluster.NameNode)()
	time.Sleep(time.Second) // so that it waits
	begun := time.Now()
	must.OK(t, cmd.Process.Signal(os.Interrupt))
	err := cmd.Wait()
	took := time.Since(begun)
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 130 || !strings.Contains(said.String(), "stopped; --resume continues") || took > time.Minute {
		t.Errorf("after %v: %v: %s", took, err, said)
	}
	t.Logf("ended after %.1f s: %s", took.Seconds(), said)
}

// testStoppedSecond stops the active name node, and makes the other one active. Open locks are kept,
// and a driver solves a board.
func testStoppedSecond(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	conf := withProperty(t, c, "ipc.client.rpc-timeout.ms", "3000")
	t.Setenv("HADOOP_CONF_DIR", conf)
	f := dial(t, c)
	lock, err := f.Lock("/stopped/_lock")
	must.OK(t, err)
	proceed := stop(t, c, minicluster.NameNode)
	defer func() {
		c.Kill(minicluster.NameNode) // both would be active
		proceed()
	}()
	run(t, c, "haadmin", "-transitionToActive", "--forceactive", "nn2")
	begun := time.Now()
	if _, err := f.Stat("/stopped"); err != nil {
		t.Error(err)
	}
	t.Logf("the second name node answered after %.1f s", time.Since(begun).Seconds())
	other := dial(t, c) // the first name node is the first of its addresses
	if _, err := other.Lock("/stopped/_lock"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	must.OK(t, lock.Close())
	out, err := driverOn(ctx, c, "solve connectn --width 4 --height 4 --connect 3 --data hdfs:///stopped/second")
	if err != nil || !strings.Contains(out, "wins in") {
		t.Errorf("%v: %s", err, out)
	}
}

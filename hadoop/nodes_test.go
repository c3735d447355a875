//go:build hadoop

package hadoop_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoopNodes reads and writes files on a cluster with three data nodes, while one of them is
// lost with its storage, and later while another one hangs.
func TestHadoopNodes(t *testing.T) {
	longtest.Share(t)
	c := clustertest.Up(t.Context(), t, minicluster.Config{
		Nodes:   3,
		Daemons: []minicluster.Daemon{minicluster.NameNode, minicluster.DataNode, minicluster.DataNode.OfNode(2), minicluster.DataNode.OfNode(3)},
	})
	configure(t, 2000)
	f := dial(t, c)
	must.OK(t, f.MkdirAll("/nodes"))
	names := writeFiles(t, f, "before")
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB, which the sockets cannot hold
	var open []store.File
	for i := range 4 { // so that one of them is read from the node that is lost
		name := fmt.Sprintf("/nodes/big-%d", i)
		write(t, f, name, string(big))
		r, err := f.Open(name)
		must.OK(t, err)
		defer r.Close()
		if _, err := r.ReadAt(make([]byte, 10), 0); err != nil {
			t.Fatal(err)
		}
		open = append(open, r)
	}

	must.OK(t, c.KillNode(2, true))
	for _, r := range open {
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, big) {
			t.Errorf("%d bytes of an open file, %v", len(got), err)
		}
	}
	names = append(names, writeFiles(t, f, "lost")...)
	readFiles(t, f, names)

	must.OK(t, c.Start(t.Context(), minicluster.DataNode.OfNode(2)))
	must.OK(t, c.WaitReplicated(t.Context()))
	var stopped int
	for _, s := range c.Status() {
		if s.Daemon == minicluster.DataNode.OfNode(3) {
			stopped = s.PID
		}
	}
	must.OK(t, syscall.Kill(stopped, syscall.SIGSTOP))
	defer syscall.Kill(stopped, syscall.SIGCONT)
	names = append(names, writeFiles(t, f, "hangs")...)
	readFiles(t, f, names)
}

// configure sets the timeout of clients that are made afterwards, in milliseconds.
func configure(t *testing.T, timeout int) {
	t.Helper()
	conf := t.TempDir()
	site := fmt.Sprintf("<configuration><property><name>dfs.client.socket-timeout</name><value>%d</value></property>"+
		"<property><name>dfs.client.use.datanode.hostname</name><value>true</value></property></configuration>", timeout)
	must.OK(t, os.WriteFile(filepath.Join(conf, "core-site.xml"), []byte(site), 0o644))
	t.Setenv("HADOOP_CONF_DIR", conf)
}

// writeFiles writes files whose text is their name, and returns the names.
func writeFiles(t *testing.T, f *hadoop.FS, prefix string) (names []string) {
	t.Helper()
	for i := range 10 {
		name := fmt.Sprintf("/nodes/%s-%d", prefix, i)
		write(t, f, name, name)
		names = append(names, name)
	}
	return names
}

// readFiles reads the files of writeFiles.
func readFiles(t *testing.T, f *hadoop.FS, names []string) {
	t.Helper()
	for _, name := range names {
		if got, err := store.ReadFile(f, name); err != nil || string(got) != name {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

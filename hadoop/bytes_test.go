//go:build hadoop

package hadoop_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestLongHadoopLastBytes loses the only data node, with its storage, before a file is closed. The
// error must say so, and the file must not stay there. It takes a minute until the lease ends.
func TestLongHadoopLastBytes(t *testing.T) {
	longtest.Skip(t)
	c := clustertest.Up(t.Context(), t, minicluster.Config{Daemons: []minicluster.Daemon{minicluster.NameNode, minicluster.DataNode}})
	f := dial(t, c)
	w, err := f.Create("/bytes")
	must.OK(t, err)
	if _, err := w.Write([]byte("ten bytes.")); err != nil {
		t.Fatal(err)
	}
	must.OK(t, c.Kill(minicluster.DataNode))
	must.OK(t, os.RemoveAll(filepath.Join(c.Dir(), "hdfs", "data")))
	must.OK(t, c.Start(t.Context(), minicluster.DataNode))
	const want = "write /bytes: the last bytes are lost: no data node has them"
	if err := w.Close(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := f.Stat("/bytes"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	write(t, f, "/bytes", "ten bytes.")
}

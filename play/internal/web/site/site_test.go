package site

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/web/remote"
	"github.com/treereduce/treereduce/table"
)

// TestWrite checks that the service worker of a site is another one if its tables are, and that nothing is left of a site
// whose table has changed since it was recorded.
func TestWrite(t *testing.T) {
	programs := t.TempDir()
	for _, name := range []string{Program, Runtime} {
		must.OK(t, os.WriteFile(filepath.Join(programs, name), nil, 0o666))
	}
	write := func(tables ...*remote.Table) (dir string, err error) {
		dir = filepath.Join(t.TempDir(), "site")
		_, err = must.Get(New(dir, programs))(t).Write(tables)
		return dir, err
	}
	g := solved.Game(t, "mnk width=2 height=2 connect=2")
	data := solved.Dir(t, g)
	of := must.Get(remote.Record(t.Context(), store.Local{}, data, all.Kinds(), remote.MaxSize))(t)
	var workers [][]byte
	for _, tables := range [][]*remote.Table{{}, {}, {of}} {
		workers = append(workers, must.Get(os.ReadFile(filepath.Join(must.Get(write(tables...))(t), "sw.js")))(t))
	}
	if !bytes.Equal(workers[0], workers[1]) || bytes.Equal(workers[0], workers[2]) {
		t.Errorf("workers of two sites without tables and of one with a table:\n%s", bytes.Join(workers, nil))
	}
	name := filepath.Join(data, table.TierFile(1))
	must.OK(t, os.WriteFile(name, must.Get(os.ReadFile(name))(t)[1:], 0o666))
	dir, err := write(of)
	if _, left := os.Stat(dir); err == nil || !strings.Contains(err.Error(), "tier-01.pack: changed while it was copied") || !os.IsNotExist(left) {
		t.Errorf("%v, then %v", err, left)
	}
}

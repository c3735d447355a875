package mirror

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestOrder checks that a directory is deleted from the copy only after the next one is in it:
// uploads precede deletions, at the start of a run with --resume and while it works. At every
// request, the copy must contain at least one complete directory.
func TestOrder(t *testing.T) {
	fake, to, dir := dial(t)
	data := filepath.Join(t.TempDir(), "data")
	commit := func(d *store.Data, name string) {
		t.Helper()
		attempt, err := d.Attempt(name)
		must.OK(t, err)
		must.OK(t, os.WriteFile(filepath.Join(attempt, "part-00000"), []byte(name), 0o666))
		must.OK(t, d.Commit(attempt, name, nil))
	}
	complete := func() (names []string) {
		for _, key := range fake.Keys("bucket") {
			if name, ok := strings.CutSuffix(key, "/"+store.Success); ok {
				names = append(names, strings.TrimPrefix(name, "d/"))
			}
		}
		return names
	}
	run := func(mode store.Mode, work func(d *store.Data)) {
		t.Helper()
		c, err := Open(t.Context(), to, dir, "test", func(text string) { t.Error(text) })
		must.OK(t, err)
		d, err := store.Create(c.FS(store.Local{}, data), data, "game", mode, solve.IsRunArtifact, nil)
		must.OK(t, err)
		must.OK(t, c.Start(mode))
		work(d)
		if err := c.Finish(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	run(store.Fresh, func(d *store.Data) { commit(d, "data_first3") })
	if got := complete(); len(got) != 1 || got[0] != "data_first3" {
		t.Fatalf("the copy has %v", got)
	}
	// Meanwhile, a run without --copy continues.
	d, err := store.Create(store.Local{}, data, "game", store.Resume, solve.IsRunArtifact, nil)
	must.OK(t, err)
	commit(d, "data_first4")
	must.OK(t, d.Remove("data_first3"))
	must.OK(t, d.Close())
	var once sync.Once
	fake.Set(func(r *http.Request) *faults.Fault {
		if len(complete()) == 0 {
			once.Do(func() { t.Errorf("before %s %s the copy has no complete directory", r.Method, r.URL) })
		}
		return nil
	})
	run(store.Resume, func(d *store.Data) {
		commit(d, "data_first5")
		must.OK(t, d.Remove("data_first4"))
	})
	if got := complete(); len(got) != 1 || got[0] != "data_first5" {
		t.Errorf("at the end the copy has %v", got)
	}
}

package mirror

import (
	"errors"
	"net/http"
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
		c, d := start(t, to, dir, data, mode, func(text string) { t.Error(text) })
		work(d)
		must.OK(t, errors.Join(c.Finish(), c.Close(), d.Close()))
	}
	run(store.Fresh, func(d *store.Data) { commit(t, d, "data_first3") })
	if got := complete(); len(got) != 1 || got[0] != "data_first3" {
		t.Fatalf("the copy has %v", got)
	}
	// Meanwhile, a run without --copy continues.
	d, err := store.Create(store.Local{}, data, "game", store.Resume, solve.IsRunArtifact, nil)
	must.OK(t, err)
	commit(t, d, "data_first4")
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
		commit(t, d, "data_first5")
		must.OK(t, d.Remove("data_first4"))
	})
	if got := complete(); len(got) != 1 || got[0] != "data_first5" {
		t.Errorf("at the end the copy has %v", got)
	}
}

package streaming

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// A refusing file system makes no rename while lost is true.
type refusing struct {
	store.Local
	lost bool
}

func (r *refusing) Rename(from, to string) error {
	if r.lost {
		return store.ErrTakenOver
	}
	return r.Local.Rename(from, to)
}

// TestWriteTakenOver checks that a driver that has lost its data directory does not change the
// archive of the new driver's job.
func TestWriteTakenOver(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "_index")
	must.OK(t, os.WriteFile(index, []byte("new"), 0o666))
	attempt := filepath.Join(dir, "_attempt-x")
	must.OK(t, os.Mkdir(attempt, 0o777))
	fsys := new(refusing)
	p := &plan{
		Runner: &Runner{FS: new(hadoop.FS)}, job: &runner.Job{FS: fsys, Output: attempt}, dir: store.PlanDir(attempt),
		input: []step.MapInput{{Splits: []step.Split{{File: filepath.Join(dir, "a")}}, Place: step.Place{File: filepath.Join(dir, "a")}}},
	}
	for _, lost := range []bool{true, false} {
		fsys.lost = lost
		err := p.write()
		text, read := os.ReadFile(index)
		if read != nil || errors.Is(err, store.ErrTakenOver) != lost || (string(text) == "new") != lost {
			t.Errorf("taken over: %v: error %v, %v, index %q", lost, err, read, text)
		}
	}
}

package streaming

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestWrite checks that the input of a job has a line for each map, and is in the directory of the attempt's plan.
func TestWrite(t *testing.T) {
	attempt := filepath.Join(t.TempDir(), "_attempt-x")
	must.OK(t, os.Mkdir(attempt, 0o777))
	p := &plan{
		Runner: new(Runner), job: &runner.Job{FS: store.Local{}, Output: attempt}, dir: store.PlanDir(attempt),
		input: [][]step.Split{{{File: "/a", To: 16}, {File: "/b", To: 1}}, {{File: "/b", From: 1, To: 2}}},
	}
	must.OK(t, p.write())
	const want = "/a\t0\t10\t/b\t0\t1\n/b\t1\t2\n"
	if got := must.Get(os.ReadFile(filepath.Join(p.dir, splitsFile)))(t); string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := os.Stat(attempt); !os.IsNotExist(err) {
		t.Errorf("the directory of the attempt exists, and Hadoop would refuse it: %v", err)
	}
}

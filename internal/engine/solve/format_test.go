package solve_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedtest "github.com/treereduce/treereduce/internal/testing/solved"
)

// TestFormat3 reads data directories that this program made in format 3, of each method: it verifies
// the finished ones, in which no job may run again, and finishes the others, stopped after tier or
// pass 2, whose complete jobs may not run again either. A program with a later format must do the
// same, or refuse them by their version.
func TestFormat3(t *testing.T) {
	old := filepath.Join("testdata", "format3")
	for _, test := range []struct {
		spec, finished string
		positions      uint64
		stopped        []string
	}{
		{"connectn width=3 height=2 connect=2", "blocks", 45, []string{"blocks-stopped", "text-stopped"}},
		{"connectn width=3 height=3 connect=3", "compact", 694, nil},
		{"connectn width=3 height=3 connect=3", "shards", 694, nil}, // a compact table that two reducers have written
		{"mnk width=3 height=2 connect=2", "lists", 129, []string{"lists-stopped"}},
		{"quickcross width=2 height=2 connect=2", "states", 57, []string{"states-stopped"}},
	} {
		g := solvedtest.Game(t, test.spec)
		want := filepath.Join(old, test.finished)
		for _, name := range append(test.stopped, test.finished) {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				must.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join(old, name))))
				complete, err := filepath.Glob(filepath.Join(dir, "*", store.Success))
				if err != nil || len(complete) < 2 {
					t.Fatalf("%d complete directories, %v", len(complete), err)
				}
				o, ran := options(), &failing{at: -1}
				o.Runner = ran
				if name == "text-stopped" {
					o.Codec, o.KeepAll = jobdir.Text, true
				}
				r, err := solveInto(t, dir, g, o, store.Resume)
				if err != nil || r.Positions != test.positions {
					t.Fatalf("%d positions, %v; want %d", r.Positions, err, test.positions)
				}
				for _, c := range complete {
					if job := filepath.Base(filepath.Dir(c)); slices.Contains(ran.ran, job) {
						t.Errorf("%s ran again", job)
					}
				}
				if name == test.finished && len(ran.ran) > 0 {
					t.Errorf("%s ran again", strings.Join(ran.ran, ", "))
				}
				if n, err := verify(dir, g); err != nil || n != test.positions {
					t.Errorf("verified %d positions, %v", n, err)
				}
				solvedtest.Same(t, store.Local{}, dir, want)
			})
		}
	}
}

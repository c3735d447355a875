package solve_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedtest "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// TestFormat4 reads data directories that this program made in format 4: it verifies the finished ones, in which no job may
// run again, and finishes the others, stopped after tier 2, whose complete jobs may not run again either. A program with a
// later format must do the same, or refuse them by their version. Every file that it writes, in a new directory or after the
// stop, has the bytes of format 4.
func TestFormat4(t *testing.T) {
	old := filepath.Join("testdata", "format4")
	for _, test := range []struct {
		spec, finished string
		positions      uint64
		stopped        []string // the first one as this program stops; another one has blocks that are not compact
		needs          []string
	}{
		{"connectn width=3 height=2 connect=2", "blocks", 45, []string{"blocks-stopped", "blocks-plain-stopped"}, []string{store.ReachedNeed}},
		{"connectn width=3 height=3 connect=3", "shards", 694, nil, []string{store.ReachedNeed}}, // a table that two reducers have written
		{"mnk width=3 height=2 connect=2", "layers", 38, []string{"layers-stopped"}, nil},
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
				if name == test.finished { // it needs what it did
					sameFiles(t, dir, want, must.Get(store.ReadManifest(store.Local{}, want))(t).Needs)
					return
				}
				sameFiles(t, dir, want, test.needs)
				if name == test.stopped[0] {
					dir, _ := solved(t, g, func(made *solve.Options) { made.UntilTier = 2 })
					sameFiles(t, dir, filepath.Join(old, name), test.needs)
				}
			})
		}
		if test.finished != "shards" { // those of two reducers
			dir, _ := solved(t, g, nil)
			sameFiles(t, dir, want, test.needs)
		}
	}
}

// sameFiles checks that two data directories have the same files, byte for byte, if want is finished only those of the
// result, and that the manifest of the first one has some needs.
func sameFiles(t *testing.T, dir, want string, needs []string) {
	t.Helper()
	got, wanted, stopped := all(t, dir), all(t, want), strings.HasSuffix(want, "-stopped")
	for _, files := range []map[string]string{got, wanted} {
		maps.DeleteFunc(files, func(name, _ string) bool {
			return name == "/"+store.ManifestFile || strings.HasPrefix(name, "/data_") && !stopped
		})
	}
	if diff := storetest.Differences(got, wanted); diff != nil || len(got) == 0 {
		t.Errorf("%s: %d files: %s", dir, len(got), strings.Join(diff, ", "))
	}
	if m := must.Get(store.ReadManifest(store.Local{}, dir))(t); !slices.Equal(m.Needs, needs) {
		t.Errorf("%s: version %d with needs %q, want %q", dir, m.Format, m.Needs, needs)
	}
}

package solve_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/table"
)

// resize makes the table of a data directory small or full, on a file system.
func resize(t *testing.T, fsys store.FS, dir string, g game.Game, size string) error {
	t.Helper()
	data, err := store.Create(fsys, dir, g.Spec(), store.Resume, solve.IsRunArtifact, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	return solve.Resize(t.Context(), data, g, size)
}

// TestSmall solves boards with a full table and with a small one. The small table must have the
// same files, except those that it omits, and final the same text. Resize must turn each into the
// other.
func TestSmall(t *testing.T) {
	for _, board := range [][3]int{{3, 3, 3}, {4, 3, 3}, {3, 5, 3}, {1, 4, 2}, {2, 3, 3}, {1, 1, 1}, {2, 2, 1}} {
		g := rules(t, board[0], board[1], board[2])
		for name, change := range map[string]func(*solve.Options){
			"":          func(*solve.Options) {},
			"keep":      func(o *solve.Options) { o.KeepAll = true },
			"keep text": func(o *solve.Options) { o.KeepAll, o.Codec, o.Reducers = true, jobdir.Text, 2 },
		} {
			t.Run(g.Spec()+" "+name, func(t *testing.T) {
				full, _ := solved(t, g, change)
				small, result := solved(t, g, func(o *solve.Options) { change(o); o.Small = true })
				if diff := storetest.Differences(all(t, small), smallOf(g, small, all(t, full), t)); result.Positions == 0 || diff != nil {
					t.Errorf("%d positions, %v", result.Positions, diff)
				}
				if n, err := verify(small, g); err != nil || n != result.Positions {
					t.Errorf("%d positions, %v", n, err)
				}
				before, after := all(t, small), all(t, full)
				if err := errors.Join(resize(t, store.Local{}, small, g, solve.FullTable), resize(t, store.Local{}, full, g, solve.SmallTable)); err != nil {
					t.Fatal(err)
				}
				delete(before, "/"+store.ManifestFile) // it has no options, but Resize records one
				delete(after, "/"+store.ManifestFile)
				for dir, want := range map[string]map[string]string{full: before, small: after} {
					got := all(t, dir)
					delete(got, "/"+store.ManifestFile)
					if diff := storetest.Differences(got, want); diff != nil {
						t.Errorf("after Resize: %v", diff)
					}
				}
			})
		}
	}
}

// smallOf returns the files that a data directory must have if its table is small, given those
// with a full table. Its seal is its own.
func smallOf(g game.Tiered, dir string, full map[string]string, t *testing.T) map[string]string {
	want := maps.Clone(full)
	for tier := range g.Tiers() + 1 {
		if table.Omits(g, tier) {
			delete(want, "/"+table.TierFile(g, tier))
		}
	}
	seal := "/" + filepath.Join(table.Dir, store.Success)
	want[seal] = all(t, dir)[seal]
	return want
}

// TestSmallStopped stops a run before each of its jobs, with and without a power cut, and resumes
// it with the same size of table, or the other. The result must be that of a run that was not
// stopped.
func TestSmallStopped(t *testing.T) {
	g := rules(t, 3, 3, 3)
	want := map[bool]string{}
	for _, small := range []bool{false, true} {
		want[small], _ = solved(t, g, func(o *solve.Options) { o.Small = small })
	}
	for tier := range g.Tiers() {
		for _, test := range []struct {
			begun, resumed bool // small
			after          time.Duration
		}{{true, true, 1}, {true, true, time.Hour}, {true, false, 1}, {false, true, 1}} {
			t.Run(fmt.Sprint(tier, test), func(t *testing.T) {
				dir, disk := filepath.Join(t.TempDir(), "d"), new(storetest.Disk)
				change := func(o *solve.Options) { o.SyncAfter, o.Small = test.after, test.begun }
				if err := onDisk(t, disk, dir, g, fmt.Sprint("data_second", tier), change); !errors.Is(err, errEnd) {
					t.Fatal(err)
				}
				if err := disk.Cut(); err != nil {
					t.Fatal(err)
				}
				o := options()
				o.Small = test.resumed
				r, err := solveInto(t, dir, g, o, store.Resume)
				if err != nil || r.Positions != 694 {
					t.Fatalf("%d positions, %v", r.Positions, err)
				}
				if diff := storetest.Differences(all(t, dir), all(t, want[test.resumed])); diff != nil {
					t.Error(diff)
				}
			})
		}
	}
}

// TestSmallDamaged deletes each file of a small table. A resumed run must make it again.
func TestSmallDamaged(t *testing.T) {
	g := rules(t, 3, 3, 3)
	dir, _ := solved(t, g, func(o *solve.Options) { o.Small = true })
	want := all(t, dir)
	for tier := range g.Tiers() + 1 {
		name := filepath.Join(dir, table.TierFile(g, tier))
		if err := os.Remove(name); table.Omits(g, tier) == (err == nil) {
			t.Fatalf("tier %d: %v", tier, err)
		} else if err != nil {
			continue
		}
		if tab, err := table.OpenOf(store.Local{}, dir, g); err == nil || !strings.Contains(err.Error(), filepath.Base(name)+": missing") {
			t.Errorf("tier %d: opened %v, %v", tier, tab, err)
		}
		o, warned := options(), ""
		o.Small, o.Warn = true, func(text string) { warned += text + "\n" }
		if _, err := solveInto(t, dir, g, o, store.Resume); err != nil {
			t.Fatal(err)
		}
		if diff := storetest.Differences(all(t, dir), want); diff != nil || !strings.Contains(warned, filepath.Base(name)+": missing") {
			t.Errorf("tier %d: warned %q, %v", tier, warned, diff)
		}
	}
}

// A fullAt is a disk on which there is no space for a file.
type fullAt struct {
	store.Local
	file string
}

func (d *fullAt) Create(name string) (io.WriteCloser, error) {
	if filepath.Base(name) == d.file {
		return nil, errFull
	}
	return d.Local.Create(name)
}

// TestResizeInterrupted makes a table full on a disk that is too small, and leaves files as if
// Resize had been killed. The table must stay small and readable, and a second attempt must
// succeed.
func TestResizeInterrupted(t *testing.T) {
	g := rules(t, 3, 3, 3)
	dir, _ := solved(t, g, func(o *solve.Options) { o.Small = true })
	full, _ := solved(t, g, nil)
	want := all(t, dir)
	if err := resize(t, &fullAt{file: "tier-06.blocks"}, dir, g, solve.FullTable); !errors.Is(err, errFull) {
		t.Fatalf("got %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "_attempt-*", "tier-04.blocks"))
	if err != nil || len(left) != 1 {
		t.Fatalf("left are %q, %v", left, err)
	}
	if err := os.Rename(left[0], filepath.Join(dir, table.TierFile(g, 4))); err != nil {
		t.Fatal(err)
	}
	if n, err := verify(dir, g); err != nil || n != 694 {
		t.Fatalf("%d positions, %v", n, err)
	}
	if err := resize(t, store.Local{}, dir, g, solve.SmallTable); err != nil {
		t.Fatal(err)
	}
	delete(want, "/"+store.ManifestFile)
	if got := all(t, dir); len(got) != len(want)+1 {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := resize(t, store.Local{}, dir, g, solve.FullTable); err != nil {
		t.Fatal(err)
	}
	sameTable(t, dir, full)
}

// TestResizeDamaged damages a file that a small table keeps. Resize must find it before it deletes
// any other.
func TestResizeDamaged(t *testing.T) {
	g := rules(t, 3, 3, 3)
	dir, _ := solved(t, g, nil)
	name := filepath.Join(dir, table.TierFile(g, 7))
	bytes, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bytes[len(bytes)/4] ^= 1
	if err := os.WriteFile(name, bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	want := all(t, dir)
	if err := resize(t, store.Local{}, dir, g, solve.SmallTable); !jobdir.Damaged(err) {
		t.Errorf("got %v", err)
	}
	if diff := storetest.Differences(all(t, dir), want); diff != nil {
		t.Errorf("the files have changed: %v", diff)
	}
}

// TestSmallRefused checks the errors for games without small tables, and for a finished run that is
// resumed with the other size.
func TestSmallRefused(t *testing.T) {
	for _, g := range []game.Game{quickCross(t, 2, 2, 2), ticTacToe(t)} {
		o := options()
		o.Small = true
		if _, err := solveInto(t, t.TempDir(), g, o, store.Fresh); err == nil || !strings.Contains(err.Error(), g.Spec()+" is not solved by blocks") {
			t.Errorf("got %v", err)
		}
		dir, _ := solvedGame(t, g, nil)
		if err := resize(t, store.Local{}, dir, g, solve.SmallTable); err == nil || !strings.Contains(err.Error(), g.Spec()+" is not solved by blocks") {
			t.Errorf("got %v", err)
		}
	}
	g := rules(t, 3, 3, 3)
	dir, _ := solved(t, g, nil)
	o := solve.Options{Runner: &inline.Runner{}, Small: true, UntilTier: -1}
	if _, err := solveInto(t, dir, g, o, store.Resume); err == nil || !strings.Contains(err.Error(), "table is full: driver table small "+dir+" makes it small") {
		t.Errorf("got %v", err)
	}
}

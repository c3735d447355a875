package solve_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// powerGames returns the games of these tests, each by the name of a job in the middle of its
// run.
func powerGames(t *testing.T) map[string]game.Game {
	t.Helper()
	return map[string]game.Game{
		"data_second4": rules(t, 3, 3, 3), "data_first7": rules(t, 3, 3, 3),
		"data_second0.2": quickCross(t, 2, 3, 2), "data_first0.3": quickCross(t, 2, 3, 2),
		"data_second3": ticTacToe(t), "data_first5": ticTacToe(t),
	}
}

// ticTacToe returns a small game with only rules.
func ticTacToe(t *testing.T) game.Tiered {
	t.Helper()
	return must.Get(mnk.New(3, 2, 2))(t)
}

// onDisk solves a game on a disk up to a job, or completely.
func onDisk(t *testing.T, disk *storetest.Disk, dir string, g game.Game, until string, change func(*solve.Options)) error {
	t.Helper()
	data := must.Get(store.Create(disk, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	o := options()
	o.Runner = stopsAt(until)
	if change != nil {
		change(&o)
	}
	_, err := solve.Run(context.Background(), data, g, o)
	return err
}

// TestPowerCut checks that a power cut cannot lose anything of long jobs, in whatever format
// it is kept. It can lose directories of quick jobs, but not the table, nor anything made after
// the table.
func TestPowerCut(t *testing.T) {
	for _, g := range []game.Game{rules(t, 3, 3, 3), quickCross(t, 2, 3, 2), ticTacToe(t)} {
		for _, test := range []struct {
			name   string
			change func(*solve.Options)
			quick  bool // directories are not synced
		}{
			{"long", func(o *solve.Options) { o.SyncAfter = 1 }, false},
			{"long, all kept", func(o *solve.Options) { o.SyncAfter, o.KeepAll = 1, true }, false},
			{"long, two reducers, text kept", func(o *solve.Options) {
				o.SyncAfter, o.Reducers, o.KeepAll, o.Lines = 1, 2, true, true
			}, false},
			{"quick", func(o *solve.Options) { o.SyncAfter = time.Hour }, true},
			{"quick, all kept", func(o *solve.Options) { o.SyncAfter, o.KeepAll = time.Hour, true }, true},
		} {
			t.Run(g.Spec()+" "+test.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "d")
				disk := new(storetest.Disk)
				must.OK(t, onDisk(t, disk, dir, g, "", test.change))
				if faults := disk.Faults(); faults != nil && !test.quick {
					t.Errorf("%d faults:\n%s", len(faults), strings.Join(faults, "\n"))
				}
				for _, path := range disk.AtRisk() {
					t.Errorf("at risk: %s", path)
				}
			})
		}
	}
}

// TestResumeAfterPowerCut checks that a run resumed after a power cut gives the same table,
// whether or not its directories were synced.
func TestResumeAfterPowerCut(t *testing.T) {
	for until, g := range powerGames(t) {
		want := filepath.Join(t.TempDir(), "want")
		must.OK(t, onDisk(t, new(storetest.Disk), want, g, "", nil))
		for _, after := range []time.Duration{1, time.Hour} {
			t.Run(g.Spec()+" at "+until+" "+after.String(), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "d")
				disk := new(storetest.Disk)
				err := onDisk(t, disk, dir, g, until, func(o *solve.Options) { o.SyncAfter = after })
				if !errors.Is(err, errFailing) {
					t.Fatal(err)
				}
				must.OK(t, disk.Cut())
				o, warned := options(), 0
				o.Report = texts(func(string) { warned++ })
				must.Get(solveInto(t, dir, g, o, store.Resume))(t)
				if lost := after == time.Hour; lost != (warned > 0) {
					t.Errorf("%d warnings", warned)
				}
				if diff := storetest.Differences(bytesOf(t, dir), bytesOf(t, want)); diff != nil {
					t.Error(diff)
				}
			})
		}
	}
}

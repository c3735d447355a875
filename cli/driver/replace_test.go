package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestClearing checks what commands say while a driver removes an old run, and after it has died.
func TestClearing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	const game = "connectn --width 2 --height 2 --connect 2"
	data := must.Get(store.Create(store.Local{}, dir, "connectn width=2 height=2 connect=2", store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	text := must.Get(store.MarshalSummed(store.Manifest{Format: store.FormatVersion, Game: data.Game, Clearing: true}))(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, store.ManifestFile), text, 0o666))
	for _, want := range []string{"another driver is at work in it", "a driver ended while it removed an old run: driver solve --overwrite starts over"} {
		for _, line := range []string{"solve " + game + " --resume --data ", "solve " + game + " --replace --data ", "lookup --start --data "} {
			if status, _, stderr := runLine(some(), line+dir, ""); status != 1 || !strings.HasPrefix(stderr, "driver: data directory "+dir+": "+want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
			}
		}
		must.OK(t, data.Close())
	}
}

// TestReplace checks what --replace, and therefore make proj2, does with an existing run.
func TestReplace(t *testing.T) {
	g := must.Get(connectn.New(4, 3, 3))(t)
	const other = "connectn width=6 height=6 connect=4"
	for _, test := range []struct {
		name, game, state string
		seconds           float64 // of each of two jobs; -1: there are none
		want              store.Mode
		says              string // the note, or the error
	}{
		{"the same, finished", g.Spec(), solve.Solved, 1000, store.Resume, ""},
		{"the same, stopped", g.Spec(), solve.Stopped, 1, -1, "is not finished: --resume (make: RESUME=1) continues it, --data DIR"},
		{"another, quick", other, solve.Solved, 29, store.Overwrite, other + ", solved in 58 s, is replaced"},
		{"another, long", other, solve.Solved, 30, -1, "took 60 s to solve: --data DIR (make: DATA=DIR) names another directory, --overwrite (make: OVERWRITE=1) replaces it"},
		{"another, stopped", other, solve.Stopped, 1, -1, "is not finished: --data DIR"},
		{"another, failed", other, solve.Failed, 1, -1, "is not finished"},
		{"another, its driver died", other, solve.Running, 1, -1, "is not finished"},
		{"another, its journal was lost before it was resumed", other, solve.Solved, -1, -1, "is solved, but jobs.json does not record how long it took: --data DIR"},
		{"another, no journal", other, "", 0, -1, "is not finished"},
		{"nothing", "", "", 0, store.Fresh, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if test.game != "" {
				data := must.Get(store.Create(store.Local{}, dir, test.game, store.Fresh, solve.IsRunArtifact, nil))(t)
				data.Close()
			}
			if test.state != "" {
				job := solve.JobRecord{Job: "data_first0", Step: "init", Seconds: test.seconds}
				jobs := []solve.JobRecord{job, job}
				if test.seconds < 0 {
					jobs = nil
				}
				text, err := store.MarshalSummed(solve.Journal{Game: test.game, State: test.state, Jobs: jobs})
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666)
				}
				must.OK(t, err)
			}
			mode, note, err := replaceMode(&filesys.Place{FS: store.Local{}, Path: dir}, g)
			if err != nil {
				mode, note = -1, err.Error()
			}
			if mode != test.want || !strings.Contains(note, test.says) || (note == "") != (test.says == "") {
				t.Errorf("%s: mode %d, %q", test.name, mode, note)
			}
		})
	}
}

// TestReplaceAtWork checks that --replace says that a driver is at work, whatever its journal has, and gives no advice.
func TestReplaceAtWork(t *testing.T) {
	g := must.Get(connectn.New(4, 3, 3))(t)
	for _, game := range []string{g.Spec(), "connectn width=6 height=6 connect=4"} {
		dir := t.TempDir()
		data := must.Get(store.Create(store.Local{}, dir, game, store.Fresh, solve.IsRunArtifact, nil))(t)
		defer data.Close()
		want := "data directory " + dir + ": another driver is at work in it"
		for _, state := range []string{"", solve.Running, solve.Solved} {
			if state != "" {
				text := must.Get(store.MarshalSummed(solve.Journal{Game: game, State: state}))(t)
				must.OK(t, os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666))
			}
			if _, _, err := replaceMode(&filesys.Place{FS: store.Local{}, Path: dir}, g); err == nil || err.Error() != want {
				t.Errorf("%s, %q: %v, want %s", game, state, err, want)
			}
		}
	}
}

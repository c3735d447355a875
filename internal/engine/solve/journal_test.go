package solve_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHeartbeat runs a job that reports no progress for ten minutes. All the time, the journal
// must show that the run is alive.
func TestHeartbeat(t *testing.T) {
	g, dir := rules(t, 2, 2, 2), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
		defer data.Close()
		run := func(*runner.Job) (runner.Stats, error) {
			for range 60 {
				time.Sleep(10 * time.Second)
				j, err := solve.ReadJournal(data.FS, dir)
				if err != nil {
					continue // there is no journal before the first heartbeat
				}
				if ago := time.Since(j.Updated); j.State != solve.Running || ago > solve.Heartbeat {
					t.Errorf("%s, written %v ago", j.State, ago)
				}
			}
			return runner.Stats{}, context.DeadlineExceeded
		}
		if _, err := solve.Run(t.Context(), data, g, solve.Options{Runner: &forger{at: "data_first0", forge: run}, Reducers: 1, UntilTier: -1}); err == nil {
			t.Error("no error")
		}
		if j, err := solve.ReadJournal(data.FS, dir); err != nil || j.State != solve.Failed || time.Since(j.Begun) < 10*time.Minute {
			t.Errorf("in the end: %+v, %v", j, err)
		}
	})
}

// fillable is a file system on which no file can be written while full is set, or while the directory that takes the
// space exists.
type fillable struct {
	store.Local
	full  atomic.Bool
	takes atomic.Pointer[string]
}

func (d *fillable) Create(name string) (io.WriteCloser, error) {
	if dir := d.takes.Load(); dir != nil {
		_, err := os.Stat(*dir)
		d.full.Store(err == nil)
	}
	if d.full.Load() {
		return nil, &fs.PathError{Op: "create", Path: name, Err: system.ErrDiskFull}
	}
	return d.Local.Create(name)
}

// TestJournalFails fills the disk for two minutes while a job runs: the run must say so once, while it is at work, and
// again after the next such time.
func TestJournalFails(t *testing.T) {
	for name, share := range map[string]bool{"progress": true, "silent": false} {
		g, dir := rules(t, 2, 2, 2), t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			disk := new(fillable)
			data := must.Get(store.Create(disk, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
			defer data.Close()
			var warned []time.Duration
			begun := time.Now()
			fill := func(job *runner.Job) (runner.Stats, error) {
				for second := range 600 {
					disk.full.Store(second >= 60 && second < 180 || second >= 300 && second < 310 || second >= 400 && second < 500)
					if share {
						job.Report(runner.Progress{Share: float64(second) / 600})
					}
					time.Sleep(time.Second)
				}
				return runner.Stats{}, context.DeadlineExceeded
			}
			report := func(e solve.Event) {
				if e.Kind == solve.Warning {
					if warned = append(warned, time.Since(begun)); !strings.Contains(e.Text, "journal: create ") || !strings.Contains(e.Text, system.ErrDiskFull.Error()) {
						t.Errorf("%s: %s", name, e.Text)
					}
				}
			}
			if _, err := solve.Run(t.Context(), data, g, solve.Options{Runner: &forger{at: "data_first0", forge: fill}, Reducers: 1, UntilTier: -1, Report: report}); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if len(warned) != 2 || warned[0] < 80*time.Second || warned[0] > 2*time.Minute || warned[1] < 420*time.Second || warned[1] > 460*time.Second {
				t.Errorf("%s: warned after %v", name, warned)
			}
		})
	}
}

// TestJournalDiskFull lets a job fill the disk: the journal must have its error.
func TestJournalDiskFull(t *testing.T) {
	g, dir, disk := rules(t, 2, 2, 2), t.TempDir(), new(fillable)
	data := must.Get(store.Create(disk, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	r := &forger{at: "data_first0", forge: func(job *runner.Job) (runner.Stats, error) {
		disk.takes.Store(&job.Output)
		return runner.Stats{}, system.ErrDiskFull
	}}
	if _, err := solve.Run(t.Context(), data, g, solve.Options{Runner: r, Reducers: 1, UntilTier: -1}); !errors.Is(err, system.ErrDiskFull) {
		t.Error(err)
	}
	must.OK(t, data.Close())
	if r, err := status.Read(disk, dir); err != nil || r.Status != solve.Failed || !strings.Contains(r.Error, system.ErrDiskFull.Error()) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTracking checks that the journal records the page of a job.
func TestTracking(t *testing.T) {
	const page = "http://cluster/data_first1"
	dir, _ := solved(t, rules(t, 2, 2, 2), func(o *solve.Options) {
		o.Runner = &forger{at: "data_first1", forge: func(job *runner.Job) (runner.Stats, error) {
			stats, err := new(inline.Runner).Run(t.Context(), job)
			job.Report(runner.Progress{Share: 1, Tracking: page})
			return stats, err
		}}
	})
	pages := ""
	for _, job := range must.Get(solve.ReadJournal(store.Local{}, dir))(t).Jobs {
		if job.Tracking != "" {
			pages += job.Job + " " + job.Tracking
		}
	}
	if want := "data_first1 " + page; pages != want {
		t.Errorf("pages %q, want %q", pages, want)
	}
}

package solve_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// silent is a runner whose jobs report no progress.
type silent struct {
	inline.Runner
	run func() (runner.Stats, error)
}

func (s *silent) Run(context.Context, *runner.Job) (runner.Stats, error) { return s.run() }

// TestHeartbeat runs a job that reports no progress for ten minutes. All the time, the journal
// must show that the run is alive.
func TestHeartbeat(t *testing.T) {
	g, dir := rules(t, 2, 2, 2), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
		defer data.Close()
		run := func() (runner.Stats, error) {
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
		if _, err := solve.Run(t.Context(), data, g, solve.Options{Runner: &silent{run: run}, Reducers: 1, UntilTier: -1}); err == nil {
			t.Error("no error")
		}
		if j, err := solve.ReadJournal(data.FS, dir); err != nil || j.State != solve.Failed || time.Since(j.Begun) < 10*time.Minute {
			t.Errorf("in the end: %+v, %v", j, err)
		}
	})
}

// tracked is a runner whose jobs have a page.
type tracked struct{ inline.Runner }

func (r *tracked) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	stats, err := r.Runner.Run(ctx, job)
	job.Report(runner.Progress{Share: 1, Tracking: "http://cluster/" + job.Name})
	return stats, err
}

// TestTracking checks that the journal records the page of each job.
func TestTracking(t *testing.T) {
	dir, _ := solved(t, rules(t, 2, 2, 2), func(o *solve.Options) { o.Runner, o.Final = &tracked{}, solve.FinalNo })
	j, err := solve.ReadJournal(store.Local{}, dir)
	if err != nil || len(j.Jobs) < 2 {
		t.Fatalf("%+v, %v", j, err)
	}
	for _, job := range j.Jobs {
		if want := "http://cluster/" + job.Job; job.Tracking != want {
			t.Errorf("%s: page %q, want %q", job.Job, job.Tracking, want)
		}
	}
}

package streaming

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// A recounted runner checks that the statistics of each job are the same if its counters are
// missing, except the number of messages. A job on a tier with inner moves must run again.
type recounted struct {
	inline.Runner
	t    *testing.T
	jobs int
}

func (r *recounted) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	stats, err := r.Runner.Run(ctx, job)
	if err != nil || job.Step == step.Init || job.Step == step.Final {
		return stats, err
	}
	if err := store.WriteFile(job.FS, filepath.Join(job.Output, store.Success), nil); err != nil {
		return stats, err
	}
	r.jobs++
	got, err := count(job, runner.Stats{})
	want := stats
	want.Messages = 0
	if game.Loops(job.Method.Game, job.Tier) {
		if !jobdir.Damaged(err) {
			r.t.Errorf("%s: %v", job.Name, err)
		}
		return stats, nil
	}
	if got != want {
		r.t.Errorf("%s: %+v, want %+v", job.Name, got, want)
	}
	return stats, err
}

// TestLostCounters checks the statistics of jobs by layers that are computed from their files.
func TestLostCounters(t *testing.T) {
	for _, test := range []struct {
		g              game.Game
		reducers, jobs int
	}{
		{must.Get(mnk.New(3, 2, 2))(t), 2, 13},        // possible 1 to 6, solve 6 to 0
		{must.Get(quickcross.New(3, 3, 3))(t), 3, 18}, // mark 1 to 10, begin, solve 2 to 7, values
	} {
		for _, codec := range []jobdir.Codec{jobdir.Packed, jobdir.Text} {
			r := &recounted{t: t}
			solved.Dir(t, test.g, func(o *solve.Options) {
				o.Runner, o.Reducers, o.Codec, o.Combine, o.KeepAll = r, test.reducers, codec, false, true
			})
			if r.jobs != test.jobs {
				t.Errorf("%s, %s: %d jobs, want %d", test.g.Spec(), codec, r.jobs, test.jobs)
			}
		}
	}
}

// strayed is a runner that puts a file of the user into the input of a job, and checks that
// the plan of the job ignores it.
type strayed struct {
	inline.Runner
	t *testing.T
}

func (r *strayed) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	if job.Step != step.Init && job.Step != step.Final {
		dirs := slices.Concat(job.Input, job.Edges)
		for _, d := range job.Inbox {
			dirs = append(dirs, d.Path)
		}
		for _, dir := range dirs {
			must.OK(r.t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o666))
		}
		p := &plan{Runner: &Runner{}, job: job}
		must.OK(r.t, p.fill())
		for _, in := range p.inputs {
			found, err := filepath.Glob(in)
			if err != nil || len(found) == 0 {
				r.t.Errorf("%s: %v, %v", in, found, err)
			}
			for _, name := range found {
				if base := filepath.Base(name); !strings.HasPrefix(base, store.PartPrefix) && !strings.HasPrefix(base, store.OutboxPrefix) {
					r.t.Errorf("%s reads %s", job.Name, name)
				}
			}
		}
	}
	return r.Runner.Run(ctx, job)
}

// TestStrayInput checks that Hadoop reads only the parts of a directory.
func TestStrayInput(t *testing.T) {
	blocks := must.Get(connectn.New(3, 3, 3))(t)
	cyclic := must.Get(quickcross.New(3, 3, 3))(t)
	for _, g := range []game.Game{blocks, cyclic} {
		solved.Dir(t, g, func(o *solve.Options) {
			o.Runner, o.Reducers, o.Codec, o.Combine, o.KeepAll = &strayed{t: t}, 2, jobdir.Text, false, true
		})
	}
}

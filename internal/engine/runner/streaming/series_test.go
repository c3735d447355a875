package streaming

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/runner/series"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// A seriesRunner runs series as a cluster does, in this process and on this machine's file system.
type seriesRunner struct {
	Runner
	most    int64                  // records of a series
	series  [][]string             // the jobs that each series was to run
	counts  map[string]step.Counts // by job
	adopted int                    // number of jobs
}

var errKilled = errors.New("killed by the test")

func (r *seriesRunner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	defer func() { r.counts[job.Name] = stats.Counts }()
	if job.Adopted {
		r.adopted++
		return r.collect(job, stats)
	}
	if made, ok := r.made[job.Name]; ok {
		return r.take(job, made)
	}
	p := &plan{Runner: &r.Runner, job: job}
	if job.Step != step.Init && job.Step != step.Final {
		err = p.ofSeries()
	}
	if err != nil || p.series == nil {
		return new(inline.Runner).Run(ctx, job)
	}
	var names []string
	for _, j := range p.series {
		names = append(names, j.Name)
	}
	r.series = append(r.series, names)
	jobs, err := series.Lines(filepath.Dir(job.Output), p.series, r.Above, r.most)
	if err != nil {
		return stats, err
	}
	dir := seriesDir(job.Output)
	if err := errors.Join(job.FS.MkdirAll(dir), job.FS.MkdirAll(planDir(job.Output))); err != nil {
		return stats, err
	}
	var out bytes.Buffer
	if err := series.Run(ctx, bytes.NewReader(jobs), &out, store.Local{}, dir, job.Method); err != nil {
		return stats, err
	}
	if err := store.WriteFile(job.FS, filepath.Join(dir, seriesPart), out.Bytes()); err != nil {
		return stats, err
	}
	return r.collect(job, stats)
}

// keeps is Keeps: the job of an attempt with a plan has succeeded.
func keeps(attempt string) (bool, error) {
	_, err := os.Stat(planDir(attempt))
	return err == nil, nil
}

// A faulty file system fails to open the files, and to make the renames, for which its functions
// return an error. They may be nil.
type faulty struct {
	store.Local
	open   func(name string) error
	rename func(from string) error
}

func (f faulty) Open(name string) (store.File, error) {
	if f.open != nil {
		if err := f.open(name); err != nil {
			return nil, err
		}
	}
	return f.Local.Open(name)
}

func (f faulty) Rename(from, to string) error {
	if f.rename != nil {
		if err := f.rename(from); err != nil {
			return err
		}
	}
	return f.Local.Rename(from, to)
}

// A mortal file system fails from the given call on that changes a directory, as that of a driver
// that is killed.
type mortal struct {
	store.Local
	calls atomic.Int64 // that are left
}

func (m *mortal) alive() error {
	if m.calls.Add(-1) < 0 {
		return errKilled
	}
	return nil
}

func (m *mortal) Rename(from, to string) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Local.Rename(from, to)
}

func (m *mortal) RemoveAll(name string) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Local.RemoveAll(name)
}

// solveSeries solves a game in a data directory.
func solveSeries(t *testing.T, fsys store.FS, dir string, g seriesGame, r runner.Runner, mode store.Mode) error {
	t.Helper()
	data, err := store.Create(fsys, dir, g.Spec(), mode, solve.IsRunArtifact, keeps)
	if err != nil {
		return err
	}
	_, err = solve.Run(t.Context(), data, g.Game, solve.Options{Runner: r, Reducers: 1, Combine: true, Codec: g.codec, Final: solve.FinalYes, UntilTier: -1})
	return errors.Join(err, data.Close())
}

// A seriesGame is a game, with the format of its directories on a cluster, and the number of its
// series with each of seriesLimits.
type seriesGame struct {
	game.Game
	codec  jobdir.Codec
	series [4]int
}

// seriesLimits are the limits of series: each job must have written more than above records, and
// all together at most most.
var seriesLimits = [...]struct{ above, most int64 }{{0, 1 << 20}, {0, 20}, {3, 1 << 20}, {0, 0}}

// seriesGames returns games of each method.
func seriesGames(t *testing.T) []seriesGame {
	t.Helper()
	blocks, err := connectn.New(3, 2, 2)
	states, err2 := quickcross.New(3, 2, 2)
	lists, err3 := mnk.New(3, 2, 2)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	edges := game.WithRanges(gametest.RulesOnly(gametest.TieGame()), 4)
	return []seriesGame{
		{blocks, jobdir.Packed, [...]int{2, 4, 4, 10}},
		{states, jobdir.Packed, [...]int{2, 6, 4, 10}},
		{edges, jobdir.Packed, [...]int{3, 3, 14, 15}},
		{lists, jobdir.Text, [...]int{3, 9, 3, 11}},
	}
}

// TestSeries solves games by series of all their jobs, and by short ones. Every job must have the
// counts that it has alone, and the table must have the same bytes.
func TestSeries(t *testing.T) {
	for _, g := range seriesGames(t) {
		plain := t.TempDir()
		if err := solveSeries(t, store.Local{}, plain, g, new(inline.Runner), store.Fresh); err != nil {
			t.Fatal(err)
		}
		want, err := solve.ReadJournal(store.Local{}, plain)
		if err != nil {
			t.Fatal(err)
		}
		for i, test := range seriesLimits {
			dir := t.TempDir()
			r := &seriesRunner{Runner: Runner{Above: test.above}, most: test.most, counts: make(map[string]step.Counts)}
			if err := solveSeries(t, store.Local{}, dir, g, r, store.Fresh); err != nil {
				t.Fatalf("%s %+v: %v", g.Spec(), test, err)
			}
			solved.Same(t, store.Local{}, dir, plain)
			for _, j := range want.Jobs {
				if got := r.counts[j.Job]; got.Records != j.Records || got.Finished != j.Finished || got.Positions != j.Positions || got.Messages != j.Messages {
					t.Errorf("%s %+v: %s counted %+v, want %+v", g.Spec(), test, j.Job, got, j.Counts)
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, "_attempt*"))
			if err != nil || len(left) > 0 {
				t.Errorf("%s %+v: %v is left", g.Spec(), test, left)
			}
			if len(r.series) != g.series[i] {
				t.Errorf("%s %+v: %d series %v, want %d", g.Spec(), test, len(r.series), r.series, g.series[i])
			}
		}
	}
}

// TestSeriesLost kills a driver when its first series has succeeded, and then loses the results of the
// series, or the parts of its first job. The next driver adopts the job, and must run it again.
func TestSeriesLost(t *testing.T) {
	for _, g := range seriesGames(t) {
		plain := t.TempDir()
		if err := solveSeries(t, store.Local{}, plain, g, new(inline.Runner), store.Fresh); err != nil {
			t.Fatal(err)
		}
		for _, lost := range []string{".series/" + seriesPart, "/" + store.PartPrefix} {
			dir := t.TempDir()
			r := &seriesRunner{most: 20, counts: make(map[string]step.Counts)}
			dying := faulty{rename: func(from string) error {
				if strings.Contains(from, ".series/") {
					return errKilled
				}
				return nil
			}}
			if err := solveSeries(t, dying, dir, g, r, store.Fresh); !errors.Is(err, errKilled) {
				t.Fatalf("%s: %v", g.Spec(), err)
			}
			plans, err := filepath.Glob(filepath.Join(dir, "_attempt-*.plan"))
			if err != nil || len(plans) != 1 {
				t.Fatalf("%s: plans %v, %v", g.Spec(), plans, err)
			}
			attempt := strings.TrimSuffix(plans[0], ".plan")
			damaged := faulty{open: func(name string) error {
				if strings.HasPrefix(name, attempt+lost) {
					return &store.DamageError{Name: name, Reason: "block 1 of 1 is lost"}
				}
				return nil
			}}
			r = &seriesRunner{most: 20, counts: make(map[string]step.Counts)}
			if err := solveSeries(t, damaged, dir, g, r, store.Resume); err != nil || r.adopted != 1 {
				t.Errorf("%s without %s: %v, %d jobs were adopted", g.Spec(), lost, err, r.adopted)
				continue
			}
			solved.Same(t, store.Local{}, dir, plain)
		}
	}
}

// TestSeriesKilled kills a driver before every third of its renames and deletions. The next one must adopt
// a series that has succeeded, and have the same bytes.
func TestSeriesKilled(t *testing.T) {
	for _, g := range seriesGames(t) {
		plain := t.TempDir()
		if err := solveSeries(t, store.Local{}, plain, g, new(inline.Runner), store.Fresh); err != nil {
			t.Fatal(err)
		}
		adopted, err := 0, errKilled
		first := rand.Int64N(3)
		t.Logf("%s: killed after %d calls, and after each three more", g.Spec(), first)
		for calls := first; errors.Is(err, errKilled); calls += 3 {
			dir := t.TempDir()
			run := func(fsys store.FS, mode store.Mode) (*seriesRunner, error) {
				r := &seriesRunner{most: 20, counts: make(map[string]step.Counts)}
				return r, solveSeries(t, fsys, dir, g, r, mode)
			}
			dying := new(mortal)
			dying.calls.Store(calls)
			if _, err = run(dying, store.Fresh); err == nil {
				break
			}
			if _, err := os.Stat(filepath.Join(dir, store.ManifestFile)); err != nil {
				continue // it was killed before the run had begun
			}
			r, failed := run(store.Local{}, store.Resume)
			if failed != nil {
				t.Fatalf("%s, killed after %d calls: %v", g.Spec(), calls, failed)
			}
			adopted += r.adopted
			solved.Same(t, store.Local{}, dir, plain)
			if left, err := filepath.Glob(filepath.Join(dir, "_attempt*-ahead")); err != nil || len(left) > 0 {
				t.Errorf("%s, killed after %d calls: %v is left", g.Spec(), calls, left)
			}
		}
		if err != nil || adopted == 0 {
			t.Errorf("%s: %v, %d jobs were adopted", g.Spec(), err, adopted)
		}
	}
}

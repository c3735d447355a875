package solve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedtest "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// A forger does something else in place of a job.
type forger struct {
	inline.Runner
	at    string
	forge func(job *runner.Job) (runner.Stats, error)
}

func (f *forger) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	if job.Name == f.at {
		return f.forge(job)
	}
	return f.Runner.Run(ctx, job)
}

// stopsAt returns a runner that fails at a job, before its work.
func stopsAt(job string) *forger {
	return &forger{at: job, forge: func(*runner.Job) (runner.Stats, error) { return runner.Stats{}, errFailing }}
}

// TestOpenPositions makes the last solve job leave its position without a value, which must
// not get into the table.
func TestOpenPositions(t *testing.T) {
	g, dir := rules(t, 3, 3, 3), t.TempDir()
	o := options()
	o.Runner = &forger{at: "data_second0", forge: func(job *runner.Job) (runner.Stats, error) {
		file, err := job.FS.Create(filepath.Join(job.Output, jobdir.PartName(0)))
		if err != nil {
			return runner.Stats{}, err
		}
		g := job.Method.Game().(game.Blockwise)
		w := blocks.NewWriter(file, g, job.Tier)
		return runner.Stats{Counts: step.Counts{Records: 1}}, w.Finish(w.Add(blocks.Start(g)))
	}}
	_, err := solveInto(t, dir, g, o, store.Fresh)
	if err == nil || !strings.Contains(err.Error(), "data_second0: no value for 1 position") {
		t.Errorf("got %v", err)
	}
}

// TestFullOnce fills the disk during a job, so that the seal of the table's tiers cannot be
// written either. The error must be one line: that of the job.
func TestFullOnce(t *testing.T) {
	disk, o := new(fillable), options()
	o.Runner = &forger{at: "data_second2", forge: func(job *runner.Job) (runner.Stats, error) {
		disk.full.Store(true)
		_, err := job.FS.Create(filepath.Join(job.Output, jobdir.PartName(0)))
		return runner.Stats{}, err
	}}
	g := rules(t, 3, 3, 3)
	data := must.Get(store.Create(disk, t.TempDir(), g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	_, err := solve.Run(context.Background(), data, g, o)
	if !errors.Is(err, system.ErrDiskFull) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// TestLostRecords checks that a part with fewer records than the job reports, or more, is not
// committed.
func TestLostRecords(t *testing.T) {
	for _, reported := range []int64{56, 58} {
		g, dir := rules(t, 3, 3, 3), t.TempDir()
		o := options()
		o.Runner = &forger{at: "data_first4", forge: func(job *runner.Job) (runner.Stats, error) {
			var r inline.Runner
			stats, err := r.Run(context.Background(), job)
			stats.Records = reported
			return stats, err
		}}
		want := fmt.Sprintf(": %d records made, but 57 records there", reported)
		if _, err := solveInto(t, dir, g, o, store.Fresh); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestTableLacksTiers resumes a run whose table has the seal of a complete one, although it lacks tiers: a
// driver that was taken over in its last step has renamed the seal of the tiers of another one.
func TestTableLacksTiers(t *testing.T) {
	g, dir := rules(t, 3, 3, 3), t.TempDir()
	must.Get(solveInto(t, dir, g, options(), store.Fresh))(t)
	at := filepath.Join(dir, table.Dir)
	want := must.Get(os.ReadFile(filepath.Join(at, store.Success)))(t)
	seal := must.Get(store.ReadSeal(store.Local{}, at))(t)
	for _, f := range seal.Files[1:] {
		must.OK(t, os.Remove(filepath.Join(at, f.Name)))
	}
	seal.Files = seal.Files[:1]
	must.OK(t, errors.Join(os.Remove(filepath.Join(at, store.Success)), seal.Write(store.Local{}, at)))
	must.Get(solveInto(t, dir, g, options(), store.Resume))(t)
	if got, err := os.ReadFile(filepath.Join(at, store.Success)); err != nil || string(got) != string(want) {
		t.Errorf("%v, the seal is\n%s\nwant\n%s", err, got, want)
	}
}

// TestTableUnsealedFirst damages a table and stops the run that rebuilds it. Meanwhile the
// table must not count as complete. Undamaged tiers stay.
func TestTableUnsealedFirst(t *testing.T) {
	g := rules(t, 3, 3, 3)
	for _, test := range []struct {
		name   string
		damage func(dir string) error
		stays  bool // whether the last tier stays
	}{
		{"a tier is gone", func(dir string) error { return os.Remove(filepath.Join(dir, table.TierFile(5))) }, true},
		{"the seal is empty", func(dir string) error { return os.Truncate(filepath.Join(dir, table.Dir, store.Success), 0) }, false},
	} {
		dir, _ := solved(t, g, nil)
		last := func() os.FileInfo {
			return must.Get(os.Stat(filepath.Join(dir, table.TierFile(9))))(t)
		}
		before := last()
		must.OK(t, test.damage(dir))
		o := options()
		o.Runner = stopsAt("data_first3")
		if _, err := solveInto(t, dir, g, o, store.Resume); !errors.Is(err, errFailing) {
			t.Fatalf("%s: %v", test.name, err)
		}
		if _, err := table.OpenOf(store.Local{}, dir, g); err == nil || !strings.Contains(err.Error(), "incomplete: it has no _SUCCESS") {
			t.Errorf("%s: while it is made again: %v", test.name, err)
		}
		if _, err := solveInto(t, dir, g, options(), store.Resume); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		after := last() // a new file may have the inode of the old one
		if (os.SameFile(before, after) && after.ModTime().Equal(before.ModTime())) != test.stays {
			t.Errorf("%s: the last tier stays: %v, want %v", test.name, !test.stays, test.stays)
		}
	}
}

// TestNoStart checks that a table without the initial position is an error, not a result.
func TestNoStart(t *testing.T) {
	g := game.Blockwise(rules(t, 3, 3, 3))
	dir, _ := solved(t, g, nil)
	name := filepath.Join(dir, table.TierFile(0))
	file := must.Get(os.Create(name))(t)
	w := blocks.NewWriter(file, mirror.HalfOf(g), 0)
	must.OK(t, errors.Join(w.Finish(nil), table.Seal(store.Local{}, dir, g.Spec())))
	if r, err := solveInto(t, dir, g, options(), store.Resume); err == nil || !strings.Contains(err.Error(), "the initial position is missing") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestAgain checks that a job whose result is lost runs once more, and that a second loss ends the run.
func TestAgain(t *testing.T) {
	g := solvedtest.Game(t, "connectn width=3 height=3 connect=3")
	for times, want := range []string{"", "", "data_second4: the job runs again: its client is lost"} {
		ran, retried := 0, 0
		o := options()
		o.Runner = &forger{at: "data_second4", forge: func(job *runner.Job) (runner.Stats, error) {
			stats, err := new(inline.Runner).Run(t.Context(), job)
			if ran++; err == nil && ran <= times {
				err = fmt.Errorf("%w: its client is lost", runner.ErrAgain)
			}
			return stats, err
		}}
		o.Report = func(e solve.Event) {
			if e.Done && e.Job == "data_second4" {
				retried = int(e.Retries)
			}
		}
		dir := t.TempDir()
		_, err := solveInto(t, dir, g, o, store.Fresh)
		if want == "" && (err != nil || ran != times+1 || retried != times) || want != "" && (err == nil || err.Error() != want || ran != 2) {
			t.Errorf("lost %d times: it ran %d times, with %d retries: %v", times, ran, retried, err)
		}
		if want == "" {
			if n, err := verify(dir, g); err != nil || n != 694 {
				t.Errorf("verified %d positions, %v", n, err)
			}
		}
	}
}

package blocks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestWholePredecessors solves half of a tier, whose positions are all in a directory, or half of them.
func TestWholePredecessors(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	dir, jobs := t.TempDir(), 0
	job := func(name string, tier int, stored bool, input, predecessors string) string {
		jobs++
		out := filepath.Join(dir, fmt.Sprint(jobs))
		must.OK(t, os.Mkdir(out, 0o777))
		must.Get(new(inline.Runner).Run(t.Context(), &runner.Job{Name: name, Step: name, FS: store.Local{}, Method: New(g), Stored: stored, Tier: tier, Reducers: 1,
			Input: []string{input}, Predecessors: predecessors, Output: out}))(t)
		must.OK(t, os.WriteFile(filepath.Join(out, store.Success), nil, 0o666))
		return out
	}
	var solved [2][]byte
	last := ""
	for i, stored := range []bool{true, false} {
		firsts := []string{job(step.Init, 0, stored, "", "")}
		for tier := 1; tier <= g.Tiers(); tier++ {
			firsts = append(firsts, job(step.Possible, tier, stored, firsts[tier-1], ""))
		}
		if stored {
			last = firsts[g.Tiers()]
		}
		second := job(step.Solve, g.Tiers()-1, true, last, firsts[g.Tiers()-1])
		solved[i] = must.Get(os.ReadFile(filepath.Join(second, jobdir.PartName(0))))(t)
	}
	if !bytes.Equal(solved[0], solved[1]) {
		t.Error("the outputs differ")
	}
}

// TestOpenSuccessors checks that solve refuses successors without a value.
func TestOpenSuccessors(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	dir := t.TempDir()
	job := func(name string, tier int, output, input string) error {
		out := filepath.Join(dir, output)
		must.OK(t, os.Mkdir(out, 0o777))
		_, err := new(inline.Runner).Run(t.Context(), &runner.Job{Name: output, Step: name, FS: store.Local{}, Method: New(g), Tier: tier, Reducers: 1,
			Input: []string{filepath.Join(dir, input)}, Predecessors: filepath.Join(dir, "data_first0"), Output: out})
		return errors.Join(err, os.WriteFile(filepath.Join(out, store.Success), nil, 0o666))
	}
	must.OK(t, errors.Join(job(step.Init, 0, "data_first0", ""), job(step.Possible, 1, "data_first1", "data_first0")))
	if err := job(step.Solve, 0, "data_second0", "data_first1"); err == nil || !strings.Contains(err.Error(), "data_first1: expected successors with a value, found 3 without") {
		t.Errorf("error %v", err)
	}
}

// fullFS cannot create files.
type fullFS struct{ store.Local }

var errFull = errors.New("disk full")

// TestKept runs jobs with one Runner, which keeps their outputs for the next ones, and checks that a job uses what
// was kept of its input only, and nothing after a job that failed.
func TestKept(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	half := mirror.HalfOf(g)
	m, dir, outputs := New(g), t.TempDir(), 0
	r := m.Inline(0).(*inlineRunner)
	job := func(r runner.Runner, fs store.FS, name string, tier int, stored bool, input string) string {
		outputs++
		out := filepath.Join(dir, fmt.Sprint(outputs))
		must.OK(t, os.Mkdir(out, 0o777))
		_, err := r.Run(t.Context(), &runner.Job{Name: name, Step: name, FS: fs, Method: m, Stored: stored, Tier: tier, Reducers: 1,
			Input: []string{input}, Output: out})
		if (err != nil) != (fs == fullFS{}) {
			t.Fatalf("%s, tier %d: %v", name, tier, err)
		}
		must.OK(t, os.WriteFile(filepath.Join(out, store.Success), nil, 0o666))
		return out
	}
	of := func(dir string, tier int, values bool) bool {
		in := must.Get(OpenTier(store.Local{}, dir, half, tier))(t)
		defer in.Close()
		return r.kept.isOf(in, values)
	}
	part := func(dir string) string {
		return string(must.Get(os.ReadFile(filepath.Join(dir, jobdir.PartName(0))))(t))
	}
	local := store.Local{}
	input := job(r, local, step.Init, 0, true, "")
	for tier := 1; tier < 4; tier++ {
		last := input
		input = job(r, local, step.Possible, tier, true, last)
		if !of(input, tier, false) || of(input, tier, true) || of(last, tier-1, false) {
			t.Errorf("tier %d: kept is not its output", tier)
		}
		if want := job(m.Inline(0), local, step.Possible, tier, true, last); part(input) != part(want) {
			t.Errorf("tier %d: its output differs from that of a new Runner", tier)
		}
	}
	whole := job(r, local, step.Init, 0, false, "")
	for tier := 1; tier < 4; tier++ {
		whole = job(r, local, step.Possible, tier, false, whole)
	}
	want := job(m.Inline(0), local, step.Possible, 4, true, input)
	if got := job(r, local, step.Possible, 4, true, input); part(got) != part(want) {
		t.Error("the output after other jobs differs from that of a new Runner")
	}
	job(r, fullFS{}, step.Possible, 5, true, want)
	if r.kept != nil {
		t.Error("something is kept of a job that failed")
	}
}

// fewRanges are the ranges below a number.
type fewRanges struct{ Next, most uint64 }

func (f *fewRanges) nextRange() (rng uint64, size int, ok bool, err error) {
	f.Next++
	return f.Next - 1, 1, f.Next <= f.most, nil
}

func (f *fewRanges) done() float64 { return 0 }

// TestCutter divides ranges at borders, also at the first key of one.
func TestCutter(t *testing.T) {
	c := cutter{ahead: []game.Position{2 << 4, 3<<4 + 1, 4 << 4}, lowBits: 4, enough: 1000, from: &fewRanges{most: 6}}
	var tasks [][]uint64
	for {
		task, ok, err := c.Next()
		must.OK(t, err)
		if !ok {
			break
		}
		tasks = append(tasks, task.ranges)
	}
	if want := "[[0 1] [2 3] [4 5]]"; fmt.Sprint(tasks) != want {
		t.Errorf("%v, want %s", tasks, want)
	}
}

func (fullFS) Create(string) (io.WriteCloser, error) { return nil, errFull }

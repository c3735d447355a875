package inline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestNeeds compares the memory of a job with a manual computation: what workers allocate
// counts twice.
func TestNeeds(t *testing.T) {
	n := needs{shared: 1000, worker: 100, windows: 3, record: 10, chunk: func(slots int) int { return 2 * slots }}
	for _, tt := range []struct{ workers, window, want int }{
		{1, 7, 1000 + 2*(100+3*(10+2*10+pageCursor)+4*2*5)},
		{2, 7, 1000 + 2*2*(100+3*(10+2*10+pageCursor)+4*2*5)},
		{2, 50, 1000 + 2*2*(100+3*(50+2*10+pageCursor)+4*2*5)},
	} {
		if got := n.of(tt.workers, preset{slots: 5, ahead: 4, window: tt.window}); got != tt.want {
			t.Errorf("%d workers, windows of %d: %d bytes, want %d", tt.workers, tt.window, got, tt.want)
		}
	}
}

// A brokenPart is a part whose Finish fails.
type brokenPart struct {
	err      error
	finished *int
}

func (p brokenPart) Append(int) error { return nil }

func (p brokenPart) Finish(err error) error {
	*p.finished++
	return errors.Join(err, p.err)
}

// A brokenWork makes three parts, one of which is broken.
type brokenWork struct {
	*job
	numbered
	broken   int
	err      error
	finished *int
}

func (w *brokenWork) open(context.Context) error { return nil }

func (w *brokenWork) close(err error) error { return err }

func (w *brokenWork) first(task int) game.Position { return game.Position(task) }

func (w *brokenWork) newWorker() func(int, int) error { return func(int, int) error { return nil } }

func (w *brokenWork) newChunk() int { return 0 }

func (w *brokenWork) newShard(number int) (shard[int], error) {
	p := brokenPart{finished: w.finished}
	if number == w.broken {
		p.err = fmt.Errorf("part %d: %w", number, w.err)
	}
	return p, nil
}

func (w *brokenWork) count(int) {}

// TestFinishError checks that an error of Finish fails the job, whether it is the last part or
// an earlier one, and that every part that was created is finished.
func TestFinishError(t *testing.T) {
	for broken := range 3 {
		failed, finished := errors.New("disk full"), 0
		j := &job{Job: &runner.Job{Reducers: 3}, borders: []game.Position{1, 2}, plan: plan{workers: 1, preset: presets[0]}}
		w := &brokenWork{job: j, numbered: numbered{tasks: 3}, broken: broken, err: failed, finished: &finished}
		if _, err := run(t.Context(), j, w); !errors.Is(err, failed) || finished != broken+1 {
			t.Errorf("part %d fails: %v, %d parts are finished", broken, err, finished)
		}
	}
}

// TestEmptyShards checks that all shards of a job are created, also those after the last task.
func TestEmptyShards(t *testing.T) {
	finished := 0
	j := &job{Job: &runner.Job{Reducers: 3}, borders: []game.Position{1, 2}, plan: plan{workers: 1, preset: presets[0]}}
	w := &brokenWork{job: j, numbered: numbered{tasks: 1}, broken: -1, finished: &finished}
	if _, err := run(t.Context(), j, w); err != nil || finished != 3 {
		t.Errorf("%v, %d parts are finished", err, finished)
	}
}

// TestShardErrors checks that an error of closing a file of a shard is one of the shard.
func TestShardErrors(t *testing.T) {
	g := must.Get(mnk.Kind.Make([]int{3, 3, 3}))(t).(game.Layered)
	create := func(fsys store.FS) io.WriteCloser { return must.Get(fsys.Create(filepath.Join(t.TempDir(), "x")))(t) }
	part := func(fsys store.FS) *layers.PartWriter {
		return layers.NewPartWriter(create(fsys), g, 0, layers.Messages)
	}
	full := storetest.Unclosed{FS: store.Local{}, Err: errFull}
	for name, shard := range map[string]interface{ Finish(error) error }{
		"text":   textShard{create(full)},
		"rows":   layerShard{rows: part(full), states: part(store.Local{})},
		"states": layerShard{rows: part(store.Local{}), states: part(full)},
	} {
		if err := shard.Finish(nil); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", name, err, errFull)
		}
	}
}

// TestWholePredecessors solves half of a tier, whose positions are all in a directory, or half of them.
func TestWholePredecessors(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	half, dir, jobs := game.HalfOf(g), t.TempDir(), 0
	job := func(name string, tier int, h *game.Half, input, predecessors string) string {
		jobs++
		out := filepath.Join(dir, fmt.Sprint(jobs))
		must.OK(t, os.Mkdir(out, 0o777))
		must.Get(new(Runner).Run(t.Context(), &runner.Job{Name: name, Step: name, FS: store.Local{}, Method: game.MethodOf(g), Half: h, Tier: tier, Reducers: 1,
			Input: []string{input}, Predecessors: predecessors, Output: out}))(t)
		must.OK(t, os.WriteFile(filepath.Join(out, store.Success), nil, 0o666))
		return out
	}
	var solved [2][]byte
	last := ""
	for i, h := range []*game.Half{half, nil} {
		firsts := []string{job(step.Init, 0, h, "", "")}
		for tier := 1; tier <= g.Tiers(); tier++ {
			firsts = append(firsts, job(step.Possible, tier, h, firsts[tier-1], ""))
		}
		if h != nil {
			last = firsts[g.Tiers()]
		}
		second := job(step.Solve, g.Tiers()-1, half, last, firsts[g.Tiers()-1])
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
		_, err := new(Runner).Run(t.Context(), &runner.Job{Name: output, Step: name, FS: store.Local{}, Method: game.MethodOf(g), Tier: tier, Reducers: 1,
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

func (fullFS) Create(string) (io.WriteCloser, error) { return nil, errFull }

// TestKept runs jobs with one Runner, which keeps their outputs for the next ones, and checks that a job uses what
// was kept of its input only, and nothing after a job that failed.
func TestKept(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	half := game.HalfOf(g)
	dir, r, outputs := t.TempDir(), new(Runner), 0
	job := func(r *Runner, fs store.FS, name string, tier int, h *game.Half, input string) string {
		outputs++
		out := filepath.Join(dir, fmt.Sprint(outputs))
		must.OK(t, os.Mkdir(out, 0o777))
		_, err := r.Run(t.Context(), &runner.Job{Name: name, Step: name, FS: fs, Method: game.MethodOf(g), Half: h, Tier: tier, Reducers: 1,
			Input: []string{input}, Output: out})
		if (err != nil) != (fs == fullFS{}) {
			t.Fatalf("%s, tier %d: %v", name, tier, err)
		}
		must.OK(t, os.WriteFile(filepath.Join(out, store.Success), nil, 0o666))
		return out
	}
	of := func(dir string, tier int, values bool) bool {
		in := must.Get(jobdir.OpenTier(store.Local{}, dir, half, tier))(t)
		defer in.Close()
		return r.kept != nil && r.kept.Of(in, values)
	}
	part := func(dir string) string {
		return string(must.Get(os.ReadFile(filepath.Join(dir, jobdir.PartName(0))))(t))
	}
	local := store.Local{}
	input := job(r, local, step.Init, 0, half, "")
	for tier := 1; tier < 4; tier++ {
		last := input
		input = job(r, local, step.Possible, tier, half, last)
		if !of(input, tier, false) || of(input, tier, true) || of(last, tier-1, false) {
			t.Errorf("tier %d: kept is not its output", tier)
		}
		if want := job(new(Runner), local, step.Possible, tier, half, last); part(input) != part(want) {
			t.Errorf("tier %d: its output differs from that of a new Runner", tier)
		}
	}
	whole := job(r, local, step.Init, 0, nil, "")
	for tier := 1; tier < 4; tier++ {
		whole = job(r, local, step.Possible, tier, nil, whole)
	}
	want := job(new(Runner), local, step.Possible, 4, half, input)
	if got := job(r, local, step.Possible, 4, half, input); part(got) != part(want) {
		t.Error("the output after other jobs differs from that of a new Runner")
	}
	job(r, fullFS{}, step.Possible, 5, half, want)
	if r.kept != nil {
		t.Error("something is kept of a job that failed")
	}
}

// TestOutboxFinishError checks that an error of creating or of finishing an outbox fails the job: its rows
// may not be on disk.
func TestOutboxFinishError(t *testing.T) {
	g := must.Get(mnk.Kind.Make([]int{3, 3, 3}))(t)
	for _, fsys := range []store.FS{fullFS{}, storetest.Unclosed{FS: store.Local{}, Err: errFull}} {
		edges := newOutgoing(&job{Job: &runner.Job{FS: fsys, Output: t.TempDir(), Reducers: 2}, runner: new(Runner)}, g, layers.Predecessors)
		w := edges.newSender(leastRows)
		must.OK(t, w.Send(1, layers.Row{Key: g.Start(), Word: g.Start()}))
		if err := edges.finish(nil); !errors.Is(err, errFull) {
			t.Errorf("%T: %v, want %v", fsys, err, errFull)
		}
	}
}

// TestPartition sends a row from each of two parts by one worker: each part's file gets its own.
func TestPartition(t *testing.T) {
	g := must.Get(mnk.Kind.Make([]int{3, 3, 3}))(t)
	dir := t.TempDir()
	edges := newOutgoing(&job{Job: &runner.Job{FS: store.Local{}, Output: dir, Reducers: 2}, runner: new(Runner)}, g, layers.Predecessors)
	w := edges.newSender(leastRows)
	for part := range 2 {
		must.OK(t, errors.Join(w.setPartition(part), w.Send(1, layers.Row{Key: g.Start(), Word: g.Start()})))
	}
	must.OK(t, edges.finish(nil))
	for part := range 2 {
		seal, err := jobdir.Seal(store.Local{}, filepath.Join(dir, layers.OutboxName(part)))
		if seal.Records != 1 || err != nil {
			t.Errorf("part %d: %d rows, %v", part, seal.Records, err)
		}
	}
}

// TestCut divides all keys at borders, also at the first and the last key.
func TestCut(t *testing.T) {
	var i intervals
	i.cut(10, []game.Position{0, 5, 6, math.MaxUint64}, nil)
	if want := "[{0 4 0} {5 5 0} {6 18446744073709551614 0} {18446744073709551615 18446744073709551615 0}]"; fmt.Sprint(i.of) != want || i.tasks != 4 {
		t.Errorf("%d tasks, %v, want %s", i.tasks, i.of, want)
	}
}

// fewRanges are the ranges below a number.
type fewRanges struct{ next, most uint64 }

func (f *fewRanges) nextRange() (rng uint64, size int, ok bool, err error) {
	f.next++
	return f.next - 1, 1, f.next <= f.most, nil
}

func (f *fewRanges) done() float64 { return 0 }

// TestCutter divides ranges at borders, also at the first key of one.
func TestCutter(t *testing.T) {
	c := cutter{ahead: []game.Position{2 << 4, 3<<4 + 1, 4 << 4}, lowBits: 4, enough: 1000, from: &fewRanges{most: 6}}
	var tasks [][]uint64
	for {
		task, ok, err := c.next()
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

// TestLeast checks that the minimum memory of a game by layers is enough for the first job, and that half of it is refused.
func TestLeast(t *testing.T) {
	for _, g := range []game.Game{must.Get(mnk.New(4, 4, 4))(t), testgames.TieGame()} {
		least := Least(game.MethodOf(g), -1, false) - runner.CodeMemory
		if _, err := (&Runner{Memory: least}).planLayers(g, nil, nil); err != nil {
			t.Errorf("%T: %d bytes: %v", g, least, err)
		}
		if _, err := (&Runner{Memory: least / 2}).planLayers(g, nil, nil); err == nil || !strings.Contains(err.Error(), "M more memory: --resume with a larger --memory continues") {
			t.Errorf("%T: %d bytes: error %v", g, least/2, err)
		}
	}
}

// TestLayerPlan checks that the memory of a plan for layers fits, or the job is refused.
func TestLayerPlan(t *testing.T) {
	refused := 0
	g := must.Get(mnk.New(4, 4, 4))(t)
	for memory := 8 << 20; memory < 1<<32; memory += memory / 3 {
		r := &Runner{Memory: memory}
		p, err := r.planLayers(g, nil, nil)
		if err != nil {
			refused++
			continue
		}
		takes := 2*p.workers*(p.interval*intervalMemory+p.outbox*sentRowMemory/2*3+outboxMemory+aheadMemory) + ownMemory + g.Tiers()*tierMemory
		if takes > memory || p.interval < leastRows || p.outbox < leastRows {
			t.Errorf("%d bytes: %+v takes %d", memory, p, takes)
		}
	}
	if refused == 0 {
		t.Error("no memory is too little")
	}
}

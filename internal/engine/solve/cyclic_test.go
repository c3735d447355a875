package solve_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/table"
)

func quickCross(t *testing.T, w, h, connect int) game.Cyclic {
	t.Helper()
	return must.Get(quickcross.New(w, h, connect))(t)
}

// TestCyclicProgress checks that the share grows, that the time left is estimated from some
// pass on, and that the last share equals the part of the work that was done: all reached
// positions, and those whose value was found.
func TestCyclicProgress(t *testing.T) {
	var events []solve.Event
	_, r := solved(t, quickCross(t, 3, 3, 3), func(o *solve.Options) {
		o.Report = func(e solve.Event) { events = append(events, e) }
	})
	forward, left := true, 0
	var reached, decided int64
	share, whole := 0.0, 0.0
	final := false
	for _, e := range events {
		if !final && e.Step == step.Final {
			whole, share, final = share, 0, true // the share of final alone
		}
		if forward && !step.IsForward(e.Step) {
			forward, share = false, 0 // from now on the total work is known
		}
		if e.Share < share || e.Share > 1 || e.Left < 0 {
			t.Errorf("%s: share %g after %g, %g s left", e.Job, e.Share, share, e.Left)
		}
		share = e.Share
		if e.Left > 0 {
			left++
		}
		if e.Done && forward {
			reached += e.Records
		}
		if e.Done && (e.Step == step.Solve || e.Step == step.Ties) {
			decided += e.Records
		}
	}
	if left == 0 {
		t.Error("no time left was reported")
	}
	if want := float64(reached+decided) / float64(2*reached); uint64(reached) != r.Positions || whole != want || share != 1 {
		t.Errorf("%d positions reached, share %g at the end, of final %g; want %d and %g", reached, whole, share, r.Positions, want)
	}
}

// finalOf returns the expected text of final, by the oracle.
func finalOf(positions uint64, worth map[uint64]naive.Worth) string {
	var b strings.Builder
	for p := range positions {
		if w, ok := worth[p]; ok && w.Result == naive.Draw {
			fmt.Fprintf(&b, "%d\tDRAW\t\n", p)
		} else if ok {
			fmt.Fprintf(&b, "%d\t%s\t%d\n", p, w.Result, w.Remoteness)
		}
	}
	return b.String()
}

// TestQuickCrossFigures checks the reference figures of Quick Cross on small boards.
func TestQuickCrossFigures(t *testing.T) {
	for _, test := range []struct {
		w, h, connect int
		value         string
		positions     uint64
		messages      int64
		forward       string // new positions by pass
		histogram     string // by remoteness
		draws         uint64
		worth         map[game.Position]string
	}{
		{2, 3, 2, "LOSE in 2", 349, 844, "", "[262 86 1]", 0, nil},
		{3, 3, 3, "LOSE in 6", 18753, 140200, "[1 18 144 672 2016 4032 5320 4344 1890 316 0]",
			"[7628 10666 12 56 60 90 9]", 232, map[game.Position]string{
				0: "LOSE in 6", 1: "WIN in 5", 4: "WIN in 1", 5: "DRAW", 13: "LOSE in 0", 83: "LOSE in 4", 6703: "LOSE in 0", 364: "",
			}},
		{4, 3, 3, "LOSE in 8", 453831, 3596984, "[1 24 264 1760 7920 25344 58912 98992 116564 90688 42386 10120 856 0]",
			"[241678 210248 108 424 234 436 72 80 9]", 542, map[game.Position]string{
				0: "LOSE in 8", 1: "WIN in 7", 243: "WIN in 5", 729: "WIN in 5", 146: "WIN in 3",
			}},
		{3, 4, 3, "LOSE in 8", 453831, 3596984, "[1 24 264 1760 7920 25344 58912 98992 116564 90688 42386 10120 856 0]",
			"[241678 210248 108 424 234 436 72 80 9]", 542, nil},
	} {
		t.Run(fmt.Sprintf("%d,%d,%d", test.w, test.h, test.connect), func(t *testing.T) {
			t.Parallel()
			g := quickCross(t, test.w, test.h, test.connect)
			var messages int64
			var forward []int64
			dir, r := solved(t, g, func(o *solve.Options) {
				o.Report = func(e solve.Event) {
					if e.Done && (e.Step == step.Mark || e.Step == step.Create) {
						messages += e.Messages
						forward = append(forward, e.Records)
					}
				}
			})
			if r.Value != test.value || r.Positions != test.positions || messages != test.messages {
				t.Errorf("%s, %d positions, %d messages; want %s, %d and %d", r.Value, r.Positions, messages, test.value, test.positions, test.messages)
			}
			if test.forward != "" && fmt.Sprint(forward) != test.forward {
				t.Errorf("forward %v, want %s", forward, test.forward)
			}
			tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
			defer tab.Close()
			counts := must.Get(tab.Counts(0))(t)
			var histogram []uint64
			for remoteness := 0; ; remoteness++ {
				n := counts[game.Loses.In(remoteness)] + counts[game.Wins.In(remoteness)]
				if n == 0 {
					break
				}
				histogram = append(histogram, n)
			}
			if fmt.Sprint(histogram) != test.histogram || counts[0] != test.draws {
				t.Errorf("by remoteness %v, %d draws; want %s and %d", histogram, counts[0], test.histogram, test.draws)
			}
			for p, want := range test.worth {
				v, ok, err := tab.Lookup(p)
				if err != nil || ok != (want != "") || ok && g.Values().Text(v) != want {
					t.Errorf("position %d: %v, %v, %v; want %q", p, v, ok, err, want)
				}
			}
			if test.positions > 1e5 && (test.w < test.h || raceEnabled) {
				return // the oracle takes seconds
			}
			want := finalOf(g.Positions(), naive.QuickCross{W: test.w, H: test.h, Connect: test.connect}.Solve())
			if got := final(t, dir); got != want {
				t.Error(difference(got, want))
			}
		})
	}
}

// TestBruteForceQuickCross compares every position of every board of at most 7 squares with a
// brute force solution, and verifies the tables.
func TestBruteForceQuickCross(t *testing.T) { bruteForceQuickCross(t, 1, 7) }

// TestLongBruteForceQuickCross does the same for 8 and 9 squares.
func TestLongBruteForceQuickCross(t *testing.T) {
	longtest.Skip(t)
	bruteForceQuickCross(t, 8, 9)
}

// bruteForceQuickCross tests all boards of least to most squares.
func bruteForceQuickCross(t *testing.T, least, most int) {
	for w := 1; w <= most; w++ {
		for h := (least + w - 1) / w; w*h <= most; h++ {
			for connect := 1; connect <= max(w, h); connect++ {
				t.Run(fmt.Sprintf("%d,%d,%d", w, h, connect), func(t *testing.T) {
					t.Parallel()
					g := quickCross(t, w, h, connect)
					dir, _ := solved(t, g, nil)
					want := finalOf(g.Positions(), naive.QuickCross{W: w, H: h, Connect: connect}.Solve())
					if got := final(t, dir); got != want {
						t.Error(difference(got, want))
					}
					if _, err := verify(dir, g); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestTies checks ties, which are decided after wins and losses, through the complete loop.
func TestTies(t *testing.T) {
	graph := testgames.TieGame()
	want := finalOf(graph.Size, graph.Worth())
	for _, size := range []int{1, 3, 64} {
		dir, r := solved(t, game.WithRanges(graph, size), func(o *solve.Options) { o.Reducers = 2 })
		if got := final(t, dir); got != want {
			t.Errorf("ranges of %d: %s", size, difference(got, want))
		}
		if r.Value != "TIE in 2" {
			t.Errorf("ranges of %d: %s", size, r.Value)
		}
	}
}

// bytesOf returns a checksum of each file of the table of a data directory, and of the text. The
// division of the text into parts does not matter.
func bytesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, table.Dir, "*"))
	if err != nil || len(names) < 2 {
		t.Fatalf("%v: %v", names, err)
	}
	sums := map[string]string{"final": fmt.Sprintf("%x", sha256.Sum256([]byte(final(t, dir))))}
	for _, name := range names {
		text := must.Get(os.ReadFile(name))(t)
		sums[filepath.Base(name)] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return sums
}

// TestCyclicOptions checks that no option changes a byte.
func TestCyclicOptions(t *testing.T) {
	g := quickCross(t, 4, 3, 3)
	plain, _ := solved(t, g, nil)
	want := bytesOf(t, plain)
	for name, change := range map[string]func(*solve.Options){
		"3 reducers":    func(o *solve.Options) { o.Reducers = 3 },
		"20 reducers":   func(o *solve.Options) { o.Reducers = 20 },
		"keep all":      func(o *solve.Options) { o.KeepAll = true },
		"keep all text": func(o *solve.Options) { o.KeepAll, o.Codec, o.Reducers = true, jobdir.Text, 2 },
		"little memory": func(o *solve.Options) { o.Runner = &inline.Runner{InboxMemory: 100_000} },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := solved(t, g, change)
			if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
				t.Error(diff)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*", "_spill*")); len(left) > 0 {
				t.Errorf("%v have been left", left)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "mark*"))
			if err != nil || (len(kept) > 0) != strings.HasPrefix(name, "keep") {
				t.Errorf("%v have been kept", kept)
			}
		})
	}
}

// failing is a runner whose job number at fails, before or after its work.
type failing struct {
	inline.Runner
	at    int // counted from 0
	after bool
	ran   []string
}

var errFailing = errors.New("it is the test")

func (f *failing) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	n := len(f.ran)
	if n == f.at && !f.after {
		return runner.Stats{}, errFailing
	}
	stats, err := f.Runner.Run(ctx, job)
	if err == nil && n == f.at {
		err = errFailing
	}
	if err == nil {
		f.ran = append(f.ran, job.Name)
	}
	return stats, err
}

// TestCyclicInterrupted stops a run at any pass.
func TestCyclicInterrupted(t *testing.T) {
	interrupted(t, quickCross(t, 3, 3, 3))
	interrupted(t, game.WithRanges(gametest.RulesOnly(testgames.TieGame()), 4))
}

// interrupted stops a run at any job, before it runs or after it has written everything. The run must resume with
// that job, and give the same bytes.
func interrupted(t *testing.T, g game.Game) {
	t.Helper()
	all := &failing{at: -1}
	plain, whole := solved(t, g, func(o *solve.Options) { o.Runner = all })
	want := bytesOf(t, plain)
	for at := range all.ran {
		for _, after := range []bool{false, true} {
			dir := t.TempDir()
			o := options()
			first := &failing{at: at, after: after}
			o.Runner, o.Reducers, o.MinDrop = first, 2, int64(at/2%2)
			if _, err := solveInto(t, dir, g, o, store.Fresh); !errors.Is(err, errFailing) {
				t.Fatalf("at %s: %v", all.ran[at], err)
			}
			then := &failing{at: -1}
			o.Runner = then
			o.Report = texts(func(text string) { t.Errorf("at %s: %s", all.ran[at], text) })
			r, err := solveInto(t, dir, g, o, store.Resume)
			if err != nil || r.Positions != whole.Positions {
				t.Fatalf("at %s: %d positions, %v", all.ran[at], r.Positions, err)
			}
			if ran := slices.Concat(first.ran, then.ran); !slices.Equal(ran, all.ran) {
				t.Errorf("at %s: the jobs were %v, want %v", all.ran[at], ran, all.ran)
			}
			if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
				t.Errorf("at %s: %v", all.ran[at], diff)
			}
		}
	}
}

// TestCyclicCancelled cancels a run at any event within a pass.
func TestCyclicCancelled(t *testing.T) {
	g := quickCross(t, 3, 3, 3)
	plain, _ := solved(t, g, nil)
	want := bytesOf(t, plain)
	for stop := 1; ; stop += 7 {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		o := options()
		news := 0
		o.Report = func(solve.Event) {
			if news++; news == stop {
				cancel()
			}
		}
		data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
		_, err := solve.Run(ctx, data, g, o)
		cancel()
		data.Close()
		if news < stop {
			break
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d events: %v", stop, err)
		}
		o.Report = nil
		if _, err := solveInto(t, dir, g, o, store.Resume); err != nil {
			t.Fatalf("after %d events: %v", stop, err)
		}
		if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
			t.Errorf("after %d events: %v", stop, diff)
		}
	}
}

// TestCyclicUntil checks that --until-tier counts what the forward passes find, even if the
// game has been solved, and that a run can continue from there.
func TestCyclicUntil(t *testing.T) {
	g := quickCross(t, 3, 3, 3)
	dir := t.TempDir()
	o := options()
	for _, until := range []int{0, 3, 20, -1, 4} {
		o.UntilTier = until
		mode := store.Resume
		if until == 0 {
			mode = store.Fresh
		}
		r := must.Get(solveInto(t, dir, g, o, mode))(t)
		want := []int64{1, 18, 144, 672, 2016, 4032, 5320, 4344, 1890, 316, 0}
		if until < 0 {
			want = nil
		} else {
			want = want[:min(until+1, len(want))]
		}
		if !slices.Equal(r.Tiers, want) || r.Solved != (until < 0) {
			t.Errorf("until %d: %v, solved %v; want %v", until, r.Tiers, r.Solved, want)
		}
	}
}

// TestCyclicUntilWithoutTable does the same if all passes are done, but the driver died before
// it wrote the table.
func TestCyclicUntilWithoutTable(t *testing.T) {
	g := quickCross(t, 3, 3, 3)
	dir, _ := solved(t, g, func(o *solve.Options) { o.KeepAll = true })
	must.OK(t, os.RemoveAll(filepath.Join(dir, table.Dir)))
	o := options()
	o.UntilTier = 1
	r, err := solveInto(t, dir, g, o, store.Resume)
	if err != nil || r.Solved || !slices.Equal(r.Tiers, []int64{1, 18}) {
		t.Errorf("%v, solved %v, %v", r.Tiers, r.Solved, err)
	}
	if _, err := os.Stat(filepath.Join(dir, table.Dir)); err == nil {
		t.Error("there is a table")
	}
}

// TestEdgesOfAnotherRun gives several runs the same runner, which has the edges of the last one in memory: in the same
// directory, in others, and in some that another runner has begun.
func TestEdgesOfAnotherRun(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	one, o := t.TempDir(), options()
	o.Runner, o.Final = &inline.Runner{}, solve.FinalNo
	tableIn := func(dir string) string {
		return string(must.Get(os.ReadFile(filepath.Join(dir, table.CyclicFile)))(t))
	}
	for i := range 6 {
		g := game.WithRanges(gametest.RulesOnly(testgames.RandomGraph(r, 50)), 8)
		other := game.WithRanges(gametest.RulesOnly(testgames.RandomGraph(r, 50)), 8)
		plain, _ := solved(t, g, nil)
		begun, _ := solved(t, g, func(o *solve.Options) { o.UntilTier = 1 })
		must.Get(solveInto(t, one, other, o, store.Overwrite))(t)
		must.Get(solveInto(t, one, g, o, store.Overwrite))(t)
		must.Get(solveInto(t, t.TempDir(), other, o, store.Fresh))(t)
		must.Get(solveInto(t, begun, g, o, store.Resume))(t)
		for _, dir := range []string{one, begun} {
			if tableIn(dir) != tableIn(plain) {
				t.Errorf("game %d: another table in %s", i, dir)
			}
		}
	}
}

// afterMark5 returns a directory in which Quick Cross 3,3,3 was stopped after the pass mark5.
func afterMark5(t *testing.T) (g game.Cyclic, dir string) {
	t.Helper()
	g = quickCross(t, 3, 3, 3)
	dir, _ = solved(t, g, func(o *solve.Options) { o.UntilTier = 5 })
	return g, dir
}

// TestMovesGone deletes stored edges of a forward pass, which are needed until the end, and
// seals the directory again. Though all files match their seals, the pass must be rerun.
func TestMovesGone(t *testing.T) {
	g := game.WithRanges(gametest.RulesOnly(testgames.TieGame()), 4)
	plain, _ := solved(t, g, nil)
	want := bytesOf(t, plain)
	for at, gone := range map[int]string{3: "mark1", 7: "create", 8: "mark2"} {
		dir, o := t.TempDir(), options()
		all := &failing{at: at}
		o.Runner = all
		if _, err := solveInto(t, dir, g, o, store.Fresh); !errors.Is(err, errFailing) {
			t.Fatal(err)
		}
		fsys, from := store.Local{}, filepath.Join(dir, gone)
		seal := must.Get(store.ReadSeal(fsys, from))(t)
		name := layers.OutboxName(0, 0, jobdir.Packed)
		seal.Files = slices.DeleteFunc(seal.Files, func(f store.SealedFile) bool { return f.Name == name })
		must.OK(t, errors.Join(os.Remove(filepath.Join(from, name)), seal.Replace(fsys, from, store.Success)))
		var output []string
		o.Runner, o.Report = &inline.Runner{}, texts(func(text string) { output = append(output, text) })
		_, err := solveInto(t, dir, g, o, store.Resume)
		if err != nil || !slices.ContainsFunc(output, func(text string) bool {
			return strings.Contains(text, "positions that are not terminal, but stored 0 edges: "+gone+" is run again")
		}) {
			t.Errorf("%s gone: %v, output %q", gone, err, output)
		} else if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
			t.Errorf("%s gone: %v", gone, diff)
		}
	}
}

// TestMovesDamaged changes a byte of stored edges of a forward pass.
func TestMovesDamaged(t *testing.T) {
	g := game.WithRanges(gametest.RulesOnly(testgames.TieGame()), 4)
	plain, _ := solved(t, g, nil)
	for at, pass := range map[int]string{3: "mark1", 7: "create", 8: "mark2"} {
		dir, o := t.TempDir(), options()
		o.Runner = &failing{at: at}
		if _, err := solveInto(t, dir, g, o, store.Fresh); !errors.Is(err, errFailing) {
			t.Fatal(err)
		}
		name := filepath.Join(dir, pass, layers.OutboxName(0, 0, jobdir.Packed))
		data := must.Get(os.ReadFile(name))(t)
		data[bytes.Index(data, []byte(g.Spec()))+len(g.Spec())+3] ^= 1 // of the first cell
		must.OK(t, os.WriteFile(name, data, 0o666))
		o.Runner = &inline.Runner{}
		if _, err := solveInto(t, dir, g, o, store.Resume); err != nil {
			t.Errorf("%s: %v", pass, err)
		} else if diff := storetest.Differences(bytesOf(t, dir), bytesOf(t, plain)); diff != nil {
			t.Errorf("%s: %v", pass, diff)
		}
	}
}

// TestCyclicLeftovers checks that the remains of interrupted deletions, and everything else
// that is not needed, are deleted.
func TestCyclicLeftovers(t *testing.T) {
	g, dir := afterMark5(t)
	for _, name := range []string{"mark2", "solve3"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
		must.OK(t, os.WriteFile(filepath.Join(dir, name, "part-00000.blocks"), []byte("half"), 0o666))
	}
	must.Get(solveInto(t, dir, g, options(), store.Resume))(t)
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"_lock", "final", "jobs.json", "table", "treereduce.json"}; !slices.Equal(names, want) {
		t.Errorf("left are %v, want %v", names, want)
	}
}

// TestCyclicDamaged checks that a damaged state is reported with its file and range, and is
// rebuilt.
func TestCyclicDamaged(t *testing.T) {
	g, dir := afterMark5(t)
	name := filepath.Join(dir, "mark5", "_ranges-00000.blocks")
	data := must.Get(os.ReadFile(name))(t)
	data[len(data)/2] ^= 1
	must.OK(t, os.WriteFile(name, data, 0o666))
	o := options()
	var output []string
	o.Report = texts(func(text string) { output = append(output, text) })
	r, err := solveInto(t, dir, g, o, store.Resume)
	if err != nil || r.Value != "LOSE in 6" || r.Positions != 18753 {
		t.Errorf("%s, %d positions, %v", r.Value, r.Positions, err)
	}
	if len(output) == 0 || !strings.HasPrefix(output[0], name+": damaged: ") || !strings.Contains(output[0], "range 0x") || !strings.HasSuffix(output[0], "mark5 is run again") {
		t.Errorf("output %q", output)
	}
}

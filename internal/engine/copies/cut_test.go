package copies

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// errCut is the error of a command during which the machines fail.
var errCut = errors.New("power cut")

// TestCut checks some power cuts.
func TestCut(t *testing.T) { cuts(t, 20) }

// TestLongCut checks more: of short runs, those at each change.
func TestLongCut(t *testing.T) {
	longtest.Skip(t)
	cuts(t, 300)
}

// cuts loses the cluster before a change of the copy, or while a file is copied: nothing is left but the copy, from which a
// run on a new cluster goes on. It must run no job again that is in the journal of the copy, and make the same
// files; at the end, the copy is equal to its data directory. TREEREDUCE_SEED repeats the cuts of a run.
func cuts(t *testing.T, most int) {
	seed := longtest.Number(t, "TREEREDUCE_SEED", int(time.Now().Unix()))
	t.Logf("TREEREDUCE_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	for name, test := range map[string]struct {
		g    game.Game
		keep bool
	}{
		"blocks":           {must.Get(connectn.New(3, 3, 3))(t), false},
		"blocks, all kept": {must.Get(connectn.New(3, 2, 2))(t), true},
		"states":           {must.Get(quickcross.New(2, 3, 2))(t), false},
		"lists":            {must.Get(mancala.New(2, 2))(t), false},
	} {
		t.Run(name, func(t *testing.T) {
			var want map[string]string
			var changes []string
			whole := 0
			synctest.Test(t, func(t *testing.T) {
				d := newDriver(t, test.g, new(storetest.Memory))
				d.keep = test.keep
				d.step = func(change string) error { changes = append(changes, change); return nil }
				must.OK(t, d.drive(t.Context(), store.Fresh))
				want, whole = files(d.here, dataDir), d.jobs.jobs
				same(t, "without faults", files(d.to, copyDir), want)
				t.Logf("%d jobs, %d commands, %d changes", whole, len(d.commands), len(changes))
			})
			saved := 0
			for _, k := range rnd.Perm(len(changes))[:min(len(changes), most)] {
				synctest.Test(t, func(t *testing.T) {
					first := newDriver(t, test.g, new(storetest.Memory))
					ctx, cut := context.WithCancel(t.Context())
					defer cut()
					at := 0
					first.step = func(string) error {
						if at++; at > k {
							cut()
							return errCut
						}
						return nil
					}
					first.keep = test.keep
					err := first.drive(ctx, store.Fresh)
					if at <= k { // the number of changes depends on what a batch meets
						return
					}
					if err == nil {
						t.Errorf("before change %d of %d: no error", k, len(changes))
					}
					second := newDriver(t, test.g, first.to)
					second.keep = test.keep
					done, mode := 0, store.Resume
					if j, err := solve.ReadJournal(first.to, copyDir); err == nil {
						done = len(j.Jobs)
					}
					if _, err := first.to.Stat(copyDir + "/" + store.ManifestFile); err != nil {
						mode = store.Fresh
					}
					if err = second.drive(t.Context(), mode); err != nil {
						t.Fatalf("before %s: %v", changes[k], err)
					}
					if second.jobs.jobs > whole-done {
						t.Errorf("before %s: %d jobs, of %d, although the copy had %d", changes[k], second.jobs.jobs, whole, done)
					}
					same(t, "the data directory after the loss before "+changes[k], files(second.here, dataDir), want)
					same(t, "the copy after the loss before "+changes[k], files(second.to, copyDir), want)
					saved += done
				})
			}
			if saved == 0 {
				t.Error("no copy had a job")
			}
		})
	}
}

// same checks that files are equal to others.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if diff := storetest.Differences(got, want); len(diff) > 0 {
		t.Errorf("%s: %q", what, diff)
	}
}

// TestFails checks that a command that fails is reported once and tried again, and that then the copy is complete; and
// that, if all commands fail from one on, the run makes its files, and its copy is an error at the end, which the next run
// completes.
func TestFails(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	var want map[string]string
	var changes int
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(t, g, new(storetest.Memory))
		d.step = func(string) error { changes++; return nil }
		must.OK(t, d.drive(t.Context(), store.Fresh))
		want = files(d.here, dataDir)
	})
	refused := errors.New("refused")
	for _, ever := range []bool{false, true} {
		for k := 0; k < changes; k += 7 {
			synctest.Test(t, func(t *testing.T) {
				d := newDriver(t, g, new(storetest.Memory))
				at := 0
				d.step = func(string) error {
					if at++; at == k+1 || ever && at > k {
						return refused
					}
					return nil
				}
				err := d.drive(t.Context(), store.Fresh)
				if at <= k { // see cuts
					return
				}
				if errors.Is(err, refused) != ever || !ever && err != nil {
					t.Errorf("change %d of %d fails, and the following: %v: %v", k, changes, ever, err)
				}
				if len(d.warned) != 1 || !strings.Contains(d.warned[0], "--copy-to fake://copy: refused") {
					t.Errorf("change %d: warned %q", k, d.warned)
				}
				same(t, "the data directory", files(d.here, dataDir), want)
				if !ever {
					same(t, "the copy", files(d.to, copyDir), want)
					return
				}
				again := newDriver(t, g, d.to)
				again.here = d.here
				must.OK(t, again.drive(t.Context(), store.Resume))
				same(t, "the copy of the next run", files(d.to, copyDir), want)
			})
		}
	}
}

// TestCommands counts the commands of a run with hundreds of jobs: their number follows from the time of the run, not
// from its jobs.
func TestCommands(t *testing.T) {
	g := must.Get(mancala.New(3, 3))(t)
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(t, g, new(storetest.Memory))
		d.jobs.took = time.Second / 2
		begun := time.Now()
		must.OK(t, d.drive(t.Context(), store.Fresh))
		took := time.Since(begun)
		same(t, "the copy", files(d.to, copyDir), files(d.here, dataDir))
		// At most a put, a write and a removal for each batch; and what begins and ends the copy.
		most := 3*int(took/every+2) + 6
		t.Logf("%d jobs in %v: %d commands", d.jobs.jobs, took, len(d.commands))
		if d.jobs.jobs < 200 || len(d.commands) > most {
			t.Errorf("%d commands for %d jobs in %v, want %d at most", len(d.commands), d.jobs.jobs, took, most)
		}
		jobs := time.Duration(d.jobs.jobs) * d.jobs.took
		if took > jobs*4/3 {
			t.Errorf("%v for jobs of %v together", took, jobs)
		}
	})
}

// TestInterrupted checks that Ctrl-C ends the command that is running, here after the run, and that the next run completes
// the copy.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(t, must.Get(connectn.New(3, 3, 3))(t), new(storetest.Memory))
		d.took = time.Hour
		ctx, stop := context.WithTimeout(t.Context(), 3*d.took+time.Minute) // it lists twice, makes the directory, and writes the manifest
		defer stop()
		begun := time.Now()
		if err := d.drive(ctx, store.Fresh); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want %v", err, context.DeadlineExceeded)
		}
		if took := time.Since(begun); took != 3*d.took+time.Minute || len(d.commands) != 4 {
			t.Errorf("%d commands in %v", len(d.commands), took)
		}
		if got := files(d.to, copyDir); len(got) > 0 {
			t.Errorf("the copy has %q", sorted(got))
		}
		must.OK(t, d.drive(t.Context(), store.Resume))
		same(t, "the copy", files(d.to, copyDir), files(d.here, dataDir))
		if left := d.here.Files(stageDir); len(left) > 0 {
			t.Errorf("left in the stage: %q", left)
		}
	})
}

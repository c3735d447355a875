package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// A copier is a driver with a data directory of its own, which keeps a copy.
type copier struct {
	fsys *storetest.Memory
	way  *s3test.Direct
	to   *s3.FS
	dir  string // of the copy
	g    game.Game

	nodes bool // nodes of a cluster copy
}

// upload is what the nodes do.
func (c *copier) upload(ctx context.Context, files []string, _ int64, to string) (done bool, err error) {
	for _, name := range files {
		text, err := store.ReadFile(c.fsys, name)
		if err != nil {
			return false, err
		}
		if err := c.to.Put(ctx, path.Join(strings.TrimPrefix(to, "s3://bucket"), path.Base(name)), bytes.NewReader(text), int64(len(text))); err != nil {
			return false, err
		}
	}
	return true, nil
}

const copierDir = "/data/d"

// drive solves the game.
func (c *copier) drive(mode store.Mode) (err error) {
	ctx := context.Background()
	dup, err := Open(ctx, c.to, c.dir, "test", func(string) {})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dup.Close()) }()
	fsys := dup.FS(c.fsys, copierDir)
	if c.nodes {
		dup.By(c.upload)
	}
	if err := dup.Ready(c.g.Spec(), mode); err != nil {
		return err
	}
	data, err := store.Create(fsys, copierDir, c.g.Spec(), mode, solve.IsRunArtifact, nil)
	if err != nil {
		return err
	}
	defer data.Close()
	if err := dup.Start(mode); err != nil {
		return err
	}
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Codec: jobdir.Packed, Final: solve.FinalYes, UntilTier: -1}
	if _, err := solve.Run(ctx, data, c.g, o); err != nil {
		return err
	}
	return dup.Finish()
}

// differences returns the names that differ between the data directory and the copy. The journal,
// and directories that are not complete, may differ after another driver has ended late.
func (c *copier) differences(fake *s3test.Fake, late bool) (all []string) {
	files := c.fsys.Files(copierDir)
	for name, content := range files {
		if strings.HasPrefix(name, "_") || name == store.SeedFile || late && name == store.JournalFile {
			continue
		}
		if string(fake.Get("bucket", path.Join(c.dir, name))) != content {
			all = append(all, "differs: "+name)
		}
	}
	for _, key := range fake.Keys("bucket") {
		name, ok := strings.CutPrefix(key, c.dir+"/")
		if _, there := files[name]; ok && !there && !late {
			all = append(all, "left: "+name)
		}
	}
	slices.Sort(all)
	return all
}

// TestSchedules runs some schedules.
func TestSchedules(t *testing.T) { schedules(t, 30) }

// TestLongSchedules runs those of each request.
func TestLongSchedules(t *testing.T) {
	longtest.Skip(t)
	schedules(t, 1<<20)
}

// schedules lets each request to S3 fail in each way, up to a number of schedules chosen at
// random; and pauses a driver before each request while its claim expires and a second driver, on
// another machine, takes over. TREEREDUCE_SEED repeats those of a run.
func schedules(t *testing.T, most int) {
	seed := longtest.Number(t, "TREEREDUCE_SEED", int(time.Now().Unix()))
	t.Logf("TREEREDUCE_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	g, err := connectn.New(2, 2, 2)
	must.OK(t, err)
	fake := s3test.StartFake(t, "bucket")
	number := 0
	// run runs a schedule, whose data directories are empty.
	run := func(do func(first, second *copier)) {
		synctest.Test(t, func(t *testing.T) {
			number++
			connect := func() *copier {
				d := &s3test.Direct{Server: fake}
				to, err := s3.New(t.Context(), d.Config(), "bucket")
				must.OK(t, err)
				return &copier{new(storetest.Memory), d, to, fmt.Sprint("d", number), g, number%2 == 0}
			}
			first, second := connect(), connect()
			do(first, second)
			fake.Set(nil)
			if err := second.to.Remove(t.Context(), second.dir); err != nil {
				t.Error(err)
			}
		})
	}
	var requests atomic.Int64
	run(func(first, _ *copier) {
		first.way.Before = func(*http.Request) { requests.Add(1) }
		if err := first.drive(store.Fresh); err != nil {
			t.Error(err)
		}
		if diff := first.differences(fake, false); len(diff) > 0 {
			t.Errorf("without faults: %q", diff)
		}
	})
	n := int(requests.Load())
	for _, kind := range []struct {
		name  string
		fault *faults.Fault
		ever  bool
	}{
		{"refused", faults.Denied, false}, {"all refused from one on", faults.Denied, true}, {"answer lost", faults.Lost, false}, {"answer cut off", &faults.Fault{Cut: 1}, false},
		{"unavailable", faults.Busy, false},
	} {
		count, failed, wrong := 0, 0, 0
		for _, k := range rnd.Perm(n)[:min(n, max(1, most/6))] {
			run(func(first, _ *copier) {
				count++
				var received atomic.Int64
				fake.Set(kind.fault.If(func(*http.Request) bool {
					i := received.Add(1)
					return i == int64(k)+1 || kind.ever && i > int64(k)
				}))
				err := first.drive(store.Fresh)
				if err != nil {
					failed++
					time.Sleep(2 * s3.Hold) // until a claim that could not be withdrawn has expired
					fake.Set(nil)
					mode := store.Resume
					if len(first.fsys.Files(copierDir)) == 0 {
						mode = store.Fresh
					}
					if again := first.drive(mode); again != nil {
						wrong++
						t.Errorf("%s, request %d: %v; again: %v", kind.name, k+1, err, again)
					}
				}
				if diff := first.differences(fake, false); len(diff) > 0 {
					wrong++
					t.Errorf("%s, request %d: %v; %q", kind.name, k+1, err, diff)
				}
			})
		}
		t.Logf("%s: %d schedules, %d drivers failed and were resumed, wrong: %d", kind.name, count, failed, wrong)
	}
	count, wrong := 0, 0
	for _, k := range rnd.Perm(n)[:min(n, max(1, most/6))] {
		run(func(first, second *copier) {
			count++
			var sent atomic.Int64
			paused, release := make(chan bool, 1000), make(chan bool)
			first.way.Before = func(r *http.Request) {
				// A mutex is locked while the journal is sent, and the simulated clock stands still while
				// a goroutine waits for a mutex.
				if sent.Add(1) > int64(k) && path.Base(r.URL.Path) != store.JournalFile {
					paused <- true
					<-release
				}
			}
			ended := make(chan error, 1)
			go func() { ended <- first.drive(store.Fresh) }()
			select {
			case <-paused:
			case <-ended:
				return
			}
			time.Sleep(2 * s3.Hold)
			err := second.drive(store.Overwrite)
			close(release)
			late := <-ended
			if late != nil && !errors.Is(late, s3.ErrLost) && !errors.Is(late, store.ErrBegun) && !errors.Is(late, context.DeadlineExceeded) {
				wrong++
				t.Errorf("paused at request %d: the first driver: %v", k+1, late)
			}
			if diff := second.differences(fake, true); err != nil || len(diff) > 0 {
				wrong++
				t.Errorf("paused at request %d: %v; the second driver: %v; %q", k+1, late, err, diff)
			}
		})
	}
	t.Logf("two drivers, a pause: %d schedules, wrong: %d", count, wrong)
}

package layers

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestShardErrors checks that an error of closing a file of a shard is one of the shard.
func TestShardErrors(t *testing.T) {
	g := must.Get(mnk.Kind.Make([]int{3, 3, 3}))(t).(game.Tiered)
	part := func(fsys store.FS) *PartWriter {
		return NewPartWriter(must.Get(fsys.Create(filepath.Join(t.TempDir(), "x")))(t), g, 0, Messages)
	}
	full := storetest.Unclosed{FS: store.Local{}, Err: errUnclosed}
	for i, s := range []shard{{part(full), part(store.Local{})}, {part(store.Local{}), part(full)}} {
		if err := s.Finish(nil); !errors.Is(err, errUnclosed) {
			t.Errorf("file %d: %v, want %v", i, err, errUnclosed)
		}
	}
	closed := 0
	_, err := newShard(func(name string) (io.WriteCloser, error) {
		if strings.HasPrefix(name, store.StatesPrefix) {
			return nil, errUnclosed
		}
		return closer(func() { closed++ }), nil
	}, g, 0, Writes{Shards: true, States: true}, 0, forms{part: true})
	if !errors.Is(err, errUnclosed) || closed != 1 {
		t.Errorf("no file of states: %v, %d files are closed", err, closed)
	}
}

// A closer is a file that discards what is written, and calls the function when it is closed.
type closer func()

func (closer) Write(b []byte) (int, error) { return len(b), nil }

func (c closer) Close() error {
	c()
	return nil
}

// sender returns the work of a job with two parts, and a worker of it.
func sender(t *testing.T, fsys store.FS, dir string) (*inlineWork, *inlineWorker) {
	m := New(must.Get(mnk.Kind.Make([]int{3, 3, 3}))(t))
	w := &inlineWork{Job: &inline.Job{Job: &runner.Job{Step: step.Possible, FS: fsys, Output: dir, Reducers: 2}}, inlineRunner: &inlineRunner{m: m}, outbox: leastRows}
	w.openBoxes()
	w.NewWorker()
	return w, w.workers[0]
}

// TestOutboxFinishError checks that an error of creating or of finishing an outbox fails the job: its rows
// may not be on disk.
func TestOutboxFinishError(t *testing.T) {
	for _, fsys := range []store.FS{noFiles{}, storetest.Unclosed{FS: store.Local{}, Err: errUnclosed}} {
		w, k := sender(t, fsys, t.TempDir())
		must.OK(t, k.outbox.Send(1, Row{}))
		if err := w.Close(nil); !errors.Is(err, errUnclosed) {
			t.Errorf("%T: %v, want %v", fsys, err, errUnclosed)
		}
		must.OK(t, k.outbox.Send(1, Row{}))
		w.used = 0
		if w.NewWorker(); len(k.outbox.rows) > 0 {
			t.Errorf("%T: a row of the job that failed is sent by the next one", fsys)
		}
	}
}

// TestPartition sends a row from each of two parts by one worker: each part's file gets its own.
func TestPartition(t *testing.T) {
	dir := t.TempDir()
	w, k := sender(t, store.Local{}, dir)
	for part := range 2 {
		must.OK(t, errors.Join(k.setPart(part), k.outbox.Send(1, Row{})))
	}
	must.OK(t, w.Close(nil))
	for part := range 2 {
		seal, err := jobdir.Seal(store.Local{}, filepath.Join(dir, OutboxName(part)))
		if seal.Records != 1 || err != nil {
			t.Errorf("part %d: %d rows, %v", part, seal.Records, err)
		}
	}
}

// TestCut divides all keys at borders, also at the first and the last key.
func TestCut(t *testing.T) {
	got := fmt.Sprint(cutAt([]game.Position{0, 5, 6, math.MaxUint64}, 10))
	if want := "[{0 4 0} {5 5 0} {6 18446744073709551614 0} {18446744073709551615 18446744073709551615 0}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLeast checks that the minimum memory of a game by layers is enough for the first job, and that half of it is refused.
func TestLeast(t *testing.T) {
	for _, g := range []game.Game{must.Get(mnk.New(4, 4, 4))(t), testgames.TieGame()} {
		least := New(g).LeastInline(-1, false) - runner.CodeMemory
		if _, err := planLayers(inline.Memory(least), g, nil, nil); err != nil {
			t.Errorf("%T: %d bytes: %v", g, least, err)
		}
		if _, err := planLayers(inline.Memory(least/2), g, nil, nil); err == nil || !strings.Contains(err.Error(), "M more memory: --resume with a larger --memory continues") {
			t.Errorf("%T: %d bytes: error %v", g, least/2, err)
		}
	}
}

// TestLayerPlan checks that the memory of a plan for layers fits, or the job is refused.
func TestLayerPlan(t *testing.T) {
	refused := 0
	g := must.Get(mnk.New(4, 4, 4))(t)
	for memory := 8 << 20; memory < 1<<32; memory += memory / 3 {
		p, err := planLayers(inline.Memory(memory), g, nil, nil)
		if err != nil {
			refused++
			continue
		}
		takes := 2*p.Workers*(p.interval*intervalMemory+p.outbox*sentRowMemory/2*3+outboxMemory+aheadMemory) + inline.Own() + g.Tiers()*tierMemory
		if takes > memory || p.interval < leastRows || p.outbox < leastRows {
			t.Errorf("%d bytes: %+v takes %d", memory, p, takes)
		}
	}
	if refused == 0 {
		t.Error("no memory is too little")
	}
}

// noFiles cannot create files.
type noFiles struct{ store.Local }

var errUnclosed = errors.New("disk full")

func (noFiles) Create(string) (io.WriteCloser, error) { return nil, errUnclosed }

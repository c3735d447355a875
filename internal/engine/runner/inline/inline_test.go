package inline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
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

// TestFinishError checks that an error of Finish fails the job, whether it is the last part or
// an earlier one, and that every part that was created is finished.
func TestFinishError(t *testing.T) {
	for broken := range 3 {
		failed, finished := errors.New("disk full"), 0
		o := output[int, int]{job: &runner.Job{Reducers: 3}, plan: plan{1, presets[0]}, tasks: numbered(3),
			partition: func(task int) int { return task },
			create: func(number int) (shard[int], error) {
				p := brokenPart{finished: &finished}
				if number == broken {
					p.err = fmt.Errorf("part %d: %w", number, failed)
				}
				return p, nil
			},
			chunk:  func() int { return 0 },
			worker: func() func(int, int) error { return func(int, int) error { return nil } },
			count:  func(int) {},
		}
		if err := o.run(context.Background()); !errors.Is(err, failed) || finished != broken+1 {
			t.Errorf("part %d fails: %v, %d parts are finished", broken, err, finished)
		}
	}
}

// unclosed is a file whose Close fails.
type unclosed struct{ err error }

func (unclosed) Write(b []byte) (int, error) { return len(b), nil }

func (f unclosed) Close() error { return f.err }

// TestOutboxFinishError checks that an error of finishing an outbox fails the job: its rows
// may not be on disk.
func TestOutboxFinishError(t *testing.T) {
	g, err := mnk.Kind.Make([]int{3, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, codec := range []jobdir.Codec{jobdir.Text, jobdir.Packed} {
		failed := errors.New("disk full")
		edges := newOutgoing(func(string) (io.WriteCloser, error) { return unclosed{failed}, nil }, 2, g, lists.Predecessors, codec)
		w := edges.newSender(leastRows)
		if err := w.Send(1, lists.Row{Key: g.Start(), Word: g.Start()}); err != nil {
			t.Fatal(err)
		}
		if err := edges.finish(nil); !errors.Is(err, failed) {
			t.Errorf("%v: %v, want %v", codec, err, failed)
		}
	}
}

// TestLeast checks, for games by lists or with cycles, that the minimum memory is enough for
// the first job, and that half of it is refused.
func TestLeast(t *testing.T) {
	rules, err := mnk.New(4, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	cross, err := quickcross.New(4, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	lists := func(r *Runner) error {
		_, err := r.planLists(rules.Tiers(), nil)
		return err
	}
	passes := func(g game.Cyclic) func(*Runner) error {
		return func(r *Runner) error {
			n := passNeeds(g, jobdir.Packed)
			n.shared = r.inboxMemory() + int(game.Ranges(g))*boxMemory
			_, err := r.planPass(g, n)
			return err
		}
	}
	for _, tt := range []struct {
		g    game.Game
		plan func(*Runner) error
	}{
		{rules, lists},
		{cross, passes(cross)},
		{gametest.RulesOnly(cross), passes(game.MethodOf(gametest.RulesOnly(cross)).States)},
	} {
		least := Least(game.MethodOf(tt.g), -1, false) - runner.CodeMemory
		if err := tt.plan(&Runner{Memory: least}); err != nil {
			t.Errorf("%T: %d bytes: %v", tt.g, least, err)
		}
		if err := tt.plan(&Runner{Memory: least / 2}); err == nil || !strings.Contains(err.Error(), "M more memory: --resume with a larger --memory continues") {
			t.Errorf("%T: %d bytes: error %v", tt.g, least/2, err)
		}
	}
}

// TestListPlan checks that the memory of a lists plan fits, or the job is refused.
func TestListPlan(t *testing.T) {
	refused := 0
	for memory := 8 << 20; memory < 1<<32; memory += memory / 3 {
		r := &Runner{Memory: memory}
		p, err := r.planLists(100, nil)
		if err != nil {
			refused++
			continue
		}
		takes := 2*p.workers*(p.interval*intervalRowMemory+p.outbox*sentRowMemory/2*3+outboxMemory+aheadMemory) + ownMemory + 100*tierMemory
		if takes > memory || p.interval < leastRows || p.outbox < leastRows {
			t.Errorf("%d bytes: %+v takes %d", memory, p, takes)
		}
	}
	if refused == 0 {
		t.Error("no memory is too little")
	}
}

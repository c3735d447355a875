package inline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

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
	*Job
	Numbered
	broken   int
	err      error
	finished *int
}

func (w *brokenWork) Open(context.Context) error { return nil }

func (w *brokenWork) Close(err error) error { return err }

func (w *brokenWork) First(task int) game.Position { return game.Position(task) }

func (w *brokenWork) NewWorker() func(int, int) error { return func(int, int) error { return nil } }

func (w *brokenWork) NewChunk() int { return 0 }

func (w *brokenWork) NewShard(number int) (Shard[int], error) {
	p := brokenPart{finished: w.finished}
	if number == w.broken {
		p.err = fmt.Errorf("part %d: %w", number, w.err)
	}
	return p, nil
}

func (w *brokenWork) Count(int) {}

// TestFinishError checks that an error of Finish fails the job, whether it is the last part or
// an earlier one, and that every part that was created is finished.
func TestFinishError(t *testing.T) {
	for broken := range 3 {
		failed, finished := errors.New("disk full"), 0
		j := &Job{Job: &runner.Job{Reducers: 3}, Firsts: []game.Position{1, 2}, Plan: Plan{Workers: 1, Ahead: 8}}
		w := &brokenWork{Job: j, Numbered: Numbered{Tasks: 3}, broken: broken, err: failed, finished: &finished}
		if _, err := Run(t.Context(), j, w); !errors.Is(err, failed) || finished != broken+1 {
			t.Errorf("part %d fails: %v, %d parts are finished", broken, err, finished)
		}
	}
}

// TestEmptyShards checks that all shards of a job are created, also those after the last task.
func TestEmptyShards(t *testing.T) {
	finished := 0
	j := &Job{Job: &runner.Job{Reducers: 3}, Firsts: []game.Position{1, 2}, Plan: Plan{Workers: 1, Ahead: 8}}
	w := &brokenWork{Job: j, Numbered: Numbered{Tasks: 1}, broken: -1, finished: &finished}
	if _, err := Run(t.Context(), j, w); err != nil || finished != 3 {
		t.Errorf("%v, %d parts are finished", err, finished)
	}
}

// TestTextError checks that an error of closing a file of lines is one of the shard.
func TestTextError(t *testing.T) {
	full := errors.New("disk full")
	file := must.Get(storetest.Unclosed{FS: store.Local{}, Err: full}.Create(filepath.Join(t.TempDir(), "x")))(t)
	if err := (textShard{file}).Finish(nil); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
}

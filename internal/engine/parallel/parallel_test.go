package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// TestEach checks that every task is executed once, for any number of workers.
func TestEach(t *testing.T) {
	for _, tasks := range []int{0, 1, 7, 100} {
		for _, workers := range []int{1, 3, 200} {
			for _, atOnce := range []int{1, 4, 1000} {
				done := make([]atomic.Int32, tasks)
				err := parallel.Each(t.Context(), workers, tasks, atOnce, func() func(int) error {
					return func(i int) error { done[i].Add(1); return nil }
				})
				for i := range done {
					if n := done[i].Load(); n != 1 || err != nil {
						t.Fatalf("%d tasks, %d workers, %d at once: task %d done %d times, %v", tasks, workers, atOnce, i, n, err)
					}
				}
			}
		}
	}
}

// TestEachError checks that the error of the lowest failed task is returned, whether it occurs
// first or last.
func TestEachError(t *testing.T) {
	for _, late := range []int{3, 5} {
		var both sync.WaitGroup // both tasks that fail have started
		both.Add(2)
		err := parallel.Each(t.Context(), 4, 10000, 2, func() func(int) error {
			return func(i int) error {
				if i != 3 && i != 5 {
					return nil
				}
				both.Done()
				both.Wait()
				if i == late {
					time.Sleep(20 * time.Millisecond)
				}
				return fmt.Errorf("task %d", i)
			}
		})
		if err == nil || err.Error() != "task 3" {
			t.Errorf("task %d is late: %v, want task 3", late, err)
		}
	}
}

// TestEachEnds checks that no task starts after an error.
func TestEachEnds(t *testing.T) {
	begun := 0
	err := parallel.Each(t.Context(), 1, 100, 2, func() func(int) error {
		return func(int) error { begun++; return errors.New("no") }
	})
	if err == nil || begun != 1 {
		t.Errorf("%v after %d tasks", err, begun)
	}
}

// TestEachStopped checks that the cause of ctx's end is returned.
func TestEachStopped(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var begun atomic.Int32
	err := parallel.Each(ctx, 2, 10000, 1, func() func(int) error {
		return func(int) error { begun.Add(1); cancel(why); return nil }
	})
	if !errors.Is(err, why) || begun.Load() > 2 {
		t.Errorf("%v after %d tasks", err, begun.Load())
	}
}

// TestInOrder checks that chunks are written in the order of tasks, if a later task is done before an
// earlier one, and that after an error no later chunk is written.
func TestInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, bad := range []int{-1, 0, 60} {
			var got []int
			later := make(chan struct{}) // closed by task 1, for which task 0 waits
			err := parallel.InOrder(t.Context(), workers, 3*workers, parallel.Work[int, *int]{Next: parallel.Numbers(200), Chunk: func() *int { return new(int) }, Worker: func() func(int, *int) error {
				return func(task int, out *int) error {
					if *out = task; task == bad {
						return fmt.Errorf("task %d", task)
					}
					switch {
					case workers == 1 || bad == 0:
					case task == 0:
						<-later
					case task == 1:
						close(later)
					}
					return nil
				}
			}, Write: func(task int, out *int) error {
				if task != *out || task != len(got) {
					return fmt.Errorf("task %d wrote %d after %d", task, *out, len(got))
				}
				got = append(got, task)
				return nil
			}})
			want := 200
			if bad >= 0 {
				want = bad
			}
			if bad < 0 && err != nil || bad >= 0 && (err == nil || err.Error() != fmt.Sprint("task ", bad)) {
				t.Errorf("%d workers, task %d fails: %v", workers, bad, err)
			}
			if bad < 0 && len(got) < want || len(got) > want {
				t.Errorf("%d workers, task %d fails: %d chunks", workers, bad, len(got))
			}
		}
	}
	if err := parallel.InOrder(t.Context(), 3, 3, parallel.Work[int, int]{Next: parallel.Numbers(100), Chunk: func() int { return 0 }, Worker: func() func(int, int) error {
		return func(int, int) error { return nil }
	}, Write: func(int, int) error { return errors.New("full") }}); err == nil || err.Error() != "full" {
		t.Errorf("write: %v", err)
	}
}

// TestAllLowest checks that the error of the lowest task is returned, even if that of a
// later one came first.
func TestAllLowest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	late := make(chan bool)
	low := errors.New("low")
	err := parallel.All(t.Context(), 1000, func() func(int) error {
		return func(task int) error {
			switch task {
			case 5:
				<-late // until the other worker has returned its error
				time.Sleep(20 * time.Millisecond)
				return low
			case 70:
				close(late)
				return errors.New("high")
			}
			return nil
		}
	})
	if err != low {
		t.Errorf("%v, want the lowest", err)
	}
}

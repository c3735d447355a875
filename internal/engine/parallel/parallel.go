// Package parallel executes numbered tasks on several workers. It knows nothing of what the
// tasks do.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each executes the tasks 0 to tasks-1. worker returns the function of one worker, which may
// have memory of its own; a worker takes atOnce consecutive tasks at a time. After an error no
// tasks are started. Each returns the error of the lowest task that failed, or the cause of
// ctx's end.
func Each(ctx context.Context, workers, tasks, atOnce int, worker func() func(task int) error) error {
	var next atomic.Int64
	var mu sync.Mutex // guards lowest and failed
	lowest, failed := tasks, error(nil)
	var all sync.WaitGroup
	for range min(workers, tasks) {
		all.Go(func() {
			do := worker()
			for ctx.Err() == nil {
				from := int(next.Add(int64(atOnce))) - atOnce
				if from >= tasks {
					return
				}
				for i := from; i < min(from+atOnce, tasks); i++ {
					if err := do(i); err != nil {
						mu.Lock()
						if i < lowest {
							lowest, failed = i, err
						}
						mu.Unlock()
						next.Store(int64(tasks)) // all later tasks have higher numbers
						return
					}
				}
			}
		})
	}
	all.Wait()
	if failed == nil {
		return context.Cause(ctx)
	}
	return failed
}

// outputsOf is the number of outputs for each worker that InOrder may hold at a time.
const outputsOf = 4

// InOrder is like Each with one task at a time, but the tasks have outputs, which are written in the
// order of the tasks, one at a time. The function of a worker fills an output, which may have been
// used before; output returns a new one.
func InOrder[T any](ctx context.Context, workers, tasks int, output func() T, worker func() func(task int, out T) error, write func(T) error) error {
	var mu sync.Mutex // guards the following
	next := 0         // the task whose output is to be written next
	filled, free := make(map[int]T), []T(nil)
	failed, changed := false, sync.NewCond(&mu)
	return Each(ctx, workers, tasks, 1, func() func(int) error {
		do := worker()
		return func(task int) error {
			mu.Lock()
			defer mu.Unlock()
			for task >= next+outputsOf*workers && !failed {
				changed.Wait()
			}
			if failed {
				return nil
			}
			if len(free) == 0 {
				free = append(free, output())
			}
			out := free[len(free)-1]
			free = free[:len(free)-1]
			mu.Unlock()
			err := do(task, out)
			mu.Lock()
			filled[task] = out
			for err == nil && !failed {
				first, ok := filled[next]
				if !ok {
					break
				}
				delete(filled, next)
				err = write(first)
				free = append(free, first)
				next++
			}
			failed = failed || err != nil
			changed.Broadcast()
			return err
		}
	})
}

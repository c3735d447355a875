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

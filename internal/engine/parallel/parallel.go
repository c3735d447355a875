// Package parallel has numbered tasks done by several workers at a time. It knows nothing
// of what they do.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each has workers do tasks, from 0; worker makes what one of them does, with memory of its
// own, and atOnce is how many tasks that follow one another it takes at a time. Each returns
// the error of the lowest task that has one, after which no others are begun; or why ctx
// ended.
func Each(ctx context.Context, workers, tasks, atOnce int, worker func() func(task int) error) error {
	var next atomic.Int64
	var mu sync.Mutex // of what follows
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
						next.Store(int64(tasks)) // no later one can be the lowest
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

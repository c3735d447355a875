// Package parallel executes tasks on several workers. It knows nothing of what the
// tasks do.
package parallel

import (
	"context"
	"runtime"
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

const (
	// atOnce is the maximum number of tasks that a worker of All takes at a time. It takes fewer if there are not enough
	// for every worker to take some turns times.
	atOnce = 64
	turns  = 8
)

// All is like Each, for small tasks, on all cores.
func All(ctx context.Context, tasks int, worker func() func(task int) error) error {
	workers := runtime.GOMAXPROCS(0)
	return Each(ctx, workers, tasks, max(1, min(atOnce, tasks/(turns*workers))), worker)
}

// A result is the output of a task.
type result[T, C any] struct {
	task  T
	chunk C
}

// A Work consists of tasks, each of which fills a chunk.
type Work[T, C any] struct {
	Next   func() (task T, ok bool, err error) // returns the next task; it is not called concurrently
	Chunk  func() C                            // makes a chunk; chunks are reused
	Worker func() func(task T, chunk C) error  // returns the function of one worker
	Write  func(task T, chunk C) error
}

// InOrder has workers execute the tasks of w, and writes the chunks in task order. chunks is the
// number of chunks. InOrder returns the first error, or the cause of ctx's end.
//
// A worker takes a chunk, then a task; so there are at most as many tasks in progress as chunks, and
// the results of tasks with a distance of that number share a channel.
func InOrder[T, C any](ctx context.Context, workers, chunks int, w Work[T, C]) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer func() {
		cancel(err)
		all.Wait()
	}()
	free := make(chan C, chunks)
	done := make([]chan result[T, C], chunks)
	for i := range done {
		free <- w.Chunk()
		done[i] = make(chan result[T, C], 1)
	}
	var mu sync.Mutex // guards the variables below
	started, ended := 0, false
	start := func() (task T, out chan result[T, C], err error) {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return task, nil, nil
		}
		out = done[started%len(done)]
		started++
		task, ok, err := w.Next()
		if !ok && err == nil {
			ended = true
			close(out)
			return task, nil, nil
		}
		return task, out, err
	}
	for range workers {
		all.Go(func() {
			var work func(T, C) error
			for {
				var chunk C
				select {
				case chunk = <-free:
				case <-ctx.Done():
					return
				}
				task, out, err := start()
				if err == nil && out != nil {
					if work == nil {
						work = w.Worker()
					}
					err = work(task, chunk)
				}
				if err != nil {
					cancel(err)
				}
				if err != nil || out == nil {
					return
				}
				out <- result[T, C]{task, chunk}
			}
		})
	}
	for i := 0; ; i++ {
		var r result[T, C]
		var ok bool
		select {
		case r, ok = <-done[i%len(done)]:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !ok {
			return nil
		}
		if err := w.Write(r.task, r.chunk); err != nil {
			return err
		}
		free <- r.chunk
	}
}

// Numbers returns a function that returns the numbers 0 to n-1 as the tasks of InOrder.
func Numbers(n int) func() (task int, ok bool, err error) {
	next := -1
	return func() (int, bool, error) { next++; return next, next < n, nil }
}

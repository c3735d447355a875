package inline

import (
	"cmp"
	"context"
	"io"
	"path"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
)

// A jobOf is a job for a game of kind G.
type jobOf[G game.Game] struct {
	*runner.Job
	g       G
	borders []game.Position // the first keys of all parts except the first
}

// part returns the number of the part that contains a key.
func (j *jobOf[G]) partition(key game.Position) int {
	return sort.Search(len(j.borders), func(i int) bool { return key < j.borders[i] })
}

// create creates a file in the job's output directory.
func (j *jobOf[G]) create(name string) (io.WriteCloser, error) {
	return j.FS.Create(path.Join(j.Output, name))
}

// A shard is an output file of a job. Its chunks are appended in order.
type shard[C any] interface {
	Append(chunk C) error
	// Finish completes the part if err is nil, and closes it in any case. It returns the first
	// error.
	Finish(err error) error
}

// An output runs the tasks of a job. A worker turns each task into a chunk, and the chunks are
// appended to parts.
type output[T, C any] struct {
	job       *runner.Job
	plan      plan
	tasks     tasks[T]
	partition func(task T) int // the number of the task's part, ascending
	create    func(part int) (shard[C], error)
	chunk     func() C                         // returns an empty chunk
	worker    func() func(task T, out C) error // returns the function of a worker
	count     func(C)                          // counts a written chunk
	before    float64                          // the share of the job that is already done, 0 to 1
}

// tasks are the tasks of a job, made as they are needed.
type tasks[T any] struct {
	next  func() (task T, ok bool, err error) // returns the next task; not called concurrently
	share func(task T) float64                // the share of the job up to the end of a task, 0 to 1
}

// numbered returns the tasks 0 to n-1.
func numbered(n int) tasks[int] {
	next := -1
	return tasks[int]{
		next:  func() (int, bool, error) { next++; return next, next < n, nil },
		share: func(task int) float64 { return float64(task+1) / float64(n) },
	}
}

// run has the plan's workers execute the tasks, while the calling goroutine writes their
// chunks in order. One shard is open at a time.
func (o *output[T, C]) run(ctx context.Context) error {
	var open shard[C]
	begun := 0
	upTo := func(number int) error { // creates all shards up to number, which stays open
		for ; begun <= number; begun++ {
			if last := open; last != nil {
				open = nil
				if err := last.Finish(nil); err != nil {
					return err
				}
			}
			next, err := o.create(begun)
			if err != nil {
				return err
			}
			open = next
		}
		return nil
	}
	err := o.inOrder(ctx, func(task T, chunk C) error {
		if err := upTo(o.partition(task)); err != nil {
			return err
		}
		if err := open.Append(chunk); err != nil {
			return err
		}
		o.count(chunk)
		o.job.Report(runner.Progress{Share: o.before + (1-o.before)*o.tasks.share(task)})
		return nil
	})
	if err == nil {
		err = upTo(o.job.Reducers - 1)
	}
	if open != nil {
		err = open.Finish(err)
	}
	return err
}

// A result is the output of a task.
type result[T, C any] struct {
	task  T
	chunk C
}

// inOrder has the plan's workers execute the tasks, and writes their chunks in order. A worker
// takes a chunk, then a task; so there are at most as many tasks in progress as chunks, and the
// results of tasks with a distance of that number share a channel.
func (o *output[T, C]) inOrder(ctx context.Context, write func(task T, chunk C) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer func() {
		cancel(err)
		all.Wait()
	}()
	free := make(chan C, o.plan.workers*o.plan.ahead)
	done := make([]chan result[T, C], cap(free))
	for i := range done {
		free <- o.chunk()
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
		task, ok, err := o.tasks.next()
		if !ok && err == nil {
			ended = true
			close(out)
			return task, nil, nil
		}
		return task, out, err
	}
	for range o.plan.workers {
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
						work = o.worker()
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
		if err := write(r.task, r.chunk); err != nil {
			return err
		}
		free <- r.chunk
	}
}

// A textChunk contains lines.
type textChunk struct {
	text  []byte
	lines int64
}

// A textPart is a part with lines.
type textShard struct{ io.WriteCloser }

func (p textShard) Append(c *textChunk) error {
	_, err := p.Write(c.text)
	return err
}

func (p textShard) Finish(err error) error { return cmp.Or(err, p.Close()) }

// writeText writes parts with the lines that workers produce. A worker gets an empty chunk for
// each task; first returns the first key of a task.
func writeText[G game.Game, T any](ctx context.Context, j *jobOf[G], plan plan, tasks tasks[T], first func(task T) game.Position, worker func() func(task T, out *textChunk) error) (stats runner.Stats, err error) {
	o := output[T, *textChunk]{job: j.Job, plan: plan, tasks: tasks, partition: func(task T) int { return j.partition(first(task)) },
		create: func(number int) (shard[*textChunk], error) {
			file, err := j.create(jobdir.PartName(number, jobdir.Text))
			return textShard{file}, err
		},
		chunk: func() *textChunk { return new(textChunk) },
		worker: func() func(T, *textChunk) error {
			work := worker()
			return func(task T, out *textChunk) error {
				out.text, out.lines = out.text[:0], 0
				return work(task, out)
			}
		},
		count: func(c *textChunk) { stats.Records += c.lines },
	}
	err = o.run(ctx)
	return stats, err
}

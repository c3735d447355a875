package inline

import (
	"cmp"
	"context"
	"io"
	"path"
	"sort"
	"sync"
	"sync/atomic"

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
type output[C any] struct {
	job       *runner.Job
	plan      plan
	tasks     int
	partition func(task int) int // the number of the task's part, ascending
	create    func(part int) (shard[C], error)
	chunk     func() C                           // returns an empty chunk
	worker    func() func(task int, out C) error // returns the function of a worker
	count     func(C)                            // counts a written chunk
	before    float64                            // the share of the job that is already done, 0 to 1
}

// run has the plan's workers execute the tasks, while the calling goroutine writes their
// chunks in order. One shard is open at a time.
func (o *output[C]) run(ctx context.Context) error {
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
	err := o.inOrder(ctx, func(task int, chunk C) error {
		if err := upTo(o.partition(task)); err != nil {
			return err
		}
		if err := open.Append(chunk); err != nil {
			return err
		}
		o.count(chunk)
		o.job.Report(runner.Progress{Share: o.before + (1-o.before)*float64(task+1)/float64(o.tasks)})
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

// inOrder has the plan's workers execute the tasks, and writes their chunks in order.
func (o *output[C]) inOrder(ctx context.Context, write func(task int, chunk C) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer func() {
		cancel(err)
		all.Wait()
	}()
	workers := max(1, min(o.plan.workers, o.tasks))
	free := make(chan C, workers*o.plan.ahead)
	for range cap(free) {
		free <- o.chunk()
	}
	done := make([]chan C, o.tasks)
	for i := range done {
		done[i] = make(chan C, 1)
	}
	var next atomic.Int64
	for range workers {
		all.Go(func() {
			work := o.worker()
			for {
				var out C
				select {
				case out = <-free:
				case <-ctx.Done():
					return
				}
				i := int(next.Add(1)) - 1
				if i >= o.tasks {
					return
				}
				if err := work(i, out); err != nil {
					cancel(err)
					return
				}
				done[i] <- out
			}
		})
	}
	for i := range done {
		var chunk C
		select {
		case chunk = <-done[i]:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := write(i, chunk); err != nil {
			return err
		}
		free <- chunk
	}
	return nil
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
func (j *jobOf[G]) writeText(ctx context.Context, plan plan, tasks int, first func(task int) game.Position, worker func() func(task int, out *textChunk) error) (stats runner.Stats, err error) {
	o := output[*textChunk]{job: j.Job, plan: plan, tasks: tasks, partition: func(i int) int { return j.partition(first(i)) },
		create: func(number int) (shard[*textChunk], error) {
			file, err := j.create(jobdir.PartName(number, jobdir.Text))
			return textShard{file}, err
		},
		chunk: func() *textChunk { return new(textChunk) },
		worker: func() func(int, *textChunk) error {
			work := worker()
			return func(task int, out *textChunk) error {
				out.text, out.lines = out.text[:0], 0
				return work(task, out)
			}
		},
		count: func(c *textChunk) { stats.Records += c.lines },
	}
	err = o.run(ctx)
	return stats, err
}

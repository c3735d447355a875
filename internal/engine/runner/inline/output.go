package inline

import (
	"cmp"
	"context"
	"io"
	"path"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
)

// A jobOf is a job for a game of kind G.
type jobOf[G game.Game] struct {
	*runner.Job
	g       G
	borders []game.Position // the first keys of all shards except the first
}

// partition returns the number of the shard that contains a key.
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
	// Finish completes the shard if err is nil, and closes it in any case. It returns the first
	// error.
	Finish(err error) error
}

// An output runs the tasks of a job. A worker turns each task into a chunk, and the chunks are
// appended to shards.
type output[T, C any] struct {
	job       *runner.Job
	plan      plan
	tasks     tasks[T]
	partition func(task T) int // the number of the task's shard, ascending
	create    func(number int) (shard[C], error)
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
	return tasks[int]{
		next:  parallel.Numbers(n),
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
	write := func(task T, chunk C) error {
		if err := upTo(o.partition(task)); err != nil {
			return err
		}
		if err := open.Append(chunk); err != nil {
			return err
		}
		o.count(chunk)
		o.job.Report(runner.Progress{Share: o.before + (1-o.before)*o.tasks.share(task)})
		return nil
	}
	err := parallel.InOrder(ctx, o.plan.workers, o.plan.workers*o.plan.ahead, parallel.Work[T, C]{Next: o.tasks.next, Chunk: o.chunk, Worker: o.worker, Write: write})
	if err == nil {
		err = upTo(o.job.Reducers - 1)
	}
	if open != nil {
		err = open.Finish(err)
	}
	return err
}

// A textChunk contains lines.
type textChunk struct {
	text  []byte
	lines int64
}

// A textShard is a shard with lines.
type textShard struct{ io.WriteCloser }

func (p textShard) Append(c *textChunk) error {
	_, err := p.Write(c.text)
	return err
}

func (p textShard) Finish(err error) error { return cmp.Or(err, p.Close()) }

// writeText writes shards with the lines that workers produce. A worker gets an empty chunk for
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

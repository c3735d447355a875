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
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A job is a job in execution.
type job struct {
	*runner.Job
	runner  *Runner
	borders []game.Position // the first keys of all shards except the first
	plan    plan
	before  float64     // the share of the job that is done before its tasks, 0 to 1
	inputs  []io.Closer // closed at the end of the job
	stats   runner.Stats
}

// partition returns the number of the shard that contains a key.
func (j *job) partition(key game.Position) int {
	return sort.Search(len(j.borders), func(i int) bool { return key < j.borders[i] })
}

// create creates a file in the job's output directory.
func (j *job) create(name string) (io.WriteCloser, error) {
	return j.FS.Create(path.Join(j.Output, name))
}

// A work is how a method executes a job. A worker turns each task, a T, into a chunk, a C, and the
// chunks are appended to shards.
type work[T, C any] interface {
	// open opens the input, does what precedes the tasks, and sets the job's plan.
	open(ctx context.Context) error
	// next returns the next task; ok is false at the end. The keys of tasks ascend. It is not
	// called concurrently.
	next() (task T, ok bool, err error)
	// first returns the first key of a task, all of whose keys belong to one shard.
	first(task T) game.Position
	// share returns the share of the tasks up to the end of one, 0 to 1.
	share(task T) float64

	// newWorker returns the function of a worker, which replaces the content of a chunk with the
	// output of a task.
	newWorker() func(task T, out C) error
	newChunk() C
	newShard(number int) (shard[C], error)
	// count counts a written chunk in the job's statistics.
	count(chunk C)

	// close ends the work, even if open has failed. It completes what workers have written
	// outside of chunks if err is nil. It returns the first error.
	close(err error) error
}

// A shard is an output file of a job. Its chunks are appended in order.
type shard[C any] interface {
	Append(chunk C) error
	// Finish completes the shard if err is nil, and closes it in any case. It returns the first
	// error.
	Finish(err error) error
}

// run executes a job.
func run[T, C any](ctx context.Context, j *job, w work[T, C]) (runner.Stats, error) {
	err := w.open(ctx)
	if err == nil {
		o := output[T, C]{job: j, work: w}
		err = o.run(ctx)
	}
	err = w.close(err)
	for _, in := range j.inputs {
		in.Close()
	}
	return j.stats, err
}

// An output writes the shards of a job. One of them is open at a time.
type output[T, C any] struct {
	job   *job
	work  work[T, C]
	open  shard[C]
	begun int // shards
}

// run has the plan's workers execute the tasks, while the calling goroutine writes their
// chunks in order.
func (o *output[T, C]) run(ctx context.Context) error {
	plan := o.job.plan
	err := parallel.InOrder(ctx, plan.workers, plan.workers*plan.ahead, parallel.Work[T, C]{
		Next:   o.work.next,
		Chunk:  o.work.newChunk,
		Worker: o.work.newWorker,
		Write:  o.write,
	})
	if err == nil {
		err = o.upTo(o.job.Reducers - 1)
	}
	if o.open != nil {
		err = o.open.Finish(err)
	}
	return err
}

// write appends the chunk of a task to its shard.
func (o *output[T, C]) write(task T, chunk C) error {
	if err := o.upTo(o.job.partition(o.work.first(task))); err != nil {
		return err
	}
	if err := o.open.Append(chunk); err != nil {
		return err
	}
	o.work.count(chunk)
	o.job.Report(runner.Progress{Share: o.job.before + (1-o.job.before)*o.work.share(task)})
	return nil
}

// upTo creates all shards up to a number, which stays open.
func (o *output[T, C]) upTo(number int) error {
	for ; o.begun <= number; o.begun++ {
		if last := o.open; last != nil {
			o.open = nil
			if err := last.Finish(nil); err != nil {
				return err
			}
		}
		next, err := o.work.newShard(o.begun)
		if err != nil {
			return err
		}
		o.open = next
	}
	return nil
}

// A numbered is the tasks 0 to tasks-1.
type numbered struct{ tasks, begun int }

func (n *numbered) next() (task int, ok bool, err error) { //nolint:unparam // as work requires
	n.begun++
	return n.begun - 1, n.begun <= n.tasks, nil
}

func (n *numbered) share(task int) float64 { return float64(task+1) / float64(n.tasks) }

// A text is the part of a work that writes shards with lines.
type text struct{ *job }

func (t text) newShard(number int) (shard[*textChunk], error) {
	file, err := t.create(jobdir.LinesName(number))
	return textShard{file}, err
}

func (t text) newChunk() *textChunk { return new(textChunk) }

func (t text) count(c *textChunk) { t.stats.Records += c.lines }

// A textChunk contains lines.
type textChunk struct {
	text  []byte
	lines int64
}

func (c *textChunk) reset() { c.text, c.lines = c.text[:0], 0 }

// final adds the line of a position, if it has one.
func (c *textChunk) final(g game.Game, p game.Position, v game.Value) {
	before := len(c.text)
	if c.text = step.AppendFinal(c.text, g, p, v); len(c.text) > before {
		c.lines++
	}
}

// A textShard is a shard with lines.
type textShard struct{ io.WriteCloser }

func (p textShard) Append(c *textChunk) error {
	_, err := p.Write(c.text)
	return err
}

func (p textShard) Finish(err error) error { return cmp.Or(err, p.Close()) }

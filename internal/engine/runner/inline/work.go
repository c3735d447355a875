package inline

import (
	"cmp"
	"context"
	"io"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A Job is a job in execution.
type Job struct {
	*runner.Job
	Firsts []game.Position // the first keys of all shards except the first
	Plan   Plan
	Before float64     // the share of the job that is done before its tasks, 0 to 1
	Inputs []io.Closer // closed at the end of the job
	Stats  runner.Stats
}

// NewJob returns a job that has not begun.
func NewJob(of *runner.Job) (*Job, error) {
	borders, err := of.Method.Borders(of)
	return &Job{Job: of, Firsts: borders}, err
}

// Part returns the number of the shard that contains a key.
func (j *Job) Part(key game.Position) int {
	return sort.Search(len(j.Firsts), func(i int) bool { return key < j.Firsts[i] })
}

// CreateShard creates the file of a shard: a part, or a shard of the table if the values are needed there alone.
func (j *Job) CreateShard(number int) (io.WriteCloser, error) {
	if j.OnlyTable() {
		return j.Create(jobdir.ShardName(jobdir.TablePart, number))
	}
	return j.Create(jobdir.PartName(number))
}

// A Work is how a method executes a job. A worker turns each task, a T, into a chunk, a C, and the
// chunks are appended to shards.
type Work[T, C any] interface {
	// Open opens the input, does what precedes the tasks, and sets the job's plan.
	Open(ctx context.Context) error
	// Next returns the next task; ok is false at the end. The keys of tasks ascend. It is not
	// called concurrently.
	Next() (task T, ok bool, err error)
	// First returns the first key of a task, all of whose keys belong to one shard.
	First(task T) game.Position
	// Share returns the share of the tasks up to the end of one, 0 to 1.
	Share(task T) float64

	// NewWorker returns the function of a worker, which replaces the content of a chunk with the
	// output of a task.
	NewWorker() func(task T, out C) error
	NewChunk() C
	NewShard(number int) (Shard[C], error)
	// Count counts a written chunk in the job's statistics.
	Count(chunk C)

	// Close ends the work, even if Open has failed. It completes what workers have written
	// outside of chunks if err is nil. It returns the first error.
	Close(err error) error
}

// A Shard is an output file of a job. Its chunks are appended in order.
type Shard[C any] interface {
	Append(chunk C) error
	// Finish completes the shard if err is nil, and closes it in any case. It returns the first
	// error.
	Finish(err error) error
}

// Run executes a job.
func Run[T, C any](ctx context.Context, j *Job, w Work[T, C]) (runner.Stats, error) {
	err := w.Open(ctx)
	if err == nil {
		o := output[T, C]{job: j, work: w}
		err = o.run(ctx)
	}
	err = w.Close(err)
	for _, in := range j.Inputs {
		in.Close()
	}
	return j.Stats, err
}

// An output writes the shards of a job. One of them is open at a time.
type output[T, C any] struct {
	job   *Job
	work  Work[T, C]
	open  Shard[C]
	begun int // shards
}

// run has the plan's workers execute the tasks, while the calling goroutine writes their
// chunks in order.
func (o *output[T, C]) run(ctx context.Context) error {
	plan := o.job.Plan
	err := parallel.InOrder(ctx, plan.Workers, plan.Workers*plan.Ahead, parallel.Work[T, C]{
		Next:   o.work.Next,
		Chunk:  o.work.NewChunk,
		Worker: o.work.NewWorker,
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
	if err := o.upTo(o.job.Part(o.work.First(task))); err != nil {
		return err
	}
	if err := o.open.Append(chunk); err != nil {
		return err
	}
	o.work.Count(chunk)
	o.job.Report(runner.Progress{Share: o.job.Before + (1-o.job.Before)*o.work.Share(task)})
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
		next, err := o.work.NewShard(o.begun)
		if err != nil {
			return err
		}
		o.open = next
	}
	return nil
}

// A Numbered is the tasks 0 to Tasks-1.
type Numbered struct{ Tasks, begun int }

// Next returns the next task.
func (n *Numbered) Next() (task int, ok bool, err error) { //nolint:unparam // as Work requires
	n.begun++
	return n.begun - 1, n.begun <= n.Tasks, nil
}

// Share returns the share of the tasks up to the end of one.
func (n *Numbered) Share(task int) float64 { return float64(task+1) / float64(n.Tasks) }

// A Text is the part of a work that writes shards with lines.
type Text struct{ *Job }

// NewShard creates a file of lines.
func (t Text) NewShard(number int) (Shard[*TextChunk], error) {
	file, err := t.Create(jobdir.LinesName(number))
	return textShard{file}, err
}

// NewChunk returns an empty chunk.
func (t Text) NewChunk() *TextChunk { return new(TextChunk) }

// Count counts the lines of a chunk as records.
func (t Text) Count(c *TextChunk) { t.Stats.Records += c.Lines }

// A TextChunk contains lines.
type TextChunk struct {
	Text  []byte
	Lines int64
}

// Reset empties the chunk.
func (c *TextChunk) Reset() { c.Text, c.Lines = c.Text[:0], 0 }

// Final adds the line of a position, if it has one.
func (c *TextChunk) Final(g game.Game, p game.Position, v game.Value) {
	before := len(c.Text)
	if c.Text = step.AppendFinal(c.Text, g, p, v); len(c.Text) > before {
		c.Lines++
	}
}

// A textShard is a shard with lines.
type textShard struct{ io.WriteCloser }

func (p textShard) Append(c *TextChunk) error {
	_, err := p.Write(c.Text)
	return err
}

func (p textShard) Finish(err error) error { return cmp.Or(err, p.Close()) }

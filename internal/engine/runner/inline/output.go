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

// A jobOf is a job of a game of one kind.
type jobOf[G game.Game] struct {
	*runner.Job
	g       G
	borders []game.Position // the keys at which the parts but the first begin
}

// part is the part in which a key is.
func (j *jobOf[G]) part(key game.Position) int {
	return sort.Search(len(j.borders), func(i int) bool { return key < j.borders[i] })
}

// create makes a file in the directory of the job.
func (j *jobOf[G]) create(name string) (io.WriteCloser, error) {
	return j.FS.Create(path.Join(j.Output, name))
}

// A part is what a job writes of chunks that follow one another.
type part[C any] interface {
	Append(chunk C) error
	// Finish ends the part, if what was to be written has been (err is nil), and closes
	// it in any case. It returns the first error.
	Finish(err error) error
}

// An output is tasks, of each of which a worker makes a chunk, and the parts that are
// made of these.
type output[C any] struct {
	job    *runner.Job
	plan   plan
	tasks  int
	part   func(task int) int // the number of its part, not less than that of the one before
	create func(part int) (part[C], error)
	chunk  func() C                           // an empty one
	worker func() func(task int, out C) error // what a worker does, each its own
	count  func(C)                            // counts what is written
	before float64                            // share of the job that is done before, 0 to 1
}

// run has the workers of the plan do the tasks, and one goroutine, the caller's, write
// what they make, in order: a part is open after the other.
func (o *output[C]) run(ctx context.Context) error {
	var open part[C]
	begun := 0
	upTo := func(number int) error { // begins the parts up to a number, which stays open
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
		if err := upTo(o.part(task)); err != nil {
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

// inOrder has the workers of the plan do the tasks, and writes their chunks in order.
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

// A textChunk is lines.
type textChunk struct {
	text  []byte
	lines int64
}

// A textPart is a part of lines.
type textPart struct{ io.WriteCloser }

func (p textPart) Append(c *textChunk) error {
	_, err := p.Write(c.text)
	return err
}

func (p textPart) Finish(err error) error { return cmp.Or(err, p.Close()) }

// writeText writes parts of the lines that workers make, whose chunks are empty; first is
// the first key of a task.
func (j *jobOf[G]) writeText(ctx context.Context, plan plan, tasks int, first func(task int) game.Position, worker func() func(task int, out *textChunk) error) (stats runner.Stats, err error) {
	o := output[*textChunk]{job: j.Job, plan: plan, tasks: tasks, part: func(i int) int { return j.part(first(i)) },
		create: func(number int) (part[*textChunk], error) {
			file, err := j.create(jobdir.PartName(number, jobdir.Text))
			return textPart{file}, err
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

package inline

import (
	"context"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// listWork is what the workers of a lists job share.
type listWork struct {
	job          *jobOf[game.Acyclic]
	kind         lists.Kind       // of the messages that are sent
	predecessors *lists.Source    // nil in init
	messages     *lists.Source    // for solve only
	intervals    []lists.Interval // each within one part
	plan         listPlan
	outgoing     *outgoing

	mu      sync.Mutex
	memory  *listMemory
	workers []*listWorker
}

// A listMemory keeps the memory of workers and chunks for the next job: a game may have many
// small tiers.
type listMemory struct {
	workers []*listWorker
	chunks  []*rowChunk
}

// take removes the last element of kept and returns it, or a new one.
func take[E any](kept *[]*E) *E {
	last := len(*kept) - 1
	if last < 0 {
		return new(E)
	}
	e := (*kept)[last]
	*kept = (*kept)[:last]
	return e
}

// runLists runs a job by lists. Each worker takes one interval of the tier's keys at a time.
func (r *Runner) runLists(ctx context.Context, job *jobOf[game.Acyclic]) (stats runner.Stats, err error) {
	if job.Step == step.Final {
		return r.runListsFinal(ctx, job)
	}
	w := &listWork{job: job, memory: &r.lists}
	var made lists.Kind
	made, w.kind = lists.KindsOf(job.Step)
	defer w.close()
	sources, err := w.open()
	if err != nil {
		return stats, err
	}
	if w.plan, err = r.planLists(job.g.Tiers(), sources); err != nil {
		return stats, err
	}
	w.intervals = cutIntervals(w.plan.interval, job.borders, sources)
	w.outgoing = newOutgoing(job.create, job.Reducers, job.g, w.kind, job.Codec)
	var chunks []*rowChunk
	o := output[int, *rowChunk]{job: job.Job, plan: w.plan.plan, tasks: numbered(len(w.intervals)),
		partition: func(i int) int { return job.partition(w.intervals[i].First) },
		create: func(number int) (shard[*rowChunk], error) {
			file, err := job.create(lists.PartName(number, job.Codec))
			if err != nil {
				return nil, err
			}
			return listShard{lists.NewPartWriter(file, job.g, job.Tier, made, job.Codec)}, nil
		},
		chunk: func() *rowChunk {
			chunks = append(chunks, take(&r.lists.chunks))
			return chunks[len(chunks)-1]
		},
		worker: w.newWorker,
		count:  func(c *rowChunk) { stats.Records += int64(len(c.rows)) },
	}
	err = w.outgoing.finish(o.run(ctx))
	for _, worker := range w.workers {
		n := worker.kernel.Counted()
		stats.Messages += n.Messages
		if job.Step != step.Solve {
			stats.Positions += n.Positions
			stats.Finished += n.Finished
		}
	}
	r.lists.workers = append(r.lists.workers, w.workers...)
	r.lists.chunks = append(r.lists.chunks, chunks...)
	return stats, err
}

// open opens the job's input.
func (w *listWork) open() (sources []*lists.Source, err error) {
	job := w.job
	if job.Step == step.Init {
		return nil, nil
	}
	messages, err := lists.OpenInbox(job.Inbox, job.Tier, w.kind)
	if err != nil {
		return nil, err
	}
	if job.Step == step.Possible {
		w.predecessors = messages
		return []*lists.Source{messages}, nil
	}
	w.messages = messages
	dir, err := lists.OpenDir(job.FS, job.Predecessors, job.g)
	if err != nil {
		return nil, err
	}
	if w.predecessors, err = lists.OpenPart(dir, job.Tier, lists.Predecessors); err != nil {
		return nil, err
	}
	return []*lists.Source{w.predecessors, messages}, nil
}

func (w *listWork) close() {
	for _, s := range []*lists.Source{w.predecessors, w.messages} {
		if s != nil {
			s.Close()
		}
	}
}

// cutIntervals divides the keys into intervals of about the given number of rows, and at the borders
// of parts.
func cutIntervals(most int, borders []game.Position, sources []*lists.Source) (intervals []lists.Interval) {
	for _, s := range lists.Cut(most, sources...) {
		for ; len(borders) > 0 && borders[0] <= s.Last; borders = borders[1:] {
			if border := borders[0]; border > s.First {
				before := s
				before.Last = border - 1
				intervals = append(intervals, before)
				s.First = border
			}
		}
		intervals = append(intervals, s)
	}
	return intervals
}

// A rowChunk contains the rows of one interval.
type rowChunk struct{ rows []lists.Row }

// A listWorker is the state of a worker: its kernel and its memory.
type listWorker struct {
	*listWork
	kernel lists.Kernel
	out    *sender

	loader                 lists.Loader
	predecessors, messages []lists.Row
}

// newWorker returns a function that computes the rows of an interval.
func (w *listWork) newWorker() func(i int, out *rowChunk) error {
	w.mu.Lock()
	worker := take(&w.memory.workers)
	w.workers = append(w.workers, worker)
	w.mu.Unlock()
	job, old := w.job, worker.out
	worker.listWork = w
	worker.out = w.outgoing.newSender(w.plan.outbox)
	if old != nil {
		worker.out.Inherit(old.Outbox)
	}
	worker.kernel = lists.NewKernel(job.Step, job.g, job.Tier, worker.out.Outbox)
	return worker.do
}

func (w *listWorker) do(i int, out *rowChunk) (err error) {
	s := w.intervals[i]
	if err := w.out.setPartition(w.job.partition(s.First)); err != nil {
		return err
	}
	predecessors := &out.rows // possible transforms them in place
	if w.listWork.messages != nil {
		predecessors = &w.predecessors
		if w.messages, err = w.loader.Load(w.messages, w.listWork.messages, s); err != nil {
			return err
		}
	}
	if w.job.Step == step.Init {
		out.rows = out.rows[:0]
		if start := lists.Start(w.job.g); s.First <= start[0].Key && start[0].Key <= s.Last {
			out.rows = append(out.rows, start...)
		}
	} else if *predecessors, err = w.loader.Load(*predecessors, w.listWork.predecessors, s); err != nil {
		return err
	}
	out.rows, err = w.kernel.Do(out.rows, *predecessors, w.messages)
	return err
}

// A listShard is a shard of a job by lists.
type listShard struct{ *lists.PartWriter }

func (p listShard) Append(c *rowChunk) error { return p.PartWriter.Append(c.rows) }

// runListsFinal writes the lines of all positions, by key. It reads the files of all tiers as
// one source.
func (r *Runner) runListsFinal(ctx context.Context, job *jobOf[game.Acyclic]) (stats runner.Stats, err error) {
	r.lists = listMemory{}
	all, err := lists.OpenTiers(job.FS, job.Input, job.g, job.InputTier(0))
	if err != nil {
		return stats, err
	}
	defer all.Close()
	sources := []*lists.Source{all}
	plan, err := r.planRows(job.g.Tiers(), sources, finalRowMemory(job.g), 0, 0)
	if err != nil {
		return stats, err
	}
	intervals := cutIntervals(min(plan.interval, mostRows/4), job.borders, sources)
	first := func(i int) game.Position { return intervals[i].First }
	return writeText(ctx, job, plan.plan, numbered(len(intervals)), first, func() func(int, *textChunk) error {
		var loader lists.Loader
		var rows []lists.Row
		return func(i int, out *textChunk) (err error) {
			if rows, err = loader.Load(rows, all, intervals[i]); err != nil {
				return err
			}
			for _, row := range rows {
				out.final(job.g, row.Key, lists.ValueOf(row.Word))
			}
			return nil
		}
	})
}

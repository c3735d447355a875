package inline

import (
	"context"
	"io"
	"path"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/lists"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
)

// A listShare is a share of the rows of a job, all of one part.
type listShare struct {
	lists.Share
	part int
}

// listWork is what the workers of a job share that goes by lists.
type listWork struct {
	job      *runner.Job
	kind     lists.Kind    // of what is told
	parents  *lists.Source // nil in init
	messages *lists.Source // solve's
	shares   []listShare
	plan     listPlan
	boxes    []*lists.OutboxWriter // by part

	mu      sync.Mutex
	memory  *listMemory
	workers []*listWorker
}

// A listMemory is what workers and chunks of a job leave for those of the next: of small
// tiers there are many.
type listMemory struct {
	workers []*listWorker
	chunks  []*rowChunk
}

// take takes the last of some, or a new one.
func take[E any](kept *[]*E) *E {
	last := len(*kept) - 1
	if last < 0 {
		return new(E)
	}
	e := (*kept)[last]
	*kept = (*kept)[:last]
	return e
}

// runLists runs a job that goes by lists of rows: workers take shares of the tier.
func (r *Runner) runLists(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	if job.Step == step.Final {
		return r.runListsFinal(ctx, job)
	}
	w := &listWork{job: job, memory: &r.lists}
	_, w.kind = lists.KindsOf(job.Step)
	defer w.close()
	sources, err := w.open()
	if err != nil {
		return stats, err
	}
	borders, err := job.Borders()
	if err != nil {
		return stats, err
	}
	w.plan = r.planLists(job, sources)
	w.shares = cutShares(w.plan.share, borders, sources)
	for i := range job.Reducers {
		w.boxes = append(w.boxes, lists.NewOutboxWriter(w.create, i, job.Game, w.kind, job.Codec))
	}
	p := parts[*lists.PartWriter]{create: func(n int) (*lists.PartWriter, error) { return newListPart(job, n) }}
	var chunks []*rowChunk
	newChunk := func() *rowChunk {
		chunks = append(chunks, take(&r.lists.chunks))
		return chunks[len(chunks)-1]
	}
	err = inOrder(ctx, len(w.shares), w.plan.plan, newChunk, w.newWorker,
		func(i int, out *rowChunk) error {
			part, err := p.upTo(w.shares[i].part)
			if err != nil {
				return err
			}
			stats.Records += int64(len(out.rows))
			job.Report(runner.Progress{Share: float64(i+1) / float64(len(w.shares))})
			return part.Append(out.rows)
		})
	err = w.finish(p.finish(job.Reducers, err))
	for _, worker := range w.workers {
		stats.Messages += worker.counted().Told
		if job.Step != step.Solve {
			stats.Positions += worker.counted().Positions
			stats.Finished += worker.counted().Done
		}
	}
	r.lists.workers = append(r.lists.workers, w.workers...)
	r.lists.chunks = append(r.lists.chunks, chunks...)
	return stats, err
}

// open opens what the job reads.
func (w *listWork) open() (sources []*lists.Source, err error) {
	job := w.job
	if job.Step == step.Init {
		return nil, nil
	}
	told, err := lists.OpenTold(job.Told, job.Tier, w.kind)
	if err != nil {
		return nil, err
	}
	if job.Step == step.Possible {
		w.parents = told
		return []*lists.Source{told}, nil
	}
	w.messages = told
	dir, err := lists.OpenDir(job.FS, job.Parents, job.Game)
	if err != nil {
		return nil, err
	}
	if w.parents, err = lists.OpenPart(dir, job.Tier, lists.Parents); err != nil {
		return nil, err
	}
	return []*lists.Source{w.parents, told}, nil
}

func (w *listWork) close() {
	for _, s := range []*lists.Source{w.parents, w.messages} {
		if s != nil {
			s.Close()
		}
	}
}

func (w *listWork) create(name string) (io.WriteCloser, error) {
	return w.job.FS.Create(path.Join(w.job.Output, name))
}

// finish has the workers tell what they still have to tell, all at a time, and ends
// the outboxes.
func (w *listWork) finish(err error) error {
	if err == nil {
		var all sync.WaitGroup
		errs := make([]error, len(w.workers))
		for i, worker := range w.workers {
			all.Go(func() { errs[i] = worker.out.Flush() })
		}
		all.Wait()
		for _, failed := range errs {
			if err == nil {
				err = failed
			}
		}
	}
	for _, box := range w.boxes {
		err = box.Finish(err)
	}
	return err
}

// cutShares cuts the keys into shares of about so many rows, and at the borders of
// parts.
func cutShares(most int, borders []game.Position, sources []*lists.Source) (shares []listShare) {
	part := 0
	for _, s := range lists.Cut(most, sources...) {
		for part < len(borders) && borders[part] <= s.Last {
			if border := borders[part]; border > s.First {
				before := s
				before.Last = border - 1
				shares = append(shares, listShare{before, part})
				s.First = border
			}
			part++
		}
		shares = append(shares, listShare{s, part})
	}
	return shares
}

// A rowChunk is the rows that a share gives a part.
type rowChunk struct{ rows []lists.Row }

// A listWorker is the memory of a worker, and its kernel: one of the two.
type listWorker struct {
	*listWork
	possible *lists.Possible
	solve    *lists.Solve
	out      *lists.Outbox
	part     int // for which it tells

	loader            lists.Loader
	parents, messages []lists.Row
}

// newWorker returns a function that makes the rows of a share.
func (w *listWork) newWorker() func(i int, out *rowChunk) error {
	w.mu.Lock()
	worker := take(&w.memory.workers)
	w.workers = append(w.workers, worker)
	w.mu.Unlock()
	job, old := w.job, worker.out
	worker.listWork, worker.possible, worker.solve, worker.part = w, nil, nil, 0
	worker.out = lists.NewOutbox(job.Game, w.kind, job.Codec, w.plan.outbox, func(c *lists.Chunk) error { return w.boxes[worker.part].Append(c) })
	if old != nil {
		worker.out.Inherit(old)
	}
	if job.Step == step.Solve {
		worker.solve = lists.NewSolve(job.Game, job.Tier, worker.out)
	} else {
		worker.possible = lists.NewPossible(job.Game, job.Tier, worker.out)
	}
	return worker.do
}

func (w *listWorker) counted() lists.Counters {
	if w.solve != nil {
		return w.solve.Counters
	}
	return w.possible.Counters
}

func (w *listWorker) do(i int, out *rowChunk) (err error) {
	s := w.shares[i]
	if s.part != w.part {
		if err := w.out.Flush(); err != nil {
			return err
		}
		w.part = s.part
	}
	switch w.job.Step {
	case step.Init:
		out.rows = out.rows[:0]
		if start := lists.Start(w.job.Game); s.First <= start[0].Key && start[0].Key <= s.Last {
			out.rows = append(out.rows, start...)
		}
	case step.Possible:
		out.rows, err = w.loader.Load(out.rows, w.listWork.parents, s.Share)
	case step.Solve:
		if w.parents, err = w.loader.Load(w.parents, w.listWork.parents, s.Share); err != nil {
			return err
		}
		if w.messages, err = w.loader.Load(w.messages, w.listWork.messages, s.Share); err != nil {
			return err
		}
		out.rows, err = w.solve.Do(out.rows, w.parents, w.messages)
		return err
	}
	if err == nil {
		out.rows, err = w.possible.Do(out.rows)
	}
	return err
}

// newListPart begins a part of a job over a tier of lists.
func newListPart(job *runner.Job, number int) (*lists.PartWriter, error) {
	file, err := job.FS.Create(path.Join(job.Output, lists.PartName(number, job.Codec)))
	if err != nil {
		return nil, err
	}
	kind, _ := lists.KindsOf(job.Step)
	return lists.NewPartWriter(file, job.Game, job.Tier, kind, job.Codec), nil
}

// runListsFinal writes the lines of all positions by key: the files of all tiers are
// loaded as one.
func (r *Runner) runListsFinal(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	r.lists = listMemory{}
	all, err := lists.OpenTiers(job.FS, job.Input, job.Game, job.InputTier(0))
	if err != nil {
		return stats, err
	}
	defer all.Close()
	borders, err := job.Borders()
	if err != nil {
		return stats, err
	}
	plan := r.planListsFinal(job, all)
	shares := cutShares(plan.share, borders, []*lists.Source{all})
	type chunk struct {
		text []byte
		n    int64
	}
	p := parts[textPart]{create: func(n int) (textPart, error) {
		file, err := job.FS.Create(path.Join(job.Output, jobdir.PartName(n, jobdir.Text)))
		return textPart{file}, err
	}}
	err = inOrder(ctx, len(shares), plan.plan, func() *chunk { return new(chunk) },
		func() func(int, *chunk) error {
			var loader lists.Loader
			var rows []lists.Row
			return func(i int, out *chunk) (err error) {
				if rows, err = loader.Load(rows, all, shares[i].Share); err != nil {
					return err
				}
				out.text, out.n = out.text[:0], 0
				for _, row := range rows {
					before := len(out.text)
					if out.text = step.AppendFinal(out.text, job.Game, row.Key, lists.ValueOf(row.Word)); len(out.text) > before {
						out.n++
					}
				}
				return nil
			}
		},
		func(i int, out *chunk) error {
			part, err := p.upTo(shares[i].part)
			if err != nil {
				return err
			}
			stats.Records += out.n
			_, err = part.Write(out.text)
			job.Report(runner.Progress{Share: float64(i+1) / float64(len(shares))})
			return err
		})
	return stats, p.finish(job.Reducers, err)
}

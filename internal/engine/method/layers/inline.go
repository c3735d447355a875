package layers

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// An inlineRunner runs jobs by layers. It reuses the memory of workers and chunks from job to job: a game may have many
// small tiers.
type inlineRunner struct {
	m       *Method
	memory  inline.Memory
	workers []*inlineWorker
	chunks  []*chunk
}

// Run runs a job.
func (r *inlineRunner) Run(ctx context.Context, of *runner.Job) (runner.Stats, error) {
	j, err := inline.NewJob(of)
	if err != nil {
		return runner.Stats{}, err
	}
	if of.Step == step.Final {
		r.workers, r.chunks = nil, nil
		return inline.Run(ctx, j, &inlineFinal{Text: inline.Text{Job: j}, memory: r.memory, g: r.m.g})
	}
	return inline.Run(ctx, j, &inlineWork{Job: j, inlineRunner: r})
}

// An inlineWork is a step on a stage of a tier. A task is an interval of the tier's keys.
type inlineWork struct {
	*inline.Job
	*inlineRunner
	intervals
	writes   Writes
	received []*Source
	stored   storedRows
	outbox   int             // rows of the outbox of a worker
	boxes    []*OutboxWriter // by part

	mu          sync.Mutex
	used, taken int // the number of workers and of chunks in use
}

// reuse returns element *used of kept, a new one if there are fewer, and counts it.
func reuse[E any](kept *[]*E, used *int) *E {
	if *used == len(*kept) {
		*kept = append(*kept, new(E))
	}
	*used++
	return (*kept)[*used-1]
}

func (w *inlineWork) Open(context.Context) (err error) {
	w.writes = WritesOf(w.Step, w.m.g, w.Tier)
	if w.received, err = w.m.Rows(w.Job.Job); err != nil {
		return err
	}
	edges := w.Edges
	if w.writes.Shards {
		edges = nil // they are among those received
	}
	if w.stored, err = openStored(w.FS, edges, w.Runs, w.Absorb, w.m.g, w.Tier); err != nil {
		return errors.Join(err, CloseAll(w.received))
	}
	all := append(w.stored.all(), w.received...)
	for _, s := range all {
		w.Inputs = append(w.Inputs, s)
	}
	loaded := append(slices.Clone(w.received), w.stored.absorbed...)
	p, err := planLayers(w.memory, w.m.g, loaded, all)
	if err != nil {
		return err
	}
	w.Plan, w.outbox = p.Plan, p.outbox
	w.set(cutAt(w.Firsts, p.interval, loaded...))
	w.openBoxes()
	return nil
}

// openBoxes sets boxes.
func (w *inlineWork) openBoxes() {
	for i := range w.Reducers {
		w.boxes = append(w.boxes, NewOutboxWriter(func() (io.WriteCloser, error) { return w.Create(OutboxName(i)) }, w.m.g, w.writes.Sent))
	}
}

// Close flushes the outboxes of all workers concurrently, unless err is set, and closes the files.
func (w *inlineWork) Close(err error) error {
	workers := w.workers[:w.used]
	if err == nil {
		var all sync.WaitGroup
		for _, worker := range workers {
			all.Go(func() { _ = worker.outbox.Flush() }) // an error is that of a box
		}
		all.Wait()
	}
	for _, box := range w.boxes {
		err = box.Finish(err)
	}
	for _, worker := range workers {
		n := worker.kernel.Counted()
		w.Stats.Messages += n.Messages
		w.Stats.Inner += n.Inner
		w.Stats.Received += n.Received
		if w.writes.Shard != Values {
			w.Stats.Positions += n.Positions
			w.Stats.Finished += n.Finished
		}
	}
	return err
}

// intervals are tasks that are intervals of the keys, each within one shard.
type intervals struct {
	inline.Numbered
	of []Interval
}

// set sets the intervals.
func (t *intervals) set(of []Interval) { t.of, t.Tasks = of, len(of) }

func (t *intervals) First(i int) game.Position { return t.of[i].First }

func (w *inlineWork) NewChunk() *chunk { return reuse(&w.chunks, &w.taken) }

func (w *inlineWork) NewShard(number int) (inline.Shard[*chunk], error) {
	return newShard(w.Create, w.m.g, w.Tier, w.writes, number, forms{part: !w.OnlyTable(), table: w.OnlyTable()})
}

func (w *inlineWork) Count(c *chunk) { w.Stats.Records += c.records(w.writes) }

// An inlineWorker is a worker with its outbox.
type inlineWorker struct {
	worker
	work   *inlineWork
	outbox Outbox
	part   int // the part whose file gets the rows of the outbox
}

func (w *inlineWork) NewWorker() func(int, *chunk) error {
	w.mu.Lock()
	k := reuse(&w.workers, &w.used)
	w.mu.Unlock()
	k.work, k.writes, k.stored, k.part = w, w.writes, w.stored, 0
	k.outbox.Reset(w.m.g, w.writes.Sent, w.outbox, func(p *streamfmt.Packer) error { return w.boxes[k.part].Append(p) })
	k.kernel = NewKernel(w.Step, w.m.g, w.Stage(), &k.outbox)
	return k.do
}

// setPart sets the part whose file gets all further rows.
func (k *inlineWorker) setPart(part int) (err error) {
	if part != k.part {
		err = k.outbox.Flush()
		k.part = part
	}
	return err
}

// do loads the rows of an interval, and does the work on it.
func (k *inlineWorker) do(i int, out *chunk) (err error) {
	in, rows, g := k.work.of[i], &k.rows, k.work.m.g
	if err := k.setPart(k.work.Part(in.First)); err != nil {
		return err
	}
	rows.Predecessors, rows.Messages = rows.Predecessors[:0], rows.Messages[:0]
	for _, s := range k.work.received {
		of := rows.of(s.kind)
		if *of, err = k.loader.Load(*of, s, in); err != nil {
			return err
		}
	}
	if start := Start(g); k.work.Step == step.Init && in.First <= start[0].Key && start[0].Key <= in.Last {
		rows.Predecessors = append(rows.Predecessors, start...)
	}
	return k.worker.do(in, out)
}

// An inlineFinal writes the lines of all positions, by key, and of their images. It reads the files of all tiers as one
// source. A task is an interval of the keys.
type inlineFinal struct {
	inline.Text
	memory inline.Memory
	intervals
	g   game.Game
	all *Source
}

func (f *inlineFinal) Open(ctx context.Context) (err error) {
	if f.all, err = Open(f.FS, f.g, Values, f.InputTier(0), f.Input...); err != nil {
		return err
	}
	f.Inputs = append(f.Inputs, f.all)
	if g, ok := f.g.(game.Symmetric); ok {
		if err := f.withImages(ctx, g); err != nil {
			return err
		}
	}
	sources := []*Source{f.all}
	p, err := workerMemory{loaded: finalRowMemory(f.g)}.plan(f.memory, game.LastTier(f.g), sources, sources)
	if err != nil {
		return err
	}
	f.Plan = p.Plan
	f.set(cutAt(f.Firsts, min(p.interval, mostRows/4), f.all))
	return nil
}

// imagesName is the name of the file of positions and images in the directory of a final job, which has it only
// while the job runs.
const imagesName = "_images" + jobdir.Suffix

// withImages replaces the rows that the job reads by those with all images, which have the same values. Workers sort some rows
// at a time into a file.
func (f *inlineFinal) withImages(ctx context.Context, g game.Symmetric) error {
	sources := []*Source{f.all}
	plan, err := planLayers(f.memory, g, sources, sources)
	if err != nil {
		return err
	}
	at, name := step.At(f.InputTier(0), 0), path.Join(f.Output, imagesName)
	w := NewOutboxWriter(func() (io.WriteCloser, error) { return f.FS.Create(name) }, g, Values)
	outboxes := make(chan *Outbox, plan.Workers)
	for range plan.Workers {
		o := new(Outbox)
		o.Reset(g, Values, plan.outbox, w.Append)
		outboxes <- o
	}
	in := Cut(pieceRows, f.all)
	err = parallel.Each(ctx, plan.Workers, len(in), 1, func() func(int) error {
		var loader Loader
		var rows []Row
		var images []game.Position
		return func(i int) (err error) {
			if rows, err = loader.Load(rows, f.all, in[i]); err != nil {
				return err
			}
			o := <-outboxes
			defer func() { outboxes <- o }()
			for _, row := range rows {
				images = g.Images(images[:0], row.Key)
				for _, image := range images {
					if err := o.Send(at, Row{Key: image, Word: row.Word}); err != nil {
						return err
					}
				}
			}
			return nil
		}
	})
	for range plan.Workers {
		if o := <-outboxes; err == nil {
			err = o.Flush()
		}
	}
	if err = w.Finish(err); err != nil {
		return err
	}
	if f.all, err = openFiles(at, Values, &file{fsys: f.FS, File: jobdir.File{Name: name}, g: g, sent: true}); err != nil {
		return err
	}
	f.Inputs = append(f.Inputs, f.all)
	return nil
}

func (f *inlineFinal) Close(err error) error {
	if _, ok := f.g.(game.Symmetric); ok {
		err = cmp.Or(err, f.FS.RemoveAll(path.Join(f.Output, imagesName)))
	}
	return err
}

func (f *inlineFinal) NewWorker() func(int, *inline.TextChunk) error {
	var loader Loader
	var rows []Row
	cyclic := !game.IsAcyclic(f.g)
	return func(i int, out *inline.TextChunk) (err error) {
		out.Reset()
		if rows, err = loader.Load(rows, f.all, f.of[i]); err != nil {
			return err
		}
		for _, row := range rows {
			if v := ValueOf(row.Word); cyclic {
				out.Text = step.AppendCyclicFinal(out.Text, f.g.Values(), row.Key, v)
				out.Lines++
			} else {
				out.Final(f.g, row.Key, v)
			}
		}
		return nil
	}
}

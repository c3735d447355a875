package layers

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// An inlineRunner runs jobs by layers.
type inlineRunner struct {
	g      game.Game
	memory inline.Memory
	kept   inlineMemory // reused from job to job
}

// Run runs a job.
func (r *inlineRunner) Run(ctx context.Context, of *runner.Job) (runner.Stats, error) {
	j, err := inline.NewJob(of)
	if err != nil {
		return runner.Stats{}, err
	}
	if of.Step == step.Final {
		r.kept = inlineMemory{}
		return inline.Run(ctx, j, &inlineFinal{Text: inline.Text{Job: j}, memory: r.memory, g: r.g})
	}
	return inline.Run(ctx, j, &inlineWork{Job: j, runner: r, g: r.g})
}

// An inlineWork is a step on a stage of a tier. A task is an interval of the tier's keys.
type inlineWork struct {
	*inline.Job
	runner *inlineRunner
	intervals
	g        game.Game
	writes   Writes
	inbox    *Source // nil in init and values
	stored   storedRows
	outgoing *outgoing
	outbox   int // rows of the outbox of a worker

	mu   sync.Mutex
	used inlineMemory
}

// An inlineMemory keeps the memory of workers and chunks for the next job: a game may have many
// small tiers.
type inlineMemory struct {
	workers  []*inlineWorker
	chunks   []*rowChunk
	outboxes []*Outbox // empty
}

// reuse removes the last element of kept and returns it, or a new one.
func reuse[E any](kept *[]*E) *E {
	last := len(*kept) - 1
	if last < 0 {
		return new(E)
	}
	e := (*kept)[last]
	*kept = (*kept)[:last]
	return e
}

func (w *inlineWork) Open(context.Context) error {
	w.writes = WritesOf(w.Step, w.g, w.Tier)
	loaded, err := w.openSources()
	if err != nil {
		return err
	}
	var all []*Source // those of which an index is in memory
	for _, in := range w.Inputs {
		all = append(all, in.(*Source))
	}
	p, err := planLayers(w.runner.memory, w.g, loaded, all)
	if err != nil {
		return err
	}
	w.Plan, w.outbox = p.Plan, p.outbox
	w.cut(p.interval, w.Firsts, loaded)
	w.outgoing = newOutgoing(w.Job, &w.runner.kept, w.g, w.writes.Sent)
	return nil
}

// passes reports whether the job is a pass of solve or ties over a tier with inner moves, which looks up edges.
func (w *inlineWork) passes() bool { return !w.writes.Shards }

// openSources opens the job's input. It returns what the tasks load.
func (w *inlineWork) openSources() (loaded []*Source, err error) {
	if w.Step != step.Init && w.Step != step.Values {
		if w.inbox, err = OpenInbox(senders(w.Job.Job), w.Stage(), w.writes.Sent); err != nil {
			return nil, err
		}
		w.Inputs = append(w.Inputs, w.inbox)
		loaded = append(loaded, w.inbox)
	}
	w.stored, err = openStored(w.FS, w.Edges, w.Runs, w.Absorb, w.g, w.Tier)
	for _, s := range append(slices.Clone(w.stored.Runs), w.stored.Absorbed...) {
		w.Inputs = append(w.Inputs, s)
	}
	if edges := w.stored.Edges; edges != nil {
		w.Inputs = append(w.Inputs, edges)
		if !w.passes() {
			loaded = append(loaded, edges)
		}
	}
	return append(loaded, w.stored.Absorbed...), err
}

func (w *inlineWork) Close(err error) error {
	err = w.outgoing.finish(err)
	for _, worker := range w.used.workers {
		n := worker.kernel.Counted()
		w.Stats.Messages += n.Messages
		w.Stats.Inner += n.Inner
		w.Stats.Received += n.Received
		if w.writes.Shard != Values {
			w.Stats.Positions += n.Positions
			w.Stats.Finished += n.Finished
		}
	}
	memory := &w.runner.kept
	memory.workers = append(memory.workers, w.used.workers...)
	memory.chunks = append(memory.chunks, w.used.chunks...)
	return err
}

// intervals are tasks that are intervals of the keys, each within one shard.
type intervals struct {
	inline.Numbered
	of []Interval
}

// cut divides the keys into intervals of about the given number of rows, and at the borders of
// shards.
func (t *intervals) cut(most int, borders []game.Position, sources []*Source) {
	for _, s := range Cut(most, sources...) {
		for ; len(borders) > 0 && borders[0] <= s.Last; borders = borders[1:] {
			if border := borders[0]; border > s.First {
				before := s
				before.Last = border - 1
				t.of = append(t.of, before)
				s.First = border
			}
		}
		t.of = append(t.of, s)
	}
	t.Tasks = len(t.of)
}

func (t *intervals) First(i int) game.Position { return t.of[i].First }

func (w *inlineWork) NewChunk() *rowChunk {
	c := reuse(&w.runner.kept.chunks)
	w.used.chunks = append(w.used.chunks, c)
	return c
}

func (w *inlineWork) NewShard(number int) (inline.Shard[*rowChunk], error) {
	var s inlineShard
	if w.writes.Shards {
		file, err := w.CreateShard(number)
		if err != nil {
			return nil, err
		}
		if w.OnlyTable() {
			s.rows = newTableWriter(file, w.g, w.Tier)
		} else {
			s.rows = NewPartWriter(file, w.g, w.Tier, w.writes.Shard)
		}
	}
	if w.writes.States {
		file, err := w.Create(statesName(number))
		if err != nil {
			return nil, s.Finish(err)
		}
		s.states = NewPartWriter(file, w.g, w.Tier, States)
	}
	return s, nil
}

func (w *inlineWork) Count(c *rowChunk) {
	if w.writes.Shards {
		w.Stats.Records += int64(len(c.rows))
	} else {
		w.Stats.Records += int64(len(c.states))
	}
}

// A rowChunk contains the rows of the shard of one interval, and its states.
type rowChunk struct{ rows, states []Row }

// An inlineShard is the files of a reducer; a nil one is not written.
type inlineShard struct{ rows, states *PartWriter }

func (p inlineShard) Append(c *rowChunk) error {
	if p.rows != nil {
		if err := p.rows.Append(c.rows); err != nil {
			return err
		}
	}
	if p.states != nil {
		return p.states.Append(c.states)
	}
	return nil
}

func (p inlineShard) Finish(err error) error {
	if p.rows != nil {
		err = p.rows.Finish(err)
	}
	if p.states != nil {
		err = p.states.Finish(err)
	}
	return err
}

func (w *inlineWork) NewWorker() func(int, *rowChunk) error {
	w.mu.Lock()
	worker := reuse(&w.runner.kept.workers)
	w.used.workers = append(w.used.workers, worker)
	w.mu.Unlock()
	worker.inlineWork = w
	worker.out = w.outgoing.newSender(w.outbox)
	worker.stored.Edges, worker.stored.Runs, worker.stored.Absorbed = w.stored.Edges, w.stored.Runs, w.stored.Absorbed
	worker.kernel = NewKernel(w.Step, w.g, w.Stage(), worker.out.Outbox)
	return worker.do
}

// An inlineWorker is the state of a worker: its kernel and its memory.
type inlineWorker struct {
	*inlineWork
	kernel Kernel
	out    *sender

	loader Loader
	rows   Rows
	stored storedRows // with the states of the interval
}

func (w *inlineWorker) do(i int, out *rowChunk) (err error) {
	s, rows := w.of[i], &w.rows
	if err := w.out.setPartition(w.Part(s.First)); err != nil {
		return err
	}
	if err := w.load(s); err != nil {
		return err
	}
	if err := w.kernel.Do(rows); err != nil {
		return err
	}
	switch {
	case !w.writes.Shards:
	case w.writes.Shard == Values:
		out.rows, rows.Values = rows.Values, out.rows
	default:
		out.rows, rows.Predecessors = rows.Predecessors, out.rows
	}
	if w.writes.States {
		out.states = w.stored.With(out.states[:0], rows.States)
	}
	return nil
}

// load loads the rows of an interval.
func (w *inlineWorker) load(s Interval) (err error) {
	rows := &w.rows
	rows.Predecessors, rows.Messages, rows.Edges = rows.Predecessors[:0], rows.Messages[:0], w.pick
	received := &rows.Messages
	if w.writes.Sent == Predecessors {
		received = &rows.Predecessors
	}
	if w.inbox != nil {
		if *received, err = w.loader.Load(*received, w.inbox, s); err != nil {
			return err
		}
	} else if start := Start(w.g); w.Step == step.Init && s.First <= start[0].Key && start[0].Key <= s.Last {
		*received = append(*received, start...)
	}
	if w.stored.Edges != nil && !w.passes() {
		if rows.Predecessors, err = w.loader.Load(rows.Predecessors, w.stored.Edges, s); err != nil {
			return err
		}
	}
	err = w.stored.Load(&w.loader, s, *received)
	rows.Known = w.stored.Known
	return err
}

// pick calls do with the predecessors of decided positions, see Rows.
func (w *inlineWorker) pick(decided []Row, do func(i int, predecessor game.Position) error) error {
	return w.stored.EachEdge(&w.loader, decided, do)
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
	if f.all, err = openTiers(f.FS, f.Input, f.g, f.InputTier(0)); err != nil {
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
	f.cut(min(p.interval, mostRows/4), f.Firsts, sources)
	return nil
}

// imagesName is the name of the file of positions and images in the directory of a final job, which has it only
// while the job runs.
const imagesName = "_images" + jobdir.Suffix

// withImages replaces the rows that the job reads by those with all images.
func (f *inlineFinal) withImages(ctx context.Context, g game.Symmetric) error {
	sources := []*Source{f.all}
	plan, err := planLayers(f.memory, g, sources, sources)
	if err != nil {
		return err
	}
	create := func() (io.WriteCloser, error) { return f.Create(imagesName) }
	tiers, err := (&imageSorter{g, plan.Workers, plan.outbox, create, f.FS, path.Join(f.Output, imagesName)}).sort(ctx, sources)
	if err != nil {
		return err
	}
	f.all = tiers[f.InputTier(0)]
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

// An outgoing collects the rows that the workers of a job send. Each worker has its own outbox.
type outgoing struct {
	kept  *inlineMemory
	g     game.Game
	kind  Kind
	boxes []*OutboxWriter // by part

	mu   sync.Mutex
	outs []*sender
}

// newOutgoing returns the outgoing of a job.
func newOutgoing(j *inline.Job, kept *inlineMemory, g game.Game, kind Kind) *outgoing {
	t := &outgoing{kept: kept, g: g, kind: kind}
	for i := range j.Reducers {
		t.boxes = append(t.boxes, NewOutboxWriter(func() (io.WriteCloser, error) { return j.Create(OutboxName(i)) }, g, kind))
	}
	return t
}

// A sender is the outbox of a worker.
type sender struct {
	*Outbox
	part int // the part whose file gets the rows
}

// newSender returns the outbox of a worker, which buffers up to most rows.
func (t *outgoing) newSender(most int) *sender {
	w := new(sender)
	w.Outbox = NewOutbox(t.g, t.kind, most, func(p *streamfmt.Packer) error { return t.boxes[w.part].Append(p) })
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.kept.outboxes); n > 0 {
		w.Inherit(t.kept.outboxes[n-1])
		t.kept.outboxes = t.kept.outboxes[:n-1]
	}
	t.outs = append(t.outs, w)
	return w
}

// setPartition sets the part whose file gets all further rows.
func (w *sender) setPartition(part int) (err error) {
	if part != w.part {
		err = w.Flush()
		w.part = part
	}
	return err
}

// finish flushes the outboxes of all workers concurrently, unless err is set, and closes the
// files. The runner keeps the memory of the outboxes for the next job. A nil outgoing has none.
func (t *outgoing) finish(err error) error {
	if t == nil {
		return err
	}
	if err == nil {
		var all sync.WaitGroup
		for _, out := range t.outs {
			all.Go(func() { _ = out.Flush() }) // an error is that of a box
		}
		all.Wait()
		for _, out := range t.outs {
			t.kept.outboxes = append(t.kept.outboxes, out.Outbox)
		}
	}
	for _, box := range t.boxes {
		err = box.Finish(err)
	}
	return err
}

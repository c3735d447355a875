package inline

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A layerWork is a step on a stage of a tier. A task is an interval of the tier's keys.
type layerWork struct {
	*job
	intervals
	g        game.Game
	writes   layers.Writes
	inbox    *layers.Source // nil in init and values
	stored   layers.Stored
	outgoing *outgoing

	mu   sync.Mutex
	used layerMemory
}

// A layerMemory keeps the memory of workers and chunks for the next job: a game may have many
// small tiers.
type layerMemory struct {
	workers []*layerWorker
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

func (w *layerWork) open(context.Context) error {
	w.writes = layers.WritesOf(w.Step, w.g, w.Tier)
	loaded, err := w.openSources()
	if err != nil {
		return err
	}
	var all []*layers.Source // those of which an index is in memory
	for _, in := range w.inputs {
		all = append(all, in.(*layers.Source))
	}
	if w.plan, err = w.runner.planLayers(w.g, loaded, all); err != nil {
		return err
	}
	w.cut(w.plan.interval, w.borders, loaded)
	w.outgoing = newOutgoing(w.job, w.g, w.writes.Sent)
	return nil
}

// passes reports whether the job is a pass of solve or ties over a tier with inner moves, which looks up edges.
func (w *layerWork) passes() bool { return !w.writes.Shards }

// openSources opens the job's input. It returns what the tasks load.
func (w *layerWork) openSources() (loaded []*layers.Source, err error) {
	if w.Step != step.Init && w.Step != step.Values {
		if w.inbox, err = layers.OpenInbox(w.Inbox, w.Stage(), w.writes.Sent); err != nil {
			return nil, err
		}
		w.inputs = append(w.inputs, w.inbox)
		loaded = append(loaded, w.inbox)
	}
	w.stored, err = layers.OpenStored(w.FS, w.Edges, w.Runs, w.Absorb, w.g, w.Tier)
	for _, s := range append(slices.Clone(w.stored.Runs), w.stored.Absorbed...) {
		w.inputs = append(w.inputs, s)
	}
	if edges := w.stored.Edges; edges != nil {
		w.inputs = append(w.inputs, edges)
		if !w.passes() {
			loaded = append(loaded, edges)
		}
	}
	return append(loaded, w.stored.Absorbed...), err
}

func (w *layerWork) close(err error) error {
	err = w.outgoing.finish(err)
	for _, worker := range w.used.workers {
		n := worker.kernel.Counted()
		w.stats.Messages += n.Messages
		w.stats.Inner += n.Inner
		w.stats.Received += n.Received
		if w.writes.Shard != layers.Values {
			w.stats.Positions += n.Positions
			w.stats.Finished += n.Finished
		}
	}
	memory := &w.runner.layers
	memory.workers = append(memory.workers, w.used.workers...)
	memory.chunks = append(memory.chunks, w.used.chunks...)
	return err
}

// intervals are tasks that are intervals of the keys, each within one shard.
type intervals struct {
	numbered
	of []layers.Interval
}

// cut divides the keys into intervals of about the given number of rows, and at the borders of
// shards.
func (t *intervals) cut(most int, borders []game.Position, sources []*layers.Source) {
	for _, s := range layers.Cut(most, sources...) {
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
	t.tasks = len(t.of)
}

func (t *intervals) first(i int) game.Position { return t.of[i].First }

func (w *layerWork) newChunk() *rowChunk {
	c := take(&w.runner.layers.chunks)
	w.used.chunks = append(w.used.chunks, c)
	return c
}

func (w *layerWork) newShard(number int) (shard[*rowChunk], error) {
	var s layerShard
	if w.writes.Shards {
		name := jobdir.PartName(number)
		if w.OnlyTable() {
			name = jobdir.ShardName(jobdir.TablePart, number)
		}
		file, err := w.create(name)
		if err != nil {
			return nil, err
		}
		if w.OnlyTable() {
			s.rows = layers.NewTableWriter(file, w.g, w.Tier)
		} else {
			s.rows = layers.NewPartWriter(file, w.g, w.Tier, w.writes.Shard)
		}
	}
	if w.writes.States {
		file, err := w.create(layers.StatesName(number))
		if err != nil {
			return nil, s.Finish(err)
		}
		s.states = layers.NewPartWriter(file, w.g, w.Tier, layers.States)
	}
	return s, nil
}

func (w *layerWork) count(c *rowChunk) {
	if w.writes.Shards {
		w.stats.Records += int64(len(c.rows))
	} else {
		w.stats.Records += int64(len(c.states))
	}
}

// A rowChunk contains the rows of the shard of one interval, and its states.
type rowChunk struct{ rows, states []layers.Row }

// A layerShard is the files of a reducer; a nil one is not written.
type layerShard struct{ rows, states *layers.PartWriter }

func (p layerShard) Append(c *rowChunk) error {
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

func (p layerShard) Finish(err error) error {
	if p.rows != nil {
		err = p.rows.Finish(err)
	}
	if p.states != nil {
		err = p.states.Finish(err)
	}
	return err
}

func (w *layerWork) newWorker() func(int, *rowChunk) error {
	w.mu.Lock()
	worker := take(&w.runner.layers.workers)
	w.used.workers = append(w.used.workers, worker)
	w.mu.Unlock()
	worker.layerWork = w
	worker.out = w.outgoing.newSender(w.plan.outbox)
	worker.stored.Edges, worker.stored.Runs, worker.stored.Absorbed = w.stored.Edges, w.stored.Runs, w.stored.Absorbed
	worker.kernel = layers.NewKernel(w.Step, w.g, w.Stage(), worker.out.Outbox, len(w.stored.Absorbed) > 0)
	return worker.do
}

// A layerWorker is the state of a worker: its kernel and its memory.
type layerWorker struct {
	*layerWork
	kernel layers.Kernel
	out    *sender

	loader layers.Loader
	rows   layers.Rows
	stored layers.Stored // with the states of the interval
}

func (w *layerWorker) do(i int, out *rowChunk) (err error) {
	s, rows := w.of[i], &w.rows
	if err := w.out.setPartition(w.partition(s.First)); err != nil {
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
	case w.writes.Shard == layers.Values:
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
func (w *layerWorker) load(s layers.Interval) (err error) {
	rows := &w.rows
	rows.Predecessors, rows.Messages, rows.Edges = rows.Predecessors[:0], rows.Messages[:0], w.pick
	received := &rows.Messages
	if w.writes.Sent == layers.Predecessors {
		received = &rows.Predecessors
	}
	if w.inbox != nil {
		if *received, err = w.loader.Load(*received, w.inbox, s); err != nil {
			return err
		}
	} else if start := layers.Start(w.g); w.Step == step.Init && s.First <= start[0].Key && start[0].Key <= s.Last {
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

// pick calls do with the predecessors of decided positions, see layers.Rows.
func (w *layerWorker) pick(decided []layers.Row, do func(i int, predecessor game.Position) error) error {
	return w.stored.EachEdge(&w.loader, decided, do)
}

// A layerFinal writes the lines of all positions, by key, and of their images. It reads the files of all tiers as one
// source. A task is an interval of the keys.
type layerFinal struct {
	text
	intervals
	g   game.Game
	all *layers.Source
}

func (f *layerFinal) open(ctx context.Context) (err error) {
	f.runner.layers, f.runner.outboxes = layerMemory{}, nil
	if f.all, err = layers.OpenTiers(f.FS, f.Input, f.g, f.InputTier(0)); err != nil {
		return err
	}
	f.inputs = append(f.inputs, f.all)
	if g, ok := f.g.(game.Symmetric); ok {
		if err := f.withImages(ctx, g); err != nil {
			return err
		}
	}
	sources := []*layers.Source{f.all}
	if f.plan, err = f.runner.planRows(game.LastTier(f.g), sources, sources, finalRowMemory(f.g), 0, 0); err != nil {
		return err
	}
	f.cut(min(f.plan.interval, mostRows/4), f.borders, sources)
	return nil
}

// imagesName is the name of the file of positions and images in the directory of a final job, which has it only
// while the job runs.
const imagesName = "_images" + jobdir.Suffix

// withImages replaces the rows that the job reads by those with all images.
func (f *layerFinal) withImages(ctx context.Context, g game.Symmetric) error {
	sources := []*layers.Source{f.all}
	plan, err := f.runner.planLayers(g, sources, sources)
	if err != nil {
		return err
	}
	err = layers.WithImages(ctx, g, sources, plan.workers, plan.outbox, func() (io.WriteCloser, error) { return f.create(imagesName) })
	if err != nil {
		return err
	}
	tiers, err := layers.OpenImages(f.FS, path.Join(f.Output, imagesName), g)
	if err != nil {
		return err
	}
	f.all = tiers[f.InputTier(0)]
	f.inputs = append(f.inputs, f.all)
	return nil
}

func (f *layerFinal) close(err error) error {
	if _, ok := f.g.(game.Symmetric); ok {
		err = cmp.Or(err, f.FS.RemoveAll(path.Join(f.Output, imagesName)))
	}
	return err
}

func (f *layerFinal) newWorker() func(int, *textChunk) error {
	var loader layers.Loader
	var rows []layers.Row
	cyclic := !game.IsAcyclic(f.g)
	return func(i int, out *textChunk) (err error) {
		out.reset()
		if rows, err = loader.Load(rows, f.all, f.of[i]); err != nil {
			return err
		}
		for _, row := range rows {
			if v := layers.ValueOf(row.Word); cyclic {
				out.text = step.AppendCyclicFinal(out.text, f.g.Values(), row.Key, v)
				out.lines++
			} else {
				out.final(f.g, row.Key, v)
			}
		}
		return nil
	}
}

package inline

import (
	"context"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A listWork is a step on a tier of lists. A task is an interval of the tier's keys.
type listWork struct {
	*job
	intervals
	g            game.Game
	made, sent   layers.Kind    // the kinds of the output, and of the messages that are sent
	predecessors *layers.Source // nil in init
	messages     *layers.Source // for solve only
	answers      *layers.Source // for solve only; nil: the rules are asked
	outgoing     *outgoing

	mu   sync.Mutex
	used listMemory
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

func (w *listWork) open(context.Context) error {
	w.made, w.sent = layers.KindsOf(w.Step)
	sources, err := w.openSources()
	if err != nil {
		return err
	}
	if w.plan, err = w.runner.planLists(w.g, sources); err != nil {
		return err
	}
	w.cut(w.plan.interval, w.borders, sources)
	w.outgoing = newOutgoing(w.job, w.g, w.sent, w.Codec)
	return nil
}

// openSources opens the job's input.
func (w *listWork) openSources() (sources []*layers.Source, err error) {
	if w.Step == step.Init {
		return nil, nil
	}
	messages, err := layers.OpenInbox(w.Inbox, w.Tier, w.sent)
	if err != nil {
		return nil, err
	}
	w.inputs = append(w.inputs, messages)
	if w.Step == step.Possible {
		w.predecessors = messages
		return []*layers.Source{messages}, nil
	}
	w.messages = messages
	dir, err := layers.OpenDir(w.FS, w.Predecessors, w.g)
	if err != nil {
		return nil, err
	}
	if w.predecessors, err = layers.OpenPart(dir, w.Tier, layers.Predecessors); err != nil {
		return nil, err
	}
	w.inputs = append(w.inputs, w.predecessors)
	sources = []*layers.Source{w.predecessors, messages}
	if w.answers, err = layers.OpenAnswers(dir, w.Tier); w.answers != nil {
		w.inputs = append(w.inputs, w.answers)
		sources = append(sources, w.answers)
	}
	return sources, err
}

// hasAnswers reports whether the job writes or reads the answers of the rules: for a game that is game.Batched, asking
// takes more time than reading.
func (w *listWork) hasAnswers() bool {
	if w.Step == step.Solve {
		return w.answers != nil
	}
	return game.IsBatched(w.g)
}

func (w *listWork) close(err error) error {
	err = w.outgoing.finish(err)
	for _, worker := range w.used.workers {
		n := worker.kernel.Counted()
		w.stats.Messages += n.Messages
		if w.Step != step.Solve {
			w.stats.Positions += n.Positions
			w.stats.Finished += n.Finished
		}
	}
	memory := &w.runner.lists
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

func (w *listWork) newChunk() *rowChunk {
	c := take(&w.runner.lists.chunks)
	w.used.chunks = append(w.used.chunks, c)
	return c
}

func (w *listWork) newShard(number int) (shard[*rowChunk], error) {
	file, err := w.create(layers.PartName(number, w.Codec))
	if err != nil {
		return nil, err
	}
	s := listShard{PartWriter: layers.NewPartWriter(file, w.g, w.Tier, w.made, w.Codec)}
	if w.Step != step.Solve && w.hasAnswers() {
		file, err := w.create(layers.AnswersName(number))
		if err != nil {
			return nil, s.Finish(err)
		}
		s.answers = layers.NewPartWriter(file, w.g, w.Tier, layers.Messages, jobdir.Packed)
	}
	return s, nil
}

func (w *listWork) count(c *rowChunk) { w.stats.Records += int64(len(c.rows)) }

// A rowChunk contains the rows of one interval, and the answers for its positions if the job writes them.
type rowChunk struct{ rows, answers []layers.Row }

// A listShard is a shard of a job by lists.
type listShard struct {
	*layers.PartWriter
	answers *layers.PartWriter // nil: they are not written
}

func (p listShard) Append(c *rowChunk) error {
	err := p.PartWriter.Append(c.rows)
	if err == nil && p.answers != nil {
		err = p.answers.Append(c.answers)
	}
	return err
}

func (p listShard) Finish(err error) error {
	err = p.PartWriter.Finish(err)
	if p.answers != nil {
		err = p.answers.Finish(err)
	}
	return err
}

func (w *listWork) newWorker() func(int, *rowChunk) error {
	w.mu.Lock()
	worker := take(&w.runner.lists.workers)
	w.used.workers = append(w.used.workers, worker)
	w.mu.Unlock()
	worker.listWork = w
	worker.out = w.outgoing.newSender(w.plan.outbox)
	worker.kernel = layers.NewKernel(w.Step, w.g, w.Tier, worker.out.Outbox, w.hasAnswers())
	return worker.do
}

// A listWorker is the state of a worker: its kernel and its memory.
type listWorker struct {
	*listWork
	kernel layers.Kernel
	out    *sender

	loader layers.Loader
	rows   layers.Rows
}

func (w *listWorker) do(i int, out *rowChunk) (err error) {
	s := w.of[i]
	if err := w.out.setPartition(w.partition(s.First)); err != nil {
		return err
	}
	if w.Step == step.Solve {
		return w.solve(s, out)
	}
	rows := layers.Rows{Predecessors: out.rows[:0], Answers: out.answers}
	if w.Step == step.Init {
		if start := layers.Start(w.g); s.First <= start[0].Key && start[0].Key <= s.Last {
			rows.Predecessors = append(rows.Predecessors, start...)
		}
	} else if rows.Predecessors, err = w.loader.Load(rows.Predecessors, w.predecessors, s); err != nil {
		return err
	}
	err = w.kernel.Do(&rows)
	out.rows, out.answers = rows.Predecessors, rows.Answers
	return err
}

// solve is do in the retrograde pass.
func (w *listWorker) solve(s layers.Interval, out *rowChunk) (err error) {
	rows := &w.rows
	if rows.Predecessors, err = w.loader.Load(rows.Predecessors, w.predecessors, s); err != nil {
		return err
	}
	if rows.Messages, err = w.loader.Load(rows.Messages, w.messages, s); err != nil {
		return err
	}
	if w.answers != nil {
		if rows.Answers, err = w.loader.Load(rows.Answers, w.answers, s); err != nil {
			return err
		}
	}
	rows.Values = out.rows
	err = w.kernel.Do(rows)
	out.rows = rows.Values
	return err
}

// A listFinal writes the lines of all positions, by key. It reads the files of all tiers as one
// source. A task is an interval of the keys.
type listFinal struct {
	text
	intervals
	g   game.Game
	all *layers.Source
}

func (f *listFinal) open(context.Context) (err error) {
	f.runner.lists, f.runner.outboxes = listMemory{}, nil
	if f.all, err = layers.OpenTiers(f.FS, f.Input, f.g, f.InputTier(0)); err != nil {
		return err
	}
	f.inputs = append(f.inputs, f.all)
	sources := []*layers.Source{f.all}
	if f.plan, err = f.runner.planRows(game.LastTier(f.g), sources, finalRowMemory(f.g), 0, 0); err != nil {
		return err
	}
	f.cut(min(f.plan.interval, mostRows/4), f.borders, sources)
	return nil
}

func (f *listFinal) newWorker() func(int, *textChunk) error {
	var loader layers.Loader
	var rows []layers.Row
	return func(i int, out *textChunk) (err error) {
		out.reset()
		if rows, err = loader.Load(rows, f.all, f.of[i]); err != nil {
			return err
		}
		for _, row := range rows {
			out.final(f.g, row.Key, layers.ValueOf(row.Word))
		}
		return nil
	}
}

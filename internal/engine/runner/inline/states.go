package inline

import (
	"context"
	"errors"
	"path"
	"runtime"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// mapShare is about the share of a pass's time that its map takes.
const mapShare = 0.5

// mapEdgesRows is the number of edges that a worker of mapEdges reads at a time, loadedRows that of a worker that
// loads all edges into memory.
const (
	mapEdgesRows = 1 << 16
	loadedRows   = 1 << 18
)

// A stateWork is a pass over a game with cycles: all maps, then all reduces. A task is a range that
// has received messages.
type stateWork struct {
	*job
	numbered
	g       game.Cyclic
	shuffle *shuffle
	ranges  []uint64           // by task
	states  *jobdir.StateFiles // nil before the reduces
	edges   *outgoing          // nil: edges are not stored
	early   *shuffle           // the messages of these edges, for the next pass; nil: it reads the edges
}

func (w *stateWork) open(ctx context.Context) (err error) {
	r := w.runner
	w.shuffle, r.early = r.early, nil
	early := w.shuffle != nil && w.shuffle.of == w.PreviousPass && w.Step == step.Mark
	if !early {
		w.shuffle = &shuffle{g: w.g, limit: r.inboxMemory(), boxes: make([]box, game.Ranges(w.g))}
	}
	w.shuffle.job, w.shuffle.free = w.job, append(w.shuffle.free, r.inboxes...)
	r.inboxes = nil
	switch {
	case w.Step == step.Create:
		r.edges = nil
		w.newPass().MapStart(w.shuffle.send)
	case early:
	case step.StoresEdges(w.g, w.Step):
		err = w.mapEdges(ctx)
	default:
		r.outboxes = nil
		err = w.mapAll(ctx)
	}
	if err != nil {
		return err
	}
	w.Report(runner.Progress{Share: mapShare})
	if w.states, err = jobdir.OpenStates(w.FS, w.PreviousPass, w.g); err != nil {
		return err
	}
	w.inputs = append(w.inputs, w.states)
	w.before = mapShare
	w.ranges = w.shuffle.ranges()
	w.tasks = len(w.ranges)
	needs, outbox := w.needs(w.states.Len()*placeMemory, len(w.states.Files())), 0
	if step.StoresEdges(w.g, w.Step) {
		w.stats.Messages = w.shuffle.messages.Load()
		w.openEarly()
		w.edges = newOutgoing(w.job, w.g, layers.Predecessors, jobdir.Packed)
		outbox = min(max(r.memory()/outboxShare/runtime.GOMAXPROCS(0)/sentRowMemory, leastRows), mostRows)
		needs.worker += outboxMemory + outbox*sentRowMemory
		if game.IsBatched(w.g) {
			needs.waiting = 1
		}
	}
	w.plan, err = r.planPass(w.g, needs)
	w.plan.outbox = outbox
	return err
}

// openEarly makes early, if the messages of this pass leave memory for those of the next one.
func (w *stateWork) openEarly() {
	ranges := int(game.Ranges(w.g))
	if left := w.runner.inboxMemory() - w.shuffle.bytes - ranges*emptyBoxMemory; left > 0 {
		w.early = &shuffle{g: w.g, of: path.Join(path.Dir(w.Output), w.Name), limit: left, boxes: make([]box, ranges), free: w.shuffle.free}
		w.shuffle.free = nil
	}
}

func (w *stateWork) close(err error) error {
	err = w.edges.finish(layers.NameMove(err, w.FS, w.PreviousPass, w.g))
	if err == nil && w.early != nil && w.early.boxes != nil {
		w.runner.early = w.early
	}
	err = errors.Join(err, w.shuffle.close())
	w.runner.inboxes = w.shuffle.free
	return err
}

func (w *stateWork) newPass() *step.Pass { return step.NewPass(w.g, w.Step, w.Tier) }

// mapEdges sends the messages of a forward pass from the edges that the previous one has stored: the rules are not
// asked again.
func (w *stateWork) mapEdges(ctx context.Context) error {
	dir, err := layers.OpenDir(w.FS, w.PreviousPass, w.g)
	if err != nil {
		return err
	}
	edges, err := layers.OpenInbox([]*layers.Dir{dir}, 0, layers.Predecessors)
	if err != nil {
		return err
	}
	defer edges.Close()
	needs := w.needs(edges.Cells()*cellMemory+edges.Files()*fileMemory, 1)
	needs.worker += mapEdgesRows * rowMemory
	plan, err := w.runner.planMap(w.g, needs)
	if err != nil {
		return err
	}
	stretches := edges.Stretches(mapEdgesRows)
	return parallel.Each(ctx, plan.workers, len(stretches), 1, func() func(int) error {
		var loader layers.Loader
		var rows []layers.Row
		return func(i int) (err error) {
			if rows, err = loader.Stretch(rows, edges, stretches[i]); err != nil {
				return err
			}
			w.shuffle.sendKeys(rows)
			return w.shuffle.failed()
		}
	})
}

// mapAll runs the map over the new positions of earlier passes, on all cores.
func (w *stateWork) mapAll(ctx context.Context) error {
	input, err := jobdir.OpenNew(w.FS, w.Input, w.g)
	if err != nil {
		return err
	}
	defer input.Close()
	moves, plan, err := w.planMoves(ctx, w.needs(input.Len()*placeMemory, len(input.Files())))
	if err != nil {
		return err
	}
	defer moves.close()
	var messages atomic.Int64
	err = parallel.Each(ctx, plan.workers, input.Len(), 1, func() func(int) error {
		p, c, state := w.newPass(), input.CursorOf(plan.window), new(block.State)
		p.Moves = moves.reader()
		return func(i int) error {
			if err := c.Read(i, state); err != nil {
				return err
			}
			p.Messages = 0
			if err := p.Map(input.Range(i), state, w.shuffle.send); err != nil {
				return err
			}
			messages.Add(p.Messages)
			return w.shuffle.failed()
		}
	})
	w.stats.Messages = messages.Load()
	return err
}

// moves are the stored edges of a pass: in memory, in files, or neither if it needs none.
type moves struct {
	loaded *layers.Edges
	stored *layers.Moves
}

// reader returns the edges for a worker.
func (m moves) reader() step.Moves {
	switch {
	case m.loaded != nil:
		return m.loaded
	case m.stored != nil:
		return m.stored.Reader()
	}
	return nil
}

func (m moves) close() {
	if m.stored != nil {
		m.stored.Close()
	}
}

// planMoves returns the stored edges and the plan of a map, which needs the given memory beside them. Edges that an
// earlier pass of this data directory has read into memory are not opened again.
func (w *stateWork) planMoves(ctx context.Context, needs needs) (m moves, p plan, err error) {
	r := w.runner
	if !step.NeedsMoves(w.g, w.Step) {
		p, err = r.planPass(w.g, needs)
		return m, p, err
	}
	if r.edges != nil && r.edges.Of == path.Dir(w.PreviousPass) {
		if p, err = r.planPass(w.g, needs); err != nil || r.edges != nil {
			return moves{loaded: r.edges}, p, err
		}
	}
	if m.stored, err = layers.OpenMoves(w.FS, w.PreviousPass, w.g); err != nil {
		return m, p, err
	}
	if err = w.loadEdges(ctx, m.stored, needs); err == nil {
		p, err = r.planPass(w.g, needs)
	}
	if m.loaded = r.edges; err == nil && m.loaded == nil {
		needs.shared += m.stored.Files()*fileMemory + m.stored.Cells()*cellMemory
		needs.worker += m.stored.Memory()
		p, err = r.planPass(w.g, needs)
	}
	if err != nil {
		m.close()
	}
	return m, p, err
}

// loadEdges reads the stored edges into memory, where they stay for the next passes, unless they exceed their share of
// memory. needs is what the map needs beside them.
func (w *stateWork) loadEdges(ctx context.Context, stored *layers.Moves, needs needs) error {
	r := w.runner
	r.edges = nil
	all, each, ok := layers.EdgesMemory(stored, w.g, loadedRows)
	if !ok || all > r.edgesMemory() {
		return nil
	}
	needs.shared += all + stored.Files()*fileMemory + stored.Cells()*cellMemory
	needs.worker = max(needs.worker, each)
	plan, err := r.planPass(w.g, needs)
	if err != nil {
		return nil // they do not fit beside the pass
	}
	if r.edges, err = layers.LoadEdges(ctx, stored, plan.workers, loadedRows); err == nil {
		r.edges.Of = path.Dir(w.PreviousPass)
	}
	return err
}

// passNeeds returns what the map or the reduce of a pass needs to read. A worker has the state
// that it reads, the fresh one, and the inbox of its range, and needs the same again for the
// sets of the step and those of the decoder.
func passNeeds(g game.Cyclic, codec jobdir.Codec) needs {
	state := stateMemory(g)
	return needs{worker: 6 * state, windows: 1, record: state, chunk: func(int) int {
		if codec == jobdir.Text {
			return 3*state + g.RangeSize()*lineMemory(g)/4*5
		}
		return 3 * state
	}}
}

// needs returns the needs of the map or the reduce, with a full shuffle, the index of the input, and the number of its
// files.
func (w *stateWork) needs(index, files int) needs {
	n := passNeeds(w.g, w.Codec)
	n.shared = w.runner.inboxMemory() + int(game.Ranges(w.g))*boxMemory + index
	n.windows = files
	return n
}

func (w *stateWork) first(i int) game.Position { return w.ranges[i] * uint64(w.g.RangeSize()) }

func (w *stateWork) newChunk() *jobdir.StateChunk { return jobdir.NewStateChunk(w.g, w.Codec) }

func (w *stateWork) newShard(number int) (shard[*jobdir.StateChunk], error) {
	return jobdir.NewStateWriter(w.create, number, w.g, w.Codec)
}

func (w *stateWork) count(c *jobdir.StateChunk) { w.stats.AddNew(c.New) }

func (w *stateWork) newWorker() func(int, *jobdir.StateChunk) error {
	s := &stateWorker{stateWork: w, pass: w.newPass(), receiver: receiver{shuffle: w.shuffle}, cursor: w.states.CursorOf(w.plan.window)}
	if w.edges != nil {
		s.out = w.edges.newSender(w.plan.outbox)
		s.pass.StoreEdges = s.out.SendEdges
		if w.early != nil {
			s.out.OnSorted = w.early.sendKeys
		}
	}
	return s.do
}

// A stateWorker updates ranges that have received messages.
type stateWorker struct {
	*stateWork
	pass         *step.Pass
	receiver     receiver
	cursor       *jobdir.StateCursor
	state, fresh block.State
	out          *sender // nil: edges are not stored
}

func (w *stateWorker) do(i int, chunk *jobdir.StateChunk) error {
	if w.out != nil {
		if err := w.out.setPartition(w.partition(w.first(i))); err != nil {
			return err
		}
	}
	rng := w.ranges[i]
	inbox, err := w.receiver.fetch(rng)
	if err != nil {
		return err
	}
	defer w.shuffle.give(inbox)
	if err := w.cursor.Load(rng, &w.state); err != nil {
		return err
	}
	changed, err := w.pass.Reduce(rng, &w.state, inbox, &w.fresh)
	if err != nil {
		return err
	}
	chunk.Reset()
	if changed {
		chunk.Add(rng, &w.state, &w.fresh)
	}
	return nil
}

// A stateFinal writes the lines of all positions of a table, in the order of their hashes. A task
// is a range.
type stateFinal struct {
	text
	numbered
	g     game.Cyclic
	table *jobdir.StateFiles
}

func (f *stateFinal) open(context.Context) (err error) {
	f.runner.edges = nil
	if f.table, err = jobdir.OpenStateFile(f.FS, f.Input[0], f.g); err != nil {
		return err
	}
	f.inputs = append(f.inputs, f.table)
	f.tasks = f.table.Len()
	most := len(step.AppendCyclicFinal(nil, f.g.Values(), f.g.Positions(), game.Loses.In(game.MaxByteRemoteness)))
	state, size := stateMemory(f.g), f.g.RangeSize()
	f.plan = f.runner.plan(needs{shared: f.runner.inboxMemory() + f.tasks*placeMemory, worker: state, windows: 1, record: state,
		chunk: func(int) int { return size * most / 4 * 5 }})
	return nil
}

func (f *stateFinal) first(i int) game.Position { return f.table.Range(i) * uint64(f.g.RangeSize()) }

func (f *stateFinal) newWorker() func(int, *textChunk) error {
	cursor, state := f.table.CursorOf(f.plan.window), new(block.State)
	return func(i int, out *textChunk) error {
		if err := cursor.Read(i, state); err != nil {
			return err
		}
		out.reset()
		out.lines = int64(state.Reached.Count())
		first := f.first(i)
		for slot := range state.Reached.All() {
			value, _ := state.Value(slot)
			out.text = step.AppendCyclicFinal(out.text, f.g.Values(), first+uint64(slot), game.Value(value))
		}
		return nil
	}
}

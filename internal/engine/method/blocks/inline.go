package blocks

import (
	"context"
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// An inlineRunner runs jobs by blocks.
type inlineRunner struct {
	m      *Method
	memory inline.Memory
	kept   *Cache       // has the output of the last job; nil: it is not in memory
	pool   pool         // the memory of kept, and of what a job keeps
	blocks block.Memory // has the blocks that a job keeps until it has sorted the images
}

// Run runs a job.
func (r *inlineRunner) Run(ctx context.Context, of *runner.Job) (runner.Stats, error) {
	j, err := inline.NewJob(of)
	if err != nil {
		return runner.Stats{}, err
	}
	if of.Step == step.Final {
		r.drop()
		return inline.Run(ctx, j, &inlineFinal{Text: inline.Text{Job: j}, memory: r.memory, g: r.m.g})
	}
	return inline.Run(ctx, j, &inlineWork{Job: j, runner: r, g: r.m.gameOf(of)})
}

// drop releases the memory for jobs on blocks.
func (r *inlineRunner) drop() {
	r.kept, r.pool = nil, pool{}
	r.blocks.Reset(0)
}

// An inlineWork is a step on a tier of blocks.
type inlineWork struct {
	*inline.Job
	runner       *inlineRunner
	g            game.Blockwise
	step         Step
	input        *Tier          // nil in init
	predecessors *Tier          // for solve only
	caches       [2]*Cache      // have blocks of input: those that the last job kept, perhaps nil, and those that this one has decoded
	balanced     *mirror.Images // nil: the output has no balanced positions

	deduce block.Deducer // nil: the output is no table with compact blocks
	form   form          // the form of the output

	kept   *Cache // gets the output, for the next job; nil: it does not stay in memory
	shards []*Writer

	receivers mirror.RangeSet // the ranges that receive messages, and those with images
	ranges    *mirror.RangeCursor
	cutter
}

func (w *inlineWork) Open(ctx context.Context) error {
	w.step = NewStep(w.Step, w.g)
	if err := w.openTiers(); err != nil {
		return err
	}
	if w.OnlyTable() {
		w.deduce = game.DeducerOf(w.g)
	}
	needs, err := w.needs()
	if err != nil {
		return err
	}
	memory, blocks := w.runner.memory.Bytes()/imagesShare, w.runner.memory.Bytes()/blocksShare
	blocks = max(0, blocks+min(0, w.runner.spare(&needs)))
	w.runner.blocks.Reset(blocks)
	w.openBalanced(memory)
	if w.balanced != nil {
		first := needs
		first.Shared += memory + blocks
		w.Plan, w.Before = w.runner.memory.Plan(first), balancedShare
		if err := w.prepare(ctx); err != nil {
			return err
		}
		needs.Shared += w.balanced.Memory()
		needs.Worker += w.balanced.Len() * mirror.CursorMemory
	}
	w.ranges = w.receivers.Cursor()
	w.Plan = w.runner.memory.Plan(needs)
	w.cutter = newCutter(w.Job, w.g, w)
	return w.openForm()
}

func (w *inlineWork) openTiers() (err error) {
	if w.Step == step.Init {
		return nil
	}
	from := step.InputTier(w.Step, w.Tier)
	if w.input, err = OpenTier(w.FS, w.Input[0], w.g, from); err != nil {
		return err
	}
	w.Inputs = append(w.Inputs, w.input)
	if w.Step == step.Solve {
		if n := w.input.Counts()[streamfmt.Open]; n > 0 {
			return fmt.Errorf("%s: expected successors with a value, found %d without", w.Input[0], n)
		}
		if w.predecessors, err = OpenTier(w.FS, w.Predecessors, w.g, w.Tier); err != nil {
			return err
		}
		w.Inputs = append(w.Inputs, w.predecessors)
	}
	return nil
}

func (w *inlineWork) Close(err error) error {
	w.runner.kept.release()
	w.runner.kept = nil
	if err != nil {
		w.kept.release()
	} else if w.kept != nil {
		for _, s := range w.shards {
			w.kept.sums = append(w.kept.sums, s.Sum)
		}
		w.runner.kept = w.kept
	}
	return errors.Join(err, w.balanced.Close())
}

func (w *inlineWork) nextRange() (rng uint64, slots int, ok bool, err error) {
	rng, ok = w.ranges.Next()
	return rng, len(w.g.Low(w.Tier, rng)), ok, nil
}

func (w *inlineWork) done() float64 { return w.ranges.Share() }

func (w *inlineWork) NewChunk() *Chunk { return w.form.newChunk() }

func (w *inlineWork) NewShard(number int) (inline.Shard[*Chunk], error) {
	file, err := w.CreateShard(number)
	if err != nil {
		return nil, err
	}
	shard := w.form.newWriter(file, w.Tier)
	w.shards = append(w.shards, shard)
	return shard, nil
}

func (w *inlineWork) Count(c *Chunk) {
	records := c.Counts.Total()
	w.Stats.Records += int64(records)
	if w.Step == step.Possible {
		w.Stats.Finished += int64(records - c.Counts[0])
	}
}

func (w *inlineWork) NewWorker() func(rangeTask, *Chunk) error {
	var scratch []byte
	reduce := w.reducer(w.balanced.Merger(w.messages()))
	return func(t rangeTask, out *Chunk) error {
		out.Reset()
		for _, rng := range t.ranges {
			if b, err := reduce(rng); err != nil {
				return err
			} else if b != nil {
				out.Add(b)
				scratch = w.kept.keep(b, w.caches[0], scratch)
			}
		}
		return nil
	}
}

// reducer returns a function that computes blocks of the output, in ascending order of range. The block is nil
// if a range has no slots; it is valid until the next call.
func (w *inlineWork) reducer(merger *mirror.Merger) func(rng uint64) (*block.Block, error) {
	b := new(block.Block)
	return func(rng uint64) (*block.Block, error) {
		ok, err := merger.Merge(b, rng)
		if err != nil || !ok {
			return nil, err
		}
		if w.Step != step.Init { // init does not ask whether the position is terminal
			err = w.step.Reduce(b)
		}
		return b, err
	}
}

// openForm sets form. If the output is a table with compact blocks, it computes some blocks for it.
func (w *inlineWork) openForm() (err error) {
	if w.deduce == nil {
		w.form = outputForm(w.g, w.Step)
		return nil
	}
	var counts streamfmt.Counts // the values that can occur have a count
	for v, n := range w.input.Counts() {
		if n > 0 { // the input has no open positions
			counts[w.g.Values().Before(game.Value(v))] = n
		}
	}
	reduce, index := w.reducer(w.balanced.Merger(w.messages())), w.predecessors.Cursor(0)
	w.form, err = tableForm(w.g, &counts, w.predecessors.Len(), func(i int) (*block.Block, error) {
		e, err := index.Entry(i)
		if err != nil {
			return nil, err
		}
		return reduce(e.First)
	})
	return err
}

// openBalanced makes balanced, unless there are no balanced positions.
func (w *inlineWork) openBalanced(memory int) {
	g, ok := w.g.(*mirror.Half)
	if !ok || w.Step == step.Init {
		return
	}
	kind := kindOf(w.Step)
	for rng := range w.receivers.All() {
		if kind.Of(g, w.Tier, rng) != nil {
			place := mirror.Place{Dir: w.Output, Memory: memory, Keep: memory, Blocks: &w.runner.blocks}
			w.balanced = mirror.NewImages(g, w.Tier, kind, place)
			return
		}
	}
}

// kindOf returns the kind of the images of the messages of a step.
func kindOf(name string) mirror.Kind {
	if name == step.Solve {
		return mirror.Scores
	}
	return mirror.Reached
}

// prepare stores the messages to balanced positions and their images.
func (w *inlineWork) prepare(ctx context.Context) error {
	return w.balanced.Prepare(ctx, mirror.Pass{
		Ranges:   &w.receivers,
		Messages: w.messages,
		Workers:  w.Plan.Workers,
		Report:   func(share float64) { w.Report(runner.Progress{Share: w.Before * share}) },
	})
}

// messages returns a reader of the messages to ranges of the output.
func (w *inlineWork) messages() mirror.Messages {
	p := &puller{Step: w.step, Game: w.g, Tier: w.Tier}
	if w.input != nil {
		from := w.input.Cached(w.Plan.Window, w.caches[:]...)
		from.OpenOnly = w.Step == step.Possible // a terminal position has no successors
		p.From = from
	}
	if w.Step != step.Solve {
		return p
	}
	m := &solveMessages{puller: p, predecessors: w.predecessors.Cursor(w.Plan.Window)}
	if half, ok := w.g.(*mirror.Half); ok && w.predecessors.Half() == nil {
		m.half = half
	}
	m.deduce = w.deduce
	return m
}

// solveMessages are the messages of a tier to existing positions.
type solveMessages struct {
	*puller
	predecessors *TierCursor
	half         *mirror.Half  // if predecessors have positions that are not stored
	deduce       block.Deducer // nil: the rules say nothing of single positions
}

func (m *solveMessages) Load(b *block.Block, rng uint64) (bool, error) {
	_, err := m.predecessors.Load(b, rng)
	if err == nil && m.half != nil {
		m.half.Keep(b)
	}
	if err == nil && m.deduce != nil {
		b.Settle(b.Deduce(m.deduce))
	}
	return err == nil, err
}

// A rangeTask is ranges of one shard.
type rangeTask struct {
	ranges []uint64
	size   int     // the sum of their sizes, see rangeReader
	end    float64 // the share of the tasks up to its end

	from, to int // for final: the low parts, if they are not all, of one range
}

// A rangeReader reads the ranges of the output.
type rangeReader interface {
	// nextRange returns the next range, ascending, and its size: the number of slots. ok is false at the end.
	nextRange() (rng uint64, size int, ok bool, err error)
	// done returns the share of the ranges that nextRange has returned.
	done() float64
}

// A cutter divides the ranges of the output into tasks, at the borders of parts and where a task
// is large enough.
type cutter struct {
	ahead   []game.Position // the borders that no task has reached
	lowBits uint
	enough  int
	from    rangeReader

	rng  uint64 // the first range of the next task, if there is one
	size int
	ok   bool
}

func newCutter(j *inline.Job, g game.Blockwise, from rangeReader) cutter {
	return cutter{ahead: j.Firsts, lowBits: g.LowBits(), enough: j.Plan.Slots, from: from}
}

func (c *cutter) Next() (t rangeTask, ok bool, err error) {
	for {
		if !c.ok {
			if c.rng, c.size, c.ok, err = c.from.nextRange(); !c.ok || err != nil {
				break
			}
		}
		cut := t.size+64*len(t.ranges) > c.enough || c.size > 2*c.enough
		for len(c.ahead) > 0 && c.rng<<c.lowBits >= c.ahead[0] {
			cut, c.ahead = true, c.ahead[1:]
		}
		if cut && len(t.ranges) > 0 {
			break
		}
		t.ranges = append(t.ranges, c.rng)
		t.size += c.size
		c.ok = false
	}
	t.end = c.from.done()
	return t, len(t.ranges) > 0, err
}

func (c *cutter) First(t rangeTask) game.Position { return t.ranges[0] << c.lowBits }

func (c *cutter) Share(t rangeTask) float64 { return t.end }

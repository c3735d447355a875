// Package inline runs jobs in this process, on all cores. It reads and writes a tier a few
// ranges at a time, so its memory does not grow with the tier.
//
// With blocks there is no shuffle: each output range pulls its messages from the input blocks,
// with a few cursors that move forward through the sorted files. With lists, each worker loads
// an interval of the tier's keys from all messages to the tier, and sends its own messages through
// an outbox. In a pass over a game with cycles it is not known which ranges will send messages
// to a range, so messages are merged in memory and, if they need too much memory, in files.
// The package knows nothing of the loop of jobs.
package inline

import (
	"context"
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// Runner is the inline runner.
type Runner struct {
	// Memory is how many bytes the process may use, see Least; 0 means 2 GiB.
	Memory int
	// InboxMemory is how many of these bytes are for the inboxes of the ranges in a pass over a game
	// with cycles; more messages go to files. 0 means a quarter of Memory.
	InboxMemory int

	inboxes []*block.Inbox // reused from pass to pass
	lists   listMemory     // reused from job to job
}

var _ runner.Halver = (*Runner)(nil)

// CanHalve returns true.
func (r *Runner) CanHalve() bool { return true }

// Run runs a job.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	borders, err := job.Borders()
	if err != nil {
		return runner.Stats{}, err
	}
	switch m := job.Method; {
	case m.Blocks != nil:
		g := m.Blocks
		if job.Half != nil {
			g = job.Half
		}
		return r.runBlocks(ctx, &jobOf[game.Tiered]{job, g, borders})
	case m.States != nil:
		return r.runStates(ctx, &jobOf[game.Cyclic]{job, m.States, borders})
	default:
		return r.runLists(ctx, &jobOf[game.Acyclic]{job, m.Lists, borders})
	}
}

// runBlocks runs a job over a tier of blocks.
func (r *Runner) runBlocks(ctx context.Context, job *jobOf[game.Tiered]) (stats runner.Stats, err error) {
	if job.Step == step.Final {
		return r.runFinal(ctx, job)
	}
	w := &work{job: job, step: step.New(job.Step, job.g)}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.open(); err != nil {
		return stats, err
	}
	needs, err := w.needs(r.memory() / nearShare)
	if err != nil {
		return stats, err
	}
	before := 0.0
	memory := min(r.memory()/imagesShare, mostImages)
	if err := w.openBalanced(memory); err != nil {
		return stats, err
	}
	ranges, share := w.ranges()
	if w.balanced != nil {
		first := needs
		first.shared += memory
		w.plan, before = r.plan(first), balancedShare
		if err := w.prepare(ctx, before); err != nil {
			return stats, err
		}
		needs.shared += w.balanced.Memory()
		needs.worker += w.balanced.Len() * images.CursorMemory
		if job.Step == step.Possible {
			ranges = w.balanced.Reached(ranges)
		}
	}
	w.plan = r.plan(needs)
	cut := &cutter{borders: job.borders, lowBits: job.g.LowBits(), enough: w.plan.slots, next: func() (uint64, int, bool, error) {
		rng, ok, err := ranges()
		return rng, len(job.g.Low(job.Tier, rng)), ok, err
	}}
	o := output[blockTask, *jobdir.Chunk]{job: job.Job, plan: w.plan, before: before,
		tasks: tasks[blockTask]{
			next: func() (t blockTask, ok bool, err error) {
				t.ranges, _, ok, err = cut.task()
				t.share = share()
				return t, ok, err
			},
			share: func(t blockTask) float64 { return t.share },
		},
		partition: func(t blockTask) int { return job.partition(t.ranges[0] << job.g.LowBits()) },
		create: func(number int) (shard[*jobdir.Chunk], error) {
			file, err := job.create(jobdir.PartName(number, job.Codec))
			if err != nil {
				return nil, err
			}
			return jobdir.NewWriter(file, job.g, job.Tier, job.Codec), nil
		},
		chunk: func() *jobdir.Chunk { return jobdir.NewChunk(job.g, job.Codec) },
		worker: func() func(blockTask, *jobdir.Chunk) error {
			work := w.newWorker()
			return func(t blockTask, out *jobdir.Chunk) error {
				out.Reset()
				return work(t.ranges, out)
			}
		},
		count: func(c *jobdir.Chunk) {
			stats.Records += c.Records()
			if job.Step == step.Possible {
				stats.Finished += c.Done()
			}
		},
	}
	err = o.run(ctx)
	return stats, err
}

// A blockTask is a task of a job on blocks: ranges of the output.
type blockTask struct {
	ranges []uint64
	share  float64 // the share of the job up to their end
}

// work is what the workers of a job share.
type work struct {
	job          *jobOf[game.Tiered]
	step         step.Step
	input        *jobdir.Tier
	predecessors *jobdir.Tier // for solve only
	near         *jobdir.Near // the decoded blocks of input
	plan         plan
	balanced     *images.Balanced // nil: the output has no balanced positions
}

func (w *work) open() (err error) {
	job := w.job
	if job.Step == step.Init {
		return nil
	}
	from := step.InputTier(job.Step, job.Tier)
	if w.input, err = jobdir.OpenTier(job.FS, job.Input[0], job.g, from); err != nil {
		return err
	}
	if job.Step == step.Solve {
		if n := w.input.Counts()[streamfmt.Open]; n > 0 {
			return fmt.Errorf("%s: expected successors with a value, found %d without", job.Input[0], n)
		}
		w.predecessors, err = jobdir.OpenTier(job.FS, job.Predecessors, job.g, job.Tier)
	}
	return err
}

// ranges returns the ranges of the output that receive messages, and a function that returns the
// share of the job up to the last one of them.
func (w *work) ranges() (next images.Ranger, share func() float64) {
	switch w.job.Step {
	case step.Init:
		return images.List([]uint64{w.job.g.Start() >> w.job.g.LowBits()}), func() float64 { return 1 }
	case step.Possible:
		receivers := step.NewReceivers(w.step, w.job.g, w.input)
		return receivers.Next, receivers.Share
	}
	i, n, index := 0, w.predecessors.Len(), w.predecessors.Cursor(0)
	next = func() (rng uint64, ok bool, err error) {
		if i == n {
			return 0, false, nil
		}
		e, err := index.Entry(i)
		i++
		return e.Range, true, err
	}
	return next, func() float64 { return float64(i) / float64(n) }
}

func (w *work) close() error {
	for _, t := range []*jobdir.Tier{w.input, w.predecessors} {
		if t != nil {
			t.Close()
		}
	}
	return w.balanced.Close()
}

// needs returns the memory needs of the job, and makes near. near takes at most the given number of
// bytes, unless its smallest size takes more.
func (w *work) needs(nearMemory int) (needs, error) {
	g := w.job.g
	n := needs{shared: g.Tables() + step.ReceiversBytes(g) + indexMemory(g.Ranges(w.job.Tier)), windows: 1}
	largest := len(g.Low(w.job.Tier, g.Start()>>g.LowBits())) // a number of slots
	near := newSections(int(g.KeyBits()-g.LowBits()), nearMemory)
	for _, t := range []*jobdir.Tier{w.input, w.predecessors} {
		if t == nil {
			continue
		}
		var to []uint64
		index := t.Cursor(0)
		for i := range t.Len() {
			e, err := index.Entry(i)
			if err != nil {
				return n, err
			}
			slots := len(g.Low(t.Number(), e.Range))
			largest = max(largest, slots)
			if t == w.input {
				near.add(e.Range, blockMemory(slots)+nearBlockMemory)
			}
			if w.job.Step == step.Possible {
				to = w.step.Outputs(to[:0], t.Number(), e.Range)
				for _, rng := range to {
					largest = max(largest, len(g.Low(w.job.Tier, rng)))
				}
			}
		}
		n.shared += 2 * indexMemory(float64(t.Len())) // the table reads it as well
	}
	if w.input != nil {
		w.near = w.input.Near(uint(near.bits), w.readers)
		n.shared += 2*near.largest[near.bits] + jobdir.NearSpare*(blockMemory(largest)+nearBlockMemory)
		n.windows += int(g.KeyBits() - g.LowBits())
	}
	n.record = blockMemory(largest)
	n.worker = 2*blockMemory(largest) + 4*largest // 4 bytes for each slot in the list of open positions
	n.chunk = func(slots int) int { return chunkMemory(g, w.job.Codec, slots, largest) }
	return n, nil
}

// A sections finds how many bits a range may have within its section, see jobdir.Near, so that the
// blocks of each section take at most a number of bytes. At least it has jobdir.NearBits.
type sections struct {
	bits, most int
	at         [65]uint64 // by bits: the number of the last section
	size       [65]int    // the size of that section
	largest    [65]int    // the size of the largest section
}

func newSections(bits, most int) *sections {
	return &sections{bits: max(jobdir.NearBits, bits), most: most}
}

// add adds the block of a range that is above those before.
func (s *sections) add(rng uint64, size int) {
	for b := jobdir.NearBits; b <= s.bits; b++ {
		if at := rng >> b; at != s.at[b] {
			s.at[b], s.size[b] = at, 0
		}
		s.size[b] += size
		s.largest[b] = max(s.largest[b], s.size[b])
	}
	for s.bits > jobdir.NearBits && s.largest[s.bits] > s.most {
		s.bits--
	}
}

// newWorker returns a function that computes the output of a task.
func (w *work) newWorker() func(ranges []uint64, out *jobdir.Chunk) error {
	if w.job.Step == step.Init {
		return func(_ []uint64, out *jobdir.Chunk) error {
			out.Add(step.Start(w.job.g))
			return nil
		}
	}
	merger := w.balanced.Merger(w.messages(w.near))
	var into block.Block
	return func(ranges []uint64, out *jobdir.Chunk) error {
		for _, rng := range ranges {
			ok, err := merger.Merge(&into, rng)
			if err == nil && ok {
				err = w.step.Reduce(&into)
			}
			if err != nil {
				return err
			}
			if ok {
				out.Add(&into)
			}
		}
		return nil
	}
}

// readers appends the ranges to which a block of the input sends messages.
func (w *work) readers(dst []uint64, rng uint64) []uint64 {
	return w.step.Outputs(dst, w.input.Number(), rng)
}

// openBalanced makes balanced, unless there are no balanced positions.
func (w *work) openBalanced(memory int) error {
	g, ok := w.job.g.(*game.Half)
	if !ok || w.job.Step == step.Init {
		return nil
	}
	kind := images.Reached
	if w.job.Step == step.Solve {
		kind = images.Scores
	}
	next, _ := w.ranges()
	for {
		rng, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if kind.Of(g, w.job.Tier, rng) != nil {
			break
		}
	}
	place := images.Place{FS: w.job.FS, Dir: w.job.Output, Name: "images", Memory: memory}
	w.balanced = images.NewBalanced(g, w.job.Tier, kind, place)
	return nil
}

// prepare stores the messages to balanced positions and their images. share is the share of the
// job that this is.
func (w *work) prepare(ctx context.Context, share float64) error {
	next, done := w.ranges()
	near := w.input.Near(w.near.Bits(), w.readers)
	return w.balanced.Prepare(ctx, images.Pass{
		Ranges:   next,
		Messages: func() images.Messages { return w.messages(near) },
		Workers:  w.plan.workers,
		Report:   func() { w.job.Report(runner.Progress{Share: share * done()}) },
	})
}

// messages returns a reader of the messages to ranges of the output.
func (w *work) messages(near *jobdir.Near) *messages {
	from := near.Cursor(w.plan.window)
	from.OpenOnly = w.job.Step == step.Possible // a terminal position has no successors
	m := &messages{g: w.job.g, tier: w.job.Tier, pull: step.Puller{Step: w.step, From: from}}
	if w.predecessors != nil {
		m.predecessors = w.predecessors.Cursor(w.plan.window)
		if half, ok := m.g.(*game.Half); ok && w.predecessors.Half() == nil {
			m.half = half
		}
	}
	return m
}

// messages implements images.Messages.
type messages struct {
	g            game.Tiered
	tier         int
	pull         step.Puller
	predecessors *jobdir.TierCursor
	half         *game.Half // if predecessors have positions that are not stored
}

func (m *messages) Load(b *block.Block, rng uint64) (bool, error) {
	if m.predecessors != nil {
		_, err := m.predecessors.Load(b, rng)
		if err == nil && m.half != nil {
			m.half.Keep(b)
		}
		return err == nil, err
	}
	low := m.g.Low(m.tier, rng)
	if low != nil {
		b.Reset(m.tier, rng, m.g.LowBits(), low)
	}
	return low != nil, nil
}

func (m *messages) Merge(b *block.Block) error { return m.pull.Messages(b) }

// A cutter divides the ranges of the output into tasks, at the borders of parts and where a task
// has enough slots.
type cutter struct {
	borders []game.Position
	lowBits uint
	enough  int
	next    func() (rng uint64, slots int, ok bool, err error)

	rng   uint64 // the first range of the next task, if there is one
	slots int
	ok    bool
}

// task returns the ranges of the next task, and their slots; ok is false at the end.
func (c *cutter) task() (ranges []uint64, slots int, ok bool, err error) {
	for {
		if !c.ok {
			if c.rng, c.slots, c.ok, err = c.next(); !c.ok || err != nil {
				return ranges, slots, len(ranges) > 0, err
			}
		}
		cut := slots+64*len(ranges) > c.enough || c.slots > 2*c.enough
		for len(c.borders) > 0 && c.rng<<c.lowBits >= c.borders[0] {
			cut, c.borders = true, c.borders[1:]
		}
		if cut && len(ranges) > 0 {
			return ranges, slots, true, nil
		}
		ranges = append(ranges, c.rng)
		slots += c.slots
		c.ok = false
	}
}

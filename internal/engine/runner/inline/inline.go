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
	"fmt"
	"slices"

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
	defer w.close()
	if err := w.open(); err != nil {
		return stats, err
	}
	needs, err := w.needs(r.memory() / nearShare)
	if err != nil {
		return stats, err
	}
	if err := w.openBalanced(); err != nil {
		return stats, err
	}
	if w.balanced != nil {
		needs.worker *= 2 // messages are merged before the tasks, and in them
		needs.shared += w.balanced.Limit(r.left() - needs.of(1, presets[len(presets)-1]))
	}
	w.plan = r.plan(needs)
	if w.balanced != nil {
		w.balanced.Workers = w.plan.workers
	}
	cut := &cutter{borders: job.borders, lowBits: job.g.LowBits(), enough: w.plan.slots, next: w.next}
	o := output[blockTask, *jobdir.Chunk]{job: job.Job, plan: w.plan,
		tasks: tasks[blockTask]{
			next: func() (t blockTask, ok bool, err error) {
				t.ranges, _, ok, err = cut.task()
				t.share = w.share()
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
			work := w.newWorker(ctx)
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
	share  float64 // of the job, up to their end
}

// work is what the workers of a job share.
type work struct {
	job          *jobOf[game.Tiered]
	step         step.Step
	input        *jobdir.Tier
	predecessors *jobdir.Tier // for solve only
	near         *jobdir.Near // the decoded blocks of input
	// next returns the next range of the output, and its number of slots; share returns the share
	// of the job up to that range.
	next     func() (rng uint64, slots int, ok bool, err error)
	share    func() float64
	plan     plan
	balanced *images.Balanced // nil: the output has no balanced positions
}

func (w *work) open() (err error) {
	job := w.job
	if job.Step == step.Init {
		w.ranges(1, func(int) (uint64, error) { return job.g.Start() >> job.g.LowBits(), nil })
		return nil
	}
	from := step.InputTier(job.Step, job.Tier)
	if w.input, err = jobdir.OpenTier(job.FS, job.Input[0], job.g, from); err != nil {
		return err
	}
	switch job.Step {
	case step.Possible:
		receivers := step.NewReceivers(w.step, job.g, w.input)
		w.share = receivers.Share
		w.next = func() (uint64, int, bool, error) {
			rng, ok, err := receivers.Next()
			return rng, len(job.g.Low(job.Tier, rng)), ok, err
		}
	case step.Solve:
		if n := w.input.Counts()[streamfmt.Open]; n > 0 {
			return fmt.Errorf("%s: expected successors with a value, found %d without", job.Input[0], n)
		}
		if w.predecessors, err = jobdir.OpenTier(job.FS, job.Predecessors, job.g, job.Tier); err != nil {
			return err
		}
		index := w.predecessors.Cursor(0)
		w.ranges(w.predecessors.Len(), func(i int) (uint64, error) {
			e, err := index.Entry(i)
			return e.Range, err
		})
	}
	return nil
}

// ranges makes the output n ranges; of returns the i-th.
func (w *work) ranges(n int, of func(i int) (uint64, error)) {
	i := 0
	w.share = func() float64 { return float64(i) / float64(n) }
	w.next = func() (rng uint64, slots int, ok bool, err error) {
		if i == n {
			return 0, 0, false, nil
		}
		if rng, err = of(i); err != nil {
			return 0, 0, false, err
		}
		i++
		return rng, len(w.job.g.Low(w.job.Tier, rng)), true, nil
	}
}

func (w *work) close() {
	for _, t := range []*jobdir.Tier{w.input, w.predecessors} {
		if t != nil {
			t.Close()
		}
	}
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
	size       [65]int    // of that section
	largest    [65]int    // of all sections
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
func (w *work) newWorker(ctx context.Context) func(ranges []uint64, out *jobdir.Chunk) error {
	if w.job.Step == step.Init {
		return func(_ []uint64, out *jobdir.Chunk) error {
			out.Add(step.Start(w.job.g))
			return nil
		}
	}
	merge := w.merge(w.near)
	var into block.Block
	return func(ranges []uint64, out *jobdir.Chunk) error {
		for _, rng := range ranges {
			ok, err := w.balanced.Merge(ctx, &into, rng, merge)
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

// openBalanced prepares the images of balanced positions, and adds the ranges that only images
// reach.
func (w *work) openBalanced() error {
	g, ok := w.job.g.(*game.Half)
	if !ok || w.job.Step == step.Init {
		return nil
	}
	var ranges []uint64
	for {
		rng, _, ok, err := w.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		ranges = append(ranges, rng)
	}
	kind := images.Reached
	if w.job.Step == step.Solve {
		kind = images.Scores
	}
	w.balanced = images.NewBalanced(g, w.job.Tier, kind, ranges, func() func() images.Merge {
		near := w.input.Near(w.near.Bits(), w.readers)
		return func() images.Merge { return w.merge(near) }
	})
	if w.balanced != nil && w.job.Step == step.Possible {
		ranges = append(ranges, w.balanced.Ranges()...)
		slices.Sort(ranges)
		ranges = slices.Compact(ranges)
	}
	w.ranges(len(ranges), func(i int) (uint64, error) { return ranges[i], nil })
	return nil
}

// merge returns a Merge of all messages.
func (w *work) merge(near *jobdir.Near) images.Merge {
	g, tier := w.job.g, w.job.Tier
	from := near.Cursor(w.plan.window)
	from.OpenOnly = w.job.Step == step.Possible // a terminal position has no successors
	pull := &step.Puller{Step: w.step, From: from}
	var predecessors *jobdir.TierCursor
	half, _ := g.(*game.Half)
	if w.predecessors != nil {
		predecessors = w.predecessors.Cursor(w.plan.window)
		if w.predecessors.Half() != nil {
			half = nil // it has no others
		}
	}
	return func(b *block.Block, rng uint64) (bool, error) {
		if predecessors != nil {
			if _, err := predecessors.Load(b, rng); err != nil {
				return false, err
			}
			if half != nil {
				half.Keep(b)
			}
		} else if low := g.Low(tier, rng); low != nil {
			b.Reset(tier, rng, g.LowBits(), low)
		} else {
			return false, nil
		}
		return true, pull.Messages(b)
	}
}

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

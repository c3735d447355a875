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
	w.openBalanced()
	slots := make([]int, len(w.ranges))
	for i, rng := range w.ranges {
		slots[i] = len(job.g.Low(job.Tier, rng))
	}
	n := w.needs(slots, r.memory()/nearShare)
	if w.balanced != nil {
		n.worker *= 2 // messages are merged before the tasks, and in them
		n.shared += w.balanced.Limit(r.left() - n.of(1, presets[len(presets)-1]))
	}
	w.plan = r.plan(n)
	if w.balanced != nil {
		w.balanced.Workers = w.plan.workers
	}
	ts := tasks(job, w.ranges, slots, w.plan.slots)
	o := output[*jobdir.Chunk]{job: job.Job, plan: w.plan, tasks: len(ts),
		partition: func(i int) int { return job.partition(ts[i][0] << job.g.LowBits()) },
		create: func(number int) (shard[*jobdir.Chunk], error) {
			file, err := job.create(jobdir.PartName(number, job.Codec))
			if err != nil {
				return nil, err
			}
			return jobdir.NewWriter(file, job.g, job.Tier, job.Codec), nil
		},
		chunk: func() *jobdir.Chunk { return jobdir.NewChunk(job.g, job.Codec) },
		worker: func() func(int, *jobdir.Chunk) error {
			work := w.newWorker(ctx)
			return func(i int, out *jobdir.Chunk) error {
				out.Reset()
				return work(ts[i], out)
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

// work is what the workers of a job share.
type work struct {
	job          *jobOf[game.Tiered]
	step         step.Step
	input        *jobdir.Tier
	predecessors *jobdir.Tier // for solve only
	near         *jobdir.Near // the decoded blocks of input
	ranges       []uint64     // of the output
	plan         plan
	balanced     *images.Balanced // nil: the output has no balanced positions
}

func (w *work) open() (err error) {
	job := w.job
	if job.Step == step.Init {
		w.ranges = []uint64{job.g.Start() >> job.g.LowBits()}
		return nil
	}
	from := step.InputTier(job.Step, job.Tier)
	if w.input, err = jobdir.OpenTier(job.FS, job.Input[0], job.g, from); err != nil {
		return err
	}
	switch job.Step {
	case step.Possible:
		for i := range w.input.Len() {
			w.ranges = w.step.Outputs(w.ranges, from, w.input.Range(i))
		}
		slices.Sort(w.ranges)
		w.ranges = slices.Compact(w.ranges)
	case step.Solve:
		if n := w.input.Counts()[streamfmt.Open]; n > 0 {
			return fmt.Errorf("%s: expected successors with a value, found %d without", job.Input[0], n)
		}
		if w.predecessors, err = jobdir.OpenTier(job.FS, job.Predecessors, job.g, job.Tier); err != nil {
			return err
		}
		for i := range w.predecessors.Len() {
			w.ranges = append(w.ranges, w.predecessors.Range(i))
		}
	}
	return nil
}

func (w *work) close() {
	for _, t := range []*jobdir.Tier{w.input, w.predecessors} {
		if t != nil {
			t.Close()
		}
	}
}

// needs returns the memory needs of the job, and makes near; slots are the numbers of slots of
// its ranges. near takes at most the given number of bytes, unless its smallest size takes more.
func (w *work) needs(slots []int, nearMemory int) needs {
	g := w.job.g
	n := needs{shared: g.Tables(), windows: 1}
	largest, all := 0, 0
	for _, s := range slots {
		largest = max(largest, s)
		all += s
	}
	n.shared += len(slots)*16 + all/presets[0].slots*taskMemory
	if w.input != nil {
		most := jobdir.NearBits // bits of a section
		var section, size, sizes [65]int
		top := max(most, int(g.KeyBits()-g.LowBits()))
		for i := range w.input.Len() {
			rng := w.input.Range(i)
			s := len(g.Low(w.input.Number(), rng))
			largest = max(largest, s)
			for b := most; b <= top; b++ {
				if at := int(rng >> b); at != section[b] {
					section[b], size[b] = at, 0
				}
				size[b] += blockMemory(s)
				sizes[b] = max(sizes[b], size[b])
			}
			for top > most && sizes[top] > nearMemory {
				top--
			}
		}
		w.near = w.input.Near(uint(top), w.readers)
		n.shared += 2*sizes[top] + jobdir.NearSpare*blockMemory(largest)
		n.shared += 2 * w.input.Len() * entryMemory // the table reads it as well
		n.windows += int(g.KeyBits() - g.LowBits())
	}
	if w.predecessors != nil {
		n.shared += w.predecessors.Len() * entryMemory
	}
	n.record = blockMemory(largest)
	n.worker = 2*blockMemory(largest) + 4*largest // 4 bytes for each slot in the list of open positions
	n.chunk = func(slots int) int { return chunkMemory(g, w.job.Codec, slots, largest) }
	return n
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
func (w *work) openBalanced() {
	g, ok := w.job.g.(*game.Half)
	if !ok || w.job.Step == step.Init {
		return
	}
	kind := images.Reached
	if w.job.Step == step.Solve {
		kind = images.Scores
	}
	w.balanced = images.NewBalanced(g, w.job.Tier, kind, w.ranges, func() func() images.Merge {
		near := w.input.Near(w.near.Bits(), w.readers)
		return func() images.Merge { return w.merge(near) }
	})
	if w.balanced != nil && w.job.Step == step.Possible {
		w.ranges = append(w.ranges, w.balanced.Ranges()...)
		slices.Sort(w.ranges)
		w.ranges = slices.Compact(w.ranges)
	}
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

// tasks divides the ranges of the output into tasks, at the borders of parts and where a task
// has enough slots.
func tasks(job *jobOf[game.Tiered], ranges []uint64, slots []int, enough int) (ts [][]uint64) {
	borders, sum, from := job.borders, 0, 0
	cut := func(to int) {
		if to > from {
			ts = append(ts, ranges[from:to])
		}
		from, sum = to, 0
	}
	for i, rng := range ranges {
		for len(borders) > 0 && rng<<job.g.LowBits() >= borders[0] {
			cut(i)
			borders = borders[1:]
		}
		if sum > enough || slots[i] > 2*enough {
			cut(i)
		}
		sum += slots[i] + 64
	}
	cut(len(ranges))
	return ts
}

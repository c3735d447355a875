// Package task implements the tasks of a cluster's job on packed records. A mapper reads
// its share of a tier from block files, and sends messages as pairs of a range and a packed
// block. A reducer receives the pairs of consecutive ranges, reads the existing positions
// directly from their files, and writes a shard.
//
//	share   part-00000.blocks  from  to        a line of the job's input
//	 Map      blocks of the share  →  step.Pusher
//	pair    range, packed block                through Hadoop's shuffle, a record
//	 Reduce   pieces of a range  →  step.Receive, step.Reduce
//	shard   part-00001.blocks                  in the attempt's own directory
//
// A pass over a game with cycles takes the same path:
//
//	share   part-00000.blocks  from  to        new positions of earlier passes
//	 Map      step.Pass.Map  →  step.Combiner
//	pair    range, packed planes               messages to the range: block.Inbox
//	 Reduce   pieces of a range, its state  →  step.Pass.Reduce
//	shard   part-00001.blocks, _ranges-00001.blocks, to-00001.lists
//
// The package does not depend on Hadoop: it accesses files through a store.FS.
package task

import (
	"fmt"
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// readAhead is the number of bytes of a file that are read at a time.
const readAhead = 1 << 20

// A Job is the description of a job that its tasks need. A process runs one of its maps or
// one of its reduces.
type Job struct {
	Step     string    // blocks: Possible or Solve; states: any but Final
	Game     game.Game // not a game solved by lists
	FS       store.FS
	Tier     int    // blocks: the tier that the reducers write; states: the number of the pass
	Reducers int    // requested number; see step.Borders and step.CyclicBorders for the actual one
	Parents  string // blocks, solve: the directory of the existing positions of Tier
	States   string // states: the directory of the previous pass; "" in create
	Memory   int    // limit in bytes, see step.NewPusher and step.NewCombiner
}

// A task implements a job for one method, blocks or states.
type task interface {
	mapShares(in io.Reader, out io.Writer) (step.Counters, error)
	reduce(partition int, in io.Reader, dir string) (step.Counters, error)
}

// task returns the task for the method by which the game is solved.
func (j *Job) task() (task, error) {
	switch g := game.ByMethod(j.Game).(type) {
	case game.Tiered:
		t := &blocks{j, g}
		return t, t.check()
	case game.Cyclic:
		return &pass{j, g}, nil
	}
	return nil, fmt.Errorf("%s is solved by lists, whose records are lines", j.Game.Spec())
}

// Map reads shares, one in each line, and writes pairs.
func (j *Job) Map(in io.Reader, out io.Writer) (n step.Counters, err error) {
	t, err := j.task()
	if err != nil {
		return n, err
	}
	return t.mapShares(in, out)
}

// Reduce reads the sorted pairs of a partition, and writes the files of its reducer into
// directory dir, which it creates.
func (j *Job) Reduce(partition int, in io.Reader, dir string) (n step.Counters, err error) {
	t, err := j.task()
	if err != nil {
		return n, err
	}
	return t.reduce(partition, in, dir)
}

// blocks is a job over a tier of blocks.
type blocks struct {
	*Job
	g game.Tiered
}

// check returns an error unless tasks implement the step, and it can write the tier.
func (j *blocks) check() error {
	if j.Step != step.Possible && j.Step != step.Solve {
		return fmt.Errorf("step %s: expected %s or %s", j.Step, step.Possible, step.Solve)
	}
	last := j.g.Tiers()
	if input := step.InputTier(j.Step, j.Tier); j.Tier < 0 || j.Tier > last || input < 0 || input > last {
		return fmt.Errorf("step %s: no tier %d can be written of a game with tiers 0 to %d", j.Step, j.Tier, last)
	}
	return nil
}

func (j *blocks) mapShares(in io.Reader, out io.Writer) (n step.Counters, err error) {
	w := &pairWriter{out: out}
	var packed []byte
	var encoder streamfmt.Encoder
	var counts [256]uint64
	emit := func(b *block.Block) error {
		n.Records += int64(b.Count())
		packed = encoder.AppendBlock(packed[:0], b, &counts)
		return w.add(b.Range, packed)
	}
	p := step.NewPusher(step.New(j.Step, j.g), j.g, j.Memory, emit)
	if j.Step == step.Solve {
		parents, err := jobdir.OpenTier(j.FS, j.Parents, j.g, j.Tier)
		if err != nil {
			return n, err
		}
		defer parents.Close()
		p.ExpectBy(expectOpen(parents))
	}
	if err := eachShare(in, func(s Share) error { return j.mapShare(s, p, &n) }); err != nil {
		return n, err
	}
	if err := p.Flush(); err != nil {
		return n, err
	}
	return n, w.flush()
}

// expectOpen returns a function that opens the positions of a tier that have no value yet.
// With it, successors send messages only to existing predecessors, not to all possible
// ones.
func expectOpen(parents *jobdir.Tier) func(home uint64, b *block.Block) error {
	c := parents.Cursor(readAhead)
	return func(home uint64, b *block.Block) error {
		exist, err := c.Block(home, b.Range)
		if exist != nil {
			b.Open.Union(exist.Open)
		}
		return err
	}
}

// mapShare pushes the blocks of a share.
func (j *blocks) mapShare(s Share, p *step.Pusher, n *step.Counters) error {
	t, err := jobdir.OpenTierFiles(j.FS, []string{s.Part}, j.g, step.InputTier(j.Step, j.Tier))
	if err != nil {
		return err
	}
	defer t.Close()
	c := t.Cursor(readAhead)
	b := new(block.Block)
	for i := range t.Len() {
		rng := t.Range(i)
		if rng < s.From || rng >= s.To {
			continue
		}
		if _, err := c.Load(b, rng); err != nil {
			return err
		}
		if j.Step == step.Solve && !b.Open.Empty() {
			return fmt.Errorf("%s: expected children with a value, found %d without in range %#x", s.Part, b.Open.Count(), rng)
		}
		n.In += int64(b.Count())
		if err := p.Push(b); err != nil {
			return err
		}
	}
	return nil
}

func (j *blocks) reduce(partition int, in io.Reader, dir string) (n step.Counters, err error) {
	came, err := readPairs(in, step.Borders(j.g, j.Tier, j.Reducers), partition)
	if err != nil {
		return n, err
	}
	if err := j.FS.MkdirAll(dir); err != nil {
		return n, err
	}
	file, err := j.FS.Create(path.Join(dir, jobdir.PartName(partition, jobdir.Blocks)))
	if err != nil {
		return n, err
	}
	r := &reduction{blocks: j, pairs: came, step: step.New(j.Step, j.g), n: &n,
		out: jobdir.NewWriter(file, j.g, j.Tier, jobdir.Blocks), chunk: jobdir.NewChunk(j.g, jobdir.Blocks)}
	return n, r.out.Finish(r.run())
}

// A reduction is the run of one reducer.
type reduction struct {
	*blocks
	*pairs
	step    step.Step
	n       *step.Counters
	out     *jobdir.Writer
	chunk   *jobdir.Chunk
	piece   block.Block
	decoder streamfmt.Decoder
}

func (r *reduction) run() error {
	do := r.allThatCame
	if r.Step == step.Solve {
		do = r.allThatExist
	}
	if err := do(); err != nil {
		return err
	}
	return r.out.Append(r.chunk)
}

// allThatCame reduces every range that received a pair.
func (r *reduction) allThatCame() error {
	b := new(block.Block)
	for !r.ended {
		low := r.g.Low(r.Tier, r.rng)
		if low == nil {
			return fmt.Errorf("range %#x can hold no position of tier %d", r.rng, r.Tier)
		}
		b.Reset(r.Tier, r.rng, r.g.LowBits(), low)
		if err := r.write(b); err != nil {
			return err
		}
	}
	return nil
}

// allThatExist reduces every range that contains predecessors. Messages to other ranges are
// skipped, because they are to positions that do not exist.
func (r *reduction) allThatExist() error {
	parents, err := jobdir.OpenTier(r.FS, r.Parents, r.g, r.Tier)
	if err != nil {
		return err
	}
	defer parents.Close()
	c := parents.Cursor(readAhead)
	b := new(block.Block)
	for i := range parents.Len() {
		rng := parents.Range(i)
		if rng < r.from || rng >= r.to {
			continue
		}
		if err := r.skip(rng); err != nil {
			return err
		}
		if _, err := c.Load(b, rng); err != nil {
			return err
		}
		if err := r.write(b); err != nil {
			return err
		}
	}
	return r.skip(allRanges)
}

// write merges all messages to its range into b, then reduces and writes it.
func (r *reduction) write(b *block.Block) error {
	for r.at(b.Range) {
		r.piece.Reset(b.Tier, b.Range, b.LowBits, b.Low)
		if err := r.decoder.Decode(r.packed, &r.piece); err != nil {
			return fmt.Errorf("range %#x: %w", b.Range, err)
		}
		r.n.In += int64(r.piece.Count())
		if err := r.step.Receive(&r.piece, b); err != nil {
			return fmt.Errorf("range %#x: %w", b.Range, err)
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	if err := r.step.Reduce(b); err != nil {
		return fmt.Errorf("range %#x: %w", b.Range, err)
	}
	done := b.Done.Count()
	r.n.Records += int64(b.Open.Count() + done)
	r.n.Finished += int64(done)
	r.chunk.Add(b)
	if r.chunk.Size() < flushSize {
		return nil
	}
	err := r.out.Append(r.chunk)
	r.chunk.Reset()
	return err
}

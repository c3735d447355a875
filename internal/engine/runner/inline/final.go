package inline

import (
	"context"
	"maps"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// finalImages is the divisor of memory for the images of positions that the table does not store.
const finalImages = 2

// A final is what the workers of the final job share.
type final struct {
	job    *jobOf[game.Tiered]
	tiers  []*jobdir.Tier
	wholes []*images.Tier
	most   map[uint64]int // maximum number of lines, by range
	plan   plan
}

// runFinal merges the tiers of a solved game into one list by key. For each range, it merges
// the blocks of all tiers.
func (r *Runner) runFinal(ctx context.Context, job *jobOf[game.Tiered]) (runner.Stats, error) {
	f := &final{job: job, most: make(map[uint64]int)}
	defer func() {
		for _, t := range f.tiers {
			t.Close()
		}
	}()
	n := needs{shared: job.g.Tables(), windows: len(job.Input)}
	largest := 0
	g := job.g
	if half := game.HalfOf(g); half != nil {
		g = half // the table has half of the positions
	}
	for i, dir := range job.Input {
		stored, err := jobdir.OpenTier(job.FS, dir, g, job.InputTier(i))
		if err != nil {
			return runner.Stats{}, err
		}
		f.tiers = append(f.tiers, stored)
		t := images.NewTier(stored.Half(), job.InputTier(i), stored.Ranges(), func() images.Loader { return stored.Cursor(f.plan.window) },
			r.left()/finalImages/len(job.Input))
		f.wholes = append(f.wholes, t)
		n.shared += len(t.Ranges())*entryMemory + t.Memory()
		for j, rng := range t.Ranges() {
			slots := len(job.g.Low(stored.Number(), rng))
			largest = max(largest, slots)
			if stored.Half() == nil {
				slots = min(slots, stored.MostRecords(j))
			}
			f.most[rng] += slots
		}
	}
	ranges := slices.Sorted(maps.Keys(f.most))
	lines := make([]int, len(ranges))
	for i, rng := range ranges {
		lines[i] = f.most[rng]
	}
	n.shared += len(ranges) * (64 + taskMemory)
	n.record = blockMemory(largest)
	n.worker = f.lows() + f.lows()/8 + blockMemory(largest)
	line := len(job.g.AppendText(nil, job.g.Start())) + len("''\t255\n")
	heaviest := slices.Max(append(lines, 0))
	n.chunk = func(slots int) int { return (slots + min(2*slots, heaviest)) * line / 4 * 5 }
	f.plan = r.plan(n)
	ts := f.cut(tasks(job, ranges, lines, f.plan.slots))
	first := func(i int) game.Position { return ts[i].ranges[0] << job.g.LowBits() }
	return job.writeText(ctx, f.plan, len(ts), first, func() func(int, *textChunk) error {
		work := f.newWorker()
		return func(i int, out *textChunk) error { return work(ts[i], out) }
	})
}

// lows returns the number of low parts of a key, whether or not they belong to positions.
func (f *final) lows() int { return 1 << f.job.g.LowBits() }

// A finalTask is a sequence of ranges of one part, or an interval of the low parts of one
// range.
type finalTask struct {
	ranges   []uint64
	from, to int // the interval of low parts
}

// cut divides the tasks that are one range with too many lines for a chunk.
func (f *final) cut(ts [][]uint64) (all []finalTask) {
	for _, ranges := range ts {
		each := f.lows()
		if most := 2 * f.plan.slots; len(ranges) == 1 && f.most[ranges[0]] > most {
			each = most
		}
		for from := 0; from < f.lows(); from += each {
			all = append(all, finalTask{ranges, from, min(from+each, f.lows())})
		}
	}
	return all
}

// newWorker returns a function that writes the lines of a task.
func (f *final) newWorker() func(finalTask, *textChunk) error {
	g := f.job.g
	cursors := make([]*images.Cursor, len(f.tiers))
	for i, t := range f.wholes {
		cursors[i] = t.Cursor()
	}
	var b block.Block
	seen := make(block.Set, block.Words(f.lows()))
	values := make([]byte, f.lows()) // by low part, where seen
	load := func(rng uint64) error {
		clear(seen)
		for _, c := range cursors {
			ok, err := c.Load(&b, rng)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			for slot := range b.Done.All() {
				low := b.Low[slot]
				seen.Add(int(low))
				values[low] = b.Val[slot]
			}
		}
		return nil
	}
	loaded := ^uint64(0)
	return func(t finalTask, out *textChunk) error {
		for _, rng := range t.ranges {
			if rng != loaded { // otherwise loaded by the task of the previous piece
				if err := load(rng); err != nil {
					return err
				}
				loaded = rng
			}
			for slot := range seen[t.from>>6 : block.Words(t.to)].All() {
				low := t.from + slot
				out.final(g, rng<<g.LowBits()|uint64(low), game.Value(values[low]))
			}
		}
		return nil
	}
}

// final adds the line of a position, if it has one.
func (c *textChunk) final(g game.Game, p game.Position, v game.Value) {
	before := len(c.text)
	if c.text = step.AppendFinal(c.text, g, p, v); len(c.text) > before {
		c.lines++
	}
}

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
)

// A final is what the workers of the final job share.
type final struct {
	job    *jobOf[game.Tiered]
	tiers  []*jobdir.Tier
	wholes []*images.Tier
	plan   plan
}

// runFinal merges the tiers of a solved game into one list by key. For each range, it merges
// the blocks of all tiers.
func (r *Runner) runFinal(ctx context.Context, job *jobOf[game.Tiered]) (stats runner.Stats, err error) {
	f := &final{job: job}
	defer func() {
		for _, t := range f.wholes {
			err = errors.Join(err, t.Close())
		}
		for _, t := range f.tiers {
			t.Close()
		}
	}()
	n := needs{shared: job.g.Tables(), windows: len(job.Input)}
	g := job.g
	if half := game.HalfOf(g); half != nil {
		g = half // the table has half of the positions
	}
	memory := r.left() / finalShare / (1 + len(job.Input)/5) // a fifth remains, see Tier.Memory
	bands := max(1, min(images.MostBands, r.left()/bandsShare/(2*images.CursorMemory))/len(job.Input))
	for i, dir := range job.Input {
		stored, err := jobdir.OpenTier(job.FS, dir, g, job.InputTier(i))
		if err != nil {
			return runner.Stats{}, err
		}
		f.tiers = append(f.tiers, stored)
		ranges, err := stored.Ranges()
		if err != nil {
			return runner.Stats{}, err
		}
		place := images.Place{FS: job.FS, Dir: job.Output, Name: fmt.Sprintf("images-%05d", i), Memory: memory, Bands: bands}
		t := images.NewTier(stored.Half(), job.InputTier(i), place, ranges, func(ahead int) images.Loader { return stored.Cursor(ahead) })
		f.wholes = append(f.wholes, t)
		if err := t.Prepare(ctx); err != nil {
			return runner.Stats{}, err
		}
		n.shared += 8*len(t.Ranges()) + t.Memory() + indexMemory(float64(stored.Len()))
		n.worker += t.Len() * images.CursorMemory
	}
	largest, heaviest := 0, 0
	ranges := f.ranges()
	for {
		r, ok, err := ranges.next()
		if err != nil {
			return runner.Stats{}, err
		}
		if !ok {
			break
		}
		largest, heaviest = max(largest, r.slots), max(heaviest, r.lines)
	}
	n.record = blockMemory(largest)
	n.worker += f.lows() + f.lows()/8 + blockMemory(largest)
	line := len(job.g.AppendText(nil, job.g.Start())) + len("''\t255\n")
	n.chunk = func(slots int) int { return (slots + min(2*slots, heaviest)) * line / 4 * 5 }
	f.plan = r.plan(n)
	first := func(t finalTask) game.Position { return t.ranges[0] << job.g.LowBits() }
	return writeText(ctx, job, f.plan, f.tasks(), first, func() func(finalTask, *textChunk) error { return f.newWorker() })
}

// A finalRange is a range of the output.
type finalRange struct {
	rng   uint64
	slots int // the most in one tier
	lines int // at most
}

// finalRanges lists the ranges of all tiers, ascending.
type finalRanges struct {
	g       game.Tiered
	tiers   []*jobdir.Tier
	wholes  []*images.Tier
	indexes []*jobdir.TierCursor
	at      []int // by tier, the next range
	read    int   // number of ranges of all tiers
}

func (f *final) ranges() *finalRanges {
	r := &finalRanges{g: f.job.g, tiers: f.tiers, wholes: f.wholes, at: make([]int, len(f.tiers))}
	for _, t := range f.tiers {
		r.indexes = append(r.indexes, t.Cursor(0))
	}
	return r
}

// next returns the next range; ok is false at the end.
func (r *finalRanges) next() (next finalRange, ok bool, err error) {
	for i, t := range r.wholes {
		if at := r.at[i]; at < len(t.Ranges()) && (!ok || t.Ranges()[at] < next.rng) {
			next.rng, ok = t.Ranges()[at], true
		}
	}
	for i, t := range r.wholes {
		at := r.at[i]
		if at == len(t.Ranges()) || t.Ranges()[at] != next.rng {
			continue
		}
		slots := len(r.g.Low(r.tiers[i].Number(), next.rng))
		next.slots = max(next.slots, slots)
		if r.tiers[i].Half() == nil {
			e, err := r.indexes[i].Entry(at)
			if err != nil {
				return next, false, err
			}
			slots = min(slots, jobdir.MostRecords(e))
		}
		next.lines += slots
		r.at[i]++
		r.read++
	}
	return next, ok, nil
}

// lows returns the number of low parts of a key, whether or not they belong to positions.
func (f *final) lows() int { return 1 << f.job.g.LowBits() }

// A finalTask is a sequence of ranges of one part, or an interval of the low parts of one
// range.
type finalTask struct {
	ranges   []uint64
	from, to int // the interval of low parts
	share    float64
}

// tasks returns the tasks of the job. Those that are one range with too many lines for a chunk
// are divided.
func (f *final) tasks() tasks[finalTask] {
	ranges, all := f.ranges(), 0
	for _, t := range f.wholes {
		all += len(t.Ranges())
	}
	cut := &cutter{borders: f.job.borders, lowBits: f.job.g.LowBits(), enough: f.plan.slots, next: func() (uint64, int, bool, error) {
		r, ok, err := ranges.next()
		return r.rng, r.lines, ok, err
	}}
	t, each := finalTask{to: f.lows()}, 0
	next := func() (_ finalTask, ok bool, err error) {
		if t.from, t.to = t.to, min(t.to+each, f.lows()); t.from < t.to {
			return t, true, nil
		}
		lines := 0
		if t.ranges, lines, ok, err = cut.task(); !ok || err != nil {
			return t, false, err
		}
		each = f.lows()
		if most := 2 * f.plan.slots; len(t.ranges) == 1 && lines > most {
			each = most
		}
		t.from, t.to, t.share = 0, min(each, f.lows()), float64(ranges.read)/float64(all)
		return t, true, nil
	}
	return tasks[finalTask]{next, func(t finalTask) float64 { return t.share }}
}

// newWorker returns a function that writes the lines of a task.
func (f *final) newWorker() func(finalTask, *textChunk) error {
	g := f.job.g
	cursors := make([]*images.Cursor, len(f.tiers))
	for i, t := range f.wholes {
		cursors[i] = t.Cursor(f.plan.window)
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

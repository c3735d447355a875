package inline

import (
	"context"
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// A blockFinal merges the tiers of a solved game into one text by key. For each range, it merges
// the blocks of all tiers.
type blockFinal struct {
	text
	g      game.Tiered
	tiers  []*jobdir.Tier
	wholes []*images.Tier

	all int // ranges of all tiers
	cutter
	task rangeTask // the last one
	each int       // the low parts of each task of its ranges
}

func (f *blockFinal) open(ctx context.Context) error {
	g, r, inputs := jobdir.Stored(f.g), f.runner, len(f.Input)
	n := needs{shared: f.g.Tables(), windows: inputs}
	memory := r.left() / finalShare / (1 + inputs/5) // a fifth remains, see Tier.Memory
	bands := max(1, min(images.MostBands, r.left()/bandsShare/(2*images.CursorMemory))/inputs)
	for i, dir := range f.Input {
		stored, err := jobdir.OpenTier(f.FS, dir, g, f.InputTier(i))
		if err != nil {
			return err
		}
		f.tiers, f.inputs = append(f.tiers, stored), append(f.inputs, stored)
		ranges, err := stored.Ranges()
		if err != nil {
			return err
		}
		place := images.Place{FS: f.FS, Dir: f.Output, Name: fmt.Sprintf("images-%05d", i), Memory: memory, Bands: bands}
		all := images.AllRanges(stored.Half(), f.InputTier(i), ranges)
		t := images.NewTier(stored.Half(), f.InputTier(i), place, ranges, all, func(ahead int) images.Loader { return stored.Cursor(ahead) })
		f.wholes = append(f.wholes, t)
		if err := t.Prepare(ctx); err != nil {
			return err
		}
		f.all += len(all)
		n.shared += 8*len(all) + t.Memory() + indexMemory(float64(stored.Len()))
		n.worker += t.Len() * images.CursorMemory
	}
	largest, heaviest := 0, 0
	for ranges := f.newRanges(); ; {
		_, lines, ok, err := ranges.nextRange()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		largest, heaviest = max(largest, ranges.slots), max(heaviest, lines)
	}
	n.record = blockMemory(largest)
	n.worker += f.lows() + f.lows()/8 + blockMemory(largest)
	line := len(f.g.AppendText(nil, f.g.Start())) + len("''\t255\n")
	n.chunk = func(slots int) int { return (slots + min(2*slots, heaviest)) * line / 4 * 5 }
	f.plan = r.plan(n)
	f.cutter = newCutter(f.job, f.g, f.newRanges())
	f.task.to = f.lows()
	return nil
}

func (f *blockFinal) close(err error) error {
	for _, t := range f.wholes {
		err = errors.Join(err, t.Close())
	}
	return err
}

// finalRanges lists the ranges of all tiers, ascending, and how many lines each has at most.
type finalRanges struct {
	*blockFinal
	indexes []*jobdir.TierCursor
	at      []int // by tier, the next range
	read    int   // number of ranges of all tiers
	slots   int   // the most slots that the last range has in one tier
}

func (f *blockFinal) newRanges() *finalRanges {
	r := &finalRanges{blockFinal: f, at: make([]int, len(f.tiers))}
	for _, t := range f.tiers {
		r.indexes = append(r.indexes, t.Cursor(0))
	}
	return r
}

func (r *finalRanges) nextRange() (rng uint64, lines int, ok bool, err error) {
	for i, t := range r.wholes {
		if at := r.at[i]; at < len(t.Ranges()) && (!ok || t.Ranges()[at] < rng) {
			rng, ok = t.Ranges()[at], true
		}
	}
	r.slots = 0
	for i, t := range r.wholes {
		at := r.at[i]
		if at == len(t.Ranges()) || t.Ranges()[at] != rng {
			continue
		}
		slots := len(r.g.Low(r.tiers[i].Number(), rng))
		r.slots = max(r.slots, slots)
		if r.tiers[i].Half() == nil {
			e, err := r.indexes[i].Entry(at)
			if err != nil {
				return 0, 0, false, err
			}
			slots = int(e.Records)
		}
		lines += slots
		r.at[i]++
		r.read++
	}
	return rng, lines, ok, nil
}

func (r *finalRanges) done() float64 { return float64(r.read) / float64(r.all) }

// lows returns the number of low parts of a key, whether or not they belong to positions.
func (f *blockFinal) lows() int { return 1 << f.g.LowBits() }

// next divides a range that has too many lines for a chunk.
func (f *blockFinal) next() (_ rangeTask, ok bool, err error) {
	t := &f.task
	if t.from, t.to = t.to, min(t.to+f.each, f.lows()); t.from < t.to {
		return *t, true, nil
	}
	if *t, ok, err = f.cutter.next(); !ok || err != nil {
		return *t, false, err
	}
	f.each = f.lows()
	if most := 2 * f.plan.slots; len(t.ranges) == 1 && t.size > most {
		f.each = most
	}
	t.to = min(f.each, f.lows())
	return *t, true, nil
}

// A finalWorker writes the lines of tasks.
type finalWorker struct {
	g       game.Tiered
	cursors []*images.Cursor // by tier
	block   block.Block
	loaded  uint64    // a range
	seen    block.Set // its positions, by low part
	values  []byte    // by low part, where seen
}

func (f *blockFinal) newWorker() func(rangeTask, *textChunk) error {
	w := &finalWorker{g: f.g, loaded: ^uint64(0), seen: make(block.Set, block.Words(f.lows())), values: make([]byte, f.lows())}
	for _, t := range f.wholes {
		w.cursors = append(w.cursors, t.Cursor(f.plan.window))
	}
	return w.do
}

func (w *finalWorker) do(t rangeTask, out *textChunk) error {
	out.reset()
	for _, rng := range t.ranges {
		if rng != w.loaded { // otherwise loaded by the task of the previous piece
			if err := w.load(rng); err != nil {
				return err
			}
		}
		for slot := range w.seen[t.from>>6 : block.Words(t.to)].All() {
			low := t.from + slot
			out.final(w.g, rng<<w.g.LowBits()|uint64(low), game.Value(w.values[low]))
		}
	}
	return nil
}

// load merges the blocks of a range.
func (w *finalWorker) load(rng uint64) error {
	clear(w.seen)
	for _, c := range w.cursors {
		ok, err := c.Load(&w.block, rng)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for slot := range w.block.Done.All() {
			low := w.block.Low[slot]
			w.seen.Add(int(low))
			w.values[low] = w.block.Val[slot]
		}
	}
	w.loaded = rng
	return nil
}

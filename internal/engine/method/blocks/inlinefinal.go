package blocks

import (
	"context"
	"errors"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
)

// An inlineFinal merges the tiers of a solved game into one text by key. For each range, it merges
// the blocks of all tiers.
type inlineFinal struct {
	inline.Text
	memory inline.Memory
	g      game.Tiered
	wholes []*mirror.Tier
	all    mirror.RangeSet // the ranges of all tiers
	ranges *mirror.RangeCursor
	cutter
	task rangeTask // the last one
	each int       // the low parts of each task of its ranges
}

func (f *inlineFinal) Open(ctx context.Context) error {
	g, r, inputs := Stored(f.g), f.memory, len(f.Input)
	n := inline.Needs{Shared: g.Tables(), Windows: inputs}
	place := mirror.Place{Dir: f.Output, Memory: r.Left() / finalShare, Keep: r.Left() / keptShare / inputs}
	for i, dir := range f.Input {
		stored, err := OpenTier(f.FS, dir, g, f.InputTier(i))
		if err != nil {
			return err
		}
		f.Inputs = append(f.Inputs, stored)
		ranges, err := stored.Ranges()
		if err != nil {
			return err
		}
		t := mirror.NewTier(stored.Half(), f.InputTier(i), place, ranges, func(ahead int) mirror.Loader { return stored.Cursor(ahead) })
		f.wholes = append(f.wholes, t)
		if err := t.Prepare(ctx); err != nil {
			return err
		}
		for _, rng := range t.Ranges() {
			f.all.Add(rng)
		}
		n.Shared += 8*len(t.Ranges()) + t.Memory() + indexMemory(float64(stored.Len()))
		n.Worker += t.Len() * mirror.CursorMemory
	}
	largest, heaviest := 0, 0
	for rng := range f.all.All() {
		slots, lines := f.slots(rng)
		largest, heaviest = max(largest, slots), max(heaviest, lines)
	}
	n.Shared += f.all.Bytes()
	n.Record = blockMemory(largest)
	n.Worker += f.lows() + f.lows()/8 + blockMemory(largest)
	line := len(f.g.AppendText(nil, f.g.Start())) + len("''\t255\n")
	n.Chunk = func(slots int) int { return (slots + min(2*slots, heaviest)) * line / 4 * 5 }
	f.Plan = r.Plan(n)
	f.ranges = f.all.Cursor()
	f.cutter = newCutter(f.Job, f.g, f)
	f.task.to = f.lows()
	return nil
}

func (f *inlineFinal) Close(err error) error {
	for _, t := range f.wholes {
		err = errors.Join(err, t.Close())
	}
	return err
}

// slots returns the most slots that a range has in one tier, and those in all tiers.
func (f *inlineFinal) slots(rng uint64) (most, all int) {
	for i := range f.Input {
		n := len(f.g.Low(f.InputTier(i), rng))
		most, all = max(most, n), all+n
	}
	return most, all
}

func (f *inlineFinal) nextRange() (rng uint64, slots int, ok bool, err error) {
	if rng, ok = f.ranges.Next(); ok {
		_, slots = f.slots(rng)
	}
	return rng, slots, ok, nil
}

func (f *inlineFinal) done() float64 { return f.ranges.Share() }

// lows returns the number of low parts of a key, whether or not they belong to positions.
func (f *inlineFinal) lows() int { return 1 << f.g.LowBits() }

// Next divides a range that has too many lines for a chunk.
func (f *inlineFinal) Next() (_ rangeTask, ok bool, err error) {
	t := &f.task
	if t.from, t.to = t.to, min(t.to+f.each, f.lows()); t.from < t.to {
		return *t, true, nil
	}
	if *t, ok, err = f.cutter.Next(); !ok || err != nil {
		return *t, false, err
	}
	f.each = f.lows()
	if most := 2 * f.Plan.Slots; len(t.ranges) == 1 && t.size > most {
		f.each = most
	}
	t.to = min(f.each, f.lows())
	return *t, true, nil
}

// A finalWorker writes the lines of tasks.
type finalWorker struct {
	g       game.Tiered
	cursors []*mirror.Cursor // by tier
	block   block.Block
	loaded  uint64    // a range
	seen    block.Set // its positions, by low part
	values  []byte    // by low part, where seen
}

func (f *inlineFinal) NewWorker() func(rangeTask, *inline.TextChunk) error {
	w := &finalWorker{g: f.g, loaded: ^uint64(0), seen: make(block.Set, block.Words(f.lows())), values: make([]byte, f.lows())}
	for _, t := range f.wholes {
		w.cursors = append(w.cursors, t.Cursor(f.Plan.Window))
	}
	return w.do
}

func (w *finalWorker) do(t rangeTask, out *inline.TextChunk) error {
	out.Reset()
	for _, rng := range t.ranges {
		if rng != w.loaded { // otherwise loaded by the task of the previous piece
			if err := w.load(rng); err != nil {
				return err
			}
		}
		for slot := range w.seen[t.from>>6 : block.Words(t.to)].All() {
			low := t.from + slot
			out.Final(w.g, rng<<w.g.LowBits()|uint64(low), game.Value(w.values[low]))
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

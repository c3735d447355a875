package blocks

import (
	"context"
	"errors"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// An inlineFinal merges the tiers of a solved game into one text by key. For each range, it merges
// the blocks of all tiers.
type inlineFinal struct {
	inline.Text
	memory inline.Memory
	g      game.Blockwise
	tiers  []*Tier
	images []*mirror.Images // by tier; nil if it stores all positions
	all    mirror.RangeSet  // the ranges of all tiers
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
		t, err := OpenTier(f.FS, dir, g, f.InputTier(i))
		if err != nil {
			return err
		}
		f.Inputs, f.tiers = append(f.Inputs, t), append(f.tiers, t)
		ranges := new(mirror.RangeSet)
		for e, err := range t.Entries() {
			if err != nil {
				return err
			}
			ranges.Add(e.First)
		}
		var images *mirror.Images
		if half := t.Half(); half != nil {
			images = mirror.NewImages(half, f.InputTier(i), mirror.Values, place)
		}
		f.images = append(f.images, images)
		if images != nil {
			pass := mirror.Pass{Ranges: ranges, Messages: func() mirror.Messages { return storedPositions{t.Cursor(stored.Ahead)} }}
			if err := images.Prepare(ctx, pass); err != nil {
				return err
			}
			n.Shared += images.Memory()
			n.Worker += images.Len() * mirror.CursorMemory
		}
		f.all.Union(ranges)
		n.Shared += indexMemory(float64(t.Len()))
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
	for _, images := range f.images {
		err = errors.Join(err, images.Close())
	}
	return err
}

// storedPositions are the stored positions of a tier, for its Images.
type storedPositions struct{ *TierCursor }

// Load resets b to a range, with its stored positions.
func (s storedPositions) Load(b *block.Block, rng uint64) (ok bool, err error) {
	t := s.t
	if ok, err = s.TierCursor.Load(b, rng); err != nil || ok || t.half == nil {
		return ok, err
	}
	low := t.half.Halved.Low(t.tier, rng)
	if low != nil {
		b.Reset(t.tier, rng, t.half.LowBits(), low)
	}
	return low != nil, nil
}

// Merge does nothing: there are no messages.
func (s storedPositions) Merge(*block.Block) error { return nil }

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
	g      game.Blockwise
	tiers  []*mirror.Merger
	block  block.Block
	loaded uint64    // a range
	seen   block.Set // its positions, by low part
	values []byte    // by low part, where seen
}

func (f *inlineFinal) NewWorker() func(rangeTask, *inline.TextChunk) error {
	w := &finalWorker{g: f.g, loaded: ^uint64(0), seen: make(block.Set, block.Words(f.lows())), values: make([]byte, f.lows())}
	for i, t := range f.tiers {
		w.tiers = append(w.tiers, f.images[i].Merger(storedPositions{t.Cursor(f.Plan.Window)}))
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
	for _, tier := range w.tiers {
		ok, err := tier.Merge(&w.block, rng)
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

package inline

import (
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A half is the part of a job that only games with a stored half have. A balanced position
// receives messages from stored positions only; it lacks those that its mirror image receives.
// So the messages to all ranges with balanced positions are merged before the tasks begin, and
// their images are added when a task completes the range.
//
// If the messages and the images do not fit into memory, the images are made for one interval of
// ranges after the other, and messages are merged again for each interval and in the task.
type half struct {
	w        *work
	g        *game.Half
	kind     images.Kind
	balanced []uint64       // the ranges that may have balanced positions before images are added
	kept     []*block.Block // by index in balanced, with the messages; nil: not kept
	borders  []uint64       // the first ranges of the intervals after the first

	mu       sync.Mutex
	interval int // of images
	images   *images.Images
}

// The memory of a range with images, and of an entry of the places of images.
const (
	imageRowMemory   = 96
	imagePlaceMemory = 8
)

// openHalf prepares the stored half of a job, and adds the ranges that only images reach.
func (w *work) openHalf() {
	g, ok := w.job.g.(*game.Half)
	if !ok || w.job.Step == step.Init {
		return
	}
	h := &half{w: w, g: g, kind: images.Reached}
	if w.job.Step == step.Solve {
		h.kind = images.Scores
	}
	for _, rng := range w.ranges {
		if h.has(rng) {
			h.balanced = append(h.balanced, rng)
		}
	}
	if len(h.balanced) == 0 {
		return
	}
	w.half = h
	if w.job.Step == step.Possible {
		w.ranges = append(w.ranges, images.Ranges(g, w.job.Tier, h.kind, h.balanced)...)
		slices.Sort(w.ranges)
		w.ranges = slices.Compact(w.ranges)
	}
}

// has reports whether a range may have balanced positions.
func (h *half) has(rng uint64) bool { return h.kind.Of(h.g, h.w.job.Tier, rng) != nil }

// budget adds the memory of messages and images to the needs of the job. left is how much memory
// it may use. If not all fits, budget divides the ranges into intervals.
func (h *half) budget(n *needs, left int) {
	var rows []uint64
	for _, rng := range h.w.ranges {
		if h.has(rng) {
			rows = append(rows, rng)
		}
	}
	size := func(rng uint64) int { return len(h.g.Low(h.w.job.Tier, rng)) + imageRowMemory }
	kept, all := 0, len(rows)*imagePlaceMemory
	for _, rng := range rows {
		all += size(rng)
	}
	for _, rng := range h.balanced {
		kept += imageRowMemory + h.keptMemory(len(h.g.Low(h.w.job.Tier, rng)))
	}
	n.worker *= 2 // merging and tasks
	left -= n.of(1, presets[len(presets)-1])
	if kept+all <= left {
		n.shared += kept + all
		h.kept = make([]*block.Block, len(h.balanced))
		return
	}
	most, sum := max(left-len(rows)*imagePlaceMemory, 0)/2, 0 // two intervals may be in use
	for _, rng := range rows {
		if sum += size(rng); sum > most {
			h.borders = append(h.borders, rng)
			sum = size(rng)
		}
	}
	n.shared += len(rows)*imagePlaceMemory + 2*min(most, all)
}

// keptMemory is the memory of the messages to a range.
func (h *half) keptMemory(slots int) int {
	if h.kind == images.Reached {
		return slots / 8
	}
	return blockMemory(slots)
}

// imagesOf returns the images in the interval of a range, and makes them unless they are those
// of the previous call.
func (h *half) imagesOf(ctx context.Context, rng uint64) (*images.Images, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := sort.Search(len(h.borders), func(i int) bool { return rng < h.borders[i] })
	if h.images != nil && h.interval == i {
		return h.images, nil
	}
	first, last := uint64(0), ^uint64(0)
	if i > 0 {
		first = h.borders[i-1]
	}
	if i < len(h.borders) {
		last = h.borders[i] - 1
	}
	h.interval, h.images = i, images.New(h.g, h.w.job.Tier, h.kind, first, last)
	to := h.images
	workers := h.w.plan.workers
	err := parallel.Each(ctx, workers, len(h.balanced), max(1, min(64, len(h.balanced)/(8*workers))), func() func(int) error {
		merge := h.w.newMerger()
		var b block.Block
		return func(i int) error {
			if ok, err := merge(&b, h.balanced[i]); err != nil || !ok {
				return err
			}
			to.Add(&b)
			if h.kept != nil {
				h.kept[i] = h.keep(&b)
			}
			return nil
		}
	})
	if err != nil {
		h.images = nil
	}
	return to, err
}

// keep returns a copy of b, only with what the messages have changed.
func (h *half) keep(b *block.Block) *block.Block {
	kept := &block.Block{Open: slices.Clone(b.Open)}
	if h.kind == images.Scores {
		kept.Done, kept.Val = slices.Clone(b.Done), slices.Clone(b.Val)
	}
	return kept
}

// load loads the messages to a range into b, if they were kept.
func (h *half) load(b *block.Block, rng uint64) (ok bool) {
	i, found := slices.BinarySearch(h.balanced, rng)
	if !found || h.kept == nil || h.kept[i] == nil {
		return false
	}
	kept := h.kept[i]
	b.Reset(h.w.job.Tier, rng, h.g.LowBits(), h.g.Low(h.w.job.Tier, rng))
	copy(b.Open, kept.Open)
	copy(b.Done, kept.Done)
	copy(b.Val, kept.Val)
	return true
}

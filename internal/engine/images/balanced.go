package images

import (
	"cmp"
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// Balanced merges messages and images in the balanced positions of the output tier of a job. The
// moves to a balanced position from the positions that are not stored are those to its mirror
// image from stored positions. So the messages to all ranges with balanced positions are merged
// first, and then each range gets the images of the messages to the others.
//
// If the merged messages do not fit into memory, images are made in one interval of ranges after
// the other, and the messages are merged again for each interval and each range. It is safe for
// concurrent use, and fastest if all goroutines merge ascending ranges.
type Balanced struct {
	Workers int // goroutines that merge messages for images; 0: one for each core

	g       *game.Half
	tier    int
	kind    Kind
	pass    func() func() Merge
	ranges  []uint64       // that have balanced positions before images are added
	rows    []uint64       // that get images; the same, unless the images are new positions
	kept    []*block.Block // by index in ranges, with the messages; nil: not kept
	borders []uint64       // the first ranges of the intervals after the first

	mu     sync.Mutex
	number int     // of the interval of images
	images *Images // of the last interval that was requested
}

// A Merge resets b to a range, and merges all messages to the range into it; ok is false if the
// range has no slots. It is for one goroutine.
type Merge func(b *block.Block, rng uint64) (ok bool, err error)

// placeMemory is the memory of a range in the places of images.
const placeMemory = 8

// leastInterval is the least number of bytes of an interval of images. With less, the messages
// would be merged too often.
const leastInterval = 64 << 10

// NewBalanced returns the Balanced for a tier; nil if there are no balanced positions. ranges are
// those that receive messages, ascending. kind is Reached or Scores. pass is called before each pass
// over these ranges, and the function that it returns for each goroutine.
func NewBalanced(g *game.Half, tier int, kind Kind, ranges []uint64, pass func() func() Merge) *Balanced {
	h := &Balanced{g: g, tier: tier, kind: kind, pass: pass}
	for _, rng := range ranges {
		if h.has(rng) {
			h.ranges = append(h.ranges, rng)
		}
	}
	if len(h.ranges) == 0 {
		return nil
	}
	if h.rows = h.ranges; kind == Reached {
		h.rows = Ranges(g, tier, kind, h.ranges)
	}
	return h
}

// has reports whether a range may have balanced positions.
func (h *Balanced) has(rng uint64) bool { return h.kind.Of(h.g, h.tier, rng) != nil }

// Ranges returns the ranges that images may add positions to, ascending.
func (h *Balanced) Ranges() []uint64 { return h.rows }

// Limit sets how many bytes messages and images may use, and returns how many they use at most.
func (h *Balanced) Limit(memory int) (used int) {
	size := func(rng uint64) int { // of its images
		n := len(h.g.Halved.Low(h.tier, rng))
		if h.kind == Reached {
			n /= 8
		}
		return n + rowMemory
	}
	places, all, kept := len(h.rows)*placeMemory, 0, 0
	for _, rng := range h.rows {
		all += size(rng)
	}
	for _, rng := range h.ranges {
		n := size(rng)
		if kept += n; h.kind == Scores {
			kept += n / 4
		}
	}
	if used = places + kept; h.kind == Reached {
		used += all
	}
	if used <= memory {
		h.kept = make([]*block.Block, len(h.ranges))
		return used
	}
	most, sum := max((memory-places)/2, leastInterval), 0 // a goroutine may still use the previous interval
	for _, rng := range h.rows {
		if sum += size(rng); sum > most {
			h.borders = append(h.borders, rng)
			sum = size(rng)
		}
	}
	return places + 2*min(most, all)
}

// Merge merges the messages to a range into b with merge, and then the images. For ranges without
// balanced positions, and if h is nil, it only calls merge.
func (h *Balanced) Merge(ctx context.Context, b *block.Block, rng uint64, merge Merge) (ok bool, err error) {
	if h == nil || !h.has(rng) {
		return merge(b, rng)
	}
	images, err := h.imagesOf(ctx, rng)
	if err != nil {
		return false, err
	}
	if ok = h.load(b, rng); !ok {
		ok, err = merge(b, rng)
	}
	switch {
	case !ok || err != nil:
	case h.kept != nil && h.kind == Scores:
		h.gather(b, images)
	default:
		images.Merge(b)
	}
	return ok, err
}

// imagesOf returns the images in the interval of a range, and makes them unless they are those
// of the previous call.
func (h *Balanced) imagesOf(ctx context.Context, rng uint64) (*Images, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := sort.Search(len(h.borders), func(i int) bool { return rng < h.borders[i] })
	if h.images != nil && h.number == i {
		return h.images, nil
	}
	h.images = nil
	var images *Images
	if h.kept != nil && h.kind == Scores { // gather finds them in kept
		images = New(h.g, h.tier, h.kind, nil)
		for i, rng := range h.ranges {
			images.at[rng] = i
		}
	} else {
		images = New(h.g, h.tier, h.kind, part(h.rows, h.borders, i))
	}
	newMerge := h.pass()
	err := parallel.Each(ctx, cmp.Or(h.Workers, runtime.GOMAXPROCS(0)), len(h.ranges), atOnce, func() func(int) error {
		merge := newMerge()
		var b block.Block
		return func(i int) error {
			ok, err := merge(&b, h.ranges[i])
			if err != nil || !ok {
				return err
			}
			if h.kept != nil {
				h.kept[i] = h.keep(&b)
			}
			if h.kept == nil || h.kind == Reached {
				images.Add(&b)
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	h.number, h.images = i, images
	return images, nil
}

// part returns the ranges of the i-th interval. borders are the first ranges of the intervals after
// the first.
func part(ranges, borders []uint64, i int) []uint64 {
	first, end := 0, len(ranges)
	if i > 0 {
		first, _ = slices.BinarySearch(ranges, borders[i-1])
	}
	if i < len(borders) {
		end, _ = slices.BinarySearch(ranges, borders[i])
	}
	return ranges[first:end]
}

// gather merges the scores of the images in the range of b into it, from the messages that were
// kept. places has the index of each range. It needs no memory for images, but reads the scores in
// another order than they were kept.
func (h *Balanced) gather(b *block.Block, places *Images) {
	of := h.kind.Of(h.g, h.tier, b.Range)
	var few [maxFew]int
	at := places.placesOf(b, few[:0])
	for i, w := range of {
		for w &= b.Open[i]; w != 0; w &= w - 1 {
			s := i<<6 + bits.TrailingZeros64(w)
			row, slot := at.of(s)
			if row < 0 || h.kept[row] == nil {
				continue
			}
			if from := h.kept[row]; from.Open.Has(slot) {
				b.Val[s] = max(b.Val[s], from.Val[slot])
			}
		}
	}
}

// keep returns a copy of b, only with what the messages have changed.
func (h *Balanced) keep(b *block.Block) *block.Block {
	kept := &block.Block{Open: slices.Clone(b.Open)}
	if h.kind == Scores {
		kept.Done, kept.Val = slices.Clone(b.Done), slices.Clone(b.Val)
	}
	return kept
}

// load loads the messages to a range into b, if they were kept.
func (h *Balanced) load(b *block.Block, rng uint64) (ok bool) {
	i, found := slices.BinarySearch(h.ranges, rng)
	if !found || h.kept == nil || h.kept[i] == nil {
		return false
	}
	kept := h.kept[i]
	b.Reset(h.tier, rng, h.g.LowBits(), h.g.Low(h.tier, rng))
	copy(b.Open, kept.Open)
	copy(b.Done, kept.Done)
	copy(b.Val, kept.Val)
	return true
}

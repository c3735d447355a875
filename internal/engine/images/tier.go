package images

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// A Tier reads all positions of a tier, whether it stores them all or half of them. To read the
// others, it makes their images in one interval of ranges after the other, and reads the complete
// tier for each. It is safe for concurrent use, and fastest if all goroutines read ascending
// ranges.
type Tier struct {
	half    *game.Half // nil: all positions are stored
	number  int
	stored  []uint64 // the ranges with stored positions
	open    func() Loader
	images  []uint64 // the ranges with images
	ranges  []uint64
	borders []uint64 // the first ranges of the intervals after the first
	bytes   int      // the memory of the images

	mu   sync.Mutex
	held []interval // the last two that were requested, the last one first
}

// A Loader resets b to a range and reads the stored positions; ok is false if there are none. It is
// for one goroutine.
type Loader interface {
	Load(b *block.Block, rng uint64) (ok bool, err error)
}

// An interval is the images of an interval of ranges.
type interval struct {
	number int
	images *Images
}

const (
	// rowMemory is the memory of a range with images, in addition to a byte for each slot.
	rowMemory = 96
	// atOnce is the number of ranges of the tier that a goroutine takes at a time.
	atOnce = 64
)

// NewTier returns a reader of a tier, which uses up to the given number of bytes for images. half is
// nil if the tier stores all positions; ranges are those with stored positions, ascending, and open
// returns a reader of them.
func NewTier(half *game.Half, tier int, ranges []uint64, open func() Loader, memory int) *Tier {
	w := &Tier{half: half, number: tier, stored: ranges, open: open, ranges: ranges}
	if w.half == nil {
		return w
	}
	w.images = Ranges(half, tier, Values, ranges)
	sum := 0
	for _, rng := range w.images {
		size := len(half.Halved.Low(tier, rng)) + rowMemory
		if sum += size; sum > max(memory/2, leastInterval) {
			w.borders = append(w.borders, rng)
			sum = size
		}
		w.bytes += size
	}
	w.bytes = min(w.bytes, max(memory, 2*leastInterval))
	w.ranges = slices.Concat(ranges, w.images)
	slices.Sort(w.ranges)
	w.ranges = slices.Compact(w.ranges)
	return w
}

// Ranges returns the ranges that may have positions, ascending. The caller must not modify them.
func (t *Tier) Ranges() []uint64 { return t.ranges }

// Memory returns the number of bytes that images take at most.
func (t *Tier) Memory() int { return t.bytes }

// imagesOf returns the images in the interval of a range.
func (t *Tier) imagesOf(rng uint64) (*Images, error) {
	i := sort.Search(len(t.borders), func(i int) bool { return rng < t.borders[i] })
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, held := range t.held {
		if held.number == i {
			return held.images, nil
		}
	}
	t.held = t.held[:min(len(t.held), 1)] // so that its memory can be used
	images := New(t.half, t.number, Values, part(t.images, t.borders, i))
	err := parallel.Each(context.Background(), runtime.GOMAXPROCS(0), len(t.stored), atOnce, func() func(int) error {
		c := t.open()
		var b block.Block
		return func(n int) error {
			ok, err := c.Load(&b, t.stored[n])
			if err == nil && ok {
				images.Add(&b)
			}
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	t.held = slices.Insert(t.held, 0, interval{i, images})
	return images, nil
}

// Cursor returns a cursor for one goroutine.
func (t *Tier) Cursor() *Cursor { return &Cursor{t, t.open()} }

// A Cursor loads blocks of a Tier.
type Cursor struct {
	t      *Tier
	stored Loader
}

// Load resets b to a range of the tier and reads all its positions; ok is false if there are
// none.
func (c *Cursor) Load(b *block.Block, rng uint64) (ok bool, err error) {
	if c.t.half == nil {
		return c.stored.Load(b, rng)
	}
	tier := c.t.number
	low := c.t.half.Halved.Low(tier, rng)
	if low == nil {
		return false, nil
	}
	if _, found := slices.BinarySearch(c.t.stored, rng); found {
		found, err = c.stored.Load(b, rng)
		if err != nil {
			return false, err
		}
		ok = found
	}
	if !ok {
		b.Reset(tier, rng, c.t.half.LowBits(), low)
	}
	images, err := c.t.imagesOf(rng)
	if err != nil {
		return false, err
	}
	images.Merge(b)
	return !b.Empty(), nil
}

package images

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// A Tier reads all positions of a tier, whether it stores them all or half of them. To read the
// others, it makes their images in one interval of ranges after the other, and reads the complete
// tier for each. It is safe for concurrent use, and fastest if all goroutines read ascending
// ranges.
type Tier struct {
	*jobdir.Tier
	half    *game.Half // nil: all positions are stored
	ranges  []uint64
	borders []uint64 // the first ranges of the intervals after the first
	bytes   int      // the memory of the images

	mu   sync.Mutex
	held []interval // the last two that were requested, the last one first
}

// An interval is the images of an interval of ranges.
type interval struct {
	number int
	images *Images
}

const (
	// rowMemory is the memory of a range with images, in addition to a byte for each slot.
	rowMemory = 96
	// readAhead is the number of bytes of the tier that are read at a time to make images.
	readAhead = 64 << 10
	// atOnce is the number of ranges of the tier that a goroutine takes at a time.
	atOnce = 64
)

// NewTier returns a reader of a tier, which uses up to the given number of bytes for images.
func NewTier(t *jobdir.Tier, memory int) *Tier {
	w := &Tier{Tier: t, half: t.Half(), ranges: t.Ranges()}
	if w.half == nil {
		return w
	}
	images := Ranges(w.half, t.Number(), Values, w.ranges)
	sum := 0
	for _, rng := range images {
		size := len(w.half.Halved.Low(t.Number(), rng)) + rowMemory
		if sum += size; sum > max(memory/2, leastInterval) {
			w.borders = append(w.borders, rng)
			sum = size
		}
		w.bytes += size
	}
	w.bytes = min(w.bytes, max(memory, 2*leastInterval))
	w.ranges = append(w.ranges, images...)
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
	first, last := uint64(0), ^uint64(0)
	if i > 0 {
		first = t.borders[i-1]
	}
	if i < len(t.borders) {
		last = t.borders[i] - 1
	}
	t.held = t.held[:min(len(t.held), 1)] // so that its memory can be used
	images := New(t.half, t.Number(), Values, first, last)
	err := parallel.Each(context.Background(), runtime.GOMAXPROCS(0), t.Len(), atOnce, func() func(int) error {
		c := t.Tier.Cursor(readAhead)
		var b block.Block
		return func(n int) error {
			_, err := c.Load(&b, t.Range(n))
			if err == nil {
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

// Cursor returns a cursor for one goroutine, which reads ahead the given number of bytes.
func (t *Tier) Cursor(ahead int) *Cursor { return &Cursor{t, t.Tier.Cursor(ahead)} }

// A Cursor loads blocks of a Tier.
type Cursor struct {
	t      *Tier
	stored *jobdir.TierCursor
}

// Load resets b to a range of the tier and reads all its positions; ok is false if there are
// none.
func (c *Cursor) Load(b *block.Block, rng uint64) (ok bool, err error) {
	if c.t.half == nil {
		return c.stored.Load(b, rng)
	}
	tier := c.t.Number()
	low := c.t.half.Halved.Low(tier, rng)
	if low == nil {
		return false, nil
	}
	b.Reset(tier, rng, c.t.half.LowBits(), low)
	if _, err := c.stored.Load(b, rng); err != nil {
		return false, err
	}
	images, err := c.t.imagesOf(rng)
	if err != nil {
		return false, err
	}
	images.Merge(b)
	return !b.Empty(), nil
}

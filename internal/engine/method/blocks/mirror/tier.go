package mirror

import (
	"context"
	"runtime"
	"slices"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// A Tier reads all positions of a tier, whether it stores them all or half of them. To read the
// others, it reads the complete tier first, and sorts their images. It is safe for concurrent use.
type Tier struct {
	half   *Half    // nil: all positions are stored
	stored []uint64 // the ranges with stored positions
	open   func(ahead int) Loader
	ranges []uint64

	*sorter
}

// A Loader resets b to a range and reads the stored positions; ok is false if there are none. It is
// for one goroutine.
type Loader interface {
	Load(b *block.Block, rng uint64) (ok bool, err error)
}

// NewTier returns a reader of a tier. half is nil if the tier stores all positions. stored are the ranges
// with stored positions, ascending. open returns a reader of stored positions, with the number of bytes that it reads ahead.
func NewTier(half *Half, tier int, place Place, stored []uint64, open func(ahead int) Loader) *Tier {
	t := &Tier{half: half, stored: stored, open: open, ranges: allRanges(half, tier, stored)}
	if half != nil {
		t.sorter = newSorter(half, tier, Values, place)
	}
	return t
}

// Ranges returns the ranges that may have positions, ascending. The caller must not modify them.
func (t *Tier) Ranges() []uint64 { return t.ranges }

// Prepare sorts the images of a tier that stores half of its positions. It must be called once, before a Cursor is used.
func (t *Tier) Prepare(ctx context.Context) error {
	if t.half == nil {
		return nil
	}
	err := parallel.Each(ctx, runtime.GOMAXPROCS(0), len(t.stored), atOnce, func() func(int) error {
		from := t.open(stored.Ahead)
		var b block.Block
		return func(i int) error {
			ok, err := from.Load(&b, t.stored[i])
			if err == nil && ok {
				err = t.add(&b)
			}
			return err
		}
	})
	if err == nil {
		err = t.end()
	}
	return err
}

// Cursor returns a cursor for one goroutine, which reads ahead the given number of bytes of stored
// positions.
func (t *Tier) Cursor(ahead int) *Cursor { return &Cursor{t: t, stored: t.open(ahead)} }

// A Cursor loads blocks of a Tier. It is fastest if ranges ascend.
type Cursor struct {
	t      *Tier
	stored Loader
	bands  []bandCursor
}

// Load resets b to a range of the tier and reads all its positions; ok is false if there are
// none.
func (c *Cursor) Load(b *block.Block, rng uint64) (ok bool, err error) {
	if c.t.half == nil {
		return c.stored.Load(b, rng)
	}
	low := c.t.half.Halved.Low(c.t.tier, rng)
	if low == nil {
		return false, nil
	}
	if _, found := slices.BinarySearch(c.t.stored, rng); found {
		if ok, err = c.stored.Load(b, rng); err != nil {
			return false, err
		}
	}
	if !ok {
		b.Reset(c.t.tier, rng, c.t.half.LowBits(), low)
	}
	if c.bands == nil {
		c.bands = c.t.cursors()
	}
	if err := mergeAll(c.bands, b); err != nil {
		return false, err
	}
	return !b.Empty(), nil
}

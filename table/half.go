package table

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// wholeMemory is the number of bytes for the images of a tier that stores half of its positions.
const wholeMemory = 128 << 20

// A halfPart describes a part of a table that stores half of its positions. The methods accept a
// nil halfPart, of a part that stores all.
type halfPart struct {
	g     *game.Half
	tier  *jobdir.Tier
	bound func(i int) int // an upper bound for the number of stored positions of the i-th range
}

// weights returns a function with the number of positions that a stored position of a range
// represents, by slot: 2, or 1 if its mirror image is stored.
func (h *halfPart) weights(rng uint64) func(slot uint32) uint64 {
	if h == nil {
		return func(uint32) uint64 { return 1 }
	}
	_, balanced := h.g.Stored(h.tier.Number(), rng)
	return func(slot uint32) uint64 {
		if balanced != nil && balanced.Has(int(slot)) {
			return 1
		}
		return 2
	}
}

// times returns about how many positions a stored position represents.
func (h *halfPart) times() int {
	if h == nil {
		return 1
	}
	return 2
}

// whole returns a reader of all positions.
func (h *halfPart) whole() *images.Tier { return images.NewTier(h.tier, wholeMemory) }

// A wholeReader reads all positions of a tier that stores half of them.
type wholeReader struct {
	tierReader
	all *images.Cursor
}

func (r *wholeReader) load(slots []uint32, rng uint64) ([]uint32, error) {
	ok, err := r.all.Load(&r.block, rng)
	if err != nil || !ok {
		return slots, err
	}
	r.block.Open.Union(r.block.Done)
	return r.block.Open.Append(slots), nil
}

// markImage marks the mirror image of a successor, which the mirror image of its predecessor
// reaches.
func (c *rulesPosition) markImage(p game.Position) error {
	if c.half == nil {
		return nil
	}
	rng, slot, _, ok, err := c.finder.find(c.half.g.Mirror(p))
	if err == nil && ok {
		atomic.OrUint64(&c.marks[rng][slot>>6], 1<<(slot&63))
	}
	return err
}

// pickImages picks those of the numbers that are mirror images of stored positions: they follow
// the numbers below the bound of the range. It returns how many numbers are below it.
func (r *viewPicker) pickImages(rng uint64, numbers []uint64, take func(i, slot int, value byte)) (below int) {
	tier := r.tiers[r.tier]
	n := sort.Search(tier.Len(), func(n int) bool { return tier.Range(n) >= rng })
	bound := uint64(min(tier.MostRecords(n), len(r.half.Low(r.tier, rng))))
	below, _ = slices.BinarySearch(numbers, bound)
	of := slices.Clone(numbers[below:])
	for i := range of {
		of[i] -= bound
	}
	_, balanced := r.half.Stored(r.tier, rng)
	r.viewed.Pick(of, func(i, slot int, value byte) {
		if balanced == nil || !balanced.Has(slot) {
			take(below+i, slot, value)
		}
	})
	return below
}

// inOrder returns what was drawn from the ranges of a part, as one range in the order of keys.
func inOrder(of []drawn) []drawn {
	type valued struct {
		game.Position
		game.Value
	}
	var all []valued
	for _, d := range of {
		for i, p := range d.positions {
			all = append(all, valued{p, d.values[i]})
		}
	}
	slices.SortFunc(all, func(a, b valued) int { return cmp.Compare(a.Position, b.Position) })
	if len(all) == 0 {
		return nil
	}
	var one drawn
	for _, v := range all {
		one.positions, one.values = append(one.positions, v.Position), append(one.values, v.Value)
	}
	return []drawn{one}
}

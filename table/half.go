//go:build !js

package table

import (
	"slices"
	"sort"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// wholeMemory is the number of bytes for the images of a tier that stores half of its positions.
const wholeMemory = 128 << 20

// A halfPart describes a part of a table that stores half of its positions. The methods accept a
// nil halfPart, of a part that stores all.
type halfPart struct {
	g      *game.Half
	tier   int
	place  mirror.Place // for images
	stored *openTier
}

// Len and at describe the ranges, with upper bounds for the numbers of all positions.
func (h *halfPart) Len() int { return h.stored.Len() }

func (h *halfPart) at(i int) (rng uint64, most int, err error) {
	rng, most, err = h.stored.at(i)
	return rng, 2 * most, err
}

// weights returns a function with the number of positions that a stored position of a range
// represents, by slot: 2, or 1 if its mirror image is stored.
func (h *halfPart) weights(rng uint64) func(slot uint32) uint64 {
	if h == nil {
		return func(uint32) uint64 { return 1 }
	}
	_, balanced := h.g.Stored(h.tier, rng)
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

// whole returns a reader of all positions, whose ranges are given.
func (h *halfPart) whole(all []uint64) (*mirror.Tier, error) {
	stored, err := h.stored.Ranges()
	if err != nil {
		return nil, err
	}
	return mirror.NewTier(h.g, h.tier, h.place, stored, all, func(ahead int) mirror.Loader { return h.stored.Cursor(ahead) }), nil
}

// A wholeReader reads all positions of a tier that stores half of them.
type wholeReader struct {
	tierReader
	all *mirror.Cursor
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
// reaches; ok is false if the table lacks it.
func (c *rulesPosition) markImage(p game.Position) (ok bool, err error) {
	if c.half == nil {
		return true, nil
	}
	rng, slot, _, ok, err := c.finder.find(c.half.g.Mirror(p))
	if err == nil && ok {
		atomic.OrUint64(&c.marks[rng][slot>>6], 1<<(slot&63))
	}
	return ok, err
}

// split divides the numbers of positions of a range, which are ascending and less than most, into
// those of stored positions, and those of mirror images, from which it subtracts the first possible
// one.
func (h *halfPart) split(most int, numbers []uint64) (own, images []uint64) {
	if h == nil {
		return numbers, nil
	}
	bound := uint64(most / 2)
	n, _ := slices.BinarySearch(numbers, bound)
	images = slices.Clone(numbers[n:])
	for i := range images {
		images[i] -= bound
	}
	return numbers[:n], images
}

// image returns the mirror image of a position that is stored in a slot of a range; ok is false
// if the image is stored, too.
func (h *halfPart) image(p game.Position, rng uint64, slot int) (image game.Position, ok bool) {
	_, balanced := h.g.Stored(h.tier, rng)
	if balanced != nil && balanced.Has(slot) {
		return 0, false
	}
	return h.g.Mirror(p), true
}

// temporary is where images are that need more memory than this: in the data directory if it is on
// this machine.
func (t *blockTable) temporary() mirror.Place {
	place := mirror.Place{Name: "images", Memory: wholeMemory}
	if _, ok := t.fsys.(store.Local); ok {
		place.Dir = t.data
	}
	return place
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
	sort.Slice(all, func(i, j int) bool { return all[i].Position < all[j].Position })
	if len(all) == 0 {
		return nil
	}
	var one drawn
	for _, v := range all {
		one.positions, one.values = append(one.positions, v.Position), append(one.values, v.Value)
	}
	return []drawn{one}
}

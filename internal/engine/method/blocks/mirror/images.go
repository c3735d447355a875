package mirror

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// Images merges the mirror images of positions of a tier in its ranges. It is safe for concurrent use.
//
// In a job (Reached and Scores), these are the balanced positions of the output tier. The
// moves to a balanced position from the positions that are not stored are those to its mirror
// image from stored positions. So the messages to all ranges with balanced positions are merged
// first, and then each range gets the images of the messages to the others. The messages are
// stored, so that they are merged once.
//
// With Values, the images are the positions that are not stored, so that all positions of the tier can be read.
type Images struct {
	*sorter

	merged map[uint64]*block.Block // ranges with their messages, if they are in memory; mu guards it during Prepare
}

// A Pass describes the pass over the ranges that receive messages.
type Pass struct {
	// Ranges are the ranges that receive messages, or have stored positions; there may be others. Unless the kind is Scores,
	// Prepare adds those with images.
	Ranges   *RangeSet
	Messages func() Messages     // returns the messages for a goroutine
	Workers  int                 // the number of goroutines; 0: one for each core
	Report   func(share float64) // if not nil, called after some ranges, and not concurrently
}

// Messages are the messages to ranges. It is for one goroutine.
type Messages interface {
	// Load resets b to a range, without messages; ok is false if the range has no slots. If the kind is Values, b gets the
	// stored positions, and there are no messages.
	Load(b *block.Block, rng uint64) (ok bool, err error)
	// Merge merges all messages to the range of b into it.
	Merge(b *block.Block) error
}

// atOnce is the number of ranges that a goroutine takes at a time.
const atOnce = 16

// NewImages returns the Images of a tier.
func NewImages(g *Half, tier int, kind Kind, place Place) *Images {
	return &Images{sorter: newSorter(g, tier, kind, place), merged: make(map[uint64]*block.Block)}
}

// has reports whether a range may have positions whose images are wanted.
func (h *Images) has(rng uint64) bool { return h.kind.Of(h.g, h.tier, rng) != nil }

// Prepare stores the images of all ranges, and the messages to them. It must be
// called once, before a Merger is used.
func (h *Images) Prepare(ctx context.Context, pass Pass) error {
	all := pass.Ranges.Cursor()
	var mu sync.Mutex // guards all, and is held during Report
	take := func(ranges []uint64) []uint64 {
		mu.Lock()
		defer mu.Unlock()
		ranges = ranges[:0]
		for len(ranges) < atOnce {
			rng, ok := all.Next()
			if !ok {
				return ranges
			}
			if h.has(rng) {
				ranges = append(ranges, rng)
			}
		}
		if pass.Report != nil {
			pass.Report(all.Share())
		}
		return ranges
	}
	workers := cmp.Or(pass.Workers, runtime.GOMAXPROCS(0))
	err := parallel.Each(ctx, workers, workers, 1, func() func(int) error {
		return func(int) error {
			own := h.writer(false)
			return own.finish(h.store(ctx, take, pass.Messages(), own))
		}
	})
	if err == nil {
		err = h.end()
	}
	pass.Ranges.Union(&h.reached)
	return err
}

// store merges and stores the messages to the ranges that take returns, until it returns none.
func (h *Images) store(ctx context.Context, take func([]uint64) []uint64, messages Messages, band *bandWriter) error {
	ranges, b := make([]uint64, 0, atOnce), new(block.Block)
	for ctx.Err() == nil {
		if ranges = take(ranges); len(ranges) == 0 {
			break
		}
		for _, rng := range ranges {
			ok, err := messages.Load(b, rng)
			if err == nil && ok {
				err = messages.Merge(b)
			}
			if err == nil && ok {
				err = h.keep(band, b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// keep stores the images of b, and the messages that have been merged into it, in memory if there is some left.
func (h *Images) keep(band *bandWriter, b *block.Block) error {
	if err := h.add(b); err != nil {
		return err
	}
	if h.place.Blocks != nil {
		if kept := h.place.Blocks.Block(b.Len()); kept != nil {
			kept.Copy(b)
			h.mu.Lock()
			h.merged[b.Range] = kept
			h.mu.Unlock()
			return nil
		}
	}
	return band.add(b.Range, b.Open, b.Val)
}

// Close deletes temporary files.
func (h *Images) Close() error {
	if h == nil {
		return nil
	}
	return h.sorter.Close()
}

// Merger returns a Merger for one goroutine.
func (h *Images) Merger(m Messages) *Merger { return &Merger{h: h, messages: m} }

// A Merger merges messages and images in ranges. It is fastest if ranges ascend.
type Merger struct {
	h        *Images
	messages Messages
	bands    []bandCursor
}

// Merge resets b to a range, with the messages and the images to it; ok is false if the range has no slots. If there are no
// Images, and in a job for ranges without balanced positions, there are only messages.
func (m *Merger) Merge(b *block.Block, rng uint64) (ok bool, err error) {
	if m.h != nil && m.h.merged[rng] != nil {
		b.Copy(m.h.merged[rng])
		return true, m.images(b)
	}
	if ok, err = m.messages.Load(b, rng); err != nil || !ok {
		return false, err
	}
	if m.h == nil || m.h.kind != Values && !m.h.has(rng) {
		return true, m.messages.Merge(b)
	}
	return true, m.images(b)
}

// images merges the images in the range of a block into it.
func (m *Merger) images(b *block.Block) error {
	if m.bands == nil {
		m.bands = m.h.cursors()
	}
	return mergeAll(m.bands, b)
}

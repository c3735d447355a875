package mirror

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// Balanced merges messages and images in the balanced positions of the output tier of a job. The
// moves to a balanced position from the positions that are not stored are those to its mirror
// image from stored positions. So the messages to all ranges with balanced positions are merged
// first, and then each range gets the images of the messages to the others. The messages are
// stored, so that they are merged once. It is safe for concurrent use.
type Balanced struct {
	*sorter

	mu     sync.Mutex
	merged map[uint64]*block.Block // ranges with their messages, if they are in memory
}

// A Pass describes the pass over the ranges that receive messages.
type Pass struct {
	// Ranges are the ranges that receive messages; there may be others. If the kind is Reached, Prepare adds
	// those with images.
	Ranges   *RangeSet
	Messages func() Messages     // returns the messages for a goroutine
	Workers  int                 // the number of goroutines; 0: one for each core
	Report   func(share float64) // if not nil, called after some ranges, and not concurrently
}

// Messages are the messages to ranges. It is for one goroutine.
type Messages interface {
	// Load resets b to a range, without messages; ok is false if the range has no slots.
	Load(b *block.Block, rng uint64) (ok bool, err error)
	// Merge merges all messages to the range of b into it.
	Merge(b *block.Block) error
}

// atOnce is the number of ranges that a goroutine takes at a time.
const atOnce = 16

// NewBalanced returns the Balanced for a tier. kind is Reached or Scores.
func NewBalanced(g *Half, tier int, kind Kind, place Place) *Balanced {
	return &Balanced{sorter: newSorter(g, tier, kind, place), merged: make(map[uint64]*block.Block)}
}

// has reports whether a range may have balanced positions.
func (h *Balanced) has(rng uint64) bool { return h.kind.Of(h.g, h.tier, rng) != nil }

// Prepare merges and stores the messages to all ranges with balanced positions, and their images. It must be
// called once, before a Merger is used.
func (h *Balanced) Prepare(ctx context.Context, pass Pass) error {
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
	workers, keep := cmp.Or(pass.Workers, runtime.GOMAXPROCS(0)), h.spare()/8
	err := parallel.Each(ctx, workers, workers, 1, func() func(int) error {
		return func(int) error {
			own := h.writer(keep)
			return h.addBand(own.finish(h.store(ctx, take, pass.Messages(), own)))
		}
	})
	if err == nil {
		err = h.end(ctx)
	}
	pass.Ranges.Union(&h.reached)
	return err
}

// store merges and stores the messages to the ranges that take returns, until it returns none.
func (h *Balanced) store(ctx context.Context, take func([]uint64) []uint64, messages Messages, band *bandWriter) error {
	ranges, own, lists := make([]uint64, 0, atOnce), new(block.Block), lister{}
	for ctx.Err() == nil {
		if ranges = take(ranges); len(ranges) == 0 {
			break
		}
		for _, rng := range ranges {
			b, stays := h.newBlock(rng)
			if !stays {
				b = own
			}
			lists.giveTo(b)
			ok, err := messages.Load(b, rng)
			if err == nil && ok {
				err = messages.Merge(b)
			}
			if err == nil && ok {
				err = h.keep(ctx, band, b, stays)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// newBlock returns a block for a range that stays in memory; ok is false if it would take too much of it.
func (h *Balanced) newBlock(rng uint64) (b *block.Block, ok bool) {
	if h.place.Blocks == nil {
		return nil, false
	}
	b = h.place.Blocks.Block(len(h.g.Low(h.tier, rng)))
	return b, b != nil
}

// keep stores the messages that have been merged into b, and their images. stays is set if b stays in memory.
func (h *Balanced) keep(ctx context.Context, band *bandWriter, b *block.Block, stays bool) error {
	if err := h.add(ctx, b); err != nil {
		return err
	}
	if stays {
		h.mu.Lock()
		h.merged[b.Range] = b
		h.mu.Unlock()
		return nil
	}
	return band.add(b.Range, b.Open, b.Val)
}

// Close deletes temporary files.
func (h *Balanced) Close() error {
	if h == nil {
		return nil
	}
	return h.sorter.Close()
}

// Merger returns a Merger for one goroutine.
func (h *Balanced) Merger(m Messages) *Merger {
	return &Merger{h: h, messages: m, own: new(block.Block)}
}

// Sampler is like Merger, for some ranges that a Merger merges later.
func (h *Balanced) Sampler(m Messages) *Merger {
	s := h.Merger(m)
	s.copies = true
	return s
}

// A Merger merges messages and images in ranges. It is fastest if ranges ascend. Each range is merged once.
type Merger struct {
	h        *Balanced
	messages Messages
	bands    []bandCursor
	own      *block.Block
	copies   bool // whether blocks in memory are copied
	lists    lister
}

// Merge returns a range with the messages and the images to it; nil if the range has no slots. The block
// belongs to the caller until the next call. If there is no Balanced, and for ranges without balanced positions,
// there are only messages.
func (m *Merger) Merge(rng uint64) (*block.Block, error) {
	b, err := m.h.take(rng, m.copies)
	if err != nil {
		return nil, err
	}
	if b != nil {
		if m.copies {
			m.own.Copy(b)
			b = m.own
		}
		m.lists.giveTo(b)
		return b, m.images(b)
	}
	b = m.own
	m.lists.giveTo(b)
	if ok, err := m.messages.Load(b, rng); err != nil || !ok {
		return nil, err
	}
	if m.h == nil || !m.h.has(rng) {
		return b, m.messages.Merge(b)
	}
	return b, m.images(b)
}

// images merges the images in the range of a block into it.
func (m *Merger) images(b *block.Block) error {
	if m.bands == nil {
		m.bands = m.h.cursors()
	}
	return mergeAll(m.bands, b)
}

// take returns the block of a range that stays in memory; nil if there is none. It becomes the caller's, unless
// stays is set.
func (h *Balanced) take(rng uint64, stays bool) (*block.Block, error) {
	if h == nil {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	b, ok := h.merged[rng]
	if ok && b == nil {
		return nil, fmt.Errorf("range %#x: merged twice", rng)
	}
	if ok && !stays {
		h.merged[rng] = nil
	}
	return b, nil
}

// A lister lends blocks, one at a time, the memory for the list of their open slots.
type lister struct{ last *block.Block }

func (l *lister) giveTo(b *block.Block) {
	if l.last != nil && l.last != b {
		b.Inherit(l.last)
	}
	l.last = b
}

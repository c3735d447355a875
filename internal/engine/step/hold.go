package step

import (
	"fmt"
	"maps"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A Holder gathers what a mapper says in a pass, range by range, and emits it when
// its memory is full, and in the end: what the Pusher is to a tiered game.
type Holder struct {
	g      game.Cyclic
	emit   func(rng uint64, h *block.Heard) error
	memory int

	heard map[uint64]*block.Heard // what is held back
	bytes int
	free  []*block.Heard
	err   error // the first
}

// NewHolder returns a holder that emits what ranges heard, which is not to be kept;
// of all that is emitted at a time the ranges ascend. memory bounds what is held
// back, in bytes; 0 means DefaultMemory.
func NewHolder(g game.Cyclic, memory int, emit func(rng uint64, h *block.Heard) error) *Holder {
	if memory == 0 {
		memory = DefaultMemory
	}
	return &Holder{g: g, emit: emit, memory: memory, heard: make(map[uint64]*block.Heard)}
}

// Say adds to what a range heard, as Pass.Map wants it. An error is told by Err.
func (t *Holder) Say(rng uint64, set block.Set, counted bool) {
	h := t.heard[rng]
	if h == nil {
		h = new(block.Heard)
		if n := len(t.free); n > 0 {
			h, t.free = t.free[n-1], t.free[:n-1]
		}
		n := game.RangeLen(t.g, rng)
		h.Reset(n)
		t.heard[rng] = h
		t.bytes += block.HeardBytes(n)
	}
	if !counted {
		h.Some.Union(set)
	} else if !h.Times.Add(set) && t.err == nil {
		t.err = HeardTooOften(rng)
	}
	if t.bytes > t.memory {
		t.emitAll()
	}
}

// emitAll emits all that is held back.
func (t *Holder) emitAll() {
	for _, rng := range slices.Sorted(maps.Keys(t.heard)) {
		h := t.heard[rng]
		if t.err == nil {
			t.err = t.emit(rng, h)
		}
		t.free = append(t.free, h)
	}
	clear(t.heard)
	t.bytes = 0
}

// Err is the first error.
func (t *Holder) Err() error { return t.err }

// Flush emits all that is held back, and returns the first error.
func (t *Holder) Flush() error {
	t.emitAll()
	return t.err
}

// HeardTooOften is the error of a range in which a position hears more often than
// can be counted: of a game whose positions have more moves than they may.
func HeardTooOften(rng uint64) error {
	return fmt.Errorf("range %#x: a position hears from more than %d children that are won", rng, block.MaxCount)
}

package step

import (
	"fmt"
	"maps"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// A Combiner is the combiner of a mapper in a pass: it merges messages range by range, and
// emits them when its memory is full and at the end. It corresponds to the Pusher of a
// tiered game.
type Combiner struct {
	g      game.Cyclic
	emit   func(rng uint64, h *block.Inbox) error
	memory int

	inboxes map[uint64]*block.Inbox // the messages of ranges that are not emitted yet
	bytes   int
	free    []*block.Inbox
	err     error // the first error
}

// NewCombiner returns a Combiner that calls emit with the merged messages of each range, in
// ascending order of range within one flush. emit must not keep h. memory limits the
// buffered messages, in bytes; 0 means DefaultMemory.
func NewCombiner(g game.Cyclic, memory int, emit func(rng uint64, h *block.Inbox) error) *Combiner {
	if memory == 0 {
		memory = DefaultMemory
	}
	return &Combiner{g: g, emit: emit, memory: memory, inboxes: make(map[uint64]*block.Inbox)}
}

// Send merges messages to a range; it is the function that Pass.Map calls. Err returns its
// errors.
func (t *Combiner) Send(rng uint64, set block.Set, counted bool) {
	h := t.inboxes[rng]
	if h == nil {
		h = new(block.Inbox)
		if n := len(t.free); n > 0 {
			h, t.free = t.free[n-1], t.free[:n-1]
		}
		n := game.RangeLen(t.g, rng)
		h.Reset(n)
		t.inboxes[rng] = h
		t.bytes += block.InboxBytes(n)
	}
	if !counted {
		h.Some.Union(set)
	} else if !h.Times.Add(set) && t.err == nil {
		t.err = TooManyMessages(rng)
	}
	if t.bytes > t.memory {
		t.emitAll()
	}
}

// emitAll emits all buffered messages.
func (t *Combiner) emitAll() {
	for _, rng := range slices.Sorted(maps.Keys(t.inboxes)) {
		h := t.inboxes[rng]
		if t.err == nil {
			t.err = t.emit(rng, h)
		}
		t.free = append(t.free, h)
	}
	clear(t.inboxes)
	t.bytes = 0
}

// Err returns the first error.
func (t *Combiner) Err() error { return t.err }

// Flush emits all buffered messages, and returns the first error.
func (t *Combiner) Flush() error {
	t.emitAll()
	return t.err
}

// TooManyMessages returns the error of a range in which a position receives more messages
// than can be counted, because positions of the game have more moves than allowed.
func TooManyMessages(rng uint64) error { return fmt.Errorf("range %#x: %w", rng, errTooManyMessages) }

var errTooManyMessages = fmt.Errorf("a position receives messages from more than %d successors that are won", block.MaxCount)

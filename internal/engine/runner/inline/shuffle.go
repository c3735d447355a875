package inline

import (
	"errors"
	"fmt"
	"path"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A shuffle collects the messages that ranges receive in a pass. It merges them in memory.
// When they exceed limit, it writes them to a file, which is deleted when the pass ends.
type shuffle struct {
	job   *job // nil: the pass that reads the messages has not begun, and all are dropped if they exceed limit
	g     game.Cyclic
	limit int    // how many bytes the messages in memory may take
	of    string // the directory of the pass that has sent the messages, if it was not this one

	messages atomic.Int64 // those of sendKeys

	gate  sync.RWMutex // read-locked by senders, locked by a spill
	boxes []box        // by range; nil: dropped

	mu     sync.Mutex // guards the fields below
	bytes  int
	free   []*block.Inbox
	spills []*spill
	err    error // the first one
}

// A box is the inbox of a range: what is in memory, and where the rest is in files.
type box struct {
	mu     sync.Mutex
	inbox  *block.Inbox
	spills []piece
}

// A piece is a part of a range's inbox, in a file.
type piece struct {
	file   *spill
	offset int64
	length int
}

type spill struct {
	name string
	file store.File // nil if it is not open
}

// mostSpills is the number of files that stay open. Others are opened for each range.
const mostSpills = layers.MaxOpen

// send sends a message to each slot of a set in a range. Counted messages are added up for each
// slot, others are merged. Errors are reported by failed.
func (s *shuffle) send(rng uint64, set block.Set, counted bool) {
	s.put(rng, func(h *block.Inbox) {
		if !counted {
			h.Some.Union(set)
		} else if !h.Times.Add(set) {
			s.fail(step.TooManyMessages(rng))
		}
	})
}

// sendKeys sends a message to the key of each row. The keys are below Positions, because a pass stores no other edges,
// and mostly ascend.
func (s *shuffle) sendKeys(rows []layers.Row) {
	s.messages.Add(int64(len(rows)))
	size := uint64(s.g.RangeSize())
	for len(rows) > 0 {
		rng := rows[0].Key / size
		first, n := rng*size, 1
		for n < len(rows) && rows[n].Key-first < size {
			n++
		}
		s.put(rng, func(h *block.Inbox) {
			for _, row := range rows[:n] {
				h.Some.Add(int(row.Key - first))
			}
		})
		rows = rows[n:]
	}
}

// put calls add with a range's inbox in memory, and spills the boxes if they exceed the memory.
func (s *shuffle) put(rng uint64, add func(h *block.Inbox)) {
	s.gate.RLock()
	full := s.boxes != nil && s.putInto(rng, add)
	s.gate.RUnlock()
	if full {
		s.spill()
	}
}

// putInto is the part of put before the spill. It reports whether the memory is full.
func (s *shuffle) putInto(rng uint64, add func(h *block.Inbox)) (full bool) {
	b := &s.boxes[rng]
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inbox == nil {
		b.inbox, full = s.take(game.RangeLen(s.g, rng))
	}
	add(b.inbox)
	return full
}

// take returns an empty Inbox with n slots.
func (s *shuffle) take(n int) (h *block.Inbox, full bool) {
	s.mu.Lock()
	h = new(block.Inbox)
	if last := len(s.free) - 1; last >= 0 {
		h, s.free = s.free[last], s.free[:last]
	}
	s.bytes += block.InboxBytes(n)
	full = s.bytes > s.limit
	s.mu.Unlock()
	h.Reset(n)
	return h, full
}

// give returns an Inbox for reuse.
func (s *shuffle) give(h *block.Inbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= block.InboxBytes(64 * len(h.Some))
	s.free = append(s.free, h)
}

func (s *shuffle) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failed returns the first error.
func (s *shuffle) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// spill writes the boxes to a file, unless another worker has just done so.
func (s *shuffle) spill() {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.job == nil {
		s.boxes, s.free = nil, nil
	}
	if s.boxes == nil || s.bytes <= s.limit || s.failed() != nil {
		return
	}
	name := path.Join(s.job.Output, fmt.Sprintf("_spill-%05d", len(s.spills)))
	if err := s.write(name); err != nil {
		s.fail(fmt.Errorf("%s: %w", name, err))
	}
}

func (s *shuffle) write(name string) error {
	out, err := s.job.FS.Create(name)
	if err != nil {
		return err
	}
	file := &spill{name: name}
	s.spills = append(s.spills, file)
	var encoder streamfmt.Encoder
	var packed []byte
	at := int64(0)
	for rng := range s.boxes {
		b := &s.boxes[rng]
		if b.inbox == nil {
			continue
		}
		packed = encoder.AppendInbox(packed[:0], game.RangeLen(s.g, uint64(rng)), b.inbox)
		if _, err := out.Write(packed); err != nil {
			return errors.Join(err, out.Close())
		}
		b.spills = append(b.spills, piece{file, at, len(packed)})
		at += int64(len(packed))
		s.give(b.inbox)
		b.inbox = nil
	}
	if err := out.Close(); err != nil || len(s.spills) > mostSpills {
		return err
	}
	file.file, err = s.job.FS.Open(name)
	return err
}

// read reads a piece.
func (s *shuffle) read(p piece, packed []byte) error {
	file := p.file.file
	if file == nil {
		opened, err := s.job.FS.Open(p.file.name)
		if err != nil {
			return err
		}
		defer opened.Close()
		file = opened
	}
	if n, err := file.ReadAt(packed, p.offset); n < len(packed) {
		return err
	}
	return nil
}

// ranges lists the ranges that received messages, ascending.
func (s *shuffle) ranges() (ranges []uint64) {
	for rng := range s.boxes {
		if b := &s.boxes[rng]; b.inbox != nil || len(b.spills) > 0 {
			ranges = append(ranges, uint64(rng))
		}
	}
	return ranges
}

// A receiver fetches the inboxes of ranges, for one worker.
type receiver struct {
	*shuffle
	decoder streamfmt.Decoder
	packed  []byte
	piece   block.Inbox
}

// fetch returns all messages that a range received. The caller must call give with the result.
func (l *receiver) fetch(rng uint64) (*block.Inbox, error) {
	n := game.RangeLen(l.g, rng)
	b := &l.boxes[rng]
	h := b.inbox
	b.inbox = nil
	if h == nil {
		h, _ = l.take(n)
	}
	for _, p := range b.spills {
		if cap(l.packed) < p.length {
			l.packed = make([]byte, p.length)
		}
		packed := l.packed[:p.length]
		if err := l.read(p, packed); err != nil {
			return nil, fmt.Errorf("%s: %w", p.file.name, err)
		}
		if err := l.decoder.DecodeInbox(packed, n, &l.piece); err != nil {
			return nil, fmt.Errorf("%s: range %#x: %w", p.file.name, rng, err)
		}
		if !h.Add(&l.piece) {
			return nil, step.TooManyMessages(rng)
		}
	}
	return h, nil
}

// close deletes the files.
func (s *shuffle) close() error {
	var errs []error
	for _, f := range s.spills {
		if f.file != nil {
			errs = append(errs, f.file.Close())
		}
		errs = append(errs, s.job.FS.RemoveAll(f.name))
	}
	return errors.Join(errs...)
}

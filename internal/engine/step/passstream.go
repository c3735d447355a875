package step

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/streamfmt"
)

// States are the states of the ranges that one reducer owns in a game with cycles, stored
// from pass to pass. Each state is loaded and saved at most once, in ascending order of
// range.
type States interface {
	Load(rng uint64, s *block.State) error
	Save(rng uint64, s *block.State) error
}

// mapPass reads positions into states, calls Pass.Map for each range, and merges the
// messages as far as the memory allows.
func mapPass(name string, g game.Cyclic, in io.Reader, w *Writer, o Options) error {
	if !o.Combine {
		o.Memory = 1 // flushes each message at once
	}
	m := &messenger{w, name, o.Number}
	holder := NewCombiner(g, o.Memory, func(rng uint64, h *block.Inbox) error {
		m.heard(h, rng*uint64(g.RangeSize()))
		return w.err
	})
	pass := NewPass(g, name, o.Number)
	pass.Moves = o.Moves
	defer func() { w.Messages = pass.Messages }()
	check := passCheck{name: name, number: o.Number, g: g, source: o.Source}
	var from block.State
	begin := func(rng uint64) { from.Reset(game.RangeLen(g, rng)) }
	err := jobdir.NewRangeGatherer(g, in, o.Source, false, begin).Each(func(slot int, rec streamfmt.Record) string {
		w.In++
		return check.add(&from, slot, rec, w.In)
	}, func(rng uint64) error {
		if err := check.values(pass.mover, rng, &from); err != nil {
			return err
		}
		return cmp.Or(pass.Map(rng, &from, holder.Send), holder.Err(), w.err)
	})
	if err != nil {
		return err
	}
	return holder.Flush()
}

// A messenger prints the messages of ranges as lines.
type messenger struct {
	*Writer
	name   string
	number int
}

// heard prints the messages to a range whose first hash is first.
func (m *messenger) heard(h *block.Inbox, first uint64) {
	for i, w := range h.Some {
		for _, plane := range h.Times {
			w |= plane[i]
		}
		for base := i << 6; w != 0; w &= w - 1 {
			m.message(h, first, base+bits.TrailingZeros64(w))
		}
	}
}

// message prints the messages to a slot, in one line or two.
func (m *messenger) message(h *block.Inbox, first uint64, slot int) {
	rec := streamfmt.Record{Key: first + uint64(slot)}
	if m.name == Mark {
		m.line(rec)
		return
	}
	rec.Kind = streamfmt.Message
	if h.Some.Has(slot) {
		rec.Value = Said(m.name, m.number, false)
		m.line(rec)
	}
	if n := h.Times.Get(slot); n > 0 {
		rec.Value, rec.Times = Said(m.name, m.number, true), byte(n)
		m.line(rec)
	}
}

// reducePass reads the messages of each range and updates the range's state.
func reducePass(name string, g game.Cyclic, in io.Reader, w *Writer, o Options) error {
	pass := NewPass(g, name, o.Number)
	pass.Tell = o.Tell
	var h block.Inbox
	var state, fresh block.State
	begin := func(rng uint64) { h.Reset(game.RangeLen(g, rng)) }
	return jobdir.NewRangeGatherer(g, in, o.Source, true, begin).Each(func(slot int, rec streamfmt.Record) string {
		w.In++
		if name == Create && rec.Key != g.Start() {
			return "the initial position"
		}
		return hearRecord(name, o.Number, &h, slot, rec)
	}, func(rng uint64) error {
		if err := o.States.Load(rng, &state); err != nil {
			return err
		}
		changed, err := pass.Reduce(rng, &state, &h, &fresh)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Source, err)
		}
		if !changed {
			return nil
		}
		if err := o.States.Save(rng, &state); err != nil {
			return err
		}
		var counts [256]uint64
		fresh.Count(&counts)
		var tally game.Tally
		tally.AddValues(counts)
		w.AddNew(tally)
		w.Buf = jobdir.AppendState(w.Buf, g, rng, &fresh, w.Width)
		return w.Spill()
	})
}

// hearRecord adds a message to those of its range. If the message is invalid, it returns a
// description of what was expected instead.
func hearRecord(name string, number int, h *block.Inbox, slot int, rec streamfmt.Record) string {
	if IsForward(name) {
		if rec.Kind != streamfmt.Open {
			return "a position without a value"
		}
		h.Some.Add(slot)
		return ""
	}
	switch some := Said(name, number, false); {
	case rec.Kind == streamfmt.Message && rec.Value == some:
		h.Some.Add(slot)
	case rec.Kind == streamfmt.Message && name == Solve && rec.Value == Said(name, number, true):
		n := h.Times.Get(slot) + max(1, int(rec.Times))
		if n > block.MaxCount {
			return fmt.Sprintf("at most %d children that are won", block.MaxCount)
		}
		h.Times.Put(slot, n)
	case name == Solve:
		return fmt.Sprintf("a message of value %d or %d", some, Said(name, number, true))
	default:
		return fmt.Sprintf("a message of value %d", some)
	}
	return ""
}

package step

import (
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/streamfmt"
)

// States are the states of the ranges of a game with cycles, as the reducer that
// owns the ranges keeps them from pass to pass. Each is loaded once at most, and
// saved once at most; ranges ascend.
type States interface {
	Load(rng uint64, s *block.State) error
	Save(rng uint64, s *block.State) error
}

// MapPass runs the map of a pass over a game with cycles from in to out, line by
// line. Positions that are new come in; out go messages to others.
func MapPass(name string, number int, g game.Cyclic, in io.Reader, out io.Writer, o Options) (Counters, error) {
	m := &passMapper{
		writer: writer{out: out, width: streamfmt.KeyWidth(g.KeyBits())},
		pass:   NewPass(g, name, number), g: g, name: name, number: number, o: o,
	}
	var err error
	switch name {
	case Create:
		err = m.create(in)
	case Final:
		err = m.final(in)
	default:
		err = m.run(in)
	}
	m.counters.Messages = m.pass.Messages
	return m.counters, firstOf(err, m.flush())
}

type passMapper struct {
	writer
	pass   *Pass
	g      game.Cyclic
	name   string
	number int
	o      Options
}

// create prints the first hash of every range, if there is a line at all.
func (m *passMapper) create(in io.Reader) error {
	if err := countLines(in, &m.writer, m.o); err != nil {
		return err
	}
	for rng := range game.Ranges(m.g) {
		if m.counters.In == 0 {
			break
		}
		m.line(streamfmt.Record{Key: rng * uint64(m.g.RangeSize())})
	}
	return nil
}

func (w *writer) line(rec streamfmt.Record) {
	w.counters.Out++
	w.buf = streamfmt.AppendRecord(w.buf, rec, w.width)
	w.spill()
}

// final lets positions pass.
func (m *passMapper) final(in io.Reader) error {
	return eachRecord(m.g, in, &m.writer, m.o, func(rec streamfmt.Record) string {
		m.line(rec)
		return ""
	})
}

// run gathers positions into states, has them speak, and holds back what is said
// as far as it may, in order to merge it.
func (m *passMapper) run(in io.Reader) error {
	memory := m.o.Memory
	if !m.o.Combine {
		memory = 1 // what is said is full at once
	}
	holder := NewHolder(m.g, memory, m.messages)
	gatherer := jobdir.NewRangeGatherer(m.g, in, m.o.Source, false)
	check := passCheck{name: m.name, number: m.number, g: m.g, source: m.o.Source}
	var from block.State
	var at uint64
	for m.err == nil {
		err := gatherer.Next(func(rng uint64) {
			at = rng
			from.Reset(game.RangeLen(m.g, rng))
		}, func(slot int, rec streamfmt.Record) string {
			m.counters.In++
			return check.add(&from, slot, rec, m.counters.In)
		})
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := check.values(m.pass.mover, at, &from); err != nil {
			return err
		}
		m.pass.Map(at, &from, holder.Say)
		if err := holder.Err(); err != nil {
			return err
		}
	}
	return holder.Flush()
}

// messages prints what a range heard.
func (m *passMapper) messages(rng uint64, h *block.Heard) error {
	first := rng * uint64(m.g.RangeSize())
	for i, w := range h.Some {
		for _, plane := range h.Times {
			w |= plane[i]
		}
		for base := i << 6; w != 0; w &= w - 1 {
			m.message(h, first, base+bits.TrailingZeros64(w))
		}
	}
	return m.err
}

// message prints what a slot heard: one line, or two.
func (m *passMapper) message(h *block.Heard, first uint64, slot int) {
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

// ReducePass runs the reduce of a pass over a game with cycles from in, sorted by
// key, to out: the positions that are new. The states are the reducer's own.
func ReducePass(name string, number int, g game.Cyclic, in io.Reader, out io.Writer, states States, o Options) (Counters, error) {
	w := &writer{out: out, width: streamfmt.KeyWidth(g.KeyBits())}
	var err error
	if name == Final {
		err = reduceCyclicFinal(g, in, w, o)
	} else {
		err = reducePass(name, number, g, in, w, states, o)
	}
	return w.counters, firstOf(err, w.flush())
}

// reduceCyclicFinal prints each position once.
func reduceCyclicFinal(g game.Cyclic, in io.Reader, w *writer, o Options) error {
	begun, last := false, uint64(0)
	return eachRecord(g, in, w, o, func(rec streamfmt.Record) string {
		switch {
		case begun && rec.Key == last:
			return "each position once"
		case begun && rec.Key < last:
			return jobdir.WantSorted
		}
		begun, last = true, rec.Key
		w.counters.Out++
		w.buf = AppendCyclicFinal(w.buf, rec.Key, game.Value(rec.Value))
		return ""
	})
}

// reducePass gathers what a range hears, and brings its state up to it.
func reducePass(name string, number int, g game.Cyclic, in io.Reader, w *writer, states States, o Options) error {
	pass := NewPass(g, name, number)
	gatherer := jobdir.NewRangeGatherer(g, in, o.Source, true)
	var h block.Heard
	var state, fresh block.State
	var at uint64
	for w.err == nil {
		err := gatherer.Next(func(rng uint64) {
			at = rng
			h.Reset(game.RangeLen(g, rng))
		}, func(slot int, rec streamfmt.Record) string {
			w.counters.In++
			return hearRecord(name, number, &h, slot, rec)
		})
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := states.Load(at, &state); err != nil {
			return err
		}
		changed, err := pass.Reduce(at, &state, &h, &fresh)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Source, err)
		}
		if !changed {
			continue
		}
		if err := states.Save(at, &state); err != nil {
			return err
		}
		var counts [256]uint64
		fresh.Count(&counts)
		var tally game.Tally
		tally.AddValues(counts)
		w.counters.AddNew(tally)
		w.buf = jobdir.AppendState(w.buf, g, at, &fresh, w.width)
		w.spill()
	}
	return nil
}

// hearRecord adds a message to what a range heard; it returns what it expected
// instead.
func hearRecord(name string, number int, h *block.Heard, slot int, rec streamfmt.Record) string {
	switch name {
	case Create:
		if rec.Kind != streamfmt.Open || slot != 0 {
			return "the first hash of a range"
		}
		return ""
	case Mark:
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

// PassProperties are what the streams of a pass need to know; states is the
// directory of the pass before.
func PassProperties(g game.Cyclic, number int, states string) []Property {
	return append(gameProperties(g), Property{"number", fmt.Sprint(number)}, Property{"states", states})
}

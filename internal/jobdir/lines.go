package jobdir

import (
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/streamfmt"
)

// What is expected instead of a wrong record.
const (
	WantSorted  = "keys in ascending order (LC_ALL=C sort)"
	WantOutcome = "a value with an outcome in its two low bits"
)

// ahead reads records, one ahead of whoever gathers them.
type ahead struct {
	r      *streamfmt.Reader
	next   streamfmt.Record
	err    error
	begun  bool
	sorted bool
}

func newAhead(g game.Game, r io.Reader, source string, sorted bool) ahead {
	return ahead{r: streamfmt.NewReader(r, source, streamfmt.KeyWidth(g.KeyBits())), sorted: sorted}
}

// begin reads the first record. It returns the error that came in place of the next one.
func (t *ahead) begin() error {
	if !t.begun {
		t.begun = true
		t.next, t.err = t.r.Next()
	}
	return t.err
}

// advance reads the record after this one, which was as wanted: "".
func (t *ahead) advance(want string) error {
	if want != "" {
		t.err = t.r.Errorf(want)
		return t.err
	}
	last := t.next.Key
	if t.next, t.err = t.r.Next(); t.err == nil && t.sorted && t.next.Key < last {
		t.err = t.r.Errorf(WantSorted)
	}
	return t.err
}

// A Gatherer reads records and gathers those that follow one another in one
// tier and range into a block.
type Gatherer struct {
	ahead
	g game.Tiered
}

// NewGatherer reads lines from r, called source in errors. If sorted, a key
// below the one before it is an error, and so is one of another tier.
func NewGatherer(g game.Tiered, r io.Reader, source string, sorted bool) *Gatherer {
	return &Gatherer{newAhead(g, r, source, sorted), g}
}

// Next resets b to the tier and range of the next record and calls add for it
// and those after it. io.EOF says that no record is left. What add returns if
// not "" is what was expected instead of this record. After any other error b is
// not whole: whoever judges it would blame the records before the wrong one.
func (t *Gatherer) Next(b *block.Block, add func(b *block.Block, slot int, rec streamfmt.Record) string) error {
	if err := t.begin(); err != nil {
		return err
	}
	if t.err = t.check(); t.err != nil {
		return t.err
	}
	low := t.g.LowBits()
	rng := t.next.Key >> low
	tier := t.g.Tier(t.next.Key)
	b.Reset(tier, rng, low, t.g.Low(tier, rng))
	slot, hint := 0, 0
	for t.next.Key>>low == rng {
		var ok bool
		if slot, ok = b.Slot(uint32(t.next.Key-rng<<low), hint); !ok {
			break // of another tier, or no position: the next call will see
		}
		hint = slot
		if err := t.advance(add(b, slot, t.next)); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	if t.sorted {
		t.err = t.checkTier(tier)
	}
	return t.err
}

// Each calls Next until no record is left, and do with each block.
func (t *Gatherer) Each(b *block.Block, add func(b *block.Block, slot int, rec streamfmt.Record) string, do func() error) error {
	return each(func() error { return t.Next(b, add) }, do)
}

// each calls do after each call of next, until that says that there is no more.
func each(next, do func() error) error {
	for {
		switch err := next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// checkTier wants the next record to be of a position of a tier.
func (t *Gatherer) checkTier(tier int) error {
	if err := t.check(); err != nil {
		return err
	}
	if found := t.g.Tier(t.next.Key); found != tier {
		return t.r.Errorf(fmt.Sprintf("a position of tier %d, as those before it (this one is of tier %d)", tier, found))
	}
	return nil
}

// check wants the next record to be of a position.
func (t *Gatherer) check() error {
	if err := t.g.Check(t.next.Key); err != nil {
		return t.r.Errorf(fmt.Sprintf("a position (%v)", err))
	}
	return nil
}

// AddRecord adds a record that is not a message to b: what Next's add is for
// plain lists of positions. A key may come twice if its value is the same.
func AddRecord(b *block.Block, slot int, rec streamfmt.Record) string {
	switch rec.Kind {
	case streamfmt.Open:
		if !b.Done.Has(slot) {
			b.Open.Add(slot)
		}
	case streamfmt.Done:
		if v := game.Value(rec.Value); !v.Valid() {
			return WantOutcome
		}
		if b.Done.Has(slot) && b.Val[slot] != rec.Value {
			return fmt.Sprintf("the value %d that another line gave this key", b.Val[slot])
		}
		b.Open.Remove(slot)
		b.Done.Add(slot)
		b.Val[slot] = rec.Value
	default:
		return "a position, no message"
	}
	return ""
}

// AppendBlock appends the records of b in the order of their keys; those with a
// value are of the given kind.
func AppendBlock(dst []byte, b *block.Block, width int, done streamfmt.Kind) []byte {
	for i := range b.Open {
		open, has := b.Open[i], b.Open[i]|b.Done[i]
		for base := i << 6; has != 0; has &= has - 1 {
			slot := base + bits.TrailingZeros64(has)
			rec := streamfmt.Record{Key: b.Key(slot)}
			if open&(has&-has) == 0 {
				rec.Kind, rec.Value = done, b.Val[slot]
			}
			dst = streamfmt.AppendRecord(dst, rec, width)
		}
	}
	return dst
}

// A RangeGatherer reads records of a game with cycles, range by range.
type RangeGatherer struct {
	ahead
	g game.Cyclic
}

// NewRangeGatherer reads lines from r, called source in errors. If sorted, a key
// below the one before it is an error.
func NewRangeGatherer(g game.Cyclic, r io.Reader, source string, sorted bool) *RangeGatherer {
	return &RangeGatherer{newAhead(g, r, source, sorted), g}
}

// Next calls begin with the range of the next record, and add for it and those
// after it in the same range. io.EOF says that no record is left. What add returns
// if not "" is what was expected instead of this record.
func (t *RangeGatherer) Next(begin func(rng uint64), add func(slot int, rec streamfmt.Record) string) error {
	if err := t.begin(); err != nil {
		return err
	}
	size := uint64(t.g.RangeSize())
	rng := t.next.Key / size
	for first := true; t.next.Key/size == rng; first = false {
		if t.next.Key >= t.g.Positions() {
			return t.r.Errorf(fmt.Sprintf("a position below %d", t.g.Positions()))
		}
		if first {
			begin(rng)
		}
		if err := t.advance(add(int(t.next.Key%size), t.next)); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Each calls Next until no record is left, and do with each range.
func (t *RangeGatherer) Each(begin func(rng uint64), add func(slot int, rec streamfmt.Record) string, do func(rng uint64) error) error {
	var at uint64
	return each(func() error {
		return t.Next(func(rng uint64) {
			at = rng
			begin(rng)
		}, add)
	}, func() error { return do(at) })
}

// AddState adds a record of a position to the state of its range: reached, with
// the result and the remoteness of its value if it has one.
func AddState(s *block.State, slot int, rec streamfmt.Record) string {
	switch {
	case rec.Kind == streamfmt.Message:
		return "a position, no message"
	case rec.Kind == streamfmt.Done && !game.Value(rec.Value).Valid():
		return WantOutcome
	case s.Reached.Has(slot):
		return "each position once"
	}
	s.Reached.Add(slot)
	for bit := range s.Result {
		if rec.Value>>bit&1 != 0 {
			s.Result[bit].Add(slot)
		}
	}
	s.Number.Put(slot, int(rec.Value>>2))
	return ""
}

// AppendState appends the records of the positions of a range that are reached.
func AppendState(dst []byte, g game.Cyclic, rng uint64, s *block.State, width int) []byte {
	first := rng * uint64(g.RangeSize())
	for i, w := range s.Reached {
		for base := i << 6; w != 0; w &= w - 1 {
			slot := base + bits.TrailingZeros64(w)
			rec := streamfmt.Record{Key: first + uint64(slot)}
			if rec.Value, _ = s.Value(slot); rec.Value != 0 {
				rec.Kind = streamfmt.Done
			}
			dst = streamfmt.AppendRecord(dst, rec, width)
		}
	}
	return dst
}

package blocks

import (
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Gatherer reads records and groups consecutive records of the same tier and range in a block.
type Gatherer struct {
	g      game.Tiered
	b      *block.Block
	r      *streamfmt.Reader
	sorted bool
	begun  bool
	next   streamfmt.Record // the next record, read but not yet added
	err    error            // set if there is no next record
}

// NewGatherer returns a Gatherer that reads lines from r, called source in errors, into b. If sorted is set, a key below
// the previous key is an error, and so is a key of another tier.
func NewGatherer(g game.Tiered, b *block.Block, r io.Reader, source string, sorted bool) *Gatherer {
	return &Gatherer{g: g, b: b, r: streamfmt.NewReader(r, source, streamfmt.KeyWidth(g.KeyBits())), sorted: sorted}
}

// check returns a description of what was expected instead of a key that is invalid or may not follow the current
// block, or "".
func (t *Gatherer) check(key uint64) (want string) {
	if err := t.g.Check(key); err != nil {
		return fmt.Sprintf("a position (%v)", err)
	}
	if tier := t.g.Tier(key); t.sorted && t.begun && tier != t.b.Tier {
		return fmt.Sprintf("a position of tier %d, as those before it (this one is of tier %d)", t.b.Tier, tier)
	}
	return ""
}

// fill resets the block to the range of the next record, and calls add for each record of that range. It returns
// io.EOF if there are no more records. After any other error the block is incomplete; a check of it could
// reject valid records.
func (t *Gatherer) fill(add func(slot int, rec streamfmt.Record) (want string)) error {
	if !t.begun {
		if t.next, t.err = t.r.Next(); t.err == nil {
			t.expect(t.check(t.next.Key))
		}
		t.begun = true
	}
	if t.err != nil {
		return t.err
	}
	low := t.g.LowBits()
	tier, rng := t.g.Tier(t.next.Key), t.next.Key>>low
	t.b.Reset(tier, rng, low, t.g.Low(tier, rng))
	for slot, first := 0, true; ; first = false {
		ok := t.next.Key>>low == rng
		if ok {
			slot, ok = t.b.Slot(uint32(t.next.Key-rng<<low), slot)
		}
		if !ok && first {
			t.expect("a position with a slot in its range")
			return t.err
		}
		if !ok {
			break // belongs to another range, or is not a position
		}
		last := t.next.Key
		if t.expect(add(slot, t.next)); t.err == nil {
			t.next, t.err = t.r.Next()
		}
		if t.err == nil && t.sorted && t.next.Key < last {
			t.expect(step.WantSorted)
		}
		if t.err == io.EOF {
			return nil
		} else if t.err != nil {
			return t.err
		}
	}
	t.expect(t.check(t.next.Key))
	if t.sorted {
		return t.err
	}
	return nil
}

// expect sets the error for the last record read, unless want is "".
func (t *Gatherer) expect(want string) {
	if want != "" {
		t.err = t.r.Errorf(want)
	}
}

// Each calls add for each record, and do after those of each block. add returns a description of what it expected
// instead of the record, or "".
func (t *Gatherer) Each(add func(slot int, rec streamfmt.Record) (want string), do func() error) error {
	for {
		err := t.fill(add)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do()
		}
		if err != nil {
			return err
		}
	}
}

// AddRecord adds a record that is not a message to b, and can serve as the add function of
// Gatherer.Each. A key may occur several times if its value is the same.
func AddRecord(b *block.Block, slot int, rec streamfmt.Record) string {
	switch rec.Kind {
	case streamfmt.Open:
		if !b.Done.Has(slot) {
			b.Open.Add(slot)
		}
	case streamfmt.Done:
		if v := game.Value(rec.Value); !v.Valid() {
			return step.WantOutcome
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

// AppendBlock appends the records of b in the order of their keys.
func AppendBlock(dst []byte, b *block.Block, width int) []byte {
	for i := range b.Open {
		open, has := b.Open[i], b.Open[i]|b.Done[i]
		for base := i << 6; has != 0; has &= has - 1 {
			slot := base + bits.TrailingZeros64(has)
			rec := streamfmt.Record{Key: b.Key(slot)}
			if open&(has&-has) == 0 {
				rec.Kind, rec.Value = streamfmt.Done, b.Val[slot]
			}
			dst = streamfmt.AppendRecord(dst, rec, width)
		}
	}
	return dst
}

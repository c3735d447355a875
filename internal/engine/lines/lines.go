// Package lines converts between blocks or states and their records as lines of text, which
// describe single positions. It does not know files or jobs.
package lines

import (
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/streamfmt"
)

// Descriptions of expected records, for errors about invalid ones.
const (
	WantSorted  = "keys in ascending order (LC_ALL=C sort)"
	WantOutcome = "a value with an outcome in its two low bits"
)

// A Gatherer reads records and groups consecutive records of the same cell: a tier and
// range of a game with blocks, or a range of a game with cycles.
type Gatherer struct {
	r      *streamfmt.Reader
	sorted bool
	begun  bool
	next   streamfmt.Record // the next record, read but not yet added
	err    error            // set if there is no next record

	// check returns a description of what was expected instead of a key that is invalid or
	// may not follow the current cell, or "". begin resets the cell to the empty one that
	// contains a key. slot returns the slot of a key in the current cell, if it belongs
	// there.
	check func(key uint64) (want string)
	begin func(key uint64) (rng uint64)
	slot  func(key uint64) (slot int, ok bool)
}

func newGatherer(g game.Game, r io.Reader, source string, sorted bool) *Gatherer {
	return &Gatherer{r: streamfmt.NewReader(r, source, streamfmt.KeyWidth(g.KeyBits())), sorted: sorted}
}

// NewGatherer returns a Gatherer that reads lines from r, called source in errors; b is its
// cell. If sorted is set, a key below the previous key is an error, and so is a key of
// another tier.
func NewGatherer(g game.Tiered, b *block.Block, r io.Reader, source string, sorted bool) *Gatherer {
	t := newGatherer(g, r, source, sorted)
	low, hint := g.LowBits(), 0
	t.check = func(key uint64) string {
		if err := g.Check(key); err != nil {
			return fmt.Sprintf("a position (%v)", err)
		}
		if tier := g.Tier(key); sorted && t.begun && tier != b.Tier {
			return fmt.Sprintf("a position of tier %d, as those before it (this one is of tier %d)", b.Tier, tier)
		}
		return ""
	}
	t.begin = func(key uint64) uint64 {
		tier, rng := g.Tier(key), key>>low
		b.Reset(tier, rng, low, g.Low(tier, rng))
		hint = 0
		return rng
	}
	t.slot = func(key uint64) (slot int, ok bool) {
		if key>>low != b.Range {
			return 0, false
		}
		hint, ok = b.Slot(uint32(key-b.Range<<low), hint)
		return hint, ok
	}
	return t
}

// Next starts the cell of the next record, and calls add for it and for all further records
// of the cell. add returns a description of what it expected instead of the record, or "".
// The error is io.EOF if there are no more records. After any other error the cell is
// incomplete, and must not be checked: that could blame valid records.
func (t *Gatherer) Next(add func(slot int, rec streamfmt.Record) (want string)) (rng uint64, err error) {
	if !t.begun {
		if t.next, t.err = t.r.Next(); t.err == nil {
			t.expect(t.check(t.next.Key))
		}
		t.begun = true
	}
	if t.err != nil {
		return 0, t.err
	}
	rng = t.begin(t.next.Key)
	for first := true; ; first = false {
		slot, ok := t.slot(t.next.Key)
		if !ok && first {
			t.expect("a position with a slot in its range")
			return rng, t.err
		}
		if !ok {
			break // belongs to another cell, or is not a position
		}
		last := t.next.Key
		if t.expect(add(slot, t.next)); t.err == nil {
			t.next, t.err = t.r.Next()
		}
		if t.err == nil && t.sorted && t.next.Key < last {
			t.expect(WantSorted)
		}
		if t.err == io.EOF {
			return rng, nil
		} else if t.err != nil {
			return rng, t.err
		}
	}
	t.expect(t.check(t.next.Key))
	if t.sorted {
		return rng, t.err
	}
	return rng, nil
}

// expect sets the error for the last record read, unless want is "".
func (t *Gatherer) expect(want string) {
	if want != "" {
		t.err = t.r.Errorf(want)
	}
}

// Each calls Next until there are no more records, and do with the range of each cell.
func (t *Gatherer) Each(add func(slot int, rec streamfmt.Record) (want string), do func(rng uint64) error) error {
	for {
		rng, err := t.Next(add)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(rng)
		}
		if err != nil {
			return err
		}
	}
}

// AddRecord adds a record that is not a message to b, and can serve as the add function of
// Gatherer.Next. A key may occur several times if its value is the same.
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

// AppendBlock appends the records of b in the order of their keys; those with a value are
// of the kind done.
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

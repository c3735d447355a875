package jobdir

import (
	"fmt"
	"io"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/streamfmt"
)

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

package streamfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// segmentWords is the number of words of sets in a segment of a compact block. Segments can be decoded
// alone, so that a look-up of a position need not decode its whole block.
const (
	segmentWords = 64
	segmentSlots = 64 * segmentWords
)

const (
	// compactKind is the kind of a compact block with all values, and reachedKind that of one in which exactly the terminal
	// positions have one.
	compactKind = 4
	reachedKind = 5
)

// compact is what compact blocks need to be read, besides their bytes.
type compact struct {
	Deduce block.Deducer // what the rules of the game say
	Model  *Model        // nil: no compact block has all values
}

// A sorter sorts the slots of a segment, see sort. It reuses its memory.
type sorter struct {
	absent block.Set // slots of the segment that could be positions, and are none
	values []byte    // the values that the rules do not say, in order of slot
}

// sort sorts the slots of b in a segment, the words from to to-1, and adds the values that the rules say to counts. If reached
// is set, exactly the terminal positions have a value; otherwise, all have one. ok is false if b disagrees with the rules: then
// it cannot be compact.
func (s *sorter) sort(b *block.Block, deduced *block.Deduced, from, to int, counts *[256]uint64, reached bool) (ok bool) {
	s.absent = slices.Grow(s.absent[:0], to-from)[:to-from]
	s.values = slices.Grow(s.values[:0], 64*(to-from+1))[:64*(to-from+1)]
	n := 0
	for i := from; i < to; i++ {
		open, done := deduced.Unknown[i], uint64(0) // the slots whose positions would be open, or have a value
		for j, v := range deduced.Values {
			known := deduced.Known[j][i]
			if reached && !terminal(v) {
				open |= known
				continue
			}
			done |= known
			if known &= b.Done[i]; known != 0 {
				if !b.HaveValue(i, known, v) {
					return false
				}
				counts[v] += uint64(bits.OnesCount64(known))
			}
		}
		coded := open
		if !reached {
			open, done = 0, done|open
		}
		if b.Open[i]&^open|b.Done[i]&^done != 0 {
			return false
		}
		s.absent[i-from] = (open | done) &^ (b.Open[i] | b.Done[i])
		word, to := b.Word(i), (*[64]byte)(s.values[n:n+64])
		k := 0
		for w := coded & b.Done[i]; w != 0; w &= w - 1 {
			to[k&63] = word[bits.TrailingZeros64(w)&63]
			k++
		}
		n += k
	}
	s.values = s.values[:n]
	return true
}

// A Sampler counts how often a value follows another one in some blocks of a tier, for the Model of all of
// them.
type Sampler struct {
	sorter
	deduce block.Deducer
	pairs  [256][256]uint64 // by value before, 0 at the start of a segment, and value
}

// NewSampler returns a sampler for compact blocks of a game.
func NewSampler(deduce block.Deducer) *Sampler { return &Sampler{deduce: deduce} }

// Add counts the values of a block.
func (s *Sampler) Add(b *block.Block) {
	var counts [256]uint64
	deduced := b.Deduce(s.deduce)
	for from := 0; from < len(b.Done); from += segmentWords {
		if !s.sort(b, deduced, from, min(from+segmentWords, len(b.Done)), &counts, false) {
			return
		}
		before := byte(0)
		for _, v := range s.values {
			s.pairs[before][v]++
			before = v
		}
	}
}

// appendCompact appends the compact form of b, which has no open slots if there is a model. It adds the records of b to
// counts, by value. ok is false if the block cannot be compact: it disagrees with the rules, or has a value that
// the model lacks. Then counts are wrong.
func (e *Encoder) appendCompact(dst []byte, b *block.Block, c *compact, counts *[256]uint64) (_ []byte, ok bool) {
	deduced := b.Deduce(c.Deduce)
	if c.Model == nil {
		if !e.sort(b, deduced, 0, len(b.Done), counts, true) {
			return dst, false
		}
		counts[0] += uint64(b.Open.Count())
		return e.appendAbsent(append(binary.AppendUvarint(dst, uint64(b.Len())), reachedKind), b.Len()), true
	}
	var turns [2][256]uint32 // counters of the coded values, used in turn as in appendValues
	e.lengths, e.bytes, e.content = e.lengths[:0], e.bytes[:0], 0
	for from := 0; from < len(b.Done); from += segmentWords {
		to, start := min(from+segmentWords, len(b.Done)), len(e.bytes)
		if !e.sort(b, deduced, from, to, counts, false) {
			return dst, false
		}
		for i, v := range e.sorter.values {
			turns[i&1][v]++
			if int(c.Model.code[v]) == len(c.Model.values) {
				return dst, false
			}
		}
		e.bytes = e.appendAbsent(e.bytes, segmentLen(b.Len(), from))
		e.content = crc32.Update(crc32.Update(e.content, castagnoli, e.bytes[start:]), castagnoli, e.sorter.values)
		e.bytes, e.words = c.Model.appendCodes(e.bytes, e.sorter.values, e.words)
		if to < len(b.Done) {
			e.lengths = binary.AppendUvarint(e.lengths, uint64(len(e.bytes)-start))
		}
	}
	for v := range counts {
		counts[v] += uint64(turns[0][v]) + uint64(turns[1][v])
	}
	dst = append(binary.AppendUvarint(dst, uint64(b.Len())), compactKind)
	return append(append(dst, e.lengths...), e.bytes...), true
}

// appendAbsent appends e.absent, a set of slots.
func (e *Encoder) appendAbsent(dst []byte, slots int) []byte {
	if e.absent.Empty() {
		return append(dst, noSet)
	}
	return e.appendSet(dst, e.absent, slots)
}

// terminal reports whether a value that the rules say is that of a terminal position.
func terminal(v byte) bool { return v>>2 == 0 }

// segmentLen returns the number of slots of the segment that begins at a word.
func segmentLen(slots, from int) int { return min(segmentSlots, slots-from*64) }

var (
	errRules   = errors.New("a compact block, but no rules, or no model of its values")
	errReached = errors.New("a block without the values of positions that are not terminal")
)

// splitSegments appends the segments of a compact block, whose bytes after the kind are src.
func splitSegments(dst [][]byte, src []byte, slots int) ([][]byte, error) {
	n := (slots + segmentSlots - 1) / segmentSlots
	lengths := src
	for range n - 1 {
		_, used := binary.Uvarint(src)
		if used <= 0 {
			return nil, errShort
		}
		src = src[used:]
	}
	for range n - 1 {
		length, used := binary.Uvarint(lengths)
		if length > uint64(len(src)) {
			return nil, errShort
		}
		dst, src, lengths = append(dst, src[:length]), src[length:], lengths[used:]
	}
	return append(dst, src), nil
}

// decodeSegment decodes a segment of a compact block, whose first word is from, into b. There the sets and
// the values of b are empty.
func (d *Decoder) decodeSegment(src []byte, b *block.Block, from int) error {
	to, deduced := min(from+segmentWords, len(b.Done)), &d.deduced
	d.compact.Deduce(deduced, b.Tier, b.Range, from, to)
	src, err := d.readAbsent(src, deduced, from, to, segmentLen(b.Len(), from))
	if err != nil {
		return err
	}
	for i, w := range d.absent {
		deduced.Unknown[from+i] &^= w
		deduced.Known[0][from+i] &^= w
		deduced.Known[1][from+i] &^= w
	}
	n := deduced.Unknown[from:to].Count()
	values := slices.Grow(d.segment[:0], n)[:n]
	d.segment = values
	if err := d.compact.Model.decode(src, values); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		b.Done[i] = deduced.Unknown[i]
		for j, v := range deduced.Values {
			b.Done[i] |= deduced.Known[j][i]
			b.SetValues(i, deduced.Known[j][i], v)
		}
		word := b.Word(i)
		for w := deduced.Unknown[i]; w != 0; w &= w - 1 {
			word[bits.TrailingZeros64(w)&63] = values[0]
			values = values[1:]
		}
	}
	return nil
}

// readAbsent reads the absent slots of the words from to to-1 into d.absent, which is empty if there are none. It returns
// the rest of src.
func (d *Decoder) readAbsent(src []byte, deduced *block.Deduced, from, to, slots int) (rest []byte, err error) {
	d.absent = d.absent[:0]
	if len(src) == 0 {
		return nil, errShort
	}
	if src[0] == noSet {
		return src[1:], nil
	}
	d.absent = slices.Grow(d.absent, to-from)[:to-from]
	clear(d.absent)
	rest, err = d.readSet(src, d.absent, slots)
	for i, w := range d.absent {
		if w&^(deduced.Unknown[from+i]|deduced.Known[0][from+i]|deduced.Known[1][from+i]) != 0 && err == nil {
			err = errors.New("a slot that is absent, but cannot be a position")
		}
	}
	return rest, err
}

// decodeReached decodes a block of reachedKind, whose bytes after the kind are src, into b, or only its open
// slots.
func (d *Decoder) decodeReached(src []byte, b *block.Block, openOnly bool) error {
	if d.compact == nil || d.compact.Deduce == nil {
		return errRules
	}
	deduced := b.Deduce(d.compact.Deduce)
	src, err := d.readAbsent(src, deduced, 0, len(b.Open), b.Len())
	if err == nil && len(src) > 0 {
		err = fmt.Errorf("%d bytes after the block", len(src))
	}
	if err != nil {
		return err
	}
	for i := range b.Open {
		there := ^uint64(0)
		if len(d.absent) > 0 {
			there = ^d.absent[i]
		}
		b.Open[i] = deduced.Unknown[i] & there
		for j, v := range deduced.Values {
			switch known := deduced.Known[j][i] & there; {
			case !terminal(v):
				b.Open[i] |= known
			case !openOnly:
				b.Finish(i, known, v)
			}
		}
	}
	return nil
}

// decodeCompact decodes a compact block, whose bytes after the kind are src, into b.
func (d *Decoder) decodeCompact(src []byte, b *block.Block) (err error) {
	if d.compact == nil || d.compact.Deduce == nil || d.compact.Model == nil {
		return errRules
	}
	if d.segments, err = splitSegments(d.segments[:0], src, b.Len()); err != nil {
		return err
	}
	d.deduced.Reset(b.Len())
	for i, segment := range d.segments {
		if err := d.decodeSegment(segment, b, i*segmentWords); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

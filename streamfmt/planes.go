package streamfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// rangeMagic is what a range file begins with.
const rangeMagic = "TRRANGE2"

// What stands for a plane in the place of its levels; see package comment.
const (
	planeNone  = maxLevels + 1 + iota // no slot
	planeFirst                        // the same as the first plane
)

// AppendPlanes appends the packed form of sets of so many slots.
func (e *Encoder) AppendPlanes(dst []byte, slots int, planes ...block.Set) []byte {
	dst = binary.AppendUvarint(dst, uint64(slots))
	for i, plane := range planes {
		switch {
		case plane.Empty():
			dst = append(dst, planeNone)
		case i > 0 && slices.Equal(plane, planes[0]):
			dst = append(dst, planeFirst)
		default:
			dst = e.appendSet(dst, plane, slots)
		}
	}
	return dst
}

// DecodePlanes reads the packed form of sets into those given, which have the
// words for so many slots.
func (d *Decoder) DecodePlanes(src []byte, slots int, planes ...block.Set) error {
	n, used := binary.Uvarint(src)
	if used <= 0 {
		return errShort
	}
	if n != uint64(slots) {
		return fmt.Errorf("planes of %d slots, expected %d", n, slots)
	}
	src = src[used:]
	for i, plane := range planes {
		clear(plane)
		if len(src) == 0 {
			return errShort
		}
		switch code := src[0]; {
		case code == planeNone:
			src = src[1:]
		case code == planeFirst && i > 0:
			copy(plane, planes[0])
			src = src[1:]
		default:
			var err error
			if src, err = d.readSet(src, plane, slots); err != nil {
				return err
			}
		}
	}
	if len(src) != 0 {
		return fmt.Errorf("%d bytes after the planes", len(src))
	}
	return nil
}

// AppendHeard appends the packed form of what n slots heard, for a pair.
func (e *Encoder) AppendHeard(dst []byte, n int, h *block.Heard) []byte {
	planes := h.Planes()
	return e.AppendPlanes(dst, n, planes[:]...)
}

// DecodeHeard reads what n slots heard into h, which it resets.
func (d *Decoder) DecodeHeard(src []byte, n int, h *block.Heard) error {
	h.Reset(n)
	planes := h.Planes()
	return d.DecodePlanes(src, n, planes[:]...)
}

// AddState packs the state s of the n slots of a range. What it holds by value is for
// the caller to count, if it is positions: see block.State.Count.
func (p *Packed) AddState(rng uint64, n int, s *block.State) {
	from := len(p.Bytes)
	planes := s.Planes()
	p.Bytes = p.encoder.AppendPlanes(p.Bytes, n, planes[:]...)
	p.end(rng, from)
}

// NewRangeWriter begins a range file of a game: what is written is AddState's.
func NewRangeWriter(w io.Writer, spec string) (*Writer, error) {
	return newWriter(w, rangeMagic, spec, 0)
}

// OpenRangeFile is OpenFile for a range file; see there.
func OpenRangeFile(r io.ReaderAt, size int64, name string) (*File, error) {
	return open(r, size, name, rangeMagic, "range file")
}

// ReadState reads the state of the n slots of a range into s, which it resets.
func (c *Cursor) ReadState(e Entry, n int, s *block.State) error {
	raw, err := c.Raw(e)
	if err != nil {
		return err
	}
	s.Reset(n)
	planes := s.Planes()
	if err = c.decoder.DecodePlanes(raw, n, planes[:]...); err == nil {
		err = checkState(&planes)
	}
	if err != nil {
		return c.f.errorf("range %#x, at byte %d: %v", e.Range, e.Offset, err)
	}
	return nil
}

// checkState says what is wrong with planes that no state has.
func checkState(planes *[block.StatePlanes]block.Set) error {
	for _, plane := range planes[1:] {
		for i, w := range plane {
			if w&^planes[0][i] != 0 {
				return errors.New("a position that is not reached, but has a result or a number")
			}
		}
	}
	return nil
}

package streamfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// Codes that stand for a plane in place of its number of levels; see the package comment.
const (
	planeNone  = maxLevels + 1 + iota // an empty set
	planeFirst                        // the same set as the first plane
)

// AppendPlanes appends the packed form of sets, each of the given number of slots.
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

// DecodePlanes decodes the packed form of sets into planes, which must be large enough for the
// given number of slots.
func (d *Decoder) DecodePlanes(src []byte, slots int, planes ...block.Set) error {
	rest, err := d.readPlanes(src, slots, planes)
	if err == nil && len(rest) != 0 {
		err = fmt.Errorf("%d bytes after the planes", len(rest))
	}
	return err
}

// readPlanes is DecodePlanes with more bytes after the planes, which it returns.
func (d *Decoder) readPlanes(src []byte, slots int, planes []block.Set) (rest []byte, err error) {
	n, used := binary.Uvarint(src)
	if used <= 0 {
		return nil, errShort
	}
	if n != uint64(slots) {
		return nil, fmt.Errorf("planes of %d slots, expected %d", n, slots)
	}
	src = src[used:]
	for i, plane := range planes {
		clear(plane)
		if len(src) == 0 {
			return nil, errShort
		}
		switch code := src[0]; {
		case code == planeNone:
			src = src[1:]
		case code == planeFirst && i > 0:
			copy(plane, planes[0])
			src = src[1:]
		default:
			if src, err = d.readSet(src, plane, slots); err != nil {
				return nil, err
			}
		}
	}
	return src, nil
}

// AppendInbox appends the packed form of h, the inbox of n slots, as the block of a pair.
func (e *Encoder) AppendInbox(dst []byte, n int, h *block.Inbox) []byte {
	planes := h.Planes()
	return e.AppendPlanes(dst, n, planes[:]...)
}

// DecodeInbox resets h, and decodes the inbox of n slots into it.
func (d *Decoder) DecodeInbox(src []byte, n int, h *block.Inbox) error {
	h.Reset(n)
	planes := h.Planes()
	return d.DecodePlanes(src, n, planes[:]...)
}

// AddState packs s, the state of a range of n slots. It does not update Counts: if the values
// of the positions are to be counted, the caller does so with block.State.Count.
func (p *Packer) AddState(rng uint64, n int, s *block.State) {
	from := len(p.Bytes)
	planes := s.Planes()
	p.Bytes = p.encoder.AppendPlanes(p.Bytes, n, planes[:]...)
	if !s.Odd.Empty() {
		p.Bytes = p.encoder.appendSet(p.Bytes, s.Odd, n)
	}
	p.end(Cell{First: rng, Last: rng}, from)
}

// NewRangeWriter returns a writer of a range file of a game. It writes blocks that
// Packer.AddState has packed.
func NewRangeWriter(w io.Writer, spec string) (*Writer, error) {
	return newWriter(w, rangeMagic, spec, 0)
}

// OpenRangeFile is like OpenFile, but opens a range file.
func OpenRangeFile(r io.ReaderAt, size int64, name string) (*File, error) {
	return open(r, size, name, rangeMagic, "range file")
}

// ReadState resets s, and reads the state of a range of n slots into it.
func (c *Cursor) ReadState(e Entry, n int, s *block.State) error {
	raw, err := c.Raw(e)
	if err != nil {
		return err
	}
	s.Reset(n)
	planes := s.Planes()
	rest, err := c.decoder.readPlanes(raw, n, planes[:])
	if err == nil && len(rest) > 0 {
		s.MakeOdd()
		if rest, err = c.decoder.readSet(rest, s.Odd, n); err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d bytes after the planes", len(rest))
		}
	}
	if err == nil {
		err = checkState(append(planes[:], s.Odd))
	}
	if err != nil {
		return c.f.errorf("range %#x, at byte %d: %v", e.Range, e.Offset, err)
	}
	return nil
}

// checkState returns an error if no state can have these planes.
func checkState(planes []block.Set) error {
	for _, plane := range planes[1:] {
		for i, w := range plane {
			if w&^planes[0][i] != 0 {
				return errors.New("a position that is not reached, but has a result or a number")
			}
		}
	}
	return nil
}

package streamfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// maxLevels is how many times zero bytes are removed from a bitmap. Four levels shrink an
// empty bitmap to a 4096th.
const maxLevels = 4

// noSet stands for an empty set in place of its number of levels, in compact blocks.
const noSet = maxLevels + 1

var errShort = errors.New("the block ends too early")

// appendSet appends a bitmap. Each level removes the zero bytes:
//
//	level 0:  00 00 5a 00 00 00 00 81 …        the bitmap
//	level 1:  mask of the bytes that are not zero, one bit each: 84 …
//	          those bytes: 5a 81 …
//	level 2:  the same for the mask of level 1; and so on
//
// It appends the number of levels, the innermost mask, then the bytes that each level kept,
// from the innermost level to the outermost. Levels are added as long as they save bytes.
func (e *Encoder) appendSet(dst []byte, set block.Set, slots int) []byte {
	bitmap := e.bitmap[:0]
	for _, w := range set {
		bitmap = binary.LittleEndian.AppendUint64(bitmap, w)
	}
	e.bitmap = bitmap
	bitmap = bitmap[:(slots+7)/8]

	levels := 0
	for ; levels < maxLevels; levels++ {
		masks := (len(bitmap) + 7) / 8
		zeros := zeroBytes(bitmap)
		if zeros <= masks {
			break
		}
		mask := slices.Grow(e.masks[levels][:0], masks)[:masks]
		kept := slices.Grow(e.kept[levels][:0], len(bitmap)-zeros)
		rest := bitmap
		for i := range mask {
			var w uint64 // eight bytes, or fewer at the end
			if len(rest) >= 8 {
				w, rest = binary.LittleEndian.Uint64(rest), rest[8:]
			} else {
				for j, b := range rest {
					w |= uint64(b) << (8 * j)
				}
			}
			mask[i] = nonZeroBytes(w)
			for m := mask[i]; m != 0; m &= m - 1 {
				kept = append(kept, byte(w>>(8*bits.TrailingZeros8(m))))
			}
		}
		e.masks[levels], e.kept[levels] = mask, kept
		bitmap = mask
	}
	dst = append(dst, byte(levels))
	dst = append(dst, bitmap...)
	for l := levels - 1; l >= 0; l-- {
		dst = append(dst, e.kept[l]...)
	}
	return dst
}

// topBits returns x with the top bit set in each byte that is not zero, and all other bits
// clear. Adding 0x7f to the lower bits of a byte carries into its top bit unless they are all
// zero.
func topBits(x uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	return ((x & low) + low | x) &^ low
}

// nonZeroBytes returns a mask with a bit for each byte of x that is not zero. The multiplication
// gathers these bits in the highest byte.
func nonZeroBytes(x uint64) byte { return byte((topBits(x) >> 7) * 0x0102040810204080 >> 56) }

// zeroBytes counts the zero bytes of b. It looks at eight bytes at a time.
func zeroBytes(b []byte) int {
	zeros := len(b)
	for ; len(b) >= 8; b = b[8:] {
		zeros -= bits.OnesCount64(topBits(binary.LittleEndian.Uint64(b)))
	}
	for _, c := range b {
		if c != 0 {
			zeros--
		}
	}
	return zeros
}

// readSet decodes into set what appendSet has encoded, and returns the rest of src.
func (d *Decoder) readSet(src []byte, set block.Set, slots int) ([]byte, error) {
	if len(src) == 0 {
		return nil, errShort
	}
	levels := int(src[0])
	src = src[1:]
	if levels > maxLevels {
		return nil, fmt.Errorf("a bitmap of %d levels", levels)
	}
	var sizes [maxLevels + 1]int
	sizes[0] = (slots + 7) / 8
	for l := 1; l <= levels; l++ {
		sizes[l] = (sizes[l-1] + 7) / 8
	}
	if len(src) < sizes[levels] {
		return nil, errShort
	}
	bitmap := src[:sizes[levels]]
	src = src[sizes[levels]:]
	for l := levels - 1; l >= 0; l-- {
		wide := slices.Grow(d.wide[l&1][:0], sizes[l])[:sizes[l]]
		clear(wide)
		for i, m := range bitmap {
			if m == 0 {
				continue
			}
			n := bits.OnesCount8(m)
			to := wide[i<<3:]
			if len(src) < n || bits.Len8(m) > len(to) {
				return nil, errShort
			}
			if n == 8 {
				copy(to[:8], src)
			} else {
				for _, b := range src[:n] {
					to[bits.TrailingZeros8(m)] = b
					m &= m - 1
				}
			}
			src = src[n:]
		}
		d.wide[l&1] = wide
		bitmap = wide
	}
	i := 0
	for ; len(bitmap) >= 8; i++ {
		set[i] = binary.LittleEndian.Uint64(bitmap)
		bitmap = bitmap[8:]
	}
	for j, b := range bitmap {
		set[i] |= uint64(b) << (8 * j)
	}
	if slots&63 != 0 && set[len(set)-1]>>(slots&63) != 0 {
		return nil, errors.New("a bit past the last slot")
	}
	return src, nil
}

// An Encoder encodes blocks. It reuses its scratch memory.
type Encoder struct {
	bitmap      []byte
	values      []byte
	masks, kept [maxLevels][]byte
	sorter
	lengths, bytes, words []byte // parts of a compact block
	content               uint32 // the checksum of what the last compact block stores
}

const (
	hasOpen = 1 << iota
	hasDone
)

// AppendBlock appends the packed form of b, which must contain at least one record. It adds
// the records of b to counts, by value (0: open).
func (e *Encoder) AppendBlock(dst []byte, b *block.Block, counts *[256]uint64) []byte {
	dst = binary.AppendUvarint(dst, uint64(b.Len()))
	kind := byte(0)
	if open := b.Open.Count(); open > 0 {
		kind |= hasOpen
		counts[0] += uint64(open)
	}
	if !b.Done.Empty() {
		kind |= hasDone
	}
	dst = append(dst, kind)
	if kind&hasOpen != 0 {
		dst = e.appendSet(dst, b.Open, b.Len())
	}
	if kind&hasDone == 0 {
		return dst
	}
	dst = e.appendSet(dst, b.Done, b.Len())

	return e.appendValues(dst, b, counts)
}

// onlyValue returns the value of a done slot of b, and whether all done slots have it.
func onlyValue(b *block.Block) (v byte, same bool) {
	for i, w := range b.Done {
		if w == 0 {
			continue
		}
		if v == 0 {
			v = b.Word(i)[bits.TrailingZeros64(w)&63]
		}
		if !b.HaveValue(i, w, v) {
			return 0, false
		}
	}
	return v, v != 0
}

// appendValues appends the values of the done slots, and adds them to counts.
func (e *Encoder) appendValues(dst []byte, b *block.Block, counts *[256]uint64) []byte {
	if v, same := onlyValue(b); same {
		counts[v] += uint64(b.Done.Count())
		return append(dst, 1, v)
	}
	e.values = b.AppendValues(e.values[:0])
	// Neighbours often have the same value. Four counters are used in turn, so that an
	// increment need not wait for the previous one of the same counter.
	var turns [4][256]uint32
	rest := e.values
	for ; len(rest) >= 4; rest = rest[4:] {
		turns[0][rest[0]]++
		turns[1][rest[1]]++
		turns[2][rest[2]]++
		turns[3][rest[3]]++
	}
	for _, v := range rest {
		turns[0][v]++
	}
	var code [256]byte
	var dictionary []byte
	for v := range code {
		if n := uint64(turns[0][v]) + uint64(turns[1][v]) + uint64(turns[2][v]) + uint64(turns[3][v]); n > 0 {
			counts[v] += n
			code[v] = byte(len(dictionary))
			dictionary = append(dictionary, byte(v))
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(dictionary)))
	dst = append(dst, dictionary...)
	width := codeWidth(len(dictionary))
	if width == 0 {
		return dst
	}
	// Eight codes are as many bytes as a code has bits.
	n := len(dst)
	dst = slices.Grow(dst, (len(e.values)*int(width)+7)/8+8)
	dst = dst[:cap(dst)]
	rest = e.values
	for ; len(rest) >= 8; rest = rest[8:] {
		low := uint64(code[rest[3]])<<width | uint64(code[rest[2]])
		low = (low<<width|uint64(code[rest[1]]))<<width | uint64(code[rest[0]])
		high := uint64(code[rest[7]])<<width | uint64(code[rest[6]])
		high = (high<<width|uint64(code[rest[5]]))<<width | uint64(code[rest[4]])
		binary.LittleEndian.PutUint64(dst[n:], high<<(4*width)|low)
		n += int(width)
	}
	var last uint64
	for i, v := range rest {
		last |= uint64(code[v]) << (uint(i) * width)
	}
	binary.LittleEndian.PutUint64(dst[n:], last)
	return dst[:n+(len(rest)*int(width)+7)/8]
}

// codeWidth returns the number of bits that distinguish n values.
func codeWidth(n int) uint { return uint(bits.Len(uint(n - 1))) }

// A Decoder decodes blocks. It reuses its scratch memory.
type Decoder struct {
	wide  [2][]byte
	codes []byte // codes of values, see readValues

	compact  *compact // nil: there are no compact blocks
	deduced  block.Deduced
	absent   block.Set
	segments [][]byte
	segment  []byte // values
}

// Decode decodes a packed block into b. The caller has prepared b with Reset, for the same
// number of slots.
func (d *Decoder) Decode(src []byte, b *block.Block) error {
	kind, src, err := blockKind(src, b.Len())
	if err != nil {
		return err
	}
	switch kind {
	case compactKind:
		return d.decodeCompact(src, b)
	case reachedKind:
		return d.decodeReached(src, b, false)
	}
	if kind&hasOpen != 0 {
		if src, err = d.readSet(src, b.Open, b.Len()); err != nil {
			return err
		}
	}
	if kind&hasDone != 0 {
		if src, err = d.readSet(src, b.Done, b.Len()); err != nil {
			return err
		}
		for i, w := range b.Open {
			if w&b.Done[i] != 0 {
				return errors.New("a position that is open and done")
			}
		}
		if src, err = d.readValues(src, b); err != nil {
			return err
		}
	}
	if len(src) != 0 {
		return fmt.Errorf("%d bytes after the block", len(src))
	}
	return nil
}

// DecodeOpen is like Decode, but decodes only the open slots.
func (d *Decoder) DecodeOpen(src []byte, b *block.Block) error {
	kind, src, err := blockKind(src, b.Len())
	switch {
	case err != nil || kind&hasOpen == 0:
		return err
	case kind == reachedKind:
		return d.decodeReached(src, b, true)
	}
	_, err = d.readSet(src, b.Open, b.Len())
	return err
}

// blockKind reads the beginning of a packed block of length slots. It returns what the block
// contains, and the rest of src.
func blockKind(src []byte, length int) (kind byte, rest []byte, err error) {
	slots, n := binary.Uvarint(src)
	if n <= 0 || len(src) <= n {
		return 0, nil, errShort
	}
	if slots != uint64(length) {
		return 0, nil, fmt.Errorf("a block of %d slots, expected %d", slots, length)
	}
	kind = src[n]
	if kind == 0 || kind > reachedKind {
		return 0, nil, fmt.Errorf("a block of kind %d", kind)
	}
	return kind, src[n+1:], nil
}

// readValues reads the values of the done slots of b, and returns the rest of src.
func (d *Decoder) readValues(src []byte, b *block.Block) ([]byte, error) {
	n, used := binary.Uvarint(src)
	if used <= 0 || n == 0 || n > 255 || uint64(len(src)-used) < n {
		return nil, errShort
	}
	var values [256]byte // by code; 0: it has none
	copy(values[:], src[used:used+int(n)])
	src = src[used+int(n):]
	width := codeWidth(int(n)) // at most 8
	mask, size := uint64(1)<<width-1, (b.Done.Count()*int(width)+7)/8
	if len(src) < size {
		return nil, errShort
	}
	codes := append(append(d.codes[:0], src[:size]...), 0, 0, 0, 0, 0, 0, 0, 0) // so that eight bytes can be read at any code
	d.codes = codes
	at, least := uint(0), values[0]
	for i, w := range b.Done {
		if width == 0 {
			b.SetValues(i, w, values[0])
			continue
		}
		to := b.Word(i)
		for ; w != 0; w &= w - 1 {
			v := values[byte(binary.LittleEndian.Uint64(codes[at>>3:])>>(at&7)&mask)]
			to[bits.TrailingZeros64(w)&63] = v
			least = min(least, v)
			at += width
		}
	}
	if least == 0 {
		return nil, errors.New("a position that is done, but has no value")
	}
	return src[size:], nil
}

// A View is a block that serves look-ups. If it is compact, only the segments of the slots that are read are decoded. It reuses
// its memory.
type View struct {
	block   block.Block
	decoder Decoder

	// For a compact block: its bytes, its segments, which are parts of them, and those that are decoded.
	bytes    []byte
	segments [][]byte
	decoded  []bool
}

// set assigns v to a packed block. The caller has prepared v.block with Assign.
func (v *View) set(packed []byte, compact *compact) error {
	kind, src, err := blockKind(packed, v.block.Len())
	if err != nil {
		return err
	}
	v.segments, v.decoded = v.segments[:0], v.decoded[:0]
	switch kind {
	case compactKind:
	case reachedKind:
		return errReached
	default:
		v.block.Clear(0, len(v.block.Done))
		return v.decoder.Decode(packed, &v.block)
	}
	if compact.Deduce == nil || compact.Model == nil {
		return errRules
	}
	v.decoder.compact = compact
	v.bytes = append(v.bytes[:0], src...)
	if v.segments, err = splitSegments(v.segments, v.bytes, v.block.Len()); err != nil {
		return err
	}
	v.decoded = append(v.decoded, make([]bool, len(v.segments))...)
	v.decoder.deduced.Reset(v.block.Len())
	return nil
}

// decode decodes a segment of a compact block, unless it is decoded.
func (v *View) decode(i int) error {
	if v.decoded[i] {
		return nil
	}
	from := i * segmentWords
	v.block.Clear(from, min(from+segmentWords, len(v.block.Done)))
	if err := v.decoder.decodeSegment(v.segments[i], &v.block, from); err != nil {
		return fmt.Errorf("range %#x, segment %d: %w", v.block.Range, i, err)
	}
	v.decoded[i] = true
	return nil
}

// Value returns the value of a slot, 0 if it is open; ok is false if the slot contains no position.
func (v *View) Value(slot int) (value byte, ok bool, err error) {
	if len(v.segments) > 0 {
		if err := v.decode(slot / segmentSlots); err != nil {
			return 0, false, err
		}
	}
	return v.block.Val[slot], v.block.Done.Has(slot) || v.block.Open.Has(slot), nil
}

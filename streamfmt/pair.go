package streamfmt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// pairKeySize is the length of a pair's key, a range.
const pairKeySize = 8

// MaxPair is the most bytes of the block of a pair: over ten times the largest of our games.
const MaxPair = 64 << 20

// AppendPairKey appends a range as the key of a pair, without its length.
func AppendPairKey(dst []byte, rng uint64) []byte { return binary.BigEndian.AppendUint64(dst, rng) }

// AppendPair appends a range and a packed block, of at most MaxPair bytes, as
// a pair.
func AppendPair(dst []byte, rng uint64, packed []byte) []byte {
	dst = AppendPairKey(binary.BigEndian.AppendUint32(dst, pairKeySize), rng)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(packed))), packed...)
}

// A PairReader reads pairs.
type PairReader struct {
	r      *bufio.Reader
	source string
	n      int64
	packed []byte
}

// NewPairReader reads pairs from r, called source in errors.
func NewPairReader(r io.Reader, source string) *PairReader {
	return &PairReader{r: bufio.NewReaderSize(r, bufferSize), source: source}
}

// Next returns the next pair; packed holds until the next call. io.EOF says that
// no pair is left.
func (p *PairReader) Next() (rng uint64, packed []byte, err error) {
	var head [4 + pairKeySize + 4]byte
	if _, err := io.ReadFull(p.r, head[:]); err == io.EOF {
		return 0, nil, err
	} else if err != nil {
		return 0, nil, p.cut(err)
	}
	p.n++
	if n := binary.BigEndian.Uint32(head[:]); n != pairKeySize {
		return 0, nil, p.errorf("expected a key of %d bytes, found one of %d", pairKeySize, n)
	}
	n := int(binary.BigEndian.Uint32(head[4+pairKeySize:]))
	if n > MaxPair {
		return 0, nil, p.errorf("expected a block of at most %d bytes, found one of %d", MaxPair, n)
	}
	// In steps, so that a wrong length does not take the memory.
	p.packed = p.packed[:0]
	for len(p.packed) < n {
		from := len(p.packed)
		p.packed = append(p.packed, make([]byte, min(n-from, bufferSize))...)
		if _, err := io.ReadFull(p.r, p.packed[from:]); err != nil {
			return 0, nil, p.cut(err)
		}
	}
	return binary.BigEndian.Uint64(head[4:]), p.packed, nil
}

// cut is the error of a pair that ends too early.
func (p *PairReader) cut(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.errorf("cut short")
	}
	return fmt.Errorf("%s: %w", p.source, err)
}

func (p *PairReader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: pair %d: %s", p.source, p.n, fmt.Sprintf(format, args...))
}

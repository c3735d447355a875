package streamfmt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// pairKeySize is the length in bytes of a pair's key: a range of blocks, or the first key of rows.
const pairKeySize = 8

// MaxPair is the maximum length in bytes of the value of a pair, a packed block or a pack file of rows: over ten times the
// largest block of our games.
const MaxPair = 64 << 20

// AppendPairKey appends the key of a pair, a range or the first key of rows, without its length.
func AppendPairKey(dst []byte, rng uint64) []byte { return binary.BigEndian.AppendUint64(dst, rng) }

// AppendPair appends a pair of a key, see AppendPairKey, and a value, which has at most MaxPair bytes.
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

// NewPairReader returns a reader of the pairs of r. Errors name the input by source.
func NewPairReader(r io.Reader, source string) *PairReader {
	return &PairReader{r: bufio.NewReaderSize(r, bufferSize), source: source}
}

// Next returns the next pair, and io.EOF after the last. packed is valid until the next call.
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
	// Read in steps, so that a damaged length does not allocate too much memory.
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

// cut returns the error for a pair that ends too early.
func (p *PairReader) cut(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.errorf("cut short")
	}
	return fmt.Errorf("%s: %w", p.source, err)
}

func (p *PairReader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: pair %d: %s", p.source, p.n, fmt.Sprintf(format, args...))
}

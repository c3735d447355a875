package task

import (
	"fmt"
	"io"

	"github.com/treereduce/treereduce/streamfmt"
)

// flushSize is the number of bytes of output that are buffered before they are written.
const flushSize = 256 << 10

// A pairWriter buffers and writes pairs.
type pairWriter struct {
	out io.Writer
	buf []byte
}

func (w *pairWriter) add(rng uint64, packed []byte) error {
	if len(packed) > streamfmt.MaxPair {
		return fmt.Errorf("range %#x: its block takes %d bytes, at most %d fit into a pair: solve the game with --runner inline", rng, len(packed), streamfmt.MaxPair)
	}
	w.buf = streamfmt.AppendPair(w.buf, rng, packed)
	if len(w.buf) < flushSize {
		return nil
	}
	return w.flush()
}

func (w *pairWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// eachShare calls do for each line of a mapper's input.
func eachShare(in io.Reader, do func(Share) error) error {
	lines := streamfmt.NewLineReader(in, "stdin")
	return lines.Each(func(line []byte) error {
		s, ok := parseShare(string(line))
		if !ok {
			return lines.Errorf("a share: part, first range and range after the last", line)
		}
		return do(s)
	})
}

// pairs is the input of a reducer: the sorted pairs of its ranges.
type pairs struct {
	from, to uint64 // first range, and the range after the last
	reader   *streamfmt.PairReader
	rng      uint64 // of the next pair
	packed   []byte
	ended    bool // whether there is no next pair
}

// readPairs starts to read the pairs of a partition. There are as many partitions as
// borders.
func readPairs(in io.Reader, borders []uint64, partition int) (*pairs, error) {
	if partition < 0 || partition >= len(borders) {
		return nil, fmt.Errorf("partition %d: expected one of %d", partition, len(borders))
	}
	p := &pairs{reader: streamfmt.NewPairReader(in, "stdin"), from: borders[partition], to: end(borders, partition, allRanges)}
	return p, p.next()
}

// next reads the next pair.
func (p *pairs) next() error {
	last := p.rng
	var err error
	p.rng, p.packed, err = p.reader.Next()
	if err == io.EOF {
		p.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	if p.rng < last || p.rng < p.from || p.rng >= p.to {
		return fmt.Errorf("expected a range from %#x on and below %#x, found %#x", max(last, p.from), p.to, p.rng)
	}
	return nil
}

// skip skips the pairs of all ranges below to.
func (p *pairs) skip(to uint64) error {
	for !p.ended && p.rng < to {
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

// at reports whether the next pair belongs to a range.
func (p *pairs) at(rng uint64) bool { return !p.ended && p.rng == rng }

package streamfmt

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// The values of a compact block, and the rows of a coded cell, are coded by their frequencies, with a range variant of asymmetric numeral
// systems (J. Duda, arXiv:1311.2540; F. Giesen, arXiv:1402.3392). The state of the coder is a number x, and
// a value with frequency f of total takes log2(total/f) bits of it. start is the sum of the frequencies of
// smaller values:
//
//	encode: x = x/f·total + start + x%f
//	decode: the value for which start <= x%total < start+f;  x = f·(x/total) + x%total − start
//
// x stays in [least, least<<16): an encoder moves its low 16 bits to the output when it would become too
// large, and a decoder reads them back in reverse order. In a block, the frequencies depend on the value
// before. Two states code values in turn, so that a processor can work on two values at the same time.
const (
	totalBits = 12
	total     = 1 << totalBits
	least     = 1 << 16
	firstUnit = total / 256 // see context.first
)

// A Model contains the frequencies of values.
type Model struct {
	values []byte    // ascending
	code   [256]byte // by value: its index in values; len(values) if it has none
	// contexts are the frequencies at the start, and after each code.
	contexts []context
}

// A context contains the frequencies after a code.
type context struct {
	symbols [256]symbol // by code
	first   [256]byte   // by x%total/firstUnit: the code for the first x%total there
}

// A symbol is a code after another one.
type symbol struct {
	inverse     uint64 // 1<<63/freq, rounded up
	freq, start uint16
}

// push returns x, which must be below the limit, with the symbol.
func (s *symbol) push(x uint32) uint32 {
	quotient := s.divide(x)
	return quotient<<totalBits + x - quotient*uint32(s.freq) + uint32(s.start)
}

// limit is where the state becomes too large for push. It has 33 bits if freq is total.
func (s *symbol) limit() uint64 { return uint64(s.freq) << (32 - totalBits) }

// find returns the code of x, and its symbol.
func (c *context) find(x uint32) (code byte, s *symbol) {
	x %= total
	code = c.first[x/firstUnit]
	s = &c.symbols[code]
	for x-uint32(s.start) >= uint32(s.freq) {
		code++
		s = &c.symbols[code]
	}
	return code, s
}

// pop returns x without the symbol, which is the one found.
func (s *symbol) pop(x uint32) uint32 { return uint32(s.freq)*(x/total) + x%total - uint32(s.start) }

// divide returns x/freq. It is exact: x is below 1<<32, and inverse at most 1 above 1<<63/freq.
func (s *symbol) divide(x uint32) uint32 {
	high, _ := bits.Mul64(uint64(x)<<1, s.inverse)
	return uint32(high)
}

// Model returns a model of all values that occur in a tier. counts counts them, or those that can occur.
func (s *Sampler) Model(counts *Counts) *Model {
	var values []byte
	for v, n := range counts {
		if v > 0 && n > 0 {
			values = append(values, byte(v))
		}
	}
	freqs, after := make([][256]uint16, len(values)+1), make([]uint64, len(values))
	for i, before := range append([]byte{0}, values...) {
		for code, v := range values {
			after[code] = s.pairs[before][v]
		}
		scale(freqs[i][:], after)
	}
	return newModel(values, freqs)
}

// scale sets frequencies in proportion to counts. Each is at least one, and their sum is total.
func scale(freqs []uint16, counts []uint64) {
	all := uint64(0)
	for _, n := range counts {
		all += n
	}
	rest, most := uint16(total), 0
	for code, n := range counts {
		f := 1 + uint16(n*uint64(total-len(counts))/max(all, 1))
		freqs[code] = f
		rest -= f
		if f > freqs[most] {
			most = code
		}
	}
	freqs[most] += rest
}

// newModel returns the model with these frequencies by context and code. The sum of those of a context is
// total.
func newModel(values []byte, freqs [][256]uint16) *Model {
	m := &Model{values: values}
	for v := range m.code {
		m.code[v] = byte(len(values))
	}
	for code, v := range values {
		m.code[v] = byte(code)
	}
	if len(values) < 2 {
		return m // nothing is coded
	}
	m.contexts = make([]context, len(freqs))
	for i := range m.contexts {
		m.contexts[i].set(freqs[i][:len(values)])
	}
	return m
}

// set sets the frequencies by code. Their sum is total.
func (c *context) set(freqs []uint16) {
	start := uint16(0)
	for code, f := range freqs {
		c.symbols[code] = symbol{inverse: (1<<63-1)/uint64(f) + 1, freq: f, start: start}
		for high := (start + firstUnit - 1) / firstUnit; high*firstUnit < start+f; high++ {
			c.first[high] = byte(code)
		}
		start += f
	}
}

// append appends the number of values, the values, and their frequencies less one, by context. A zero is
// followed by the number of further zeros.
func (m *Model) append(dst []byte) []byte {
	dst = append(dst, byte(len(m.values)))
	dst = append(dst, m.values...)
	if len(m.values) < 2 {
		return dst
	}
	zeros := uint64(0)
	end := func() {
		if zeros > 0 {
			dst = binary.AppendUvarint(append(dst, 0), zeros-1)
		}
		zeros = 0
	}
	for i := range m.contexts {
		for _, s := range m.contexts[i].symbols[:len(m.values)] {
			f := s.freq - 1
			if f == 0 {
				zeros++
				continue
			}
			end()
			dst = binary.AppendUvarint(dst, uint64(f))
		}
	}
	end()
	return dst
}

// readModel reads what append has written, to the end of the bytes.
func readModel(src *varints) *Model {
	n := int(src.bytes(1)[0])
	values := slices.Clone(src.bytes(uint64(n)))
	for i, v := range values {
		src.bad = src.bad || v == 0 || i > 0 && v <= values[i-1]
	}
	freqs, zeros := make([][256]uint16, n+1), uint64(0)
	for context := range freqs {
		if n < 2 || src.bad {
			break
		}
		sum := uint64(0)
		for code := range n {
			f := uint64(0)
			if zeros > 0 {
				zeros--
			} else if f = src.below(total); f == 0 {
				zeros = src.next()
			}
			freqs[context][code] = uint16(f) + 1
			sum += f + 1
		}
		src.bad = src.bad || sum != total
	}
	if src.bad = src.bad || zeros > 0 || len(src.rest) > 0; src.bad {
		return nil
	}
	return newModel(values, freqs)
}

// twoStates reports whether n values are coded by two states. The last state takes four bytes, so few
// values have one.
func twoStates(n int) bool { return n >= 128 }

// appendCodes appends the codes of values, all of which m contains. It returns words, whose memory it
// uses, for the next call.
func (m *Model) appendCodes(dst, values, words []byte) (longer, _ []byte) {
	if len(m.values) < 2 || len(values) == 0 {
		return dst, words
	}
	words = slices.Grow(words[:0], 2*len(values))[:2*len(values)]
	at, two := len(words), twoStates(len(values))
	x, y := uint32(least), uint32(least)
	code := m.code[values[len(values)-1]]
	for i := len(values) - 1; i >= 0; i-- {
		context, before := 0, byte(0)
		if i > 0 {
			before = m.code[values[i-1]]
			context = 1 + int(before)
		}
		s := &m.contexts[context].symbols[code]
		code = before
		if uint64(x) >= s.limit() {
			at -= 2
			binary.LittleEndian.PutUint16(words[at:], uint16(x))
			x >>= 16
		}
		x = s.push(x)
		if two {
			x, y = y, x
		}
	}
	if two { // y coded the first value
		dst = binary.LittleEndian.AppendUint32(dst, y)
	}
	dst = binary.LittleEndian.AppendUint32(dst, x)
	return append(dst, words[at:]...), words
}

var errCodes = errors.New("its codes of values are damaged")

// decode decodes what appendCodes has written for as many values, which is all of src.
func (m *Model) decode(src, values []byte) error {
	if len(values) == 0 || len(m.values) < 2 {
		if len(src) > 0 || len(values) > 0 && len(m.values) == 0 {
			return errCodes
		}
		for i := range values {
			values[i] = m.values[0]
		}
		return nil
	}
	two := twoStates(len(values))
	if len(src) < 4 || two && len(src) < 8 {
		return errCodes
	}
	x, y := binary.LittleEndian.Uint32(src), uint32(least)
	src = src[4:]
	if two {
		y = binary.LittleEndian.Uint32(src)
		src = src[4:]
	}
	c := &m.contexts[0]
	for i := range values {
		code, s := c.find(x)
		if x = s.pop(x); x < least {
			if len(src) < 2 {
				return errCodes
			}
			x = x<<16 | uint32(binary.LittleEndian.Uint16(src))
			src = src[2:]
		}
		values[i] = m.values[code]
		c = &m.contexts[1+int(code)]
		if two {
			x, y = y, x
		}
	}
	if x != least || y != least || len(src) > 0 {
		return errCodes
	}
	return nil
}

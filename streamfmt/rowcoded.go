package streamfmt

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The steps and the words of a coded cell are coded by their frequencies in the cell, as model.go describes. The symbol
// of a word is the word, and that of a step is its class, see classOf.
const (
	codedRows = 3 // the form of a coded cell: files have this number, so another encoding of words needs a new one

	stepKept    = 2                                   // bits of a step that its class keeps below the highest
	maxStepRest = 56                                  // steps that leave out more bits are not coded, see bitReader
	stepClasses = maxStepRest<<stepKept + 2<<stepKept // number of classes of steps that are coded
)

// classOf returns the class of n, and the number of low bits that the class leaves out. The class is n itself if n has
// at most stepKept+1 bits; otherwise it consists of the length of n and the stepKept bits below the highest.
func classOf(n uint64) (class uint64, rest int) {
	rest = max(0, bits.Len64(n)-stepKept-1)
	return uint64(rest)<<stepKept + n>>rest, rest
}

// leastOf returns the least number of a class, and the number of low bits that the class leaves out.
func leastOf(class uint64) (n uint64, rest int) {
	rest = max(0, int(class>>stepKept)-1)
	return (class - uint64(rest)<<stepKept) << rest, rest
}

// A bitWriter appends numbers to bytes, from the lowest bit up.
type bitWriter struct {
	bytes []byte
	last  uint64 // the bits after the last byte
	n     int    // their number
}

// put appends n bits, at most 56. Those of v above them are zero.
func (w *bitWriter) put(v uint64, n int) {
	w.last |= v << w.n
	w.n += n
	w.bytes = binary.LittleEndian.AppendUint64(w.bytes, w.last)[:len(w.bytes)+w.n>>3]
	w.last >>= w.n &^ 7
	w.n &= 7
}

// putLong appends v, which is not zero, in the gamma code of P. Elias: its length as zeros, its highest bit, the others.
func (w *bitWriter) putLong(v uint64) {
	n := bits.Len64(v) - 1
	w.put(1<<n, n+1)
	w.put(v-1<<n, n)
}

// A bitReader reads what a bitWriter has written. Beyond the end, the bits are any bits, and at is above end.
type bitReader struct {
	bytes   []byte // and eight more
	at, end int    // in bits
}

// get reads n bits, at most 56.
func (r *bitReader) get(n int) uint64 {
	v := binary.LittleEndian.Uint64(r.bytes[min(r.at, r.end)>>3:]) >> (r.at & 7)
	r.at += n
	return v & (1<<n - 1)
}

// getLong reads what putLong has written, a number of at most 17 bits. Of a longer one it returns 0.
func (r *bitReader) getLong() uint64 {
	n := bits.TrailingZeros64(r.get(17) | 1<<17)
	if n > 16 {
		return 0
	}
	r.at -= 16 - n
	return 1<<n | r.get(n)
}

// An alphabet is the symbols of the steps or of the words of a cell, with their frequencies.
type alphabet struct {
	context
	list   []uint64    // the symbols by code, ascending
	counts []uint64    // by code, see add
	freqs  [256]uint16 // by code
	codes  []uint16    // by symbol: how often it occurs, then its code; only of a writer
}

// count counts a symbol.
func (a *alphabet) count(symbol uint64) {
	if a.codes[symbol]++; a.codes[symbol] == 1 {
		a.list = append(a.list, symbol)
	}
}

// write writes the list of the symbols that were counted, and sets their codes. ok is false if they are too many.
func (a *alphabet) write(w *bitWriter) (ok bool) {
	if len(a.list) > len(a.freqs) {
		return false
	}
	slices.Sort(a.list)
	w.put(uint64(len(a.list)-1), 8)
	next, before := uint64(0), 0
	for code, symbol := range a.list {
		length := bits.Len16(a.codes[symbol])
		w.putLong(symbol - next + 1)
		w.putLong(zigzag(uint64(length-before)) + 1)
		a.add(length)
		a.codes[symbol], next, before = uint16(code), symbol+1, length
	}
	a.end()
	return true
}

// read reads the list that write has written. ok is false if a symbol is above most.
func (a *alphabet) read(r *bitReader, most uint64) (ok bool) {
	a.list, a.counts = a.list[:0], a.counts[:0]
	next, length := uint64(0), 0
	for range r.get(8) + 1 {
		n, change := r.getLong(), r.getLong()
		next, length = next+n, length+int(unzigzag(change-1))
		if n == 0 || change == 0 || next-1 > most || length < 1 || length > 16 {
			return false
		}
		a.list = append(a.list, next-1)
		a.add(length)
	}
	a.end()
	return true
}

// add adds the count of the next symbol, of which only the length in bits is stored: the middle of those.
func (a *alphabet) add(length int) { a.counts = append(a.counts, 3<<length>>2) }

// end sets the frequencies.
func (a *alphabet) end() {
	scale(a.freqs[:], a.counts)
	a.set(a.freqs[:len(a.counts)])
}

// reset forgets what was counted.
func (a *alphabet) reset() {
	for _, symbol := range a.list {
		a.codes[symbol] = 0
	}
	a.list, a.counts = a.list[:0], a.counts[:0]
}

// A cellCoder codes cells, or decodes them. It reuses its memory.
type cellCoder struct {
	steps, words alphabet
	bits         bitWriter
	codes        [][2]byte // of the step and the word of a row
	units        []byte
}

// append appends rows of Values as a coded cell. ok is false if they cannot be coded: some steps are too
// long, or the steps or the words have more than 256 symbols.
func (c *cellCoder) append(dst []byte, rows []Row) (_ []byte, ok bool) {
	if c.steps.codes == nil {
		c.steps.codes, c.words.codes = make([]uint16, stepClasses), make([]uint16, maxRowValue+1)
	}
	defer c.steps.reset()
	defer c.words.reset()
	key := rows[0].Key
	for _, r := range rows {
		class, rest := classOf(r.Key - key)
		if rest > maxStepRest || r.Word > maxRowValue {
			return dst, false
		}
		key = r.Key
		c.steps.count(class)
		c.words.count(r.Word)
	}
	w := &c.bits
	*w = bitWriter{bytes: w.bytes[:0]}
	if !c.steps.write(w) || !c.words.write(w) {
		return dst, false
	}
	c.codes = slices.Grow(c.codes[:0], len(rows))[:len(rows)]
	key = rows[0].Key
	for i, r := range rows {
		step := r.Key - key
		key = r.Key
		class, rest := classOf(step)
		w.put(step&(1<<rest-1), rest)
		c.codes[i] = [2]byte{byte(c.steps.codes[class]), byte(c.words.codes[r.Word])}
	}
	w.put(0, -w.n&7)
	dst = append(binary.AppendUvarint(append(dst, codedRows), uint64(len(w.bytes))), w.bytes...)

	c.units = slices.Grow(c.units[:0], 4*len(rows))[:4*len(rows)]
	at, x, y := len(c.units), uint32(least), uint32(least)
	for i := len(rows) - 1; i >= 0; i-- {
		s := &c.words.symbols[c.codes[i][1]]
		if uint64(y) >= s.limit() {
			at -= 2
			binary.LittleEndian.PutUint16(c.units[at:], uint16(y))
			y >>= 16
		}
		y = s.push(y)
		s = &c.steps.symbols[c.codes[i][0]]
		if uint64(x) >= s.limit() {
			at -= 2
			binary.LittleEndian.PutUint16(c.units[at:], uint16(x))
			x >>= 16
		}
		x = s.push(x)
	}
	dst = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, x), y)
	return append(dst, c.units[at:]...), true
}

// read sets rows to those of a coded cell, whose bytes after the form are src, and whose words are up to most.
func (c *cellCoder) read(rows []Row, src []byte, cell *Cell, most uint64) error {
	n, used := binary.Uvarint(src)
	if used <= 0 || n > uint64(len(src)-used) {
		return errCell
	}
	c.bits.bytes = append(append(c.bits.bytes[:0], src[used:][:n]...), make([]byte, 8)...)
	r := bitReader{bytes: c.bits.bytes, end: 8 * int(n)}
	src = src[used:][n:]
	if !c.steps.read(&r, stepClasses-1) || !c.words.read(&r, min(most, maxRowValue)) || len(src) < 8 {
		return errCell
	}
	x, y := binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint32(src[4:])
	src = src[8:]
	key := cell.First
	for i := range rows {
		code, s := c.steps.find(x)
		if x = s.pop(x); x < least {
			if len(src) < 2 {
				return errCell
			}
			x, src = x<<16|uint32(binary.LittleEndian.Uint16(src)), src[2:]
		}
		step, rest := leastOf(c.steps.list[code])
		step += r.get(rest)
		if key+step < key {
			return errCell
		}
		key += step
		code, s = c.words.find(y)
		if y = s.pop(y); y < least {
			if len(src) < 2 {
				return errCell
			}
			y, src = y<<16|uint32(binary.LittleEndian.Uint16(src)), src[2:]
		}
		rows[i] = Row{key, c.words.list[code]}
	}
	if x != least || y != least || len(src) > 0 || r.at > r.end || r.end-r.at >= 8 || key != cell.Last {
		return errCell
	}
	return nil
}

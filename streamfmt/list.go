package streamfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
)

const (
	rowCountSize = 10

	// CellRows is the maximum number of rows of a cell. It is small because a look-up of one
	// row reads a complete cell. An index entry takes 40 bytes of memory.
	CellRows = 1024
	// maxRowSize is the maximum number of bytes of a row in a cell.
	maxRowSize = 1 + 8 + 8
)

// The encodings of the words of a cell.
const (
	plainWords = iota // the word itself
	keyWords          // the difference from the key
	nextWords         // the difference from the previous word
	wordForms
)

// AddRows packs sorted rows of a tier into cells of CellRows rows; the last may have fewer. The
// number of the tier has at most 32 bits, as in the directory of a file.
func (p *Packer) AddRows(tier int, rows []Row) {
	for cell := range slices.Chunk(rows, CellRows) {
		from := len(p.Bytes)
		coded := p.cells != nil
		if coded {
			p.Bytes, coded = p.cells.append(p.Bytes, cell)
		}
		if !coded {
			p.Bytes = appendCell(p.Bytes, cell)
		}
		p.end(Cell{First: cell[0].Key, Last: cell[len(cell)-1].Key, Rows: uint32(len(cell)), Tier: uint32(tier)}, from)
	}
}

// SetCoded makes p code the cells of lists of Values, for a writer of NewCodedListWriter.
func (p *Packer) SetCoded() { p.cells = new(cellCoder) }

// CountValues counts rows of a list of Values by value; words have at most 16 bits, as ParseRow and
// CellReader return them.
func (p *Packer) CountValues(rows []Row) {
	for _, r := range rows {
		v := uint16(r.Word)
		if int(v) >= len(p.values) {
			p.values = append(p.values, make([]uint64, int(v)+1-len(p.values))...)
		}
		p.values[v]++
	}
}

// zigzag maps differences that are close to zero, positive or negative, to small numbers.
func zigzag(d uint64) uint64 { return d<<1 ^ uint64(int64(d)>>63) }

func unzigzag(z uint64) uint64 { return z>>1 ^ -(z & 1) }

// byteLen returns the number of bytes of n without leading zeros, 0 to 8; it is 0 for 0.
func byteLen(n uint64) int { return (bits.Len64(n) + 7) >> 3 }

// wordForm returns the form that makes the words of a cell shortest. It looks at every eighth
// row, from the second on.
func wordForm(rows []Row) byte {
	var size [wordForms]int
	for i := 1; i < len(rows); i += 8 {
		r := rows[i]
		size[plainWords] += byteLen(r.Word)
		size[keyWords] += byteLen(zigzag(r.Word - r.Key))
		size[nextWords] += byteLen(zigzag(r.Word - rows[i-1].Word))
	}
	form := plainWords
	for f := range size {
		if size[f] < size[form] {
			form = f
		}
	}
	return byte(form)
}

// appendCell appends the rows as a cell; see the package comment.
func appendCell(dst []byte, rows []Row) []byte {
	form := wordForm(rows)
	dst = slices.Grow(dst, 1+len(rows)*maxRowSize+7)
	at := len(dst)
	buf := dst[:cap(dst)]
	buf[at] = form
	at++
	key, before := rows[0].Key, rows[0].Key
	for _, r := range rows {
		step, word := r.Key-key, r.Word
		switch form {
		case keyWords:
			word = zigzag(word - r.Key)
		case nextWords:
			word = zigzag(word - before)
		}
		key, before = r.Key, r.Word
		a, b := byteLen(step), byteLen(word)
		buf[at] = byte(a | b<<4)
		binary.LittleEndian.PutUint64(buf[at+1:], step)
		binary.LittleEndian.PutUint64(buf[at+1+a:], word) // writes at most 7 bytes past the row
		at += 1 + a + b
	}
	return buf[:at]
}

// lowBytes[n] is a mask of the n low bytes. For n above 8 it is 0.
var lowBytes = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

var errCell = errors.New("damaged in a cell")

// readCell appends the rows of a packed cell with keys up to until. The kind of the cell has words up to most. The caller
// has verified its checksum.
func readCell(dst []Row, src []byte, cell Cell, most, until uint64) ([]Row, error) {
	if len(src) == 0 || src[0] >= wordForms {
		return dst, errCell
	}
	form := src[0]
	n := int(cell.Rows)
	dst = slices.Grow(dst, n)
	rows := dst[len(dst) : len(dst)+n]
	key, before := cell.First, cell.First
	at, end := 1, len(src)
	words := uint64(0) // all bits of the words: above most if a word is
	for i := range rows {
		if at+maxRowSize+7 > len(src) { // near the end: numbers are read eight bytes at a time
			if at >= end {
				return dst, errCell
			}
			src = append(src[at:len(src):len(src)], make([]byte, maxRowSize+7)...)
			at, end = 0, end-at
		}
		row := src[at : at+maxRowSize+7]
		a, b := int(row[0]&15), int(row[0]>>4)
		if a > 8 || b > 8 {
			return dst, errCell
		}
		step := binary.LittleEndian.Uint64(row[1:]) & lowBytes[a]
		word := binary.LittleEndian.Uint64(row[1+a:]) & lowBytes[b]
		at += 1 + a + b
		if key+step < key {
			return dst, errCell
		}
		if key += step; key > until {
			n = i
			break
		}
		switch form {
		case keyWords:
			word = key + unzigzag(word)
		case nextWords:
			word = before + unzigzag(word)
		}
		before = word
		words |= word
		rows[i] = Row{key, word}
	}
	if n == len(rows) && (at != end || key != cell.Last) || words > most {
		return dst, errCell
	}
	return dst[:len(dst)+n], nil
}

// A ListWriter writes a list file.
type ListWriter struct {
	frameWriter
	pages  map[uint32]*listPage // by tier
	rows   uint64
	counts []uint64 // by value, which has 16 bits
}

// A listPage is the index page of the cells of a tier: first is the tier, and in the high 32
// bits the number of cells; second is the number of rows.
type listPage struct {
	first, second uint64 // see writePage
	entries       []byte
	end           uint64 // of the last cell
}

// cellsUnit is the value in listPage.first of one cell.
const cellsUnit = 1 << 32

// NewListWriter returns a writer of a list file of a game, and writes the head.
func NewListWriter(out io.Writer, spec string, kind RowKind) (*ListWriter, error) {
	w := &ListWriter{pages: make(map[uint32]*listPage)}
	return w, w.begin(out, listMagic, spec, byte(kind))
}

// NewCodedListWriter is like NewListWriter, for Values whose cells may be coded: they are smaller, but take more time.
func NewCodedListWriter(out io.Writer, spec string) (*ListWriter, error) {
	w := &ListWriter{pages: make(map[uint32]*listPage)}
	return w, w.begin(out, codedMagic, spec, byte(Values))
}

// Append writes packed rows. They may be in any order.
func (w *ListWriter) Append(p *Packer) error {
	for _, c := range p.Cells {
		page := w.pages[c.Tier]
		if page == nil {
			page = &listPage{first: uint64(c.Tier)}
			w.pages[c.Tier] = page
		}
		at := w.offset + c.Offset
		page.entries = binary.LittleEndian.AppendUint64(page.entries, c.First)
		for _, n := range []uint64{c.Last - c.First, uint64(c.Rows), at - page.end, uint64(c.Length)} {
			page.entries = binary.AppendUvarint(page.entries, n)
		}
		page.entries = binary.LittleEndian.AppendUint32(page.entries, c.Sum)
		page.end = at + uint64(c.Length)
		page.first += cellsUnit
		page.second += uint64(c.Rows)
		w.rows += uint64(c.Rows)
	}
	for v, n := range p.values {
		if v >= len(w.counts) {
			w.counts = append(w.counts, make([]uint64, len(p.values)-v)...)
		}
		w.counts[v] += n
	}
	return w.write(p.Bytes)
}

// Close writes the index and the tail. It does not close the underlying writer.
func (w *ListWriter) Close() error {
	index := w.offset
	for _, tier := range slices.Sorted(maps.Keys(w.pages)) {
		p := w.pages[tier]
		if err := w.writePage(p.first, p.second, p.entries); err != nil {
			return err
		}
	}
	var summary []byte
	for v, n := range w.counts {
		if n > 0 {
			summary = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(summary, uint16(v)), n)
		}
	}
	return w.end(index, summary, w.rows, listTailMagic)
}

// A ListFile is an open list file. It is safe for concurrent use.
type ListFile struct {
	frame
	kind    RowKind
	tiers   []int // of the pages
	summary []byte
}

// OpenListFile reads the head, directory and tail of a list file of size bytes, called name in
// errors. If they are truncated or damaged, the error is a *FormatError.
func OpenListFile(r io.ReaderAt, size int64, name string) (*ListFile, error) {
	f := &ListFile{frame: frame{r: r, name: name}}
	magic, err := magicOf(r, size, name, listMagic, codedMagic)
	if err != nil {
		return nil, err
	}
	summary, err := f.open(size, magic, listTailMagic, "list file", func(rest []byte) (int, bool) {
		if len(rest) == 0 || int(rest[0]) >= len(rowKinds) {
			return 0, false
		}
		f.kind = RowKind(rest[0])
		return 1, true
	}, func(directory, summary uint64) bool {
		return directory%entrySize == 0 && summary%rowCountSize == 0 && summary/rowCountSize <= 1<<16
	})
	if err != nil {
		return nil, err
	}
	f.summary = bytes.Clone(summary)
	rows := uint64(0)
	for i, p := range f.pages {
		tier := int(p.first % cellsUnit)
		if i > 0 && tier <= f.tiers[i-1] || p.first/cellsUnit > (p.end-p.at)/minCellEntry || p.second > f.count-rows {
			return nil, f.errorf("damaged in its directory")
		}
		f.tiers = append(f.tiers, tier)
		rows += p.second
	}
	if rows != f.count {
		return nil, f.errorf("damaged in its directory")
	}
	return f, nil
}

// minCellEntry is the minimum number of bytes of a cell's index entry.
const minCellEntry = 8 + 4*1 + sumSize

// With returns the same file, but reading from r, another reader of the same bytes.
func (f *ListFile) With(r io.ReaderAt) *ListFile {
	other := *f
	other.r = r
	return &other
}

// Kind returns the kind of the rows.
func (f *ListFile) Kind() RowKind { return f.kind }

// Records returns the number of rows.
func (f *ListFile) Records() uint64 { return f.count }

// Tiers returns the tiers that have rows, ascending. The caller must not modify them.
func (f *ListFile) Tiers() []int { return f.tiers }

// Rows returns the number of rows of a tier.
func (f *ListFile) Rows(tier int) uint64 {
	if n, ok := slices.BinarySearch(f.tiers, tier); ok {
		return f.pages[n].second
	}
	return 0
}

// EachCount calls do for each value of a list of Values, in ascending order, with the number
// of its rows. The numbers are those that the writer counted.
func (f *ListFile) EachCount(do func(value uint16, n uint64)) {
	for s := f.summary; len(s) > 0; s = s[rowCountSize:] {
		do(binary.LittleEndian.Uint16(s), binary.LittleEndian.Uint64(s[2:]))
	}
}

// A Cell locates consecutive rows of a tier in a file. It takes 40 bytes.
type Cell struct {
	First, Last uint64 // keys
	Offset      uint64
	Length      uint32
	Rows        uint32
	Sum         uint32
	Tier        uint32
}

// Cells reads the index entries of the cells of a tier, in the order in which they were
// written.
func (f *ListFile) Cells(tier int) ([]Cell, error) {
	n, ok := slices.BinarySearch(f.tiers, tier)
	if !ok {
		return nil, nil
	}
	p := &f.pages[n]
	src, err := f.readEntries(nil, p)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(src, castagnoli) != p.sum {
		return nil, f.errorf("damaged in its index: the checksum of the page of tier %d is wrong", tier)
	}
	damaged := func() error { return f.errorf("damaged in its index, in tier %d", tier) }
	cells := make([]Cell, p.first/cellsUnit)
	end, rows := uint64(0), uint64(0)
	for i := range cells {
		if len(src) < minCellEntry {
			return nil, damaged()
		}
		first := binary.LittleEndian.Uint64(src)
		src = src[8:]
		var word [4]uint64
		for j := range word {
			n, used := binary.Uvarint(src)
			if used <= 0 {
				return nil, damaged()
			}
			word[j], src = n, src[used:]
		}
		at, length := end+word[2], word[3]
		if len(src) < sumSize || first+word[0] < first || word[1] == 0 || word[1] > CellRows || at < end || at < f.start ||
			at > f.index || length == 0 || length > min(f.index-at, 1+CellRows*maxRowSize) {
			return nil, damaged()
		}
		cells[i] = Cell{First: first, Last: first + word[0], Offset: at, Length: uint32(length), Rows: uint32(word[1]), Tier: uint32(tier), Sum: binary.LittleEndian.Uint32(src)}
		src = src[sumSize:]
		end = at + length
		rows += word[1]
	}
	if len(src) > 0 || rows != p.second {
		return nil, damaged()
	}
	return cells, nil
}

// A CellReader reads cells of list files. It reuses its memory, and is not safe for concurrent
// use.
type CellReader struct {
	window window
	coder  *cellCoder // nil before the first coded cell
}

// Append appends the rows of the first of cells, whose offsets must be ascending. With it,
// Append reads ahead the cells that follow it without a gap.
func (c *CellReader) Append(dst []Row, f *ListFile, cells []Cell) ([]Row, error) {
	return c.AppendUntil(dst, f, cells, math.MaxUint64)
}

// AppendUntil is like Append, but may leave out rows with keys above until.
func (c *CellReader) AppendUntil(dst []Row, f *ListFile, cells []Cell, until uint64) ([]Row, error) {
	raw, err := c.Raw(f, cells)
	if err != nil {
		return dst, err
	}
	if dst, err = c.decode(dst, raw, cells[0], f.kind.mostWord(), until); err != nil {
		err = f.errorf("damaged in the cell at byte %d", cells[0].Offset)
	}
	return dst, err
}

// decode appends the rows of a packed cell, see readCell.
func (c *CellReader) decode(dst []Row, src []byte, cell Cell, most, until uint64) ([]Row, error) {
	if len(src) == 0 || src[0] != codedRows {
		return readCell(dst, src, cell, most, until)
	}
	if c.coder == nil {
		c.coder = new(cellCoder)
	}
	n := len(dst) + int(cell.Rows)
	dst = slices.Grow(dst, int(cell.Rows))
	if err := c.coder.read(dst[len(dst):n], src[1:], cell, most); err != nil {
		return dst, err
	}
	return dst[:n], nil
}

// readAhead is the maximum number of bytes that are read at once if the cells are contiguous.
const readAhead = 64 << 10

// Raw returns the packed bytes of the first of cells, after verifying its checksum. They are
// valid until the next call.
func (c *CellReader) Raw(f *ListFile, cells []Cell) ([]byte, error) {
	e := cells[0]
	ahead := uint64(e.Length)
	for _, next := range cells[1:] {
		if next.Offset != e.Offset+ahead || ahead+uint64(next.Length) > readAhead {
			break
		}
		ahead += uint64(next.Length)
	}
	raw, ok, err := c.window.read(&f.frame, e.Offset, uint64(e.Length), ahead, e.Sum)
	if err == nil && !ok {
		err = f.errorf("damaged: the checksum of the cell at byte %d (keys from %#x) is wrong", e.Offset, e.First)
	}
	return raw, err
}

// Check reads the complete file, and verifies the checksum of every cell.
func (f *ListFile) Check() error {
	var c CellReader
	for _, tier := range f.tiers {
		cells, err := f.Cells(tier)
		if err != nil {
			return err
		}
		for i := range cells {
			if _, err := c.Raw(f, cells[i:]); err != nil {
				return err
			}
		}
	}
	return nil
}

package streamfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
	"sort"
)

const (
	listMagic     = "TRLISTS1"
	listTailMagic = "TRLSEND1"
	listEntrySize = 28
	rowCountSize  = 10

	// CellRows is how many rows a cell has at most: few, as it is read whole by
	// whoever wants one of them, and its place takes 40 bytes of memory.
	CellRows = 1024
	// maxRowSize is the most bytes that a row takes in a cell.
	maxRowSize = 1 + 8 + 8
)

// How the words of a cell are written.
const (
	plainWords = iota // as they are
	keyWords          // as the difference to the key
	nextWords         // as the difference to the word before
	wordForms
)

// PackedRows is cells in a row, as one worker packs them for a writer to append.
type PackedRows struct {
	Bytes []byte

	cells  []tierCell
	counts []uint64 // of Values, by value
}

// tierCell is a cell of a tier; its offset is counted from the first byte of these.
type tierCell struct {
	tier int
	Cell
}

// Reset empties p.
func (p *PackedRows) Reset() {
	p.Bytes, p.cells = p.Bytes[:0], p.cells[:0]
	clear(p.counts)
}

// Add packs sorted rows of a tier, CellRows to a cell.
func (p *PackedRows) Add(tier int, rows []Row) {
	for len(rows) > 0 {
		n := min(len(rows), CellRows)
		cell := Cell{First: rows[0].Key, Last: rows[n-1].Key, Rows: uint32(n), Offset: uint64(len(p.Bytes))}
		p.Bytes = appendCell(p.Bytes, rows[:n])
		packed := p.Bytes[cell.Offset:]
		cell.Length, cell.Sum = uint32(len(packed)), crc32.Checksum(packed, castagnoli)
		p.cells = append(p.cells, tierCell{tier, cell})
		rows = rows[n:]
	}
}

// CountValues counts rows of a list of Values.
func (p *PackedRows) CountValues(rows []Row) {
	for _, r := range rows {
		v := uint16(r.Word)
		if int(v) >= len(p.counts) {
			p.counts = append(p.counts, make([]uint64, int(v)+1-len(p.counts))...)
		}
		p.counts[v]++
	}
}

// zigzag makes small numbers of small differences, below and above zero.
func zigzag(d uint64) uint64 { return d<<1 ^ uint64(int64(d)>>63) }

func unzigzag(z uint64) uint64 { return z>>1 ^ -(z & 1) }

// byteLen is how many bytes a number takes; 0 takes none.
func byteLen(n uint64) int { return (bits.Len64(n) + 7) >> 3 }

// wordForm is the form that makes the words of a cell shortest: of one in eight, from
// the second on.
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

// appendCell appends the cell of some rows: see the package comment.
func appendCell(dst []byte, rows []Row) []byte {
	form := wordForm(rows)
	dst = slices.Grow(dst, 1+len(rows)*maxRowSize+7)
	at := len(dst)
	room := dst[:cap(dst)]
	room[at] = form
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
		room[at] = byte(a | b<<4)
		binary.LittleEndian.PutUint64(room[at+1:], step)
		binary.LittleEndian.PutUint64(room[at+1+a:], word) // 7 bytes past the row, at most
		at += 1 + a + b
	}
	return room[:at]
}

// lowBytes is a mask of so many bytes; of more than 8, of none.
var lowBytes = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

var errCell = errors.New("damaged in a cell")

// readCell appends the rows of a packed cell whose checksum has been checked.
func readCell(dst []Row, src []byte, cell Cell) ([]Row, error) {
	if len(src) == 0 || src[0] >= wordForms {
		return dst, errCell
	}
	form := src[0]
	n := int(cell.Rows)
	dst = slices.Grow(dst, n)
	rows := dst[len(dst) : len(dst)+n]
	key, before := cell.First, cell.First
	at, end := 1, len(src)
	for i := range rows {
		if at+maxRowSize+7 > len(src) { // the last ones: numbers are read eight bytes at a time
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
		key += step
		switch form {
		case keyWords:
			word = key + unzigzag(word)
		case nextWords:
			word = before + unzigzag(word)
		}
		before = word
		rows[i] = Row{key, word}
	}
	if at != end || key != cell.Last {
		return dst, errCell
	}
	return dst[:len(dst)+n], nil
}

// A ListWriter writes a list file.
type ListWriter struct {
	w      io.Writer
	head   []byte
	offset uint64
	kind   RowKind
	pages  map[int]*listPage
	rows   uint64
	counts []uint64
}

// A listPage is the places of the cells of a tier, as they come.
type listPage struct {
	bytes []byte
	cells uint32
	rows  uint64
	end   uint64 // of the last cell
}

// NewListWriter begins a list file of a game.
func NewListWriter(w io.Writer, spec string, kind RowKind) (*ListWriter, error) {
	head := append([]byte(listMagic), binary.AppendUvarint(nil, uint64(len(spec)))...)
	head = append(append(head, spec...), byte(kind))
	if _, err := w.Write(head); err != nil {
		return nil, err
	}
	return &ListWriter{w: w, head: head, offset: uint64(len(head)), kind: kind, pages: make(map[int]*listPage)}, nil
}

// Append writes packed rows, in any order.
func (w *ListWriter) Append(p *PackedRows) error {
	for _, c := range p.cells {
		page := w.pages[c.tier]
		if page == nil {
			page = new(listPage)
			w.pages[c.tier] = page
		}
		at := w.offset + c.Offset
		page.bytes = binary.LittleEndian.AppendUint64(page.bytes, c.First)
		for _, n := range []uint64{c.Last - c.First, uint64(c.Rows), at - page.end, uint64(c.Length)} {
			page.bytes = binary.AppendUvarint(page.bytes, n)
		}
		page.bytes = binary.LittleEndian.AppendUint32(page.bytes, c.Sum)
		page.end = at + uint64(c.Length)
		page.cells++
		page.rows += uint64(c.Rows)
		w.rows += uint64(c.Rows)
	}
	for v, n := range p.counts {
		if v >= len(w.counts) {
			w.counts = append(w.counts, make([]uint64, len(p.counts)-v)...)
		}
		w.counts[v] += n
	}
	w.offset += uint64(len(p.Bytes))
	_, err := w.w.Write(p.Bytes)
	return err
}

// Close writes the index and the tail; it does not close the file below.
func (w *ListWriter) Close() error {
	tiers := make([]int, 0, len(w.pages))
	for tier := range w.pages {
		tiers = append(tiers, tier)
	}
	slices.Sort(tiers)
	var index, end []byte // end: directory, summary, tail
	for _, tier := range tiers {
		page := w.pages[tier]
		end = binary.LittleEndian.AppendUint32(end, uint32(tier))
		end = binary.LittleEndian.AppendUint32(end, page.cells)
		end = binary.LittleEndian.AppendUint64(end, page.rows)
		end = binary.LittleEndian.AppendUint64(end, w.offset+uint64(len(index)))
		end = binary.LittleEndian.AppendUint32(end, crc32.Checksum(page.bytes, castagnoli))
		index = append(index, page.bytes...)
	}
	dirAt := w.offset + uint64(len(index))
	summaryAt := dirAt + uint64(len(end))
	for v, n := range w.counts {
		if n > 0 {
			end = binary.LittleEndian.AppendUint16(end, uint16(v))
			end = binary.LittleEndian.AppendUint64(end, n)
		}
	}
	for _, n := range []uint64{w.offset, dirAt, summaryAt, w.rows} {
		end = binary.LittleEndian.AppendUint64(end, n)
	}
	end = binary.LittleEndian.AppendUint64(end, frameSum(w.head, end))
	end = append(end, listTailMagic...)
	_, err := w.w.Write(append(index, end...))
	return err
}

// A ListFile reads a list file. It is safe for concurrent use.
type ListFile struct {
	r     io.ReaderAt
	name  string
	spec  string
	kind  RowKind
	rows  uint64
	start uint64 // where the cells begin
	index uint64 // where they end
	dirAt uint64
	pages []ListPage
	count []byte // the summary
	sum   uint32
}

// A ListPage is where the places of the cells of a tier lie.
type ListPage struct {
	Tier  int
	Cells int
	Rows  uint64

	at, end uint64
	sum     uint32
}

// endSize is how much of a list file is read first, in one go.
const endSize = 4 << 10

// OpenListFile reads head, directory and tail of a list file of so many bytes, called
// name in errors. A file that is cut short or damaged there is a *FormatError.
func OpenListFile(r io.ReaderAt, size int64, name string) (*ListFile, error) {
	f := &ListFile{r: r, name: name}
	head := make([]byte, min(size, int64(len(listMagic)+binary.MaxVarintLen64+maxSpec+1)))
	if err := f.readAt(head, 0); err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(head, []byte(listMagic))
	if !ok {
		return nil, f.errorf("not a list file: it begins with %q, expected %q", head[:min(8, len(head))], listMagic)
	}
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > maxSpec || uint64(len(rest)-used) <= n || int(rest[uint64(used)+n]) >= len(rowKinds) {
		return nil, f.errorf("damaged at its beginning")
	}
	rest = rest[used:]
	f.spec, f.kind, rest = string(rest[:n]), RowKind(rest[n]), rest[n+1:]
	f.start = uint64(len(head) - len(rest))

	if size-tailSize < int64(f.start) {
		return nil, f.errorf("cut short: %d bytes", size)
	}
	end := make([]byte, min(size, endSize))
	if err := f.readAt(end, size-int64(len(end))); err != nil {
		return nil, err
	}
	tail := end[len(end)-tailSize:]
	if string(tail[tailSize-len(listTailMagic):]) != listTailMagic {
		return nil, f.errorf("cut short: its end mark is missing after %d bytes", size)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(tail[8*i:]) }
	f.index, f.dirAt, f.rows = word(0), word(1), word(3)
	summaryAt, tailAt := word(2), uint64(size)-tailSize
	if f.index < f.start || f.dirAt < f.index || summaryAt < f.dirAt || summaryAt > tailAt ||
		(summaryAt-f.dirAt)%listEntrySize != 0 || (tailAt-summaryAt)%rowCountSize != 0 || (tailAt-summaryAt)/rowCountSize > 1<<16 {
		return nil, f.errorf("damaged at its end")
	}
	if need := uint64(size) - f.dirAt; need <= uint64(len(end)) {
		end = end[uint64(len(end))-need:]
	} else {
		end = make([]byte, need)
		if err := f.readAt(end, int64(f.dirAt)); err != nil {
			return nil, err
		}
	}
	if frameSum(head[:f.start], end[:len(end)-16]) != word(4) {
		return nil, f.errorf("damaged at its beginning or end: the checksum is wrong")
	}
	f.sum = uint32(word(4))
	f.count = bytes.Clone(end[summaryAt-f.dirAt : len(end)-tailSize])
	return f, f.readDirectory(end[:summaryAt-f.dirAt])
}

// readDirectory reads where the pages lie, which follow one another up to the
// directory.
func (f *ListFile) readDirectory(dir []byte) error {
	f.pages = make([]ListPage, len(dir)/listEntrySize)
	at, rows := f.index, uint64(0)
	for i := range f.pages {
		e := dir[i*listEntrySize:]
		p := ListPage{
			Tier:  int(binary.LittleEndian.Uint32(e)),
			Cells: int(binary.LittleEndian.Uint32(e[4:])),
			Rows:  binary.LittleEndian.Uint64(e[8:]),
			at:    binary.LittleEndian.Uint64(e[16:]),
			end:   f.dirAt,
			sum:   binary.LittleEndian.Uint32(e[24:]),
		}
		if i+1 < len(f.pages) {
			p.end = binary.LittleEndian.Uint64(e[listEntrySize+16:])
		}
		if i == 0 && p.at != at || p.end < p.at || p.end > f.dirAt || uint64(p.Cells) > (p.end-p.at)/minCellEntry ||
			i > 0 && p.Tier <= f.pages[i-1].Tier || p.Rows > f.rows-rows {
			return f.errorf("damaged in its directory")
		}
		rows += p.Rows
		f.pages[i] = p
	}
	if rows != f.rows || len(f.pages) == 0 && f.index != f.dirAt {
		return f.errorf("damaged in its directory")
	}
	return nil
}

// minCellEntry is the fewest bytes that the place of a cell takes.
const minCellEntry = 8 + 4*1 + sumSize

func (f *ListFile) errorf(format string, args ...any) error {
	return &FormatError{File: f.name, Reason: fmt.Sprintf(format, args...)}
}

func (f *ListFile) readAt(buf []byte, at int64) error { return readFull(f.r, f.name, buf, at) }

// With is the same file, read by another reader: one that has been opened anew.
func (f *ListFile) With(r io.ReaderAt) *ListFile {
	other := *f
	other.r = r
	return &other
}

// Name is what the file is called in errors.
func (f *ListFile) Name() string { return f.name }

// Spec is the game that the file says it is of.
func (f *ListFile) Spec() string { return f.spec }

// Kind is what its words are.
func (f *ListFile) Kind() RowKind { return f.kind }

// Records is the number of its rows.
func (f *ListFile) Records() uint64 { return f.rows }

// Sum is the checksum on which all others of the file hang.
func (f *ListFile) Sum() uint32 { return f.sum }

// Pages are the tiers of which it has rows, ascending; not to be written to.
func (f *ListFile) Pages() []ListPage { return f.pages }

// Page is the page of a tier; ok is false if there are no rows of it.
func (f *ListFile) Page(tier int) (p ListPage, ok bool) {
	i := sort.Search(len(f.pages), func(i int) bool { return f.pages[i].Tier >= tier })
	if i == len(f.pages) || f.pages[i].Tier != tier {
		return p, false
	}
	return f.pages[i], true
}

// EachCount calls do for each value of a list of Values, ascending, with the number of
// its rows, as its writer counted them.
func (f *ListFile) EachCount(do func(value uint16, n uint64)) {
	for s := f.count; len(s) > 0; s = s[rowCountSize:] {
		do(binary.LittleEndian.Uint16(s), binary.LittleEndian.Uint64(s[2:]))
	}
}

// A Cell is where neighbouring rows of a tier lie: 40 bytes.
type Cell struct {
	First, Last uint64 // keys
	Offset      uint64
	Length      uint32
	Rows        uint32
	Sum         uint32
}

// Cells reads the places of the cells of a page, in the order in which they were
// written.
func (f *ListFile) Cells(p ListPage) ([]Cell, error) {
	src := make([]byte, p.end-p.at)
	if err := f.readAt(src, int64(p.at)); err != nil {
		return nil, err
	}
	if crc32.Checksum(src, castagnoli) != p.sum {
		return nil, f.errorf("damaged in its index: the checksum of the page of tier %d is wrong", p.Tier)
	}
	damaged := func() error { return f.errorf("damaged in its index, in tier %d", p.Tier) }
	cells := make([]Cell, p.Cells)
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
		cells[i] = Cell{First: first, Last: first + word[0], Offset: at, Length: uint32(length), Rows: uint32(word[1]), Sum: binary.LittleEndian.Uint32(src)}
		src = src[sumSize:]
		end = at + length
		rows += word[1]
	}
	if len(src) > 0 || rows != p.Rows {
		return nil, damaged()
	}
	return cells, nil
}

// A CellReader reads cells of list files. It keeps its memory, and is not safe for
// concurrent use.
type CellReader struct {
	window []byte
	at     uint64
	f      *ListFile
}

// Append appends the rows of the first of some cells of a file, which ascend in the
// file. It reads with it those of the others that follow at once.
func (c *CellReader) Append(dst []Row, f *ListFile, cells []Cell) ([]Row, error) {
	raw, err := c.Raw(f, cells)
	if err != nil {
		return dst, err
	}
	dst, err = readCell(dst, raw, cells[0])
	if err != nil {
		err = f.errorf("damaged in the cell at byte %d", cells[0].Offset)
	}
	return dst, err
}

// readAhead is how many bytes are read in one go, if the cells follow one another.
const readAhead = 64 << 10

// Raw returns the packed bytes of the first cell, whose checksum has been checked. They
// hold until the next call.
func (c *CellReader) Raw(f *ListFile, cells []Cell) ([]byte, error) {
	e := cells[0]
	end := e.Offset + uint64(e.Length)
	if c.f != f || e.Offset < c.at || end > c.at+uint64(len(c.window)) {
		to := end
		for _, next := range cells[1:] {
			if next.Offset != to || to-e.Offset+uint64(next.Length) > readAhead {
				break
			}
			to += uint64(next.Length)
		}
		c.window = slices.Grow(c.window[:0], int(to-e.Offset))[:to-e.Offset]
		c.at, c.f = e.Offset, f
		if err := f.readAt(c.window, int64(e.Offset)); err != nil {
			c.f = nil
			return nil, err
		}
	}
	raw := c.window[e.Offset-c.at : end-c.at]
	if crc32.Checksum(raw, castagnoli) != e.Sum {
		return nil, f.errorf("damaged: the checksum of the cell at byte %d (keys from %#x) is wrong", e.Offset, e.First)
	}
	return raw, nil
}

// Check reads the whole file, and holds every cell to its checksum.
func (f *ListFile) Check() error {
	var c CellReader
	for _, p := range f.pages {
		cells, err := f.Cells(p)
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

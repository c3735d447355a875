package streamfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
)

// A FormatError is the error for a pack file that is damaged, truncated or of another format.
type FormatError struct {
	File   string
	Reason string
}

func (e *FormatError) Error() string { return e.File + ": " + e.Reason }

// A File is an open pack file. It is safe for concurrent use. The caller must not modify it, but for Deduce, before it reads
// blocks.
type File struct {
	r io.ReaderAt
	*index
}

// An index is what is read when a file is opened.
type index struct {
	Name   string // in errors
	Size   int64  // in bytes
	Spec   string // of the game
	Kind   CellKind
	Sum    uint32 // a checksum that covers all other checksums of the file
	Stages []int  // those that have cells, ascending
	Stored uint64 // the number of records that the file stores
	// Counts are the numbers of records of blocks or of Values by value, as the writer counted them; index 0 are the open
	// positions of blocks. Of HalfBlocks all positions are counted, as if all were stored.
	Counts []uint64
	// Content is a checksum of what compact blocks store: of their values, and the slots that are absent. It
	// does not depend on their codes. The checksum of several files is the sum of theirs. It is 0 without a model.
	Content uint64

	compact
	start, end uint64                                  // offsets of the first cell and of the directory
	pages      []page                                  // by stage
	parsed     [parsedPages]atomic.Pointer[parsedPage] // those that cursors read last, by number modulo parsedPages
}

// parsedPages is the number of pages of the index that a File caches for its cursors, most of which
// read neighbouring cells at the same time.
const parsedPages = 8

// A parsedPage is a page of the index.
type parsedPage struct {
	number int
	cells  []Cell
}

// OpenFile reads the head and the end of a pack file of size bytes, called name in errors. If they are truncated or
// damaged, or the format is another one, the error is a *FormatError.
func OpenFile(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{r, &index{Name: name, Size: size}}
	head, err := f.read(nil, 0, int(min(size, int64(len(magic)+binary.MaxVarintLen64+maxSpec+1))))
	if err == nil {
		err = f.checkMagic(string(head[:min(len(head), len(magic))]))
	}
	if err != nil {
		return nil, err
	}
	n := varints{rest: head[len(magic):]}
	f.Spec, f.Kind = string(n.bytes(n.below(maxSpec+1))), CellKind(n.bytes(1)[0])
	if n.bad || int(f.Kind) >= len(kindNames) {
		return nil, f.errorf("damaged at its beginning")
	}
	head = head[:len(head)-len(n.rest)]
	if f.start = uint64(len(head)); size < int64(f.start)+int64(tailSize) {
		return nil, f.errorf("cut short: %d bytes", size)
	}
	end, err := f.read(nil, uint64(max(0, size-endSize)), int(min(size, endSize)))
	if err != nil {
		return nil, err
	}
	tail := end[len(end)-tailSize:]
	if string(tail[tailSize-len(magic):]) != magic {
		return nil, f.errorf("cut short: its end mark is missing after %d bytes", size)
	}
	f.end, f.Sum = binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint32(tail[8:])
	length := uint64(size) - uint64(tailSize) - f.end
	if crc32.Checksum(tail[:8+sumSize], castagnoli) != binary.LittleEndian.Uint32(tail[8+sumSize:]) || f.end < f.start || length > uint64(size) {
		return nil, f.errorf("damaged at its end")
	}
	if end = end[:len(end)-tailSize]; length <= uint64(len(end)) {
		end = end[uint64(len(end))-length:]
	} else if end, err = f.read(nil, f.end, int(length)); err != nil {
		return nil, err
	}
	if crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, end) != f.Sum {
		return nil, f.errorf("damaged at its beginning or end: the checksum is wrong")
	}
	n = varints{rest: end}
	f.readDirectory(&n)
	if f.readSummary(&n); n.bad {
		return nil, f.errorf("damaged in its directory")
	}
	return f, nil
}

// checkMagic checks the first bytes of the file.
func (f *File) checkMagic(begin string) error {
	switch {
	case begin == magic:
		return nil
	case len(begin) == len(magic) && begin[:6] == magic[:6]:
		return f.errorf("of format %s, this program reads %s: use the program that wrote it", begin, magic)
	case strings.HasPrefix(begin, "TRBLOCK"), strings.HasPrefix(begin, "TRLISTS"):
		return f.errorf("of an earlier format, %s, this program reads %s: solve the game again", begin, magic)
	}
	return f.errorf("not a pack file: it begins with %q, expected %q", begin, magic)
}

// varints reads numbers from bytes. After one that is missing or wrong, bad is set, and all others are 0.
type varints struct {
	rest []byte
	bad  bool
}

func (n *varints) fail() { n.rest, n.bad = nil, true }

// next reads a varint.
func (n *varints) next() uint64 {
	v, used := binary.Uvarint(n.rest)
	if used <= 0 {
		n.fail()
		return 0
	}
	n.rest = n.rest[used:]
	return v
}

// below reads a varint that is below limit.
func (n *varints) below(limit uint64) uint64 {
	v := n.next()
	if v >= limit {
		n.fail()
		return 0
	}
	return v
}

// bytes reads a number of bytes. If there are fewer, it returns zeros, of at most eight bytes.
func (n *varints) bytes(length uint64) []byte {
	if uint64(len(n.rest)) < length {
		n.fail()
		return make([]byte, min(length, 8))
	}
	b := n.rest[:length]
	n.rest = n.rest[length:]
	return b
}

func (n *varints) sum() uint32 { return binary.LittleEndian.Uint32(n.bytes(sumSize)) }

// readDirectory reads the directory.
func (f *File) readDirectory(n *varints) {
	before, all := page{at: f.start}, uint64(0) // the bytes of all pages, so that they are not one page many times
	for range n.next() {
		step, first, cells := n.below(1<<32-uint64(before.stage)), n.next(), n.below(2*pageCells+2)
		p := page{stage: before.stage + uint32(step), first: first, cells: int(cells >> 1), spread: cells&1 != 0, records: n.next()}
		p.from = before.at + uint64(before.length) + unzigzag(n.next())
		p.at, p.length, p.sum = p.from+n.next(), int(n.below(pageCells*maxEntry+1)), n.sum()
		if step == 0 {
			p.first += before.first
		}
		same := step == 0 && len(f.pages) > 0
		all += uint64(p.length)
		if n.bad || all > f.end-f.start || p.cells*minEntry > p.length || p.cells == 0 ||
			p.from < f.start || p.from > p.at || p.at > f.end || uint64(p.length) > f.end-p.at ||
			same && (before.cells != pageCells || f.Kind.isBlocks() && p.first <= before.first) {
			n.fail()
			return
		}
		if !same {
			f.Stages = append(f.Stages, int(p.stage))
		}
		f.Stored += p.records
		f.pages, before = append(f.pages, p), p
	}
}

// readSummary reads the summary.
func (f *File) readSummary(n *varints) {
	limit := maxRowValue + 1
	if f.Kind.isBlocks() {
		limit = len(Counts{})
	}
	for range n.next() {
		value := int(n.below(uint64(limit)))
		if n.bad || value < len(f.Counts) {
			n.fail()
			return
		}
		f.Counts = append(append(f.Counts, make([]uint64, value-len(f.Counts))...), n.next())
	}
	if len(n.rest) > 0 {
		f.Content = binary.LittleEndian.Uint64(n.bytes(8))
		f.Model = readModel(n)
	}
}

// parsePage appends the cells of the page of a number, whose bytes are src.
func (f *File) parsePage(dst []Cell, src []byte, number int) ([]Cell, error) {
	p := &f.pages[number]
	n := varints{rest: src, bad: crc32.Checksum(src, castagnoli) != p.sum}
	blocks, end := f.Kind.isBlocks(), f.end
	mostRecords, mostBytes := uint64(CellRows), uint64(maxCell)
	if blocks {
		mostRecords, mostBytes = math.MaxUint32, math.MaxUint32
	}
	if !p.spread {
		end = p.at
	}
	key, at, records := p.first, p.from, uint64(0)
	for j := range p.cells {
		first := key + n.next()
		c := Cell{First: first, Last: first, Offset: at, Stage: p.stage}
		if !blocks {
			c.Last += n.next()
		}
		c.Records = uint32(n.below(mostRecords + 1))
		if p.spread {
			c.Offset += n.below(end - at + 1)
		}
		c.Length, c.Sum = uint32(n.below(min(end-c.Offset, mostBytes)+1)), n.sum()
		if n.bad || c.Length == 0 || c.Records == 0 || c.Last < first || j == 0 && first != key || j > 0 && blocks && first <= key {
			n.fail()
			break
		}
		dst = append(dst, c)
		key, at, records = c.Last, c.Offset+uint64(c.Length), records+uint64(c.Records)
	}
	if next := number + 1; n.bad || len(n.rest) > 0 || records != p.records || !p.spread && at != p.at ||
		blocks && next < len(f.pages) && f.pages[next].stage == p.stage && key >= f.pages[next].first {
		return dst, f.errorf("damaged in its index, in the page at byte %d", p.at)
	}
	return dst, nil
}

func (f *File) errorf(format string, args ...any) error {
	return &FormatError{File: f.Name, Reason: fmt.Sprintf(format, args...)}
}

// read reads length bytes from offset at, into the memory of buf. If the file ends before, the error reports that it is
// truncated.
func (f *File) read(buf []byte, at uint64, length int) ([]byte, error) {
	buf = slices.Grow(buf[:0], length)[:length]
	n, err := f.r.ReadAt(buf, int64(at))
	switch {
	case n == len(buf):
		err = nil
	case errors.Is(err, io.EOF):
		err = f.errorf("cut short at byte %d", at+uint64(n))
	default:
		err = fmt.Errorf("%s: %w", f.Name, err)
	}
	return buf, err
}

// With returns the same file, but reading from r, another reader of the same bytes.
func (f *File) With(r io.ReaderAt) *File { return &File{r, f.index} }

// Close closes the reader of the file if it is an io.Closer.
func (f *File) Close() error {
	if c, ok := f.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Records returns the number of records, with those that HalfBlocks represent.
func (f *File) Records() (n uint64) {
	if f.Kind != HalfBlocks {
		return f.Stored
	}
	for _, c := range f.Counts {
		n += c
	}
	return n
}

// pagesOf returns the pages of a stage, and the number of the first.
func (f *File) pagesOf(stage int) (from int, pages []page) {
	from = sort.Search(len(f.pages), func(i int) bool { return int(f.pages[i].stage) >= stage })
	to := from + sort.Search(len(f.pages)-from, func(i int) bool { return int(f.pages[from+i].stage) > stage })
	return from, f.pages[from:to]
}

// StageRecords returns the number of records of a stage.
func (f *File) StageRecords(stage int) (n uint64) {
	f.EachPage(stage, func(_, records, _ uint64) { n += records })
	return n
}

// EachPage calls do for each page of the index of a stage, with its first key, its number of records, and the number of bytes
// of its cells. It reads nothing.
func (f *File) EachPage(stage int, do func(first, records, bytes uint64)) {
	_, pages := f.pagesOf(stage)
	for _, p := range pages {
		do(p.first, p.records, p.bytes())
	}
}

// Cells reads the complete index of a stage, in the order in which the cells were written. It takes 40 bytes of memory for
// each.
func (f *File) Cells(stage int) ([]Cell, error) {
	from, pages := f.pagesOf(stage)
	cells, buf, err := make([]Cell, 0, cellsIn(pages)), []byte(nil), error(nil)
	for i, p := range pages {
		if buf, err = f.read(buf, p.at, p.length); err == nil {
			cells, err = f.parsePage(cells, buf, from+i)
		}
		if err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// cellsIn returns the number of cells of the pages of a stage.
func cellsIn(pages []page) int {
	if len(pages) == 0 {
		return 0
	}
	return (len(pages)-1)*pageCells + pages[len(pages)-1].cells
}

// Check reads the complete file, and verifies the checksum of every cell.
func (f *File) Check() error {
	for _, stage := range f.Stages {
		c := f.Cursor(stage, bufferSize)
		for i := range c.Len() {
			cell, err := c.Cell(i)
			if err == nil {
				_, err = c.Raw(cell)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

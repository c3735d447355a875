package streamfmt

import (
	"hash/crc32"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game/block"
)

// A window contains the bytes of a file that were read last, for sequential readers.
type window struct {
	f     *File
	bytes []byte
	at    uint64
}

// read returns the bytes of a cell, after verifying its checksum. They are valid until the next call. For ahead, see get.
func (w *window) read(f *File, c *Cell, ahead uint64) ([]byte, error) {
	raw, err := w.get(f, c.Offset, uint64(c.Length), ahead)
	if err == nil && crc32.Checksum(raw, castagnoli) != c.Sum {
		err = f.errorAt(c, "the checksum is wrong")
	}
	return raw, err
}

// errorAt returns the error for a damaged cell.
func (f *File) errorAt(c *Cell, reason any) error {
	return f.errorf("damaged: the cell at byte %d (keys from %#x): %v", c.Offset, c.First, reason)
}

// get returns the length bytes at offset at. If the window does not contain all of them, get fills it
// from at: with length bytes, or with ahead bytes if that is more, but none after the last page.
func (w *window) get(f *File, at, length, ahead uint64) ([]byte, error) {
	if w.f != f || at < w.at || at+length > w.at+uint64(len(w.bytes)) {
		var err error
		w.f, w.at = f, at
		if w.bytes, err = f.read(w.bytes, at, int(max(length, min(ahead, f.end-at)))); err != nil {
			w.f = nil
			return nil, err
		}
	}
	return w.bytes[at-w.at:][:length], nil
}

// A Cursor reads cells of a stage, whose keys ascend. It reads ahead, so it is fastest in ascending order. It is
// not safe for concurrent use.
type Cursor struct {
	OpenOnly bool // whether Read reads only the open slots of blocks

	f       *File
	from    int    // the index of the first of pages in those of the file
	pages   []page // of the stage
	ahead   int
	window  window
	decoder Decoder

	page  int // the page in cells, if there are any
	at    int // in cells: the first that does not end below the key that was searched last
	bytes []byte
	cells []Cell
}

// Cursor returns a Cursor that reads ahead the given number of bytes.
func (f *File) Cursor(stage, ahead int) *Cursor {
	from, pages := f.pagesOf(stage)
	return &Cursor{f: f, from: from, pages: pages, ahead: ahead, decoder: Decoder{compact: &f.compact}}
}

// Len returns the number of cells.
func (c *Cursor) Len() int { return cellsIn(c.pages) }

// First returns the first key, which it need not read; 0 if there are no cells.
func (c *Cursor) First() uint64 {
	if len(c.pages) == 0 {
		return 0
	}
	return c.pages[0].first
}

// load reads the i-th page of the index, unless it is the one that was read last. If the page and
// its cells are much smaller than what the cursor reads ahead, load reads all of them at once.
func (c *Cursor) load(i int) (err error) {
	if i == c.page && len(c.cells) > 0 {
		return nil
	}
	number := c.from + i
	cached := &c.f.parsed[number%parsedPages]
	if p := cached.Load(); p != nil && p.number == number {
		c.page, c.at, c.cells = i, 0, p.cells
		return nil
	}
	p, raw := &c.pages[i], []byte(nil)
	if size := p.bytes() + uint64(p.length); size <= uint64(c.ahead)/4 {
		if raw, err = c.window.get(c.f, p.from, size, uint64(c.ahead)); err == nil {
			raw = raw[p.bytes():]
		}
	} else {
		c.bytes, err = c.f.read(c.bytes, p.at, p.length)
		raw = c.bytes
	}
	c.cells = nil
	if err != nil {
		return err
	}
	cells, err := c.f.parsePage(make([]Cell, 0, p.cells), raw, number)
	if err != nil {
		return err
	}
	c.page, c.at, c.cells = i, 0, cells
	cached.Store(&parsedPage{number, cells})
	return nil
}

// Cell locates the i-th cell. The cursor keeps the page of the index that it read last.
func (c *Cursor) Cell(i int) (cell Cell, err error) {
	if err := c.load(i / pageCells); err != nil {
		return cell, err
	}
	return c.cells[i%pageCells], nil
}

// Find locates the cell that contains a key, without reading the complete index; ok is false if the file
// has none. It keeps the page of the index that it read last, and is fastest in ascending order.
func (c *Cursor) Find(key uint64) (cell Cell, ok bool, err error) {
	if _, err = c.Search(key); err != nil || c.at == len(c.cells) || c.cells[c.at].First > key {
		return cell, false, err
	}
	return c.cells[c.at], true, nil
}

// Search returns the number of cells that end below a key, as Find finds them.
func (c *Cursor) Search(key uint64) (int, error) {
	if n := len(c.cells); n == 0 || key < c.cells[0].First || key > c.cells[n-1].Last {
		if len(c.pages) == 0 {
			return 0, nil
		}
		i := sort.Search(len(c.pages), func(i int) bool { return c.pages[i].first > key })
		if err := c.load(max(i-1, 0)); err != nil {
			return 0, err
		}
	}
	if c.at > 0 && c.cells[c.at-1].Last >= key {
		c.at = 0
	}
	step := 1
	for c.at+step < len(c.cells) && c.cells[c.at+step].Last < key {
		c.at += step
		step *= 2
	}
	rest := c.cells[c.at:min(c.at+step+1, len(c.cells))]
	c.at += sort.Search(len(rest), func(i int) bool { return rest[i].Last >= key })
	return c.page*pageCells + c.at, nil
}

// Raw returns the packed bytes of a cell, after verifying its checksum. They are valid until
// the next call.
func (c *Cursor) Raw(cell Cell) ([]byte, error) { return c.window.read(c.f, &cell, uint64(c.ahead)) }

// Read reads a block into b. The caller has prepared b for the block's tier and range, with Reset, or with ResetOpen if
// OpenOnly is set.
func (c *Cursor) Read(cell Cell, b *block.Block) error {
	raw, err := c.Raw(cell)
	if err != nil {
		return err
	}
	decode := c.decoder.Decode
	if c.OpenOnly {
		decode = c.decoder.DecodeOpen
	}
	if err := decode(raw, b); err != nil {
		return c.f.errorAt(&cell, err)
	}
	return nil
}

// View reads a block, whose slots have the given low parts, into v.
func (c *Cursor) View(cell Cell, lowBits uint, low []uint32, v *View) error {
	raw, err := c.Raw(cell)
	if err != nil {
		return err
	}
	v.block.Assign(int(cell.Stage), cell.First, lowBits, low)
	if err := v.set(raw, &c.f.compact); err != nil {
		return c.f.errorAt(&cell, err)
	}
	return nil
}

// A RowReader reads cells of rows from any files. It reuses its memory, and is not safe for concurrent use.
type RowReader struct {
	window window
	coder  *cellCoder // nil before the first coded cell
}

// readAhead is the maximum number of bytes that a RowReader reads at once if the cells are contiguous.
const readAhead = 64 << 10

// Append appends the rows of the first of cells, whose offsets must be ascending. It may leave out those with keys above until,
// and reads ahead the cells that follow without a gap.
func (r *RowReader) Append(dst []Row, f *File, cells []Cell, until uint64) ([]Row, error) {
	c := &cells[0]
	ahead := uint64(c.Length)
	for _, next := range cells[1:] {
		if next.Offset != c.Offset+ahead || ahead+uint64(next.Length) > readAhead {
			break
		}
		ahead += uint64(next.Length)
	}
	raw, err := r.window.read(f, c, ahead)
	if err != nil {
		return dst, err
	}
	if dst, err = r.decode(dst, raw, c, f.Kind.maxWord(), until); err != nil {
		err = f.errorAt(c, err)
	}
	return dst, err
}

// decode appends the rows of a packed cell, see readCell.
func (r *RowReader) decode(dst []Row, src []byte, c *Cell, most, until uint64) ([]Row, error) {
	if len(src) == 0 || src[0] != codedRows {
		return readCell(dst, src, c, most, until)
	}
	if r.coder == nil {
		r.coder = new(cellCoder)
	}
	n := len(dst) + int(c.Records)
	dst = slices.Grow(dst, int(c.Records))
	if err := r.coder.read(dst[len(dst):n], src[1:], c, most); err != nil {
		return dst, err
	}
	return dst[:n], nil
}

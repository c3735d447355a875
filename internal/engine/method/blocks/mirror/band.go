package mirror

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A band is sorted images: a sequence of pages, in memory or in a file, each a sequence of rows. A
// file is read only by the process that wrote it. A row is the difference of its range from that of
// the row before in the page, the length of its images, and its images in the order of their slots: for each the number of
// slots between it and the one before, and its value, unless the kind is Reached. Numbers are varints. Rows of one range are
// in one page.
type band struct {
	pages []page
	file  *os.File // nil: the pages are in memory
}

// A page is a part of a band.
type page struct {
	first  uint64 // the range of its first row
	length int
	bytes  []byte // if it is in memory

	// In a file.
	at  int64  // offset
	sum uint32 // CRC-32C
}

const (
	// pageBytes is the least number of bytes of a page, except the last one.
	pageBytes = 16 << 10
	// CursorMemory is the number of bytes that a reader of a band takes.
	CursorMemory = 2 * pageBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A bandWriter writes a band, to memory or to a file.
type bandWriter struct {
	band
	s         *sorter
	keep      bool // in memory
	at        int64
	page, row []byte
	first     uint64 // the ranges of the first and of the last row of the page
	last      uint64
}

func (s *sorter) writer(keep bool) *bandWriter { return &bandWriter{s: s, keep: keep} }

// appendGap appends the number of slots between two images; it is not negative, because the slots of
// a row ascend.
func appendGap(dst []byte, gap int) []byte {
	if gap < 0x80 {
		return append(dst, byte(gap))
	}
	return binary.AppendUvarint(dst, uint64(gap))
}

// add adds a row: the slots of a set, with their values, unless the kind is Reached. A value of 0 is none.
func (w *bandWriter) add(rng uint64, set block.Set, val []byte) error {
	row, next := w.row[:0], 0
	for slot := range set.All() {
		if w.s.kind != Reached && val[slot] == 0 {
			continue
		}
		row = appendGap(row, slot-next)
		if next = slot + 1; w.s.kind != Reached {
			row = append(row, val[slot])
		}
	}
	w.row = row
	return w.append(rng, row)
}

// append adds a row, unless it has no images. Its range is that of the one before, or above it.
func (w *bandWriter) append(rng uint64, images []byte) error {
	if len(images) == 0 {
		return nil
	}
	if len(w.page) >= pageBytes && rng != w.last {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.page) == 0 {
		w.first, w.last = rng, rng
	}
	w.page = binary.AppendUvarint(w.page, rng-w.last)
	w.page = binary.AppendUvarint(w.page, uint64(len(images)))
	w.page = append(w.page, images...)
	w.last = rng
	return nil
}

// flush writes the page.
func (w *bandWriter) flush() error {
	if len(w.page) == 0 {
		return nil
	}
	p := page{first: w.first, length: len(w.page), at: w.at, sum: crc32.Checksum(w.page, castagnoli)}
	if w.keep {
		p.bytes = slices.Clone(w.page)
	} else {
		if w.file == nil {
			if err := w.create(); err != nil {
				return err
			}
		}
		if _, err := w.file.Write(w.page); err != nil {
			return err
		}
		w.at += int64(p.length)
	}
	w.pages = append(w.pages, p)
	w.page = w.page[:0]
	return nil
}

// create creates the file. Where the system allows it, its name is removed at once: its space is released when the process ends.
func (w *bandWriter) create() (err error) {
	if w.file, err = store.CreateTemp(w.s.place.Dir, "images-*"); err != nil {
		return err
	}
	_ = os.Remove(w.file.Name()) // closeTemporary tries it again
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.s.files++
	return nil
}

// closeTemporary closes and deletes a file.
func closeTemporary(file *os.File) error {
	err := file.Close()
	if removed := os.Remove(file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// finish completes the band if err is nil, and adds it to those of the sorter, unless it is empty.
func (w *bandWriter) finish(err error) error {
	if err == nil {
		err = w.flush()
	}
	if len(w.pages) > 0 || w.file != nil {
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		w.s.bands = append(w.s.bands, &w.band)
	}
	return err
}

// A bandCursor reads a band. It is fastest if ranges ascend.
type bandCursor struct {
	*band
	kind Kind

	n      int // number of the page that was read last plus 1
	bytes  []byte
	buffer []byte // for pages of files
	row    int    // offset of the next row
	last   uint64 // the range of the row before
}

// cursors returns cursors of all bands.
func (s *sorter) cursors() []bandCursor {
	cursors := make([]bandCursor, len(s.bands))
	for i, b := range s.bands {
		cursors[i] = bandCursor{band: b, kind: s.kind}
	}
	return cursors
}

// read reads a page.
func (c *bandCursor) read(n int) error {
	p := &c.pages[n]
	c.bytes = p.bytes
	if c.file != nil {
		c.n = 0
		if cap(c.buffer) < p.length {
			c.buffer = make([]byte, p.length)
		}
		c.bytes = c.buffer[:p.length]
		if _, err := c.file.ReadAt(c.bytes, p.at); err != nil {
			return err
		}
		if crc32.Checksum(c.bytes, castagnoli) != p.sum {
			return errors.New("a temporary file has changed: repeat the command")
		}
	}
	c.n, c.row, c.last = n+1, 0, p.first
	return nil
}

// A bandRow is images in a range.
type bandRow struct {
	rng    uint64
	images []byte
	end    int // offset of the next row
}

// peek returns the next row of the page; ok is false at its end.
func (c *bandCursor) peek() (r bandRow, ok bool) {
	if c.row == len(c.bytes) {
		return r, false
	}
	more, a := binary.Uvarint(c.bytes[c.row:])
	length, b := binary.Uvarint(c.bytes[c.row+a:])
	from := c.row + a + b
	end := from + int(length)
	return bandRow{c.last + more, c.bytes[from:end], end}, true
}

// skip goes to the row after r.
func (c *bandCursor) skip(r bandRow) { c.row, c.last = r.end, r.rng }

// seek goes to the first row of a range, or a row of another one.
func (c *bandCursor) seek(rng uint64) error {
	if n := c.n; n == 0 || rng < c.pages[n-1].first || n < len(c.pages) && rng >= c.pages[n].first {
		n = sort.Search(len(c.pages), func(i int) bool { return c.pages[i].first > rng })
		if n == 0 {
			return nil
		}
		if err := c.read(n - 1); err != nil {
			return err
		}
	} else if rng <= c.last {
		c.row, c.last = 0, c.pages[n-1].first
	}
	for {
		r, ok := c.peek()
		if !ok || r.rng >= rng {
			return nil
		}
		c.skip(r)
	}
}

// mergeAll merges the images in the range of a block into it.
func mergeAll(cursors []bandCursor, b *block.Block) error {
	for i := range cursors {
		if err := cursors[i].merge(b); err != nil {
			return err
		}
	}
	return nil
}

// merge merges the images in the range of a block into it: open positions (Reached), the scores of
// open positions if they are better (Scores), or positions with a value (Values).
func (c *bandCursor) merge(b *block.Block) error {
	if err := c.seek(b.Range); err != nil {
		return err
	}
	for {
		r, ok := c.peek()
		if !ok || r.rng != b.Range {
			return nil
		}
		c.skip(r)
		c.kind.merge(b, r.images)
	}
}

// merge merges images into b.
func (k Kind) merge(b *block.Block, images []byte) {
	for slot, i := 0, 0; i < len(images); slot++ {
		gap := int(images[i])
		i++
		if gap >= 0x80 {
			long, n := binary.Uvarint(images[i-1:])
			gap, i = int(long), i-1+n
		}
		slot += gap
		if k == Reached {
			b.Open.Add(slot)
			continue
		}
		value := images[i]
		i++
		if k == Values {
			b.Done.Add(slot)
			b.Val[slot] = value
		} else if b.Open.Has(slot) {
			b.Val[slot] = max(b.Val[slot], value)
		}
	}
}

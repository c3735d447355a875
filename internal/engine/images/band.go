package images

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"path"
	"sort"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A band is sorted images, in memory or in a file. A file is read only by the process that wrote it. It
// is a sequence of pages, each a sequence of rows. A row is the difference of its range from that of
// the row before in the page, the length of the rest, and its images in the order of their slots: the
// number of slots between this one and the one before, and the value, unless the kind is Reached.
// Numbers are varints.
type band struct {
	// In memory: the images by range.
	entries []uint32 // slot<<8 | value
	ranges  []uint64
	ends    []int // where the images of each range end in entries

	// In a file.
	file  store.File
	name  string // "": it has none
	pages []page
}

// A page is a part of a file.
type page struct {
	first  uint64 // the range of its first row
	at     int64  // offset
	length int
	sum    uint32 // CRC-32C
}

const (
	// pageBytes is the least number of bytes of a page, except the last one.
	pageBytes = 32 << 10
	// CursorMemory is the number of bytes that a reader of a band takes.
	CursorMemory = 2 * pageBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A bandWriter writes a band to a file. It is created when the first page is written.
type bandWriter struct {
	s         *sorter
	out       io.WriteCloser
	name      string
	at        int64
	pages     []page
	page, row []byte
	first     uint64 // the ranges of the first and of the last row of the page
	last      uint64
}

func (s *sorter) writer() *bandWriter { return &bandWriter{s: s} }

// add adds a row: the slots of a set, with their values, which are ignored if the kind is Reached.
// The range is above those before.
func (w *bandWriter) add(rng uint64, set block.Set, val []byte) error {
	row, next := w.row[:0], 0
	for i, word := range set {
		for base := i << 6; word != 0; word &= word - 1 {
			slot := base + bits.TrailingZeros64(word)
			if w.s.kind != Reached && val[slot] == 0 {
				continue
			}
			if gap := slot - next; gap < 0x80 {
				row = append(row, byte(gap))
			} else {
				row = binary.AppendUvarint(row, uint64(gap))
			}
			if w.s.kind != Reached {
				row = append(row, val[slot])
			}
			next = slot + 1
		}
	}
	w.row = row
	if len(row) == 0 {
		return nil
	}
	if len(w.page) == 0 {
		w.first, w.last = rng, rng
	}
	w.page = binary.AppendUvarint(w.page, rng-w.last)
	w.page = binary.AppendUvarint(w.page, uint64(len(row)))
	w.page = append(w.page, row...)
	w.last = rng
	if len(w.page) < pageBytes {
		return nil
	}
	return w.flush()
}

// flush writes the page.
func (w *bandWriter) flush() (err error) {
	if len(w.page) == 0 {
		return nil
	}
	if w.out == nil {
		if err = w.create(); err != nil {
			return err
		}
	}
	w.pages = append(w.pages, page{w.first, w.at, len(w.page), crc32.Checksum(w.page, castagnoli)})
	w.at += int64(len(w.page))
	_, err = w.out.Write(w.page)
	w.page = w.page[:0]
	return err
}

// create creates the file.
func (w *bandWriter) create() error {
	s := w.s
	if s.place.FS == nil {
		file, err := os.CreateTemp("", "treereduce-"+s.place.Name+"-*")
		if err != nil {
			return err
		}
		w.out, w.name = file, file.Name()
		return nil
	}
	s.mu.Lock()
	w.name = path.Join(s.place.Dir, fmt.Sprintf("_%s-%05d", s.place.Name, s.files))
	s.files++
	s.mu.Unlock()
	out, err := s.place.FS.Create(w.name)
	if err != nil {
		return err
	}
	w.out = out
	return nil
}

// finish completes the file if err is nil, and opens it; the band is nil if it is empty.
func (w *bandWriter) finish(err error) (*band, error) {
	if err == nil {
		err = w.flush()
	}
	if w.out == nil {
		return nil, err
	}
	err = errors.Join(err, w.out.Close())
	var fsys store.FS = store.Local{}
	if w.s.place.FS != nil {
		fsys = w.s.place.FS
	}
	b := &band{name: w.name, pages: w.pages}
	if err == nil {
		b.file, err = fsys.Open(w.name)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", w.name, err), fsys.RemoveAll(w.name))
	}
	if w.s.place.FS == nil { // its space is released when it is closed, or garbage
		b.name = ""
		err = os.Remove(w.name)
	}
	return b, err
}

// A bandCursor reads a band. It is fastest if ranges ascend.
type bandCursor struct {
	*band
	kind Kind
	at   int // in memory: of the range that was read last

	// In a file: the page that was read last, the offset of a row, and the range of the row before.
	n     int // number of the page plus 1
	bytes []byte
	row   int
	last  uint64
}

// cursors returns cursors of all bands.
func (s *sorter) cursors() []bandCursor {
	cursors := make([]bandCursor, len(s.bands))
	for i, b := range s.bands {
		cursors[i] = bandCursor{band: b, kind: s.kind}
	}
	return cursors
}

// findEntries returns the images in a range of a band in memory.
func (c *bandCursor) findEntries(rng uint64) []uint32 {
	if c.at == len(c.ranges) || c.ranges[c.at] != rng {
		if c.at+1 < len(c.ranges) && c.ranges[c.at+1] == rng {
			c.at++
		} else {
			c.at = sort.Search(len(c.ranges), func(i int) bool { return c.ranges[i] >= rng })
		}
	}
	if c.at == len(c.ranges) || c.ranges[c.at] != rng {
		return nil
	}
	from := 0
	if c.at > 0 {
		from = c.ends[c.at-1]
	}
	return c.entries[from:c.ends[c.at]]
}

// read reads a page of a file.
func (c *bandCursor) read(n int) error {
	p := c.pages[n]
	if cap(c.bytes) < p.length {
		c.bytes = make([]byte, p.length)
	}
	c.n, c.bytes = 0, c.bytes[:p.length]
	if _, err := c.file.ReadAt(c.bytes, p.at); err != nil {
		return err
	}
	if crc32.Checksum(c.bytes, castagnoli) != p.sum {
		return errors.New("a temporary file has changed: repeat the command")
	}
	c.n, c.row, c.last = n+1, 0, p.first
	return nil
}

// next returns the row at the offset, and the offset of the next one; ok is false at the end of the
// page.
func (c *bandCursor) next() (rng uint64, images []byte, end int, ok bool) {
	if c.row == len(c.bytes) {
		return 0, nil, 0, false
	}
	more, a := binary.Uvarint(c.bytes[c.row:])
	n, b := binary.Uvarint(c.bytes[c.row+a:])
	from := c.row + a + b
	end = from + int(n)
	return c.last + more, c.bytes[from:end], end, true
}

// find returns the images in a range of a band in a file.
func (c *bandCursor) find(rng uint64) ([]byte, error) {
	if n := c.n; n == 0 || rng < c.pages[n-1].first || n < len(c.pages) && rng >= c.pages[n].first {
		n = sort.Search(len(c.pages), func(i int) bool { return c.pages[i].first > rng })
		if n == 0 {
			return nil, nil
		}
		if err := c.read(n - 1); err != nil {
			return nil, err
		}
	} else if rng <= c.last {
		c.row, c.last = 0, c.pages[n-1].first
	}
	for {
		at, images, end, ok := c.next()
		if !ok || at > rng {
			return nil, nil
		}
		if at == rng {
			return images, nil
		}
		c.row, c.last = end, at
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
	if c.file == nil {
		for _, e := range c.findEntries(b.Range) {
			c.kind.merge(b, int(e>>8), byte(e))
		}
		return nil
	}
	images, err := c.find(b.Range)
	if err != nil {
		return err
	}
	for slot, i := 0, 0; i < len(images); slot++ {
		gap := int(images[i])
		i++
		if gap >= 0x80 {
			long, n := binary.Uvarint(images[i-1:])
			gap, i = int(long), i-1+n
		}
		slot += gap
		value := byte(0)
		if c.kind != Reached {
			value = images[i]
			i++
		}
		c.kind.merge(b, slot, value)
	}
	return nil
}

// merge merges an image into b.
func (k Kind) merge(b *block.Block, slot int, value byte) {
	switch k {
	case Reached:
		b.Open.Add(slot)
	case Scores:
		if b.Open.Has(slot) {
			b.Val[slot] = max(b.Val[slot], value)
		}
	case Values:
		b.Done.Add(slot)
		b.Val[slot] = value
	}
}

// rows returns the ranges of a band.
func (c *bandCursor) rows() Ranger {
	if c.file == nil {
		return List(c.ranges)
	}
	return func() (rng uint64, ok bool, err error) {
		for {
			rng, _, end, ok := c.next()
			if ok {
				c.row, c.last = end, rng
				return rng, true, nil
			}
			if c.n == len(c.pages) {
				return 0, false, nil
			}
			if err := c.read(c.n); err != nil {
				return 0, false, err
			}
		}
	}
}

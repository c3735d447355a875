package mirror

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
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
	file  store.File // nil: the pages are in memory
	name  string     // the name of the file; empty if it has none
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
	pageBytes = 32 << 10
	// CursorMemory is the number of bytes that a reader of a band takes.
	CursorMemory = 2 * pageBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A bandWriter writes a band, to a file if it is large.
type bandWriter struct {
	s         *sorter
	keep      int // the greatest number of bytes in memory
	out       io.WriteCloser
	name      string // empty: the file has no name
	at        int64
	pages     []page
	page, row []byte
	first     uint64 // the ranges of the first and of the last row of the page
	last      uint64
}

func (s *sorter) writer(keep int) *bandWriter { return &bandWriter{s: s, keep: keep} }

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
	w.pages = append(w.pages, page{first: w.first, length: len(w.page), bytes: w.page})
	unwritten := w.pages[len(w.pages)-1:]
	if w.out == nil {
		if len(w.page) <= w.keep {
			w.keep -= len(w.page)
			unwritten[0].bytes = slices.Clone(w.page)
			w.page = w.page[:0]
			return nil
		}
		if err := w.create(); err != nil {
			return err
		}
		unwritten = w.pages
	}
	for i := range unwritten {
		if err := w.write(&unwritten[i]); err != nil {
			return err
		}
	}
	w.page = w.page[:0]
	return nil
}

// write writes a page to the file, and drops it from memory.
func (w *bandWriter) write(p *page) error {
	p.at, p.sum = w.at, crc32.Checksum(p.bytes, castagnoli)
	w.at += int64(p.length)
	_, err := w.out.Write(p.bytes)
	p.bytes = nil
	return err
}

// create creates the file.
func (w *bandWriter) create() error {
	s := w.s
	if s.place.FS == nil {
		file, err := store.CreateTemp(s.place.Dir, s.place.Name+"-*")
		if err != nil {
			return err
		}
		w.out = file
		return os.Remove(file.Name()) // its space is released when it is closed, or garbage
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

// finish completes the band if err is nil, and opens its file; the band is nil if it is empty.
func (w *bandWriter) finish(err error) (*band, error) {
	if err == nil {
		err = w.flush()
	}
	if w.out == nil {
		if err != nil || len(w.pages) == 0 {
			return nil, err
		}
		return &band{pages: w.pages}, nil
	}
	b := &band{name: w.name, pages: w.pages}
	if file, ok := w.out.(*os.File); ok && w.name == "" {
		if b.file = file; err != nil {
			err = errors.Join(err, file.Close())
		}
		return b, err
	}
	if err = errors.Join(err, w.out.Close()); err == nil {
		b.file, err = w.s.place.FS.Open(w.name)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", w.name, err), w.s.place.FS.RemoveAll(w.name))
	}
	return b, nil
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
func (s *sorter) cursors() []bandCursor { return s.cursorsOf(s.bands) }

func (s *sorter) cursorsOf(bands []*band) []bandCursor {
	cursors := make([]bandCursor, len(bands))
	for i, b := range bands {
		cursors[i] = bandCursor{band: b, kind: s.kind}
	}
	return cursors
}

// mergeBands adds the rows of bands. Rows of one range in several bands become one row.
func (w *bandWriter) mergeBands(ctx context.Context, bands []*band) error {
	type head struct {
		*bandCursor
		row bandRow // its next one
	}
	var heads, same []head // same: those of the lowest range
	cursors := w.s.cursorsOf(bands)
	for i := range cursors {
		same = append(same, head{bandCursor: &cursors[i]})
	}
	var b block.Block
	for ctx.Err() == nil {
		for _, h := range same {
			row, ok, err := h.next()
			if err != nil {
				return err
			}
			if ok {
				heads = append(heads, head{h.bandCursor, row})
			}
		}
		if len(heads) == 0 {
			return nil
		}
		lowest := slices.MinFunc(heads, func(a, b head) int { return cmp.Compare(a.row.rng, b.row.rng) }).row.rng
		same = same[:0]
		heads = slices.DeleteFunc(heads, func(h head) bool {
			if h.row.rng == lowest {
				same = append(same, h)
			}
			return h.row.rng == lowest
		})
		if row := same[0].row; len(same) == 1 {
			same[0].skip(row)
			if err := w.append(lowest, row.images); err != nil {
				return err
			}
			continue
		}
		b.Reset(w.s.tier, lowest, w.s.g.LowBits(), w.s.g.Halved.Low(w.s.tier, lowest))
		set := b.Open
		switch w.s.kind {
		case Scores:
			b.Open.Fill(b.Len()) // scores are merged in open positions
		case Values:
			set = b.Done
		}
		for _, h := range same {
			if err := h.merge(&b); err != nil {
				return err
			}
		}
		if err := w.add(lowest, set, b.Val); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
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

// next returns the next row of the band; ok is false at its end.
func (c *bandCursor) next() (r bandRow, ok bool, err error) {
	for {
		if r, ok = c.peek(); ok || c.n == len(c.pages) {
			return r, ok, nil
		}
		if err := c.read(c.n); err != nil {
			return r, false, err
		}
	}
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

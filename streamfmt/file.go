package streamfmt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game/block"
)

const (
	fileMagic = "TRBLOCK2"
	halfMagic = "TRBLOCK3"
	tailMagic = "TRBLEND1"
	pageSize  = 256 // blocks
	countSize = 9
	totalSize = 8 // the number of records at the end of the summary of half a tier
)

// Counts contains the number of records of each value. Index 0 counts the open ones.
type Counts [256]uint64

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	for v, n := range o {
		c[v] += n
	}
}

// Total returns the number of records of all values.
func (c *Counts) Total() uint64 {
	var n uint64
	for _, k := range c {
		n += k
	}
	return n
}

// A Packer packs blocks, states, or rows into cells, one after the other, which a
// Writer or a ListWriter appends.
type Packer struct {
	Bytes  []byte
	Cells  []Cell // their offsets are relative to Bytes; both keys of a block are its range
	Counts Counts // records of the blocks, see AddHalf
	Stored uint64 // records that are stored; counted by AddHalf

	values  []uint64 // rows by value, see CountValues
	encoder Encoder
}

// Reset empties p.
func (p *Packer) Reset() {
	p.Bytes, p.Cells, p.Counts, p.Stored = p.Bytes[:0], p.Cells[:0], Counts{}, 0
	clear(p.values)
}

// Add packs b, which must contain at least one record.
func (p *Packer) Add(b *block.Block) {
	from := len(p.Bytes)
	p.Bytes = p.encoder.AppendBlock(p.Bytes, b, (*[256]uint64)(&p.Counts))
	p.end(Cell{First: b.Range, Last: b.Range}, from)
}

// AddHalf packs b, of a tier that stores half of its positions. Each record counts twice, for
// itself and its mirror image, except the balanced ones, whose mirror images are stored.
func (p *Packer) AddHalf(b *block.Block, balanced block.Set) {
	before := p.Counts
	p.Add(b)
	for v, n := range before {
		p.Stored += p.Counts[v] - n
		p.Counts[v] += p.Counts[v] - n
	}
	for i, w := range balanced {
		p.Counts[0] -= uint64(bits.OnesCount64(w & b.Open[i]))
		for w &= b.Done[i]; w != 0; w &= w - 1 {
			p.Counts[b.Val[i<<6+bits.TrailingZeros64(w)]]--
		}
	}
}

// end adds a block or cell, whose bytes begin at from and end at the end of p.Bytes.
func (p *Packer) end(c Cell, from int) {
	packed := p.Bytes[from:]
	c.Offset, c.Length, c.Sum = uint64(from), uint32(len(packed)), crc32.Checksum(packed, castagnoli)
	p.Cells = append(p.Cells, c)
}

// A Writer writes a block file.
type Writer struct {
	frameWriter
	pages  []*indexPage // the first range, and the offset of its block
	blocks uint64
	last   uint64
	counts Counts
	half   bool   // see NewHalfWriter
	stored uint64 // records, if half
}

// NewWriter returns a writer of a block file for a tier of a game, and writes the head.
func NewWriter(w io.Writer, spec string, tier int) (*Writer, error) {
	return newWriter(w, fileMagic, spec, tier)
}

// NewHalfWriter is like NewWriter, for a tier that stores half of its positions. Its blocks must
// be packed by Packer.AddHalf.
func NewHalfWriter(w io.Writer, spec string, tier int) (*Writer, error) {
	half, err := newWriter(w, halfMagic, spec, tier)
	half.half = true
	return half, err
}

func newWriter(out io.Writer, magic, spec string, tier int) (*Writer, error) {
	w := new(Writer)
	return w, w.begin(out, magic, spec, binary.AppendUvarint(nil, uint64(tier))...)
}

// Append writes packed blocks. Their ranges must be above all ranges written before.
func (w *Writer) Append(p *Packer) error {
	for _, c := range p.Cells {
		if err := w.enter(c.First, w.offset+c.Offset, uint64(c.Length), c.Sum); err != nil {
			return err
		}
	}
	w.counts.Add(&p.Counts)
	w.stored += p.Stored
	return w.write(p.Bytes)
}

// enter adds a block to the index.
func (w *Writer) enter(rng, offset, length uint64, sum uint32) error {
	if w.blocks > 0 && rng <= w.last {
		return fmt.Errorf("range %#x comes after range %#x: ranges must ascend", rng, w.last)
	}
	if w.blocks%pageSize == 0 {
		w.pages = append(w.pages, &indexPage{first: rng, second: offset})
		w.last = rng
	}
	page := w.pages[len(w.pages)-1]
	page.entries = binary.AppendUvarint(page.entries, rng-w.last)
	page.entries = binary.AppendUvarint(page.entries, length)
	page.entries = binary.LittleEndian.AppendUint32(page.entries, sum)
	w.last = rng
	w.blocks++
	return nil
}

// AppendFile copies the blocks of f in their packed form. Their ranges must be above all
// ranges written before.
func (w *Writer) AppendFile(f *File) error {
	entries, err := f.Entries()
	if err != nil {
		return err
	}
	c := f.Cursor(bufferSize)
	for _, e := range entries {
		raw, err := c.Raw(e)
		if err != nil {
			return err
		}
		if err := w.enter(e.Range, w.offset, uint64(len(raw)), e.Sum); err != nil {
			return err
		}
		if err := w.write(raw); err != nil {
			return err
		}
	}
	w.counts.Add(&f.counts)
	w.stored += f.stored
	return nil
}

// Close writes the index and the tail. It does not close the underlying writer.
func (w *Writer) Close() error {
	var summary []byte
	for v, n := range w.counts {
		if n > 0 {
			summary = binary.LittleEndian.AppendUint64(append(summary, byte(v)), n)
		}
	}
	if w.half {
		summary = binary.LittleEndian.AppendUint64(summary, w.stored)
	}
	return w.end(w.pages, summary, w.blocks, tailMagic)
}

// A File is an open block file or range file. It is safe for concurrent use.
type File struct {
	frame
	tier   int
	counts Counts
	stored uint64
}

// OpenFile reads the head and the tail of a block file of size bytes, called name in errors.
// If they are truncated or damaged, the error is a *FormatError.
func OpenFile(r io.ReaderAt, size int64, name string) (*File, error) {
	return open(r, size, name, fileMagic, "block file")
}

// OpenAny is like OpenFile, but opens a block file or a range file. It is for callers that
// need only its checksums.
func OpenAny(r io.ReaderAt, size int64, name string) (*File, error) {
	magic := make([]byte, min(size, int64(len(rangeMagic))))
	if _, err := r.ReadAt(magic, 0); err == nil && string(magic) == rangeMagic {
		return OpenRangeFile(r, size, name)
	}
	return OpenFile(r, size, name)
}

func open(r io.ReaderAt, size int64, name, magic, kind string) (*File, error) {
	f := &File{frame: frame{r: r, name: name}}
	total := func() uint64 {
		if f.half {
			return totalSize
		}
		return 0
	}
	summary, err := f.open(size, magic, tailMagic, kind, func(rest []byte) (int, bool) {
		tier, used := binary.Uvarint(rest)
		f.tier = int(tier)
		return used, used > 0 && tier <= 1<<20
	}, func(directory, summary uint64) bool {
		return f.count <= uint64(size) && directory == (f.count+pageSize-1)/pageSize*entrySize &&
			summary >= total() && (summary-total())%countSize == 0 && summary-total() <= 256*countSize
	})
	if err != nil {
		return nil, err
	}
	for ; len(summary) >= countSize; summary = summary[countSize:] {
		f.counts[summary[0]] = binary.LittleEndian.Uint64(summary[1:])
	}
	if f.stored = f.Records(); f.half {
		f.stored = binary.LittleEndian.Uint64(summary)
	}
	return f, nil
}

// Tier returns the tier of all positions of the file.
func (f *File) Tier() int { return f.tier }

// Half reports whether the file stores only half of the positions of its tier: at least one of
// each position and its mirror image.
func (f *File) Half() bool { return f.half }

// Stored returns the number of records that the file stores.
func (f *File) Stored() uint64 { return f.stored }

// Counts returns the number of records of each value, as the writer counted them. If the file
// stores half of the positions, the others are counted, too.
func (f *File) Counts() Counts { return f.counts }

// Records returns the number of records, with those that half a file represents.
func (f *File) Records() uint64 { return f.counts.Total() }

// Check reads the complete file, and verifies the checksum of every block.
func (f *File) Check() error {
	entries, err := f.Entries()
	if err != nil {
		return err
	}
	c := f.Cursor(bufferSize)
	for _, e := range entries {
		if _, err := c.Raw(e); err != nil {
			return err
		}
	}
	return nil
}

// An Entry locates a block in a file.
type Entry struct {
	Range  uint64
	Offset uint64
	Length uint32
	Sum    uint32
}

// Entries reads the complete index. It takes 24 bytes of memory for each block.
func (f *File) Entries() (entries []Entry, err error) {
	index := make([]byte, f.dirAt-f.index)
	if err := f.readAt(index, int64(f.index)); err != nil {
		return nil, err
	}
	entries = make([]Entry, 0, min(f.count, uint64(len(index))))
	for i := range f.pages {
		page, ok := f.pages[i].entries(index, f.index)
		n := len(entries)
		if entries, err = f.parsePage(entries, page, ok, i); err != nil {
			return nil, err
		}
		if n > 0 && entries[n-1].Range >= entries[n].Range {
			return nil, f.errorf("damaged in its index: ranges are not in order")
		}
	}
	return entries, nil
}

// parsePage appends the entries of the i-th page, whose bytes are src; ok reports whether their
// checksum is right.
func (f *File) parsePage(entries []Entry, src []byte, ok bool, i int) ([]Entry, error) {
	if !ok {
		return nil, f.errorf("damaged in its index: the checksum of page %d is wrong", i)
	}
	rng, offset := f.pages[i].first, f.pages[i].second
	for n := uint64(i) * pageSize; n < min(f.count, uint64(i+1)*pageSize); n++ {
		step, a := binary.Uvarint(src)
		length, b := binary.Uvarint(src[max(a, 0):])
		if a <= 0 || b <= 0 || len(src) < a+b+sumSize || offset < f.start || offset > f.index ||
			length == 0 || length > min(f.index-offset, math.MaxUint32) || (step == 0) != (n%pageSize == 0) {
			return nil, f.errorf("damaged in its index, at block %d", n)
		}
		if rng += step; rng < step {
			return nil, f.errorf("damaged in its index, at block %d: ranges are not in order", n)
		}
		sum := binary.LittleEndian.Uint32(src[a+b:])
		entries = append(entries, Entry{Range: rng, Offset: offset, Length: uint32(length), Sum: sum})
		offset += length
		src = src[a+b+sumSize:]
	}
	if len(src) > 0 {
		return nil, f.errorf("damaged in its index: %d bytes are left over on page %d", len(src), i)
	}
	return entries, nil
}

// A Cursor reads blocks of a file. It reads ahead, so it is fastest in ascending order. It is
// not safe for concurrent use.
type Cursor struct {
	f       *File
	window  window
	ahead   int
	decoder Decoder

	page    int // the page in entries, if there are any
	bytes   []byte
	entries []Entry
}

// Cursor returns a Cursor that reads ahead the given number of bytes.
func (f *File) Cursor(ahead int) *Cursor { return &Cursor{f: f, ahead: ahead} }

// Find locates the block of a range without reading the complete index; ok is false if the file
// has none. It keeps the page of the index that it read last.
func (c *Cursor) Find(rng uint64) (e Entry, ok bool, err error) {
	i := sort.Search(len(c.f.pages), func(i int) bool { return c.f.pages[i].first > rng }) - 1
	if i < 0 {
		return e, false, nil
	}
	if i != c.page || len(c.entries) == 0 {
		c.page, c.entries = i, c.entries[:0]
		c.bytes, ok, err = c.f.readEntries(c.bytes, &c.f.pages[i])
		if err == nil {
			c.entries, err = c.f.parsePage(c.entries, c.bytes, ok, i)
		}
		if err != nil {
			return e, false, err
		}
	}
	n := sort.Search(len(c.entries), func(n int) bool { return c.entries[n].Range >= rng })
	if n == len(c.entries) || c.entries[n].Range != rng {
		return e, false, nil
	}
	return c.entries[n], true, nil
}

// Raw returns the packed bytes of a block, after verifying its checksum. They are valid until
// the next call.
func (c *Cursor) Raw(e Entry) ([]byte, error) {
	raw, ok, err := c.window.read(&c.f.frame, e.Offset, uint64(e.Length), uint64(c.ahead), e.Sum)
	if err == nil && !ok {
		err = c.f.errorf("damaged: the checksum of the block at byte %d (range %#x) is wrong", e.Offset, e.Range)
	}
	return raw, err
}

// Read reads a block into b. The caller has prepared b with Reset, for the block's tier and
// range.
func (c *Cursor) Read(e Entry, b *block.Block) error { return c.read(e, b, c.decoder.Decode) }

// ReadOpen is like Read, but reads only the open slots; block.Block.ResetOpen is enough.
func (c *Cursor) ReadOpen(e Entry, b *block.Block) error { return c.read(e, b, c.decoder.DecodeOpen) }

func (c *Cursor) read(e Entry, b *block.Block, decode func([]byte, *block.Block) error) error {
	raw, err := c.Raw(e)
	if err != nil {
		return err
	}
	if err := decode(raw, b); err != nil {
		return c.f.errorf("the block at byte %d (range %#x): %v", e.Offset, e.Range, err)
	}
	return nil
}

// View reads a block of the given number of slots into v.
func (c *Cursor) View(e Entry, slots int, v *View) error {
	raw, err := c.Raw(e)
	if err != nil {
		return err
	}
	words := block.Words(slots)
	v.Open, v.Done = slices.Grow(v.Open[:0], words)[:words], slices.Grow(v.Done[:0], words)[:words]
	clear(v.Open)
	clear(v.Done)
	if err := c.decoder.decode(raw, slots, v.Open, v.Done, &v.values); err != nil {
		return c.f.errorf("the block at byte %d (range %#x): %v", e.Offset, e.Range, err)
	}
	return nil
}

package streamfmt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"sort"
	"sync/atomic"

	"github.com/treereduce/treereduce/game/block"
)

const (
	pageSize  = 256 // blocks in a page of the index
	countSize = 9
	totalSize = 8  // the number of records in the summary of half a tier
	modelSize = 12 // the checksum of the content and the length of the model, at the end of the summary

	maxSummary = 256*countSize + totalSize // bytes, without a model
	maxModel   = 256*257*2 + modelSize

	// The last byte of the head.
	wholeTier = 0
	halfTier  = 1
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
	Counts Counts // records of the blocks, except those in Twice
	Twice  Counts // records that count twice, see AddHalf

	content uint64   // see File.Content
	values  []uint64 // rows by value, see CountValues
	encoder Encoder
	compact *compact   // nil: blocks are not compact
	cells   *cellCoder // nil: cells are not coded
}

// SetCompact makes p pack blocks of a game in their compact form.
func (p *Packer) SetCompact(deduce block.Deducer, m *Model) { p.compact = &compact{deduce, m} }

// Reset empties p.
func (p *Packer) Reset() {
	p.Bytes, p.Cells, p.Counts, p.Twice, p.content = p.Bytes[:0], p.Cells[:0], Counts{}, Counts{}, 0
	clear(p.values)
}

// Add packs b, which must contain at least one record.
func (p *Packer) Add(b *block.Block) { p.add(b, &p.Counts) }

// add packs b, and reports whether it is compact.
func (p *Packer) add(b *block.Block, counts *Counts) (ok bool) {
	from := len(p.Bytes)
	if p.compact != nil {
		p.Bytes, ok = p.encoder.appendCompact(p.Bytes, b, p.compact, (*[256]uint64)(counts))
	}
	if !ok {
		p.Bytes = p.encoder.AppendBlock(p.Bytes, b, (*[256]uint64)(counts))
	}
	p.end(Cell{First: b.Range, Last: b.Range, Rows: uint32(b.Count())}, from)
	if p.compact != nil {
		sum := p.encoder.content
		if !ok {
			sum = p.Cells[len(p.Cells)-1].Sum
		}
		p.content += mix(mix(uint64(b.Tier)<<32|uint64(sum)) ^ b.Range)
	}
	return ok
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014): a permutation that spreads each bit over all.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// AddHalf packs b, of a tier that stores half of its positions. Each record counts twice, for
// itself and its mirror image, except the balanced ones, whose mirror images are stored.
func (p *Packer) AddHalf(b *block.Block, balanced block.Set) {
	all := len(balanced) > 0 // whether all records are balanced
	for i, w := range balanced {
		all = all && (b.Open[i]|b.Done[i])&^w == 0
	}
	if all {
		p.Add(b)
		return
	}
	var deduced *block.Deduced
	if p.add(b, &p.Twice) {
		deduced = b.Deduce(p.compact.deduce)
	}
	for i, w := range balanced {
		p.once(w&b.Open[i], 0)
		w &= b.Done[i]
		if deduced != nil {
			for j, known := range deduced.Known {
				p.once(w&known[i], deduced.Values[j])
				w &^= known[i]
			}
		}
		if w == 0 {
			continue
		}
		values := b.Word(i)
		if v := values[bits.TrailingZeros64(w)&63]; b.HaveValue(i, w, v) {
			p.once(w, v)
			continue
		}
		for ; w != 0; w &= w - 1 {
			v := values[bits.TrailingZeros64(w)&63]
			p.Twice[v]--
			p.Counts[v]++
		}
	}
}

// once counts records of a value once that are counted twice.
func (p *Packer) once(records uint64, v byte) {
	n := uint64(bits.OnesCount64(records))
	p.Twice[v] -= n
	p.Counts[v] += n
}

// end adds a block or cell, whose bytes begin at from and end at the end of p.Bytes. Their number
// has 32 bits: a block has at most 1<<31 slots, of ten bits each, and a cell CellRows rows.
func (p *Packer) end(c Cell, from int) {
	packed := p.Bytes[from:]
	c.Offset, c.Length, c.Sum = uint64(from), uint32(len(packed)), crc32.Checksum(packed, castagnoli)
	p.Cells = append(p.Cells, c)
}

// A Writer writes a block file.
type Writer struct {
	frameWriter
	blocks  uint64
	last    uint64
	counts  Counts
	half    bool   // see NewHalfWriter
	model   *Model // for compact blocks; nil: there are none
	content uint64 // see File.Content
	stored  uint64 // records, if half

	// The page of the index that is being written: its first range, the offset of its first block,
	// and the entries of its blocks.
	first, second uint64
	entries       []byte
}

// NewWriter returns a writer of a block file for a tier of a game, and writes the head.
func NewWriter(w io.Writer, spec string, tier int) (*Writer, error) {
	return NewCompactWriter(w, spec, tier, false, nil)
}

// NewHalfWriter is like NewWriter, for a tier that stores half of its positions. Its blocks must
// be packed by Packer.AddHalf.
func NewHalfWriter(w io.Writer, spec string, tier int) (*Writer, error) {
	return NewCompactWriter(w, spec, tier, true, nil)
}

// NewCompactWriter is like NewHalfWriter if half is set, otherwise like NewWriter, for compact blocks. The
// packer of its blocks must have the same model, see Packer.SetCompact. If m is nil, blocks are not compact.
func NewCompactWriter(out io.Writer, spec string, tier int, half bool, m *Model) (*Writer, error) {
	parts, magic := byte(wholeTier), fileMagic
	if half {
		parts = halfTier
	}
	if m != nil {
		magic = compactMagic
	}
	w, err := newWriter(out, magic, spec, tier, parts)
	w.half, w.model = half, m
	return w, err
}

// newWriter returns a Writer whose head ends with the tier and the bytes of more.
func newWriter(out io.Writer, magic, spec string, tier int, more ...byte) (*Writer, error) {
	w := new(Writer)
	return w, w.begin(out, magic, spec, append(binary.AppendUvarint(nil, uint64(tier)), more...)...)
}

// Append writes packed blocks. Their ranges must be above all ranges written before.
func (w *Writer) Append(p *Packer) error {
	written := uint64(0) // the number of bytes of p.Bytes that are written
	for _, c := range p.Cells {
		if err := w.enter(Entry{c.First, w.offset + c.Offset - written, c.Length, c.Sum, c.Rows}); err != nil {
			return err
		}
		if w.blocks%pageSize > 0 {
			continue
		}
		end := c.Offset + uint64(c.Length)
		if err := w.write(p.Bytes[written:end]); err != nil {
			return err
		}
		written = end
		if err := w.endPage(); err != nil {
			return err
		}
	}
	w.counts.Add(&p.Counts)
	w.counts.Add(&p.Twice)
	w.counts.Add(&p.Twice)
	w.stored += p.Counts.Total() + p.Twice.Total()
	w.content += p.content
	return w.write(p.Bytes[written:])
}

// enter adds a block to the page of the index.
func (w *Writer) enter(e Entry) error {
	if w.blocks > 0 && e.Range <= w.last {
		return fmt.Errorf("range %#x comes after range %#x: ranges must ascend", e.Range, w.last)
	}
	if w.blocks%pageSize == 0 {
		w.first, w.second, w.last = e.Range, e.Offset, e.Range
	}
	w.entries = binary.AppendUvarint(w.entries, e.Range-w.last)
	w.entries = binary.AppendUvarint(w.entries, uint64(e.Length))
	if w.model != nil {
		w.entries = binary.AppendUvarint(w.entries, uint64(e.records))
	}
	w.entries = binary.LittleEndian.AppendUint32(w.entries, e.Sum)
	w.last = e.Range
	w.blocks++
	return nil
}

// endPage writes the page of the index after its blocks.
func (w *Writer) endPage() error {
	err := w.writePage(w.first, w.second, w.entries)
	w.entries = w.entries[:0]
	return err
}

// AppendFile copies the blocks of f, which has the same Model as w, in their packed form. Their ranges must
// be above all ranges written before.
func (w *Writer) AppendFile(f *File) error {
	err := f.each(func(e Entry, raw []byte) error {
		e.Offset = w.offset
		if err := w.enter(e); err != nil {
			return err
		}
		if err := w.write(raw); err != nil || w.blocks%pageSize > 0 {
			return err
		}
		return w.endPage()
	})
	w.counts.Add(&f.counts)
	w.stored += f.stored
	w.content += f.content
	return err
}

// Close writes the last page of the index, and the tail. It does not close the underlying writer.
func (w *Writer) Close() error {
	if len(w.entries) > 0 {
		if err := w.endPage(); err != nil {
			return err
		}
	}
	var summary []byte
	for v, n := range w.counts {
		if n > 0 {
			summary = binary.LittleEndian.AppendUint64(append(summary, byte(v)), n)
		}
	}
	if w.half {
		summary = binary.LittleEndian.AppendUint64(summary, w.stored)
	}
	if w.model != nil {
		n := len(summary)
		summary = w.model.append(summary)
		length := uint32(len(summary) - n)
		summary = binary.LittleEndian.AppendUint64(summary, w.content)
		summary = binary.LittleEndian.AppendUint32(summary, length)
	}
	return w.end(w.offset, summary, w.blocks, tailMagic)
}

// A File is an open block file or range file. It is safe for concurrent use.
type File struct {
	frame
	tier    int
	half    bool
	counts  Counts
	stored  uint64
	content uint64
	compact
	parsed [parsedPages]atomic.Pointer[parsedPage] // the pages of the index that cursors read last, by page modulo parsedPages
}

// parsedPages is the number of pages of the index that a File caches for its cursors, most of which
// read neighbouring blocks at the same time.
const parsedPages = 8

// A parsedPage is a page of the index.
type parsedPage struct {
	page    int
	entries []Entry
}

// OpenFile reads the head and the tail of a block file of size bytes, called name in errors.
// If they are truncated or damaged, the error is a *FormatError.
func OpenFile(r io.ReaderAt, size int64, name string) (*File, error) {
	magic, err := magicOf(r, size, name, fileMagic, compactMagic)
	if err != nil {
		return nil, err
	}
	return open(r, size, name, magic, "block file")
}

// beginOf reads the beginning of a file.
func beginOf(r io.ReaderAt, size int64, name string) (string, error) {
	magic := make([]byte, min(size, int64(len(fileMagic))))
	if _, err := r.ReadAt(magic, 0); err != nil && err != io.EOF {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(magic), nil
}

// magicOf returns the later of two versions of magic bytes if the file has it or a later one, and otherwise the earlier.
func magicOf(r io.ReaderAt, size int64, name, earlier, later string) (string, error) {
	magic, err := beginOf(r, size, name)
	if kept := len(earlier) - 1; len(magic) > kept && magic[:kept] == earlier[:kept] && magic > earlier {
		return later, err
	}
	return earlier, err
}

func open(r io.ReaderAt, size int64, name, magic, kind string) (*File, error) {
	f := &File{frame: frame{r: r, name: name, spread: true}}
	most := uint64(maxSummary)
	if magic == compactMagic {
		most += maxModel
	}
	summary, err := f.open(size, magic, tailMagic, kind, func(rest []byte) (int, bool) {
		tier, used := binary.Uvarint(rest)
		f.tier = int(tier)
		if used <= 0 || len(rest) == used || rest[used] > halfTier {
			return 0, false
		}
		f.half = rest[used] == halfTier
		return used + 1, tier <= 1<<20
	}, func(directory, summary uint64) bool {
		return f.count <= uint64(size) && directory == (f.count+pageSize-1)/pageSize*entrySize && summary <= most
	})
	if err == nil && magic == compactMagic {
		summary, err = f.readModel(summary)
	}
	if err == nil {
		err = f.readSummary(summary)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// readModel reads the model at the end of the summary, and returns what is before it.
func (f *File) readModel(summary []byte) ([]byte, error) {
	at, from := len(summary)-modelSize, -1
	if at >= 0 {
		f.content = binary.LittleEndian.Uint64(summary[at:])
		from = at - int(binary.LittleEndian.Uint32(summary[at+8:]))
	}
	if from < 0 {
		return nil, f.errorf("damaged at its end")
	}
	m, err := readModel(summary[from:at])
	if err != nil {
		return nil, f.errorf("damaged at its end: %v", err)
	}
	f.model = m
	return summary[:from], nil
}

// readSummary reads the numbers of positions.
func (f *File) readSummary(summary []byte) error {
	n := len(summary)
	if f.half {
		n -= totalSize
	}
	if n%countSize != 0 { // as if n is negative
		return f.errorf("damaged at its end")
	}
	for ; len(summary) >= countSize; summary = summary[countSize:] {
		f.counts[summary[0]] = binary.LittleEndian.Uint64(summary[1:])
	}
	if f.stored = f.Records(); f.half {
		f.stored = binary.LittleEndian.Uint64(summary)
	}
	return nil
}

// Tier returns the tier of all positions of the file.
func (f *File) Tier() int { return f.tier }

// Half reports whether the file stores only half of the positions of its tier: at least one of
// each position and its mirror image.
func (f *File) Half() bool { return f.half }

// Stored returns the number of records that the file stores.
func (f *File) Stored() uint64 { return f.stored }

// Content returns a checksum of what compact blocks store: of their values, and the slots that are absent. It
// does not depend on their codes. The checksum of several files is the sum of theirs. It is 0 for a file
// without a Model.
func (f *File) Content() uint64 { return f.content }

// Counts returns the number of records of each value, as the writer counted them. If the file
// stores half of the positions, the others are counted, too.
func (f *File) Counts() Counts { return f.counts }

// Records returns the number of records, with those that half a file represents.
func (f *File) Records() uint64 { return f.counts.Total() }

// Check reads the complete file, and verifies the checksum of every block.
func (f *File) Check() error { return f.each(func(Entry, []byte) error { return nil }) }

// each reads the complete file, and calls do with each block in its packed form.
func (f *File) each(do func(e Entry, raw []byte) error) error {
	c := f.Cursor(bufferSize)
	for i := range f.Len() {
		e, err := c.Entry(i)
		if err != nil {
			return err
		}
		raw, err := c.Raw(e)
		if err != nil {
			return err
		}
		if err := do(e, raw); err != nil {
			return err
		}
	}
	return nil
}

// An Entry locates a block in a file.
type Entry struct {
	Range   uint64
	Offset  uint64
	Length  uint32
	Sum     uint32
	records uint32 // 0: not in the index
}

// MostRecords returns the largest possible number of records of the block: that in the index, or eight
// for each byte, since a byte of a block that is not compact encodes at most eight slots.
func (e Entry) MostRecords() int {
	if e.records > 0 {
		return int(e.records)
	}
	return 8 * int(e.Length)
}

// Len returns the number of blocks. The directory of the index takes less than a byte of memory
// for each.
func (f *File) Len() int { return int(f.count) }

// EachPage calls do with the first range of each page of the index and the number of bytes of its blocks. It reads
// nothing.
func (f *File) EachPage(do func(first, bytes uint64)) {
	for _, p := range f.pages {
		do(p.first, p.at-p.second)
	}
}

// Pages returns the number of pages of the index.
func (f *File) Pages() int { return len(f.pages) }

// First returns the range of the first block; 0 if there is none.
func (f *File) First() uint64 {
	if len(f.pages) == 0 {
		return 0
	}
	return f.pages[0].first
}

// Model returns the model of the compact blocks of the file; nil if there are none.
func (f *File) Model() *Model { return f.model }

// SetRules sets what the rules of the game say. Without it, compact blocks cannot be read.
func (f *File) SetRules(deduce block.Deducer) { f.deduce = deduce }

// Bytes returns the number of bytes of all blocks.
func (f *File) Bytes() (n uint64) {
	for _, p := range f.pages {
		n += p.at - p.second
	}
	return n
}

// minEntry is the minimum number of bytes of an entry of the index.
const minEntry = 2 + sumSize

// Entries reads the complete index. It takes 24 bytes of memory for each block.
func (f *File) Entries() (entries []Entry, err error) {
	entries = make([]Entry, 0, min(f.count, uint64(f.size)/minEntry))
	var buf []byte
	for i := range f.pages {
		if buf, err = f.readEntries(buf, &f.pages[i]); err != nil {
			return nil, err
		}
		if entries, err = f.parsePage(entries, buf, i); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// parsePage appends the entries of the i-th page, whose bytes are src.
func (f *File) parsePage(entries []Entry, src []byte, i int) ([]Entry, error) {
	p := &f.pages[i]
	if crc32.Checksum(src, castagnoli) != p.sum {
		return nil, f.errorf("damaged in its index: the checksum of page %d is wrong", i)
	}
	rng, offset := p.first, p.second
	for n := uint64(i) * pageSize; n < min(f.count, uint64(i+1)*pageSize); n++ {
		step, a := binary.Uvarint(src)
		length, b := binary.Uvarint(src[max(a, 0):])
		records, c := uint64(0), 0
		if f.model != nil && a > 0 && b > 0 {
			if records, c = binary.Uvarint(src[a+b:]); records == 0 || records > math.MaxUint32 {
				c = -1
			}
		}
		if a <= 0 || b <= 0 || c < 0 || len(src) < a+b+c+sumSize || length == 0 || length > min(p.at-offset, math.MaxUint32) || (step == 0) != (n%pageSize == 0) {
			return nil, f.errorf("damaged in its index, at block %d", n)
		}
		if rng += step; rng < step {
			return nil, f.errorf("damaged in its index, at block %d: ranges are not in order", n)
		}
		sum := binary.LittleEndian.Uint32(src[a+b+c:])
		entries = append(entries, Entry{rng, offset, uint32(length), sum, uint32(records)})
		offset += length
		src = src[a+b+c+sumSize:]
	}
	switch {
	case len(src) > 0:
		return nil, f.errorf("damaged in its index: %d bytes are left over on page %d", len(src), i)
	case offset != p.at:
		return nil, f.errorf("damaged in its index: the blocks of page %d end at byte %d, expected %d", i, offset, p.at)
	case i+1 < len(f.pages) && rng >= f.pages[i+1].first:
		return nil, f.errorf("damaged in its index, after page %d: ranges are not in order", i)
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
	at      int // in entries: the first range that is not below the one that was searched last
	bytes   []byte
	entries []Entry
}

// Cursor returns a Cursor that reads ahead the given number of bytes.
func (f *File) Cursor(ahead int) *Cursor {
	return &Cursor{f: f, ahead: ahead, decoder: Decoder{compact: &f.compact}}
}

// load reads the i-th page of the index, unless it is the one that was read last. If the page and
// its blocks are much smaller than what the cursor reads ahead, load reads all of them at once.
func (c *Cursor) load(i int) (err error) {
	if i == c.page && len(c.entries) > 0 {
		return nil
	}
	cached := &c.f.parsed[i%parsedPages]
	if p := cached.Load(); p != nil && p.page == i {
		c.page, c.at, c.entries = i, 0, p.entries
		return nil
	}
	p, raw := &c.f.pages[i], []byte(nil)
	if size := p.end - p.second; size <= uint64(c.ahead)/4 {
		if raw, err = c.window.get(&c.f.frame, p.second, size, uint64(c.ahead)); err == nil {
			raw = raw[p.at-p.second:]
		}
	} else {
		c.bytes, err = c.f.readEntries(c.bytes, p)
		raw = c.bytes
	}
	c.entries = nil
	if err != nil {
		return err
	}
	entries, err := c.f.parsePage(make([]Entry, 0, min(pageSize, len(raw)/minEntry)), raw, i)
	if err != nil {
		return err
	}
	c.page, c.at, c.entries = i, 0, entries
	cached.Store(&parsedPage{i, entries})
	return nil
}

// Entry locates the i-th block. It keeps the page of the index that it read last.
func (c *Cursor) Entry(i int) (e Entry, err error) {
	if err := c.load(i / pageSize); err != nil {
		return e, err
	}
	return c.entries[i%pageSize], nil
}

// Find locates the block of a range without reading the complete index; ok is false if the file
// has none. It keeps the page of the index that it read last, and is fastest in ascending order.
func (c *Cursor) Find(rng uint64) (e Entry, ok bool, err error) {
	if _, err = c.Search(rng); err != nil || c.at == len(c.entries) || c.entries[c.at].Range != rng {
		return e, false, err
	}
	return c.entries[c.at], true, nil
}

// Search returns the number of blocks whose ranges are below rng, as Find finds them.
func (c *Cursor) Search(rng uint64) (int, error) {
	if n := len(c.entries); n == 0 || rng < c.entries[0].Range || rng > c.entries[n-1].Range {
		if len(c.f.pages) == 0 {
			return 0, nil
		}
		i := sort.Search(len(c.f.pages), func(i int) bool { return c.f.pages[i].first > rng })
		if err := c.load(max(i-1, 0)); err != nil {
			return 0, err
		}
	}
	if c.at > 0 && c.entries[c.at-1].Range >= rng {
		c.at = 0
	}
	step := 1
	for c.at+step < len(c.entries) && c.entries[c.at+step].Range < rng {
		c.at += step
		step *= 2
	}
	rest := c.entries[c.at:min(c.at+step+1, len(c.entries))]
	c.at += sort.Search(len(rest), func(i int) bool { return rest[i].Range >= rng })
	return c.page*pageSize + c.at, nil
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

// ReadBrief is like Read, but may leave out positions that are terminal by a loss of the mover.
func (c *Cursor) ReadBrief(e Entry, b *block.Block) error {
	c.decoder.deduced.Brief = true
	defer func() { c.decoder.deduced.Brief = false }()
	return c.Read(e, b)
}

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

// View reads a block, whose slots have the given low parts, into v.
func (c *Cursor) View(e Entry, lowBits uint, low []uint32, v *View) error {
	raw, err := c.Raw(e)
	if err != nil {
		return err
	}
	v.block.Assign(c.f.tier, e.Range, lowBits, low)
	if err := v.set(raw, &c.f.compact); err != nil {
		return c.f.errorf("the block at byte %d (range %#x): %v", e.Offset, e.Range, err)
	}
	return nil
}

package streamfmt

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
)

// magic is the first and the last eight bytes of a pack file. Its last two are the version of the format, which is that of a
// data directory (internal/engine/store/format.go).
const magic = "TRPACK04"

const (
	pageCells = 256 // cells of a page of the index
	maxSpec   = 1 << 10
	sumSize   = 4
	tailSize  = 8 + sumSize + sumSize + len(magic)
	// endSize is the number of bytes at the end of a file that are read at once.
	endSize = 4 << 10

	// The least and the greatest number of bytes of a cell in a page of the index.
	minEntry = 3 + sumSize
	maxEntry = 5*binary.MaxVarintLen64 + sumSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A page is an entry of the directory.
type page struct {
	stage   uint32
	cells   int
	spread  bool   // whether there is anything between its cells, or between them and the page
	first   uint64 // key
	records uint64
	from    uint64 // offset of the first cell
	at      uint64 // offset of the page
	length  int
	sum     uint32
}

// bytes returns the number of bytes of the cells, and of what is between them.
func (p *page) bytes() uint64 { return p.at - p.from }

// A Writer writes a pack file. After an error it writes nothing more.
type Writer struct {
	Sum     uint32 // of the complete file, see File.Sum
	w       io.Writer
	err     error
	kind    CellKind
	model   *Model
	head    []byte
	offset  uint64 // of the next byte
	stages  map[uint32]*stageWriter
	counts  []uint64 // see File.Counts
	content uint64   // see File.Content
}

// A stageWriter is the index of a stage.
type stageWriter struct {
	cells []Cell // of the page that is not yet written
	pages []page
	last  uint64 // the last key
}

// NewWriter returns a writer of a pack file of a game. With a model, blocks may be compact; then the
// packer of the blocks must have the same one, see Packer.SetCompact.
func NewWriter(out io.Writer, spec string, kind CellKind, m *Model) *Writer {
	w := &Writer{w: out, kind: kind, model: m, stages: make(map[uint32]*stageWriter)}
	w.head = append(binary.AppendUvarint([]byte(magic), uint64(len(spec))), spec...)
	w.head = append(w.head, byte(kind))
	w.write(w.head)
	return w
}

func (w *Writer) write(b []byte) {
	w.offset += uint64(len(b))
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

// Append writes packed cells. The ranges of blocks must be above all ranges written before.
func (w *Writer) Append(p *Packer) error {
	written := uint64(0) // the number of bytes of p.Bytes that are written
	for _, c := range p.Cells {
		end := c.Offset + uint64(c.Length)
		c.Offset += w.offset - written
		if s := w.enter(c); len(s.cells) == pageCells {
			w.write(p.Bytes[written:end])
			w.endPage(s)
			written = end
		}
	}
	w.write(p.Bytes[written:])
	for v, n := range p.Counts {
		w.count(v, n)
	}
	for v, n := range p.values {
		w.count(v, n)
	}
	w.content += p.content
	return w.err
}

// count counts n records of a value.
func (w *Writer) count(v int, n uint64) {
	if n > 0 {
		w.counts = append(w.counts, make([]uint64, max(0, v+1-len(w.counts)))...)
		w.counts[v] += n
	}
}

// enter adds a cell to the page of its stage.
func (w *Writer) enter(c Cell) *stageWriter {
	s := w.stages[c.Stage]
	if s == nil {
		s = new(stageWriter)
		w.stages[c.Stage] = s
	} else if w.kind.isBlocks() && c.First <= s.last {
		w.err = cmp.Or(w.err, fmt.Errorf("range %#x comes after range %#x: ranges must ascend", c.First, s.last))
	}
	s.cells, s.last = append(s.cells, c), c.Last
	return s
}

// endPage writes the page of a stage.
func (w *Writer) endPage(s *stageWriter) {
	c := s.cells[0]
	p := page{stage: c.Stage, cells: len(s.cells), first: c.First, from: c.Offset, at: w.offset}
	size := uint64(0)
	for _, c := range s.cells {
		size += uint64(c.Length)
		p.records += uint64(c.Records)
	}
	p.spread = size < p.bytes()
	var entries []byte
	key, end := p.first, p.from
	for _, c := range s.cells {
		entries = binary.AppendUvarint(entries, c.First-key)
		if !w.kind.isBlocks() {
			entries = binary.AppendUvarint(entries, c.Last-c.First)
		}
		entries = binary.AppendUvarint(entries, uint64(c.Records))
		if p.spread {
			entries = binary.AppendUvarint(entries, c.Offset-end)
		}
		entries = binary.AppendUvarint(entries, uint64(c.Length))
		entries = binary.LittleEndian.AppendUint32(entries, c.Sum)
		key, end = c.Last, c.Offset+uint64(c.Length)
	}
	p.length, p.sum = len(entries), crc32.Checksum(entries, castagnoli)
	s.cells, s.pages = s.cells[:0], append(s.pages, p)
	w.write(entries)
}

// Close writes the last page of each stage, the directory, the summary and the tail. It does not close the underlying writer.
func (w *Writer) Close() error {
	var pages []page
	for _, stage := range slices.Sorted(maps.Keys(w.stages)) {
		s := w.stages[stage]
		if len(s.cells) > 0 {
			w.endPage(s)
		}
		pages = append(pages, s.pages...)
	}
	end := binary.AppendUvarint(nil, uint64(len(pages)))
	before := page{at: uint64(len(w.head))}
	for _, p := range pages {
		end, before = p.append(end, &before), p
	}
	values, counts := uint64(0), []byte(nil)
	for v, n := range w.counts {
		if n > 0 {
			counts = binary.AppendUvarint(binary.AppendUvarint(counts, uint64(v)), n)
			values++
		}
	}
	end = append(binary.AppendUvarint(end, values), counts...)
	if w.model != nil {
		end = w.model.append(binary.LittleEndian.AppendUint64(end, w.content))
	}
	w.write(w.tail(end))
	return w.err
}

// tail appends the tail to what precedes it from the directory on.
func (w *Writer) tail(end []byte) []byte {
	w.Sum = crc32.Update(crc32.Checksum(w.head, castagnoli), castagnoli, end)
	tail := binary.LittleEndian.AppendUint64(nil, w.offset)
	tail = binary.LittleEndian.AppendUint32(tail, w.Sum)
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(tail, castagnoli))
	return append(append(end, tail...), magic...)
}

// append appends the entry of a page in the directory, after that of the page before.
func (p *page) append(dst []byte, before *page) []byte {
	first, cells := p.first, uint64(p.cells)<<1
	if p.stage == before.stage {
		first -= before.first
	}
	if p.spread {
		cells |= 1
	}
	gap := zigzag(p.from - before.at - uint64(before.length))
	for _, n := range []uint64{uint64(p.stage - before.stage), first, cells, p.records, gap, p.bytes(), uint64(p.length)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return binary.LittleEndian.AppendUint32(dst, p.sum)
}

package streamfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// The first eight bytes of a file, and of its tail. The last of them is the version of the form. A new version that a
// data directory may have is also a need (internal/engine/store/format.go).
const (
	fileMagic    = "TRBLOCK3" // blocks
	compactMagic = "TRBLOCK4" // compact blocks
	tailMagic    = "TRBLEND1" // of both

	listMagic     = "TRLISTS1"
	codedMagic    = "TRLISTS2" // cells may be coded
	listTailMagic = "TRLSEND1"
)

// The parts that block files, range files and list files share: the head before the blocks or
// cells, and the directory, summary and tail after the index. See the package comment.
const (
	tailSize  = 48
	entrySize = 28 // of a page in the directory
	sumSize   = 4
	maxSpec   = 1 << 10
	// endSize is the number of bytes at the end of a file that are read at once.
	endSize = 4 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frameWriter writes the parts that all files share.
type frameWriter struct {
	w         io.Writer
	head      []byte
	offset    uint64 // the offset of the next byte
	directory []byte // the entries of the pages written so far
	sum       uint32 // the checksum of the complete file, see frame.Sum
}

// Sum returns the checksum in the tail of the complete file, as that of an open file.
func (f *frameWriter) Sum() uint32 { return f.sum }

// begin writes the head: the magic bytes, the spec of the game, and the bytes of more.
func (f *frameWriter) begin(w io.Writer, magic, spec string, more ...byte) error {
	f.w = w
	f.head = append([]byte(magic), binary.AppendUvarint(nil, uint64(len(spec)))...)
	f.head = append(append(f.head, spec...), more...)
	return f.write(f.head)
}

// write writes bytes.
func (f *frameWriter) write(b []byte) error {
	f.offset += uint64(len(b))
	_, err := f.w.Write(b)
	return err
}

// writePage writes the entries of a page of the index, and adds the page to the directory. first
// and second are the two words that precede its offset there.
func (f *frameWriter) writePage(first, second uint64, entries []byte) error {
	for _, n := range []uint64{first, second, f.offset} {
		f.directory = binary.LittleEndian.AppendUint64(f.directory, n)
	}
	f.directory = binary.LittleEndian.AppendUint32(f.directory, crc32.Checksum(entries, castagnoli))
	return f.write(entries)
}

// end writes the directory, the summary, and the tail with the offset of the index, the number
// of records and the end mark.
func (f *frameWriter) end(index uint64, summary []byte, records uint64, mark string) error {
	end := append(f.directory, summary...)
	for _, n := range []uint64{index, f.offset, f.offset + uint64(len(f.directory)), records} {
		end = binary.LittleEndian.AppendUint64(end, n)
	}
	sum := frameSum(f.head, end)
	f.sum = uint32(sum) // it has 32 bits
	end = binary.LittleEndian.AppendUint64(end, sum)
	return f.write(append(end, mark...))
}

// frameSum returns the checksum of the head and of end, which is everything after the index up
// to the checksum.
func frameSum(head, end []byte) uint64 {
	return uint64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, end))
}

// A FormatError is the error for a packed file that is damaged, truncated or of another kind.
type FormatError struct {
	File   string
	Reason string
}

func (e *FormatError) Error() string { return e.File + ": " + e.Reason }

// A frame contains what the head and the tail of an open file describe.
type frame struct {
	r      io.ReaderAt
	name   string
	size   int64
	spec   string
	spread bool   // whether each page of the index follows its blocks, rather than all blocks
	start  uint64 // offset of the first block
	index  uint64 // offset of the index, where the blocks end; that of the directory if spread
	dirAt  uint64
	count  uint64 // number of blocks or rows, from the tail
	pages  []page
	sum    uint32
}

// A page is an entry of the directory. A page ends where the next one begins, or where the
// blocks of the next one begin if the pages are spread.
type page struct {
	first, second uint64 // see writePage
	at, end       uint64 // offsets in the file
	sum           uint32
}

// readEntries reads the entries of a page into the memory of buf.
func (f *frame) readEntries(buf []byte, p *page) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(p.end-p.at))[:p.end-p.at]
	return buf, f.readAt(buf, int64(p.at))
}

// readDirectory parses the directory.
func (f *frame) readDirectory(dir []byte) bool {
	f.pages = make([]page, len(dir)/entrySize)
	end := f.dirAt
	for i := len(f.pages) - 1; i >= 0; i-- {
		e := dir[i*entrySize:]
		p := page{binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint64(e[16:]), end, binary.LittleEndian.Uint32(e[24:])}
		if p.at > end || f.spread && p.second > p.at {
			return false
		}
		if f.pages[i], end = p, p.at; f.spread {
			end = p.second
		}
	}
	if f.spread {
		return f.index == f.dirAt && end == f.start
	}
	return end == f.index
}

// open reads the beginning and the end of a file of size bytes, which must begin with magic
// and end with mark. It parses the directory, and returns the summary, which the caller must
// not keep. more parses what follows the spec in the head: it returns the length of that part,
// and whether it is valid. fits reports whether a directory and a summary can have these
// lengths in bytes.
func (f *frame) open(size int64, magic, mark, kind string, more func(rest []byte) (n int, ok bool), fits func(directory, summary uint64) bool) (summary []byte, err error) {
	f.size = size
	head := make([]byte, min(size, int64(len(magic)+2*binary.MaxVarintLen64+maxSpec)))
	if err := f.readAt(head, 0); err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(head, []byte(magic))
	if kept := len(magic) - 1; !ok && len(head) > kept && string(head[:kept]) == magic[:kept] {
		advice := "solve the game again"
		if head[kept] > magic[kept] {
			advice = "use the program that wrote it"
		}
		return nil, f.errorf("a %s of format version %c, this program reads version %c: %s", kind, head[kept], magic[kept], advice)
	}
	if !ok {
		return nil, f.errorf("not a %s: it begins with %q, expected %q", kind, head[:min(8, len(head))], magic)
	}
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > maxSpec || uint64(len(rest)-used) < n {
		return nil, f.errorf("damaged at its beginning")
	}
	f.spec, rest = string(rest[used:][:n]), rest[used:][n:]
	if used, ok = more(rest); !ok {
		return nil, f.errorf("damaged at its beginning")
	}
	f.start = uint64(len(head) - len(rest) + used)

	if size-tailSize < int64(f.start) {
		return nil, f.errorf("cut short: %d bytes", size)
	}
	end := make([]byte, min(size, endSize))
	if err := f.readAt(end, size-int64(len(end))); err != nil {
		return nil, err
	}
	tail := end[len(end)-tailSize:]
	if string(tail[tailSize-len(mark):]) != mark {
		return nil, f.errorf("cut short: its end mark is missing after %d bytes", size)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(tail[8*i:]) }
	f.index, f.dirAt, f.count = word(0), word(1), word(3)
	sum, summaryAt, tailAt := word(4), word(2), uint64(size)-tailSize
	if f.index < f.start || f.dirAt < f.index || summaryAt < f.dirAt || summaryAt > tailAt || !fits(summaryAt-f.dirAt, tailAt-summaryAt) {
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
	if frameSum(head[:f.start], end[:len(end)-16]) != sum {
		return nil, f.errorf("damaged at its beginning or end: the checksum is wrong")
	}
	f.sum = uint32(sum) // equal to frameSum, which has 32 bits
	if !f.readDirectory(end[:summaryAt-f.dirAt]) {
		return nil, f.errorf("damaged in its directory")
	}
	return end[summaryAt-f.dirAt : len(end)-tailSize], nil
}

func (f *frame) errorf(format string, args ...any) error {
	return &FormatError{File: f.name, Reason: fmt.Sprintf(format, args...)}
}

// readAt fills buf from offset at. If the file ends before, the error reports that it is
// truncated.
func (f *frame) readAt(buf []byte, at int64) error {
	n, err := f.r.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return f.errorf("cut short at byte %d", at+int64(n))
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// A window contains the bytes of a file that were read last, for sequential readers.
type window struct {
	f     *frame
	bytes []byte
	at    uint64
}

// read returns the length bytes at offset at, which are valid until the next call; ok reports
// whether their checksum is sum.
func (w *window) read(f *frame, at, length, ahead uint64, sum uint32) (raw []byte, ok bool, err error) {
	if raw, err = w.get(f, at, length, ahead); err != nil {
		return nil, false, err
	}
	return raw, crc32.Checksum(raw, castagnoli) == sum, nil
}

// get is read without a checksum. If the window does not contain all the bytes, get fills it
// from at: with length bytes, or with ahead bytes if that is more, but none after the blocks.
func (w *window) get(f *frame, at, length, ahead uint64) ([]byte, error) {
	if w.f != f || at < w.at || at+length > w.at+uint64(len(w.bytes)) {
		size := max(length, min(ahead, f.index-at))
		if uint64(cap(w.bytes)) < size {
			w.bytes = make([]byte, size)
		}
		w.f, w.at, w.bytes = f, at, w.bytes[:size]
		if err := f.readAt(w.bytes, int64(at)); err != nil {
			w.f = nil
			return nil, err
		}
	}
	return w.bytes[at-w.at:][:length], nil
}

// Name returns the name of the file in errors.
func (f *frame) Name() string { return f.name }

// Size returns the size of the file in bytes.
func (f *frame) Size() int64 { return f.size }

// Spec returns the spec of the game in the head of the file.
func (f *frame) Spec() string { return f.spec }

// Sum returns the checksum in the tail, which covers all other checksums of the file.
func (f *frame) Sum() uint32 { return f.sum }

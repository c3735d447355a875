package streamfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// What block files, range files and list files have in common: what stands before their
// blocks or cells, and after their index. See the package comment.
const (
	tailSize  = 48
	entrySize = 28 // of a page, in the directory
	sumSize   = 4
	maxSpec   = 1 << 10
	// endSize is how much of a file is read first, in one go.
	endSize = 4 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frameWriter writes the frame of a file.
type frameWriter struct {
	w      io.Writer
	head   []byte
	offset uint64 // of what is written next
}

// begin writes the head: what a file begins with, its game, and some bytes more.
func (f *frameWriter) begin(w io.Writer, magic, spec string, more ...byte) error {
	f.w = w
	f.head = append([]byte(magic), binary.AppendUvarint(nil, uint64(len(spec)))...)
	f.head = append(append(f.head, spec...), more...)
	return f.write(f.head)
}

// write writes bytes before the index.
func (f *frameWriter) write(b []byte) error {
	f.offset += uint64(len(b))
	_, err := f.w.Write(b)
	return err
}

// end writes the index, the directory, the summary, and a tail: of so many records, with
// a mark at its end.
func (f *frameWriter) end(index, directory, summary []byte, records uint64, mark string) error {
	dirAt := f.offset + uint64(len(index))
	end := append(directory, summary...)
	for _, n := range []uint64{f.offset, dirAt, dirAt + uint64(len(directory)), records} {
		end = binary.LittleEndian.AppendUint64(end, n)
	}
	end = binary.LittleEndian.AppendUint64(end, frameSum(f.head, end))
	_, err := f.w.Write(append(append(index, end...), mark...))
	return err
}

// frameSum is the checksum of what stands before the blocks and after the index,
// the end without the checksum and the mark.
func frameSum(head, end []byte) uint64 {
	return uint64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, end))
}

// A FormatError is a packed file that is damaged, cut short or of another kind.
type FormatError struct {
	File   string
	Reason string
}

func (e *FormatError) Error() string { return e.File + ": " + e.Reason }

// A frame is what the ends of a file say.
type frame struct {
	r     io.ReaderAt
	name  string
	size  int64
	spec  string
	start uint64 // where the blocks begin
	index uint64 // where they end
	dirAt uint64
	count uint64 // of the tail
	sum   uint32
}

// open reads the ends of a file of so many bytes, of a kind that begins with magic and
// ends with mark, and returns its directory and its summary, which are not to be kept.
// more reads what follows the spec in the head: of how many bytes it is, and whether it
// may be; fits says whether a directory and a summary of so many bytes may be.
func (f *frame) open(size int64, magic, mark, kind string, more func(rest []byte) (n int, ok bool), fits func(directory, summary uint64) bool) (directory, summary []byte, err error) {
	f.size = size
	head := make([]byte, min(size, int64(len(magic)+2*binary.MaxVarintLen64+maxSpec)))
	if err := f.readAt(head, 0); err != nil {
		return nil, nil, err
	}
	rest, ok := bytes.CutPrefix(head, []byte(magic))
	if !ok {
		return nil, nil, f.errorf("not a %s: it begins with %q, expected %q", kind, head[:min(8, len(head))], magic)
	}
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > maxSpec || uint64(len(rest)-used) < n {
		return nil, nil, f.errorf("damaged at its beginning")
	}
	f.spec, rest = string(rest[used:][:n]), rest[used:][n:]
	if used, ok = more(rest); !ok {
		return nil, nil, f.errorf("damaged at its beginning")
	}
	f.start = uint64(len(head) - len(rest) + used)

	if size-tailSize < int64(f.start) {
		return nil, nil, f.errorf("cut short: %d bytes", size)
	}
	end := make([]byte, min(size, endSize))
	if err := f.readAt(end, size-int64(len(end))); err != nil {
		return nil, nil, err
	}
	tail := end[len(end)-tailSize:]
	if string(tail[tailSize-len(mark):]) != mark {
		return nil, nil, f.errorf("cut short: its end mark is missing after %d bytes", size)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(tail[8*i:]) }
	f.index, f.dirAt, f.count = word(0), word(1), word(3)
	sum, summaryAt, tailAt := word(4), word(2), uint64(size)-tailSize
	if f.index < f.start || f.dirAt < f.index || summaryAt < f.dirAt || summaryAt > tailAt || !fits(summaryAt-f.dirAt, tailAt-summaryAt) {
		return nil, nil, f.errorf("damaged at its end")
	}
	if need := uint64(size) - f.dirAt; need <= uint64(len(end)) {
		end = end[uint64(len(end))-need:]
	} else {
		end = make([]byte, need)
		if err := f.readAt(end, int64(f.dirAt)); err != nil {
			return nil, nil, err
		}
	}
	if frameSum(head[:f.start], end[:len(end)-16]) != sum {
		return nil, nil, f.errorf("damaged at its beginning or end: the checksum is wrong")
	}
	f.sum = uint32(sum)
	return end[:summaryAt-f.dirAt], end[summaryAt-f.dirAt : len(end)-tailSize], nil
}

func (f *frame) errorf(format string, args ...any) error {
	return &FormatError{File: f.name, Reason: fmt.Sprintf(format, args...)}
}

// readAt fills buf; a file that ends before is cut short.
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

// A window is what was read last of a file, for one who reads on.
type window struct {
	f     *frame
	bytes []byte
	at    uint64
}

// read returns so many bytes from a place on, whose checksum is right; they hold until
// the next call. What of them is not in the window is read with what follows, if that
// makes more: up to ahead bytes, before the index.
func (w *window) read(f *frame, at, length, ahead uint64, sum uint32) (raw []byte, ok bool, err error) {
	if w.f != f || at < w.at || at+length > w.at+uint64(len(w.bytes)) {
		size := max(length, min(ahead, f.index-at))
		if uint64(cap(w.bytes)) < size {
			w.bytes = make([]byte, size)
		}
		w.f, w.at, w.bytes = f, at, w.bytes[:size]
		if err := f.readAt(w.bytes, int64(at)); err != nil {
			w.f = nil
			return nil, false, err
		}
	}
	raw = w.bytes[at-w.at:][:length]
	return raw, crc32.Checksum(raw, castagnoli) == sum, nil
}

// Name is what the file is called in errors.
func (f *frame) Name() string { return f.name }

// Size is how many bytes it has.
func (f *frame) Size() int64 { return f.size }

// Spec is the game that the file says it is of.
func (f *frame) Spec() string { return f.spec }

// Sum is the checksum on which all others of the file hang.
func (f *frame) Sum() uint32 { return f.sum }

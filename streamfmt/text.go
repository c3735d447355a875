package streamfmt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// bufferSize is the size of a reader's buffer, and one more than the length of the longest
// line.
const bufferSize = 256 << 10

// A Kind is the kind of a record: what it states about its key.
type Kind uint8

// The kinds of records.
const (
	Open    Kind = iota // the position exists; its value is not known
	Done                // the position exists and has the value
	Message             // a move of the position, if it exists, leads to a position with the value
)

// A Record is one line.
type Record struct {
	Key   uint64
	Kind  Kind
	Value byte // 0 if and only if Kind is Open
}

// KeyWidth returns the number of hexadecimal digits of a key with the given number of bits.
func KeyWidth(bits uint) int { return int(bits+3) / 4 }

// AppendKey appends the key as width hexadecimal digits; width is 1 to 16.
func AppendKey(dst []byte, key uint64, width int) []byte {
	var digits [16]byte
	binary.BigEndian.PutUint64(digits[:], hex(uint32(key>>32)))
	binary.BigEndian.PutUint64(digits[8:], hex(uint32(key)))
	return append(dst, digits[16-width:]...)
}

// hex returns the eight hexadecimal digits of n, the first in the highest byte. It spreads the
// nibbles to a byte each, and shifts those above 9 from the characters after '9' to the
// letters.
func hex(n uint32) uint64 {
	x := uint64(n)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letters*('a'-'9'-1)
}

// AppendRecord appends the line of r, with a key of width digits.
func AppendRecord(dst []byte, r Record, width int) []byte {
	dst = AppendKey(dst, r.Key, width)
	switch r.Kind {
	case Done:
		dst = strconv.AppendUint(append(dst, '\t'), uint64(r.Value), 10)
	case Message:
		dst = strconv.AppendUint(append(dst, '\t', 'm'), uint64(r.Value), 10)
	}
	return append(dst, '\n')
}

// A LineError describes a line that is not a valid record.
type LineError struct {
	Source string // file, or "stdin"
	Line   int64  // from 1
	Want   string // what was expected
	Got    string // the line, or its first bytes
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: expected %s, found %q", e.Source, e.Line, e.Want, e.Got)
}

// A LineReader splits a stream into lines. A line is valid until the next call of Next.
type LineReader struct {
	r      *bufio.Reader
	source string
	line   int64
	long   bool // skip the rest of the last line, which is too long
	edited bool
}

// NewLineReader returns a reader of the lines of r. Errors name the input by source.
func NewLineReader(r io.Reader, source string) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, bufferSize), source: source}
}

// NewEditedReader is NewLineReader for text that people edit: a byte order mark at the start is
// skipped, and lines may end with a carriage return and a newline.
func NewEditedReader(r io.Reader, source string) *LineReader {
	l := NewLineReader(r, source)
	l.edited = true
	return l
}

// byteOrderMark may be at the start of a file that was edited on Windows.
const byteOrderMark = "\ufeff"

// Next returns the next line without its newline, and io.EOF after the last. The last line may
// lack a newline.
func (l *LineReader) Next() (line []byte, err error) {
	for ; l.long; l.long = err == bufio.ErrBufferFull {
		_, err = l.r.ReadSlice('\n')
	}
	if err == nil {
		line, err = l.r.ReadSlice('\n')
	}
	switch {
	case err == bufio.ErrBufferFull:
		l.line++
		l.long = true
		return nil, l.Errorf(fmt.Sprintf("a line of less than %d bytes", bufferSize), line)
	case err == nil:
		line = line[:len(line)-1]
	case err != io.EOF:
		at := l.source
		if l.line > 0 {
			at = fmt.Sprintf("%s: after line %d", at, l.line)
		}
		return nil, fmt.Errorf("%s: %w", at, err)
	case len(line) == 0:
		return nil, io.EOF
	}
	l.line++
	if l.edited {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if l.line == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
	}
	return line, nil
}

// Each calls do for every line. It stops at the first error.
func (l *LineReader) Each(do func(line []byte) error) error {
	for {
		line, err := l.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(line)
		}
		if err != nil {
			return err
		}
	}
}

// Errorf returns a LineError for the line that was read last. It contains only the beginning of a
// long line.
func (l *LineReader) Errorf(want string, line []byte) error {
	const show = 80
	return &LineError{Source: l.source, Line: l.line, Want: want, Got: string(line[:min(len(line), show)])}
}

// A Reader reads records from lines of text.
type Reader struct {
	lines *LineReader
	width int
	last  []byte
}

// NewReader returns a reader of the records of r, whose keys have width digits.
func NewReader(r io.Reader, source string, width int) *Reader {
	return &Reader{lines: NewLineReader(r, source), width: width}
}

// Next returns the next record. It returns io.EOF after the last, and a *LineError if a line
// is not a record.
func (r *Reader) Next() (Record, error) {
	line, err := r.lines.Next()
	if err != nil {
		return Record{}, err
	}
	r.last = line
	rec, want := parseRecord(line, r.width)
	if want != "" {
		return Record{}, r.Errorf(want)
	}
	return rec, nil
}

// Errorf returns a LineError for the record that was read last.
func (r *Reader) Errorf(want string) error { return r.lines.Errorf(want, r.last) }

// parseRecord parses a line. If it is not a record, want describes what was expected.
func parseRecord(line []byte, width int) (rec Record, want string) {
	var value []byte
	if rec.Key, value, want = cutKey(line, width); want != "" || len(value) == 0 {
		return rec, want
	}
	rec.Kind = Done
	if value[0] == 'm' {
		rec.Kind, value = Message, value[1:]
	}
	if rec.Value = byte(parseNumber(value, 255)); rec.Value == 0 {
		return rec, "a value of 1 to 255 after the tab, or m and such a value"
	}
	return rec, ""
}

// cutKey parses the key of width digits at the beginning of a line. rest is the part after the
// tab.
func cutKey(line []byte, width int) (key uint64, rest []byte, want string) {
	if len(line) < width || len(line) > width && line[width] != '\t' {
		return 0, nil, fmt.Sprintf("a key of %d hexadecimal digits, then nothing or a tab", width)
	}
	key, ok := parseKey(line[:width])
	if !ok {
		return 0, nil, fmt.Sprintf("a key of %d hexadecimal digits (0-9, a-f)", width)
	}
	return key, line[min(width+1, len(line)):], ""
}

// parseKey parses a key of at most 16 digits.
func parseKey(digits []byte) (key uint64, ok bool) {
	for _, c := range digits {
		d := digitOf[c]
		if d > 15 {
			return 0, false
		}
		key = key<<4 | uint64(d)
	}
	return key, true
}

// parseNumber parses a decimal number from 1 to most. It returns 0 if there is none.
func parseNumber(digits []byte, most uint64) (n uint64) {
	for _, c := range digits {
		if c < '0' || c > '9' || n == 0 && c == '0' || n > most {
			return 0
		}
		n = n*10 + uint64(c-'0')
	}
	if n > most {
		return 0
	}
	return n
}

// digitOf maps a hexadecimal digit to its value, and any other byte to 255.
var digitOf = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i)
	}
	return t
}()

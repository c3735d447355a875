package streamfmt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// bufferSize is how much of a stream is read at a time, and the longest line.
const bufferSize = 256 << 10

// maxIdle is how many reads in a row may bring neither a byte nor an error.
const maxIdle = 100

// A Kind says what a record is about its key.
type Kind uint8

// The kinds of records.
const (
	Open    Kind = iota // the position exists, its value is not known
	Done                // the position exists and has the value
	Message             // the position, if it exists, has a move to one of that value
)

// MaxTimes is how many moves a message may stand for.
const MaxTimes = 63

// A Record is one line.
type Record struct {
	Key   uint64
	Kind  Kind
	Value byte // 0 if and only if Kind is Open
	Times byte // of a message: it stands for so many moves; 0 is one
}

// KeyWidth is how many hexadecimal digits a key of so many bits takes.
func KeyWidth(bits uint) int { return int(bits+3) / 4 }

// AppendKey appends the key in width digits, 1 to 16.
func AppendKey(dst []byte, key uint64, width int) []byte {
	var digits [16]byte
	binary.BigEndian.PutUint64(digits[:], hex(uint32(key>>32)))
	binary.BigEndian.PutUint64(digits[8:], hex(uint32(key)))
	return append(dst, digits[16-width:]...)
}

// hex returns the eight digits of n, the first in the highest byte. The nibbles
// are spread to a byte each, and those above 9 are lifted from after '9' to 'a'.
func hex(n uint32) uint64 {
	x := uint64(n)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letters*('a'-'9'-1)
}

// AppendRecord appends the line of r, its key in width digits.
func AppendRecord(dst []byte, r Record, width int) []byte {
	dst = AppendKey(dst, r.Key, width)
	switch r.Kind {
	case Done:
		dst = strconv.AppendUint(append(dst, '\t'), uint64(r.Value), 10)
	case Message:
		dst = strconv.AppendUint(append(dst, '\t', 'm'), uint64(r.Value), 10)
		if r.Times > 1 {
			dst = strconv.AppendUint(append(dst, 'x'), uint64(r.Times), 10)
		}
	}
	return append(dst, '\n')
}

// A LineError is a line that is not a record.
type LineError struct {
	Source string // file, or "stdin"
	Line   int64  // counted from 1
	Want   string // what was expected
	Got    string // the line, or its beginning
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: expected %s, found %q", e.Source, e.Line, e.Want, e.Got)
}

// A LineReader cuts a stream into lines. The bytes of a line belong to the
// reader and hold until the next call.
type LineReader struct {
	r        io.Reader
	source   string
	buf      []byte
	from, to int
	line     int64
	idle     int // reads in a row that brought nothing
	err      error
}

// NewLineReader reads lines from r, called source in errors.
func NewLineReader(r io.Reader, source string) *LineReader {
	return &LineReader{r: r, source: source, buf: make([]byte, bufferSize)}
}

// Next returns the next line without its end; io.EOF after the last. A last
// line that is not ended by a newline counts as well.
func (l *LineReader) Next() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.from+searched:l.to], '\n'); i >= 0 {
			end := l.from + searched + i
			line := l.buf[l.from:end]
			l.from = end + 1
			l.line++
			return line, nil
		}
		searched = l.to - l.from
		if l.err != nil {
			if searched > 0 && l.err == io.EOF {
				line := l.buf[l.from:l.to]
				l.from = l.to
				l.line++
				return line, nil
			}
			return nil, l.err
		}
		if searched == len(l.buf) {
			l.line++
			return nil, l.Errorf(fmt.Sprintf("a line of less than %d bytes", bufferSize), l.buf)
		}
		copy(l.buf, l.buf[l.from:l.to])
		l.from, l.to = 0, searched
		n, err := l.r.Read(l.buf[l.to:])
		l.to += n
		if n == 0 && err == nil {
			if l.idle++; l.idle == maxIdle {
				err = io.ErrNoProgress
			}
		} else {
			l.idle = 0
		}
		if err != nil && err != io.EOF {
			err = fmt.Errorf("%s: after line %d: %w", l.source, l.line, err)
		}
		l.err = err
	}
}

// Errorf returns a LineError for the line read last.
func (l *LineReader) Errorf(want string, line []byte) error {
	const show = 80
	if len(line) > show {
		line = line[:show]
	}
	return &LineError{Source: l.source, Line: l.line, Want: want, Got: string(line)}
}

// A Reader reads records from lines.
type Reader struct {
	lines *LineReader
	width int
	last  []byte
}

// NewReader reads records with keys of width digits.
func NewReader(r io.Reader, source string, width int) *Reader {
	return &Reader{lines: NewLineReader(r, source), width: width}
}

// Next returns the next record; io.EOF after the last, a *LineError where a
// line is not a record.
func (r *Reader) Next() (Record, error) {
	line, err := r.lines.Next()
	if err != nil {
		return Record{}, err
	}
	r.last = line
	rec, want := parseRecord(line, r.width)
	if want != "" {
		return Record{}, r.lines.Errorf(want, line)
	}
	return rec, nil
}

// Errorf returns a LineError for the record read last.
func (r *Reader) Errorf(want string) error { return r.lines.Errorf(want, r.last) }

// parseRecord reads a line; want says what was expected if it is not a record.
func parseRecord(line []byte, width int) (rec Record, want string) {
	if len(line) < width || len(line) > width && line[width] != '\t' {
		return rec, fmt.Sprintf("a key of %d hexadecimal digits, then nothing or a tab", width)
	}
	var ok bool
	if rec.Key, ok = parseKey(line[:width]); !ok {
		return rec, fmt.Sprintf("a key of %d hexadecimal digits (0-9, a-f)", width)
	}
	if len(line) <= width+1 {
		return rec, ""
	}
	value := line[width+1:]
	rec.Kind = Done
	if value[0] == 'm' {
		rec.Kind = Message
		value = value[1:]
		if digits, times, ok := bytes.Cut(value, []byte{'x'}); ok {
			value = digits
			if rec.Times = parseTimes(times); rec.Times == 0 {
				return rec, fmt.Sprintf("after m, a value and x a number of 2 to %d", MaxTimes)
			}
		}
	}
	n := 0
	for _, c := range value {
		if c < '0' || c > '9' || n > 25 {
			n = 256
			break
		}
		n = n*10 + int(c-'0')
	}
	if n < 1 || n > 255 || value[0] == '0' {
		return rec, "a value of 1 to 255 after the tab, or m and such a value"
	}
	rec.Value = byte(n)
	return rec, ""
}

// parseKey reads a key of at most 16 digits.
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

// parseTimes reads how many moves a message stands for, 0 if that is wrong.
func parseTimes(digits []byte) byte {
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' || n == 0 && c == '0' || n > MaxTimes {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n < 2 || n > MaxTimes {
		return 0
	}
	return byte(n)
}

// digitOf is the value of a hexadecimal digit, 255 for any other byte.
var digitOf = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i)
	}
	return t
}()

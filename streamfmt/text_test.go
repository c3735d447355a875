package streamfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// readAll returns the records of a stream up to the first error; io.EOF counts as nil.
func readAll(r io.Reader, width int) ([]Record, error) {
	var recs []Record
	reader := NewReader(r, "in", width)
	for {
		rec, err := reader.Next()
		if err == io.EOF {
			return recs, nil
		}
		if err != nil {
			return recs, err
		}
		recs = append(recs, rec)
	}
}

func TestKeyWidth(t *testing.T) {
	for bits, want := range map[uint]int{1: 1, 4: 1, 5: 2, 24: 6, 30: 8, 49: 13, 60: 15, 61: 16, 64: 16} {
		if got := KeyWidth(bits); got != want {
			t.Errorf("KeyWidth(%d) = %d, want %d", bits, got, want)
		}
	}
}

// TestRecordForms checks each form of a line, and the line that is written for it.
func TestRecordForms(t *testing.T) {
	for _, tt := range []struct {
		line string
		rec  Record
		out  string // "" if it equals the input
	}{
		{"0000", Record{}, ""},
		{"0000\t", Record{}, "0000"},
		{"01ef", Record{Key: 0x1ef}, ""},
		{"01ef\t", Record{Key: 0x1ef}, "01ef"},
		{"abcd\t1", Record{Key: 0xabcd, Kind: Done, Value: 1}, ""},
		{"ffff\t9", Record{Key: 0xffff, Kind: Done, Value: 9}, ""},
		{"0020\t10", Record{Key: 0x20, Kind: Done, Value: 10}, ""},
		{"0020\t99", Record{Key: 0x20, Kind: Done, Value: 99}, ""},
		{"0020\t100", Record{Key: 0x20, Kind: Done, Value: 100}, ""},
		{"0020\t255", Record{Key: 0x20, Kind: Done, Value: 255}, ""},
		{"0020\tm1", Record{Key: 0x20, Kind: Message, Value: 1}, ""},
		{"0020\tm42", Record{Key: 0x20, Kind: Message, Value: 42}, ""},
		{"0020\tm255", Record{Key: 0x20, Kind: Message, Value: 255}, ""},
	} {
		for _, end := range []string{"", "\n"} { // the last line may lack its newline
			recs, err := readAll(strings.NewReader(tt.line+end), 4)
			if err != nil || len(recs) != 1 || recs[0] != tt.rec {
				t.Errorf("%q: read %+v, %v, want %+v", tt.line+end, recs, err, tt.rec)
			}
		}
		want := tt.line
		if tt.out != "" {
			want = tt.out
		}
		if got := string(AppendRecord([]byte("before "), tt.rec, 4)); got != "before "+want+"\n" {
			t.Errorf("AppendRecord(%+v) appends %q, want %q", tt.rec, got, want)
		}
	}
}

// TestBadLines checks each kind of invalid line, with the complete text of its error. The
// lines before and after it are valid.
func TestBadLines(t *testing.T) {
	const (
		key    = `a key of 4 hexadecimal digits, then nothing or a tab`
		digits = `a key of 4 hexadecimal digits (0-9, a-f)`
		value  = `a value of 1 to 255 after the tab, or m and such a value`
	)
	for _, tt := range []struct{ line, want string }{
		{"", key},
		{"\t", key},
		{"012", key},
		{"012\t5", key},
		{"01234", key},
		{"01234\t5", key},
		{"0123 5", key},
		{"0123\r", key},
		{" 012", digits},
		{"012g", digits},
		{"01EF", digits},
		{"-123", digits},
		{"0x12\t5", digits},
		{"\x00123", digits},
		{"0123\t0", value},
		{"0123\t05", value},
		{"0123\t256", value},
		{"0123\t260", value},
		{"0123\t1000", value},
		{"0123\t18446744073709551617", value},
		{"0123\t-1", value},
		{"0123\t+1", value},
		{"0123\t 1", value},
		{"0123\t1 ", value},
		{"0123\t1\r", value},
		{"0123\t\t", value},
		{"0123\t1\t", value},
		{"0123\tx", value},
		{"0123\t5x2", value},
		{"0123\tmx2", value},
		{"0123\tm5x2", value},
		{"0123\tm", value},
		{"0123\tm0", value},
		{"0123\tm01", value},
		{"0123\tm256", value},
		{"0123\tmm1", value},
		{"0123\tM1", value},
		{"0123\t1m", value},
	} {
		recs, err := readAll(strings.NewReader("0001\n"+tt.line+"\n0002\n"), 4)
		want := fmt.Sprintf("in:2: expected %s, found %q", tt.want, tt.line)
		if err == nil || err.Error() != want {
			t.Errorf("%q: error\n%v, want\n%s", tt.line, err, want)
		}
		var bad *LineError
		if !errors.As(err, &bad) || bad.Source != "in" || bad.Line != 2 || bad.Want != tt.want || bad.Got != tt.line {
			t.Errorf("%q: error %#v", tt.line, err)
		}
		if !slices.Equal(recs, []Record{{Key: 1}}) {
			t.Errorf("%q: read %+v before it, want key 1", tt.line, recs)
		}
	}
}

// TestReaderGoesOnAfterABadLine checks that a reader continues after an invalid line, with the
// right line numbers.
func TestReaderGoesOnAfterABadLine(t *testing.T) {
	r := NewReader(strings.NewReader("01\nxx\n02\nyy\n"), "in", 2)
	var got []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		got = append(got, fmt.Sprint(rec, err))
	}
	want := []string{
		`{1 0 0} <nil>`,
		`{0 0 0} in:2: expected a key of 2 hexadecimal digits (0-9, a-f), found "xx"`,
		`{2 0 0} <nil>`,
		`{0 0 0} in:4: expected a key of 2 hexadecimal digits (0-9, a-f), found "yy"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReaderErrorf(t *testing.T) {
	r := NewReader(strings.NewReader("01\n02\t7\n"), "part-00000", 2)
	for range 2 {
		must.Get(r.Next())(t)
	}
	want := `part-00000:2: expected something else, found "02\t7"`
	if err := r.Errorf("something else"); err.Error() != want {
		t.Errorf("Errorf gives\n%v, want\n%s", err, want)
	}
}

// TestLineErrorShowsTheBeginning checks that an error contains only the beginning of a long
// line.
func TestLineErrorShowsTheBeginning(t *testing.T) {
	_, err := readAll(strings.NewReader(strings.Repeat("z", 1000)), 4)
	var bad *LineError
	if !errors.As(err, &bad) || bad.Got != strings.Repeat("z", 80) {
		t.Errorf("error %v, want 80 bytes of the line", err)
	}
}

func TestEmptyStream(t *testing.T) {
	r := NewReader(strings.NewReader(""), "in", 4)
	for range 3 {
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("error %v, want io.EOF", err)
		}
	}
}

func TestLineOfTheBufferSize(t *testing.T) {
	for _, tt := range []struct {
		length int
		ok     bool
	}{{bufferSize - 1, true}, {bufferSize, false}, {bufferSize + 1, false}, {3 * bufferSize, false}} {
		long := strings.Repeat("x", tt.length)
		l := NewLineReader(strings.NewReader("first\n"+long+"\nlast\n"), "in")
		if line, err := l.Next(); string(line) != "first" || err != nil {
			t.Fatalf("first line: %q, %v", line, err)
		}
		line, err := l.Next()
		if tt.ok {
			if err != nil || string(line) != long {
				t.Errorf("a line of %d bytes: read %d bytes, %v", tt.length, len(line), err)
			}
			if line, err := l.Next(); string(line) != "last" || err != nil {
				t.Errorf("after a line of %d bytes: %q, %v", tt.length, line, err)
			}
			continue
		}
		want := fmt.Sprintf("in:2: expected a line of less than 262144 bytes, found %q", long[:80])
		if err == nil || err.Error() != want {
			t.Errorf("a line of %d bytes: error\n%v, want\n%s", tt.length, err, want)
		}
		if line, err := l.Next(); string(line) != "last" || err != nil {
			t.Errorf("after a line of %d bytes: %q, %v", tt.length, line, err)
		}
	}
}

// stutter returns the data a few bytes at a time, with empty reads between them, and its error
// together with the last bytes or after them.
type stutter struct {
	data string
	r    *rand.Rand
	err  error
}

func (s *stutter) Read(buf []byte) (int, error) {
	n := min(s.r.IntN(20), len(s.data), len(buf))
	copy(buf, s.data[:n])
	s.data = s.data[n:]
	if len(s.data) == 0 && s.r.IntN(2) == 0 {
		return n, s.err
	}
	return n, nil
}

// TestReadsOfAnySize checks that the lines are the same, however the bytes arrive.
func TestReadsOfAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	var want []Record
	for range 300 {
		rec := randomRecord(r, 16)
		want = append(want, rec)
		text = AppendRecord(text, rec, 16)
	}
	readers := map[string]io.Reader{
		"one byte": iotest.OneByteReader(bytes.NewReader(text)),
		"half":     iotest.HalfReader(bytes.NewReader(text)),
		"data err": iotest.DataErrReader(bytes.NewReader(text)),
		"stutter":  &stutter{string(text), r, io.EOF},
		"no end":   bytes.NewReader(text[:len(text)-1]),
	}
	for name, reader := range readers {
		if got, err := readAll(reader, 16); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: read %d records, %v, want %d", name, len(got), err, len(want))
		}
	}
}

// TestErrorHalfWay checks that a reader returns the complete lines before an error, and then
// the error at each call.
func TestErrorHalfWay(t *testing.T) {
	broken := errors.New("the wire is cut")
	for seed := range uint64(20) {
		in := &stutter{"01\n02\t7\n03", rand.New(rand.NewPCG(seed, 0)), broken}
		r := NewReader(in, "stdin", 2)
		for _, want := range []Record{{Key: 1}, {Key: 2, Kind: Done, Value: 7}} {
			if rec, err := r.Next(); rec != want || err != nil {
				t.Fatalf("read %+v, %v, want %+v", rec, err, want)
			}
		}
		for range 2 {
			_, err := r.Next()
			if !errors.Is(err, broken) {
				t.Fatalf("error %v, want %v", err, broken)
			}
			var line int
			_, e := fmt.Sscanf(err.Error(), "stdin: after line %d: the wire is cut", &line)
			if nothingYet := err.Error() == "stdin: the wire is cut"; !nothingYet && (e != nil || line < 1 || line > 2) {
				t.Fatalf("error text %q", err)
			}
		}
	}
}

func randomRecord(r *rand.Rand, width int) Record {
	rec := Record{Key: r.Uint64() >> (64 - 4*width) >> r.IntN(4*width), Kind: Kind(r.IntN(3))}
	if rec.Kind != Open {
		rec.Value = byte(1 + r.IntN(255))
	}
	return rec
}

func TestRecordRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for width := 1; width <= 16; width++ {
		var text []byte
		var want []Record
		for range 200 {
			rec := randomRecord(r, width)
			want = append(want, rec)
			text = AppendRecord(text, rec, width)
		}
		if got, err := readAll(bytes.NewReader(text), width); err != nil || !slices.Equal(got, want) {
			t.Errorf("width %d: the records change on their way: %v", width, err)
		}
	}
}

// TestKeysSortAsNumbers checks that the order of keys as bytes is their order as numbers.
func TestKeysSortAsNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := 1; width <= 16; width++ {
		limit := ^uint64(0) >> (64 - 4*width)
		keys := []uint64{0, 1, 9 & limit, 10 & limit, limit, limit - 1, limit / 2}
		for range 100 {
			keys = append(keys, r.Uint64()>>r.IntN(64)&limit)
		}
		for _, a := range keys {
			if got, want := string(AppendKey([]byte("x"), a, width)), fmt.Sprintf("x%0*x", width, a); got != want {
				t.Fatalf("AppendKey(%#x, %d) gives %q, want %q", a, width, got, want)
			}
			for _, b := range keys {
				ta, tb := AppendKey(nil, a, width), AppendKey(nil, b, width)
				if len(ta) != width {
					t.Fatalf("AppendKey(%#x, %d) = %q", a, width, ta)
				}
				if (bytes.Compare(ta, tb) < 0) != (a < b) || bytes.Equal(ta, tb) != (a == b) {
					t.Fatalf("%#x and %#x do not sort as %q and %q", a, b, ta, tb)
				}
			}
		}
	}
}

// FuzzReader reads arbitrary bytes. There must be no panic. A record must be equal after
// writing and reading it, and the error for any other line must be a LineError with the line's
// number.
func FuzzReader(f *testing.F) {
	f.Add([]byte("0020\t10\n0021\tm6\n0022\n0023\t\n"), byte(4))
	f.Add([]byte("0\n\n\t\n\tm\n5\tm\n5\t256"), byte(1))
	f.Add([]byte("ffffffffffffffff\t255"), byte(16))
	f.Fuzz(func(t *testing.T, data []byte, w byte) {
		width := 1 + int(w%16)
		r := NewReader(bytes.NewReader(data), "in", width)
		lines := int64(bytes.Count(data, []byte("\n")))
		if len(data) > 0 && data[len(data)-1] != '\n' {
			lines++
		}
		for n := int64(1); ; n++ {
			rec, err := r.Next()
			if err == io.EOF {
				if n != lines+1 {
					t.Fatalf("read %d lines of %d", n-1, lines)
				}
				return
			}
			if err != nil {
				var bad *LineError
				if !errors.As(err, &bad) || bad.Line != n {
					t.Fatalf("line %d: error %v", n, err)
				}
				if strings.Contains(bad.Want, "a line of less") {
					return
				}
				continue
			}
			if (rec.Kind == Open) != (rec.Value == 0) {
				t.Fatalf("line %d: record %+v", n, rec)
			}
			again, err := readAll(bytes.NewReader(AppendRecord(nil, rec, width)), width)
			if err != nil || len(again) != 1 || again[0] != rec {
				t.Fatalf("line %d: record %+v reads as %+v, %v", n, rec, again, err)
			}
		}
	})
}

// TestEditedReader checks that a byte order mark and carriage returns are no part of edited lines.
func TestEditedReader(t *testing.T) {
	const text = "\ufeffone\r\n\r\ntwo\n\ufeffthree"
	for edited, want := range map[bool][]string{true: {"one", "", "two", "\ufeffthree"}, false: {"\ufeffone\r", "\r", "two", "\ufeffthree"}} {
		r := NewLineReader(strings.NewReader(text), "file")
		if edited {
			r = NewEditedReader(strings.NewReader(text), "file")
		}
		var got []string
		if err := r.Each(func(line []byte) error { got = append(got, string(line)); return nil }); err != nil || !slices.Equal(got, want) {
			t.Errorf("edited %v: %q, want %q; %v", edited, got, want, err)
		}
	}
}

package streamfmt_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

func compareRows(a, b streamfmt.Row) int {
	switch {
	case a.Key < b.Key || a.Key == b.Key && a.Word < b.Word:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// mostWords are the largest words of rows, by kind.
var mostWords = [...]uint64{streamfmt.Predecessors: 1<<64 - 1, streamfmt.Messages: 1<<32 - 1, streamfmt.Values: 1<<16 - 1}

// randomRows returns sorted rows of a kind, whose keys and words have at most the given number of
// bits.
func randomRows(r *rand.Rand, n, bits int, kind streamfmt.CellKind) []streamfmt.Row {
	rows := make([]streamfmt.Row, n)
	for i := range rows {
		rows[i] = streamfmt.Row{Key: r.Uint64() >> (64 - bits), Word: r.Uint64() >> (r.IntN(bits) + 64 - bits)}
		if r.IntN(100) == 0 {
			rows[i].Word = rows[i].Key
		}
		rows[i].Word &= mostWords[kind]
	}
	slices.SortFunc(rows, compareRows)
	return rows
}

// packRows returns a file of the rows by tier, appended piece rows at a time.
func packRows(t testing.TB, tiers map[int][]streamfmt.Row, kind streamfmt.CellKind, piece int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := streamfmt.NewWriter(&out, "game a=1", kind, nil)
	var p streamfmt.Packer
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		for rows := range slices.Chunk(tiers[tier], piece) {
			p.AddRows(tier, rows)
			if kind == streamfmt.Values {
				p.CountValues(rows)
			}
			if len(p.Bytes) > 10000 {
				must.OK(t, w.Append(&p))
				p.Reset()
			}
		}
	}
	must.OK(t, w.Append(&p))
	must.OK(t, w.Close())
	return out.Bytes()
}

// readRows reads all rows of a file, by tier.
func readRows(file []byte) (map[int][]streamfmt.Row, *streamfmt.File, error) {
	f, err := streamfmt.OpenFile(bytes.NewReader(file), int64(len(file)), "x.pack")
	if err != nil {
		return nil, nil, err
	}
	if err := f.Check(); err != nil {
		return nil, nil, err
	}
	tiers := make(map[int][]streamfmt.Row)
	var c streamfmt.RowReader
	for _, tier := range f.Stages {
		cells, err := f.Cells(tier)
		if err != nil {
			return nil, nil, err
		}
		var rows []streamfmt.Row
		for i := range cells {
			if rows, err = c.Append(rows, f, cells[i:], 1<<64-1); err != nil {
				return nil, nil, err
			}
		}
		tiers[tier] = rows
	}
	return tiers, f, nil
}

func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round, bits := range []int{1, 3, 8, 9, 20, 31, 33, 40, 57, 63, 64, 64} {
		kind := streamfmt.CellKind(round % 3)
		tiers := make(map[int][]streamfmt.Row)
		for range round {
			tiers[r.IntN(1000)] = randomRows(r, 1+r.IntN(3000), bits, kind)
		}
		file := packRows(t, tiers, kind, 1+r.IntN(2000))
		got, f, err := readRows(file)
		must.OK(t, err)
		if !maps.EqualFunc(got, tiers, slices.Equal[[]streamfmt.Row]) {
			t.Fatalf("%d bits: other rows came back", bits)
		}
		var n uint64
		counts := make(map[uint16]uint64)
		for _, rows := range tiers {
			n += uint64(len(rows))
			for _, row := range rows {
				counts[uint16(row.Word)]++
			}
		}
		if cells, err := f.Cells(2000); len(cells) > 0 || err != nil || f.Records() != n || f.Kind != kind || f.Spec != "game a=1" {
			t.Errorf("%v rows of %s of %q, want %d of %s", f.Records(), f.Kind, f.Spec, n, kind)
		}
		if kind == streamfmt.Values {
			for value, n := range f.Counts {
				if counts[uint16(value)] != n {
					t.Errorf("value %d: counted %d, want %d", value, n, counts[uint16(value)])
				}
				delete(counts, uint16(value))
			}
			if len(counts) > 0 {
				t.Errorf("values that were not counted: %v", counts)
			}
		}
	}
}

// TestRowsUntil checks that all rows of a cell up to a key are read, and none that is not in the cell.
func TestRowsUntil(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for bits := 1; bits <= 64; bits += 7 {
		rows := randomRows(r, 3000, bits, streamfmt.Predecessors)
		file := packRows(t, map[int][]streamfmt.Row{0: rows}, streamfmt.Predecessors, 3000)
		f := must.Get(streamfmt.OpenFile(bytes.NewReader(file), int64(len(file)), "x.pack"))(t)
		cells := must.Get(f.Cells(0))(t)
		var c streamfmt.RowReader
		for i, cell := range cells {
			of := rows[:cell.Records]
			rows = rows[cell.Records:]
			for _, until := range []uint64{cell.First, of[r.IntN(len(of))].Key, cell.Last - 1, cell.Last} {
				got := must.Get(c.Append(nil, f, cells[i:], until))(t)
				if n := sort.Search(len(of), func(i int) bool { return of[i].Key > until }); len(got) < n || !slices.Equal(got, of[:len(got)]) {
					t.Fatalf("%d bits: %d rows up to %d, want %d or more", bits, len(got), until, n)
				}
			}
		}
	}
}

// TestRowsWords checks that a word that is too large for the kind of its list is refused, though
// the checksums are correct: as a value, 65,542 would be read as 6.
func TestRowsWords(t *testing.T) {
	for kind, most := range mostWords {
		for _, word := range []uint64{most, most + 1, most + 7} {
			rows := []streamfmt.Row{{Key: 1, Word: 6}, {Key: 2, Word: word}, {Key: 3, Word: 6}}
			_, _, err := readRows(packRows(t, map[int][]streamfmt.Row{3: rows}, streamfmt.CellKind(kind), 3))
			var format *streamfmt.FormatError
			if refused := errors.As(err, &format); refused != (word > most) {
				t.Errorf("%s, word %d: %v", streamfmt.CellKind(kind), word, err)
			}
		}
	}
}

// TestRowsFormat checks that cells of rows have the bytes of format 4. Where it fails, a program of today may not read what is
// written: a new form of cells needs a need, see internal/engine/store/format.go.
func TestRowsFormat(t *testing.T) {
	var rows [4][]streamfmt.Row // by form
	for i := range uint64(3000) {
		key := i*i*i<<8 + i%7
		rows[0] = append(rows[0], streamfmt.Row{Key: key, Word: i * 97 % 251})
		rows[1] = append(rows[1], streamfmt.Row{Key: key, Word: key - 5 + i%9})
		rows[2] = append(rows[2], streamfmt.Row{Key: key, Word: 1<<40 + i*1000})
		rows[3] = append(rows[3], streamfmt.Row{Key: key, Word: i % 50 * 3})
	}
	for form, want := range []uint32{0x71ad8de0, 0xdc87762e, 0x5943d51d, 0xf864674d} {
		var p streamfmt.Packer
		if form == 3 {
			p.SetCoded()
		}
		p.AddRows(12, rows[form])
		if sum := crc32.ChecksumIEEE(p.Bytes); p.Bytes[0] != byte(form) || sum != want {
			t.Errorf("form %d: cells of form %d with the checksum %#x, want %#x", form, p.Bytes[0], sum, want)
		}
	}
}

// TestRowsDamage inverts bits of each byte of a file, and truncates the file at each byte.
func TestRowsDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	file := packRows(t, map[int][]streamfmt.Row{3: randomRows(r, 40, 20, streamfmt.Values), 70: randomRows(r, 30, 12, streamfmt.Values), 71: {}}, streamfmt.Values, 13)
	for i := range file {
		damaged := bytes.Clone(file)
		damaged[i] ^= byte(1 << r.IntN(8))
		_, _, err := readRows(damaged)
		var format *streamfmt.FormatError
		if !errors.As(err, &format) || format.File != "x.pack" {
			t.Errorf("byte %d turned over: %v", i, err)
		}
		if _, _, err := readRows(file[:i]); !errors.As(err, &format) {
			t.Errorf("cut at byte %d: %v", i, err)
		}
	}
	if _, err := streamfmt.OpenFile(iotestReader{}, 1000, "x.pack"); !errors.Is(err, errBroken) {
		t.Errorf("an error below: %v", err)
	}
	if _, err := streamfmt.OpenFile(new(brokenOnce), 1000, "x.pack"); !errors.Is(err, errBroken) {
		t.Errorf("an error of the first read of a file: %v", err)
	}
}

var errBroken = errors.New("broken")

type iotestReader struct{}

func (iotestReader) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

var _ io.ReaderAt = iotestReader{}

// brokenOnce is a reader that can be read when it is tried again.
type brokenOnce bool

func (b *brokenOnce) ReadAt(p []byte, _ int64) (int, error) {
	if !*b {
		*b = true
		return 0, errBroken
	}
	return len(p), nil
}

// FuzzCell reads arbitrary bytes as a cell. There must be no panic, and no key beyond the last of the cell.
func FuzzCell(f *testing.F) {
	for _, coded := range []bool{false, true} {
		var p streamfmt.Packer
		if coded {
			p.SetCoded()
		}
		p.AddRows(0, denseRows(40))
		f.Add(p.Bytes, p.Cells[0].First, p.Cells[0].Last, uint16(39))
	}
	f.Fuzz(func(t *testing.T, src []byte, first, last uint64, n uint16) {
		cell := streamfmt.Cell{First: first, Last: last, Records: uint32(n)%streamfmt.CellRows + 1, Length: uint32(len(src))}
		rows, err := streamfmt.ReadCell(src, cell)
		if err == nil && (len(rows) != int(cell.Records) || rows[len(rows)-1].Key != last) {
			t.Errorf("%d rows up to %#x", len(rows), rows[len(rows)-1].Key)
		}
	})
}

func TestRowText(t *testing.T) {
	for _, c := range []struct {
		line string
		row  streamfmt.Row
		kind streamfmt.CellKind
	}{
		{"0ff", streamfmt.Row{Key: 255, Word: 255}, streamfmt.Predecessors},
		{"0ff\tp010", streamfmt.Row{Key: 255, Word: 16}, streamfmt.Predecessors},
		{"0ff\tm17", streamfmt.Row{Key: 255, Word: 17 | 1<<16}, streamfmt.Messages},
		{"0ff\tm65535x3", streamfmt.Row{Key: 255, Word: 65535 | 3<<16}, streamfmt.Messages},
		{"0ff\tm1x65535", streamfmt.Row{Key: 255, Word: 1 | 65535<<16}, streamfmt.Messages},
		{"0ff\tm0", streamfmt.Row{Key: 255, Word: 1 << 16}, streamfmt.Messages},
		{"0ff\td", streamfmt.Row{Key: 255, Word: 0}, streamfmt.Messages},
		{"fff\t0", streamfmt.Row{Key: 4095, Word: 0}, streamfmt.Values},
		{"fff\t1", streamfmt.Row{Key: 4095, Word: 1}, streamfmt.Values},
		{"fff\t65535", streamfmt.Row{Key: 4095, Word: 65535}, streamfmt.Values},
	} {
		row, kind, want := streamfmt.ParseRow([]byte(c.line), 3)
		if row != c.row || kind != c.kind || want != "" {
			t.Errorf("%q: %v, %s, %q, want %v, %s", c.line, row, kind, want, c.row, c.kind)
		}
		if line := string(streamfmt.AppendRow(nil, c.row, c.kind, 3)); line != c.line+"\n" {
			t.Errorf("%v: %q, want %q", c.row, line, c.line)
		}
	}
	if row, kind, want := streamfmt.ParseRow([]byte("0ff\t"), 3); row.Word != row.Key || kind != streamfmt.Predecessors || want != "" {
		t.Errorf("an empty value: %v, %v, %q", row, kind, want)
	}
	const (
		number      = "after the tab p and a key, a value of 0 to 65535, m and such a value, or d"
		times       = "after m, a value and x a number of 2 to 65535"
		predecessor = "after p, the key of a predecessor in 3 hexadecimal digits (0-9, a-f)"
		digits      = "a key of 3 hexadecimal digits (0-9, a-f)"
		nothing     = "a key of 3 hexadecimal digits, then nothing or a tab"
	)
	for line, want := range map[string]string{
		"": nothing, "0f": nothing, "0fff": nothing, "0ff 1": nothing, "0fF\t1": digits, "0ff\tp01": predecessor, "0ff\tp0100": predecessor,
		"0ff\tp01G": predecessor, "0ff\tp": predecessor, "0ff\tdd": number, "0ff\tmd": number, "0ff\t65536": number, "0ff\t007": number, "0ff\t-1": number,
		"0ff\t99999999999999999999": number, "0ff\tm": number, "0ff\tm00": number, "0ff\t00": number, "0ff\tm65536": number, "0ff\tmx2": number,
		"0ff\tm1x1": times, "0ff\tm1x": times, "0ff\tm1x65536": times, "0ff\tm1x02": times, "0ff\t1x2": number, "0ff\tm1\t": number,
	} {
		if _, _, got := streamfmt.ParseRow([]byte(line), 3); got != want {
			t.Errorf("%q: expected %q, want %q", line, got, want)
		}
	}
}

// FuzzRowText checks that a line that parses as a row is the line of that row, except for an
// empty value.
func FuzzRowText(f *testing.F) {
	for _, line := range []string{"0ff", "0ff\t", "0ff\tp010", "0ff\tm17", "0ff\tm17x3", "0ff\t65535", "0ff\tm1x65536"} {
		f.Add(line, byte(3))
	}
	f.Fuzz(func(t *testing.T, line string, width byte) {
		w := 1 + int(width%16)
		row, kind, want := streamfmt.ParseRow([]byte(line), w)
		if want != "" {
			return
		}
		back := string(streamfmt.AppendRow(nil, row, kind, w))
		if back != line+"\n" && back != strings.TrimSuffix(line, "\t")+"\n" && (kind != streamfmt.Predecessors || row.Word != row.Key) {
			t.Errorf("%q became %v of %s, then %q", line, row, kind, back)
		}
	})
}

// TestCell reads cells that no writer produces, as if their checksums were correct.
func TestCell(t *testing.T) {
	two := streamfmt.Cell{First: 5, Last: 7, Records: 2} // keys 5 and 7
	good := []byte{0, 0x10, 1, 0x11, 2, 3}
	rows, err := streamfmt.ReadCell(good, two)
	if err != nil || !slices.Equal(rows, []streamfmt.Row{{Key: 5, Word: 1}, {Key: 7, Word: 3}}) {
		t.Errorf("%v, %v", rows, err)
	}
	high := streamfmt.Cell{First: 1<<64 - 1, Last: 0, Records: 2}
	for what, c := range map[string]struct {
		src  []byte
		cell streamfmt.Cell
	}{
		"nothing":           {nil, two},
		"a form":            {append([]byte{3}, good[1:]...), two},
		"no rows":           {good[:1], two},
		"one row":           {good[:3], two},
		"a cut row":         {good[:5], two},
		"one byte more":     {append(slices.Clone(good), 0), two},
		"a long step":       {[]byte{0, 0x10, 1, 0x19, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3}, two},
		"a long word":       {[]byte{0, 0x10, 1, 0x91, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0}, two},
		"another last key":  {[]byte{0, 0x10, 1, 0x11, 3, 3}, two},
		"beyond all keys":   {[]byte{0, 0x10, 1, 0x11, 1, 3}, high},
		"fewer rows, zeros": {[]byte{0, 0x10, 1}, streamfmt.Cell{First: 5, Last: 5, Records: 40}},
	} {
		if rows, err := streamfmt.ReadCell(c.src, c.cell); err == nil {
			t.Errorf("%s: %v", what, rows)
		}
	}
}

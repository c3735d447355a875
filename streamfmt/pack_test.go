package streamfmt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// fileSlots is the number of slots of all blocks in these tests.
const fileSlots = 70

// randomBlocks returns n blocks of a few records each. Their ranges ascend by steps of 1 to
// step.
func randomBlocks(seed uint64, n int, step uint64) []*block.Block {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	blocks := make([]*block.Block, n)
	rng := r.Uint64N(step)
	for i := range blocks {
		blocks[i] = randomBlock(r, rng, fileSlots, 0.05, 0.05, 3)
		rng += 1 + r.Uint64N(step)
	}
	return blocks
}

// writeFile returns a file of the blocks, appended chunk blocks at a time.
func writeFile(t testing.TB, blocks []*block.Block, chunk int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, "game size=3", Blocks, nil)
	var p Packer
	for part := range slices.Chunk(blocks, chunk) {
		p.Reset()
		for _, b := range part {
			p.Add(b)
		}
		must.OK(t, w.Append(&p))
	}
	must.OK(t, w.Close())
	return out.Bytes()
}

// writeRows returns a file of rows of two stages, some rows at a time in turn.
func writeRows(t testing.TB, kind CellKind, r *rand.Rand, piece int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, "game size=3", kind, nil)
	for i := range 7 {
		var p Packer
		rows := make([]Row, piece)
		for i := range rows {
			rows[i] = Row{r.Uint64() >> 40, r.Uint64() & min(kind.maxWord(), 300)}
		}
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Word, b.Word)) })
		p.AddRows(3+i%2*200, rows)
		p.CountValues(rows)
		must.OK(t, w.Append(&p))
	}
	must.OK(t, w.Close())
	return out.Bytes()
}

func openFile(data []byte) (*File, error) {
	return OpenFile(bytes.NewReader(data), int64(len(data)), "f.pack")
}

func mustOpen(t testing.TB, data []byte) *File {
	t.Helper()
	return must.Get(openFile(data))(t)
}

// countsOf counts the records of blocks one by one.
func countsOf(blocks []*block.Block) (c Counts) {
	for _, b := range blocks {
		for i := range b.Len() {
			if b.Open.Has(i) {
				c[0]++
			} else if b.Done.Has(i) {
				c[b.Val[i]]++
			}
		}
	}
	return c
}

var fileSizes = []struct {
	blocks int
	step   uint64
}{{0, 1}, {1, 1}, {1, 1 << 60}, {2, 1 << 60}, {255, 1}, {256, 3}, {257, 1}, {1000, 1 << 51}}

func TestFileRoundTrip(t *testing.T) {
	for _, size := range fileSizes {
		t.Run(fmt.Sprintf("%d blocks, steps to %#x", size.blocks, size.step), func(t *testing.T) {
			blocks := randomBlocks(1, size.blocks, size.step)
			data := writeFile(t, blocks, 100)
			for _, chunk := range []int{1, 1000} {
				if !bytes.Equal(writeFile(t, blocks, chunk), data) {
					t.Errorf("written %d blocks at a time, the file is another", chunk)
				}
			}
			f := mustOpen(t, data)
			if f.Name != "f.pack" || f.Spec != "game size=3" || f.Kind != Blocks || len(blocks) > 0 && !slices.Equal(f.Stages, []int{7}) {
				t.Errorf("opened %q of %q, %s of %d", f.Name, f.Spec, f.Kind, f.Stages)
			}
			var counts Counts
			if counts.Add(f.Counts); counts != countsOf(blocks) || f.Stored != counts.Total() {
				t.Error("wrong counts")
			}
			entries := must.Get(f.Cells(7))(t)
			if len(entries) != len(blocks) {
				t.Fatalf("%d entries, want %d", len(entries), len(blocks))
			}
			got := newBlock(0, fileSlots)
			c := f.Cursor(7, 1000)
			for i, e := range entries {
				if e.First != blocks[i].Range {
					t.Fatalf("entry %d has range %#x, want %#x", i, e.First, blocks[i].Range)
				}
				got.Reset(7, e.First, 20, got.Low)
				must.OK(t, c.Read(e, got))
				if diff := difference(got, blocks[i]); diff != "" {
					t.Fatalf("block %d: %s", i, diff)
				}
			}
		})
	}
}

// TestFind checks that Find returns the entries of Entries and no others, whether a cursor is new
// or has found others before, in any order, and that Entry returns the same.
func TestFind(t *testing.T) {
	for _, size := range fileSizes {
		f := mustOpen(t, writeFile(t, randomBlocks(2, size.blocks, size.step), 100))
		entries := must.Get(f.Cells(7))(t)
		of := map[uint64]Cell{}
		questions := []uint64{0, 1, 1 << 63, ^uint64(0)}
		for i, e := range entries {
			of[e.First] = e
			if i%7 == 0 || i%pageCells < 2 || i%pageCells > pageCells-2 || i == len(entries)-1 {
				questions = append(questions, e.First-1, e.First, e.First+1)
			}
		}
		ascending := slices.Sorted(slices.Values(questions))
		r := rand.New(rand.NewPCG(2, 3))
		r.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		used := f.Cursor(7, 1<<16)
		for _, q := range slices.Concat(ascending, questions) {
			want, there := of[q]
			for _, c := range []*Cursor{f.Cursor(7, 0), used} {
				got, ok, err := c.Find(q)
				if err != nil || ok != there || got != want {
					t.Errorf("%d blocks: Find(%#x) = %v, %v, %v, want %v, %v", size.blocks, q, got, ok, err, want, there)
				}
			}
			below, _ := slices.BinarySearchFunc(entries, q, func(e Cell, q uint64) int { return cmp.Compare(e.First, q) })
			if got, err := used.Search(q); err != nil || got != below {
				t.Errorf("%d blocks: Search(%#x) = %d, %v, want %d", size.blocks, q, got, err, below)
			}
			if len(entries) > 0 {
				i := r.IntN(len(entries))
				if got, err := used.Cell(i); err != nil || got != entries[i] {
					t.Errorf("%d blocks: Cell(%d) = %v, %v, want %v", size.blocks, i, got, err, entries[i])
				}
			}
		}
	}
}

// TestCursorInAnyOrder checks that blocks are the same, whatever the order of reading and the
// read-ahead.
func TestCursorInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	blocks := randomBlocks(3, 60, 5)
	f := mustOpen(t, writeFile(t, blocks, 100))
	entries := must.Get(f.Cells(7))(t)
	got := newBlock(0, fileSlots)
	for _, ahead := range []int{0, 1, 30, 200, 1 << 20} {
		c := f.Cursor(7, ahead)
		for range 200 {
			i := r.IntN(len(entries))
			got.Reset(7, entries[i].First, 20, got.Low)
			if err := c.Read(entries[i], got); err != nil {
				t.Fatalf("%d ahead, block %d: %v", ahead, i, err)
			}
			if diff := difference(got, blocks[i]); diff != "" {
				t.Fatalf("%d ahead, block %d: %s", ahead, i, diff)
			}
		}
	}
}

func TestCursorWantsTheSlots(t *testing.T) {
	f := mustOpen(t, writeFile(t, randomBlocks(4, 1, 1), 1))
	entries := must.Get(f.Cells(7))(t)
	err := f.Cursor(7, 0).Read(entries[0], newBlock(0, fileSlots+1))
	want := fmt.Sprintf("f.pack: damaged: the cell at byte %d (keys from 0x0): a block of 70 slots, expected 71", entries[0].Offset)
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
}

// TestManyPages reads a file with more pages than it caches by several cursors at distances of some
// pages.
func TestManyPages(t *testing.T) {
	blocks := randomBlocks(14, 2*parsedPages*pageCells, 3)
	f := mustOpen(t, writeFile(t, blocks, 1000))
	cursors := []*Cursor{f.Cursor(7, 0), f.Cursor(7, 1<<10), f.Cursor(7, 0)}
	for i := range blocks {
		for n, c := range cursors {
			at := (i + n*parsedPages*pageCells/2) % len(blocks)
			if e, err := c.Cell(at); err != nil || e.First != blocks[at].Range {
				t.Fatalf("cursor %d, block %d: range %#x, %v, want %#x", n, at, e.First, err, blocks[at].Range)
			}
			if e, ok, err := c.Find(blocks[at].Range); err != nil || !ok || e.First != blocks[at].Range {
				t.Fatalf("cursor %d, range %#x: found %v, %v, %v", n, blocks[at].Range, e, ok, err)
			}
		}
	}
}

// TestFileConcurrently checks that several goroutines can read a File.
func TestFileConcurrently(t *testing.T) {
	blocks := randomBlocks(5, 300, 9)
	f := mustOpen(t, writeFile(t, blocks, 100))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := f.Cursor(7, 500)
			got := newBlock(0, fileSlots)
			for _, want := range blocks {
				e, ok, err := f.Cursor(7, 0).Find(want.Range)
				if err != nil || !ok {
					t.Errorf("Find(%#x): %v, %v", want.Range, ok, err)
					return
				}
				got.Reset(7, e.First, 20, got.Low)
				if err := c.Read(e, got); err != nil || difference(got, want) != "" {
					t.Errorf("range %#x: %v %s", e.First, err, difference(got, want))
					return
				}
			}
		})
	}
	all.Wait()
}

func TestCounts(t *testing.T) {
	var a, b Counts
	a[0], a[6], b[6], b[255] = 1, 2, 3, 4
	a.Add(b[:])
	if a[0] != 1 || a[6] != 5 || a[255] != 4 || a.Total() != 10 || b.Total() != 7 {
		t.Errorf("sum %v, of %d; added %d", a, a.Total(), b.Total())
	}
}

// contentsOf returns everything that can be read from a file, as text to compare: its head, its
// counts, and its blocks.
func contentsOf(data []byte) (string, error) {
	f, err := openFile(data)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintln(&text, f.Spec, f.Stages, f.Counts)
	entries, err := f.Cells(7)
	if err != nil {
		return "", err
	}
	c, b := f.Cursor(7, 0), newBlock(0, fileSlots)
	for _, e := range entries {
		b.Reset(7, e.First, 20, b.Low)
		if err := c.Read(e, b); err != nil {
			return "", err
		}
		fmt.Fprintln(&text, e.First, b.Open, b.Done, b.Val)
	}
	return text.String(), nil
}

// TestTruncatedFile checks that a truncated file is an error, whatever its length.
func TestTruncatedFile(t *testing.T) {
	for _, n := range []int{0, 1, 3, 258} {
		data := writeFile(t, randomBlocks(7, n, 10), 100)
		must.Get(contentsOf(data))(t)
		for length := range len(data) {
			f, err := openFile(data[:length])
			if err == nil {
				_, err = f.Cells(7)
			}
			var bad *FormatError
			if !errors.As(err, &bad) || bad.File != "f.pack" {
				t.Errorf("%d blocks, %d of %d bytes: error %v", n, length, len(data), err)
			}
		}
	}
}

// TestFlippedBit checks that a flipped bit in any byte either is an error, or does not change
// what is read.
func TestFlippedBit(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		data := writeFile(t, randomBlocks(8, n, 1<<40), 100)
		want := must.Get(contentsOf(data))(t)
		var unseen []int
		for i := range data {
			for bit := range 8 {
				data[i] ^= 1 << bit
				got, err := contentsOf(data)
				var bad *FormatError
				if err == nil && got != want && !slices.Contains(unseen, i) {
					unseen = append(unseen, i)
				} else if err != nil && !errors.As(err, &bad) {
					t.Errorf("%d blocks: bit %d of byte %d of %d is flipped: error %v", n, bit, i, len(data), err)
				}
				data[i] ^= 1 << bit
			}
		}
		if len(unseen) > 0 {
			t.Errorf("%d blocks: no error for a flipped bit in these of %d bytes: %v", n, len(data), unseen)
		}
	}
}

// TestFindInDamagedIndex checks that Find, which reads only one page of the index, returns an
// error for a damaged page, rather than reporting that the range is missing.
func TestFindInDamagedIndex(t *testing.T) {
	blocks := randomBlocks(9, 5, 1<<20)
	data := writeFile(t, blocks, 100)
	entries := must.Get(mustOpen(t, data).Cells(7))(t)
	last := entries[len(entries)-1]
	missed, example := 0, ""
	for i := int(last.Offset) + int(last.Length); i < len(data); i++ {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if f, err := openFile(data); err == nil {
				for j, b := range blocks {
					e, ok, err := f.Cursor(7, 0).Find(b.Range)
					if err == nil && ok && e != entries[j] {
						_, err = f.Cursor(7, 0).Raw(e)
					}
					if err == nil && !ok {
						missed++
						example = fmt.Sprintf("bit %d of byte %d of %d", bit, i, len(data))
						break
					}
				}
			}
			data[i] ^= 1 << bit
		}
	}
	if missed > 0 {
		t.Errorf("for %d of the flipped bits (such as %s) Find reports a range as missing", missed, example)
	}
}

// A forged is a page of the index with any contents.
type forged struct {
	page
	cells []byte
}

// forge returns a file with ten bytes for cells, then pages, with correct checksums.
func forge(kind CellKind, pages ...forged) []byte {
	var out bytes.Buffer
	w := NewWriter(&out, "game size=3", kind, nil)
	w.write(make([]byte, 10))
	s := &stageWriter{}
	w.stages[0] = s
	for _, p := range pages {
		p.at, p.length, p.sum = w.offset+p.at, len(p.cells), crc32.Checksum(p.cells, castagnoli)
		w.write(p.cells)
		s.pages = append(s.pages, p.page)
	}
	w.Close()
	return out.Bytes()
}

// entry returns the bytes of a cell in the index, of ten records; of rows, numbers has the span, the gap, or both.
func entry(step, length uint64, numbers ...uint64) []byte {
	b := binary.AppendUvarint(nil, step)
	if len(numbers) > 0 {
		b = binary.AppendUvarint(b, numbers[0])
	}
	b = binary.AppendUvarint(b, 10)
	if len(numbers) > 1 {
		b = binary.AppendUvarint(b, numbers[1])
	}
	return append(binary.AppendUvarint(b, length), 1, 2, 3, 4)
}

// TestForgedIndex checks that an index with offsets outside the file is an error, however
// large the numbers are. Correct checksums do not prevent this, because files may come from
// anywhere.
func TestForgedIndex(t *testing.T) {
	head := uint64(len(magic) + 1 + len("game size=3") + 1)
	blocks := func(n int, from uint64, cells ...[]byte) []byte {
		return forge(Blocks, forged{page{cells: n, records: 10 * uint64(n), from: from}, slices.Concat(cells...)})
	}
	rows := func(n int, spread bool, cells ...[]byte) []byte {
		return forge(Values, forged{page{cells: n, records: 10 * uint64(n), from: head, spread: spread}, slices.Concat(cells...)})
	}
	two := func(second uint64) []byte {
		full := entry(0, 1)
		for range pageCells - 1 {
			full = append(full, entry(1, 0)...)
		}
		return forge(Blocks, forged{page{cells: pageCells, records: 10 * pageCells, from: head}, full},
			forged{page{cells: 1, first: second, records: 10, from: head + 10}, entry(0, 1)})
	}
	for _, tt := range []struct {
		name string
		ok   bool
		data []byte
	}{
		{"blocks", true, blocks(2, head, entry(0, 4), entry(1, 6))},
		{"a block before the first", false, blocks(1, 0, entry(0, head+10))},
		{"a block past the last", false, blocks(1, head+10, entry(0, 5))},
		{"a block that ends before the page", false, blocks(1, head, entry(0, 5))},
		{"a block that ends after the page", false, blocks(1, head, entry(0, 12))},
		{"a page after the end", false, forge(Blocks, forged{page{cells: 1, records: 10, from: head, at: 1 << 40}, entry(0, 10)})},
		{"a page before the end", false, forge(Blocks, forged{page{cells: 1, records: 10, from: head, at: 1<<64 - 12}, entry(0, 10)})},
		{"more blocks than entries", false, blocks(2, head, entry(0, 10))},
		{"more entries than blocks", false, blocks(1, head, entry(0, 5), entry(1, 5))},
		{"no blocks", false, blocks(0, head)},
		{"too many blocks", false, blocks(pageCells+1, head, bytes.Repeat(entry(1, 1), pageCells+1))},
		{"another number of records", false, forge(Blocks, forged{page{cells: 1, records: 9, from: head}, entry(0, 10)})},
		{"an offset near 2^64", false, blocks(1, ^uint64(0)-9, entry(0, 20))},
		{"an offset near 2^64, a length near 2^32", false, blocks(1, ^uint64(0)-1<<32+11, entry(0, 1<<32-10))},
		{"a length past 2^32", false, blocks(1, ^uint64(0)-1<<32, entry(0, 1<<32+2))},
		{"a length of 2^64-1", false, blocks(1, head+1, entry(0, ^uint64(0)))},
		{"a block of nothing", false, blocks(1, head, entry(0, 0))},
		{"a range twice", false, blocks(2, head, entry(0, 4), entry(0, 6))},
		{"ranges past 2^64", false, blocks(2, head, entry(0, 4), entry(^uint64(0), 3), entry(2, 3))},
		{"a range before the first", false, blocks(1, head, entry(1, 10))},
		{"a range on two pages", false, two(pageCells - 1)},
		{"pages in another order", false, two(0)},
		{"cells", true, rows(2, false, entry(0, 4, 9), entry(^uint64(0), 6, 0))},
		{"spread cells", true, rows(2, true, entry(0, 4, 9, 1), entry(0, 3, 9, 1))},
		{"a gap to the end", false, rows(2, true, entry(0, 4, 9, 1), entry(0, 3, 9, 1<<20))},
		{"a gap to the start", false, rows(2, true, entry(0, 4, 9, 1), entry(0, 3, 9, ^uint64(0)-3))},
		{"keys past 2^64", false, rows(1, false, entry(0, 10, 9), entry(1, 10, ^uint64(0)))},
	} {
		f, err := openFile(tt.data)
		if err == nil {
			_, err = f.Cells(0)
			_, _, err2 := f.Cursor(0, 0).Find(0)
			err = cmp.Or(err, err2)
		}
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestForgedDirectory checks that a directory with the same page many times is refused, whose cells would take much memory.
func TestForgedDirectory(t *testing.T) {
	for n, ok := range map[int]bool{1: true, 100: false} {
		var out bytes.Buffer
		w := NewWriter(&out, "game size=3", Values, nil)
		var p Packer
		p.AddRows(1, make([]Row, 1))
		must.OK(t, w.Append(&p))
		w.endPage(w.stages[1])
		one := w.stages[1].pages[0]
		for i := 2; i <= n; i++ {
			one.stage = uint32(i)
			w.stages[one.stage] = &stageWriter{pages: []page{one}}
		}
		must.OK(t, w.Close())
		if _, err := openFile(out.Bytes()); (err == nil) != ok {
			t.Errorf("%d times: %v", n, err)
		}
	}
}

func TestOpenFileErrors(t *testing.T) {
	data := writeFile(t, randomBlocks(10, 2, 10), 100)
	for _, tt := range []struct{ data, want string }{
		{"", `f.pack: not a pack file: it begins with "", expected "TRPACK04"`},
		{"0020\t10\n0021\t6\n", `f.pack: not a pack file: it begins with "0020\t10\n", expected "TRPACK04"`},
		{"TRBLOCK4\x03abc", `f.pack: of an earlier format, TRBLOCK4, this program reads TRPACK04: solve the game again`},
		{"TRLISTS1\x03abc", `f.pack: of an earlier format, TRLISTS1, this program reads TRPACK04: solve the game again`},
		{"TRPACK05\x03abc", `f.pack: of format TRPACK05, this program reads TRPACK04: use the program that wrote it`},
		{"TRPACK04", `f.pack: damaged at its beginning`},
		{"TRPACK04\xff\xff\x01", `f.pack: damaged at its beginning`},
		{"TRPACK04\x03abc", `f.pack: damaged at its beginning`},
		{"TRPACK04\x03abc\x06", `f.pack: damaged at its beginning`},
		{"TRPACK04\x03abc\x01", `f.pack: cut short: 13 bytes`},
		{string(data[:len(data)-1]), fmt.Sprintf(`f.pack: cut short: its end mark is missing after %d bytes`, len(data)-1)},
	} {
		_, err := openFile([]byte(tt.data))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.20q: error\n%v, want\n%s", tt.data, err, tt.want)
		}
	}
}

// TestForgedSummary checks that a wrong summary is an error if its checksum is correct.
func TestForgedSummary(t *testing.T) {
	content := make([]byte, 8)
	for _, tt := range []struct {
		kind    CellKind
		summary []byte
		ok      bool
	}{
		{Blocks, []byte{0}, true},
		{Blocks, []byte{2, 0, 7, 3, 1}, true},
		{Values, []byte{1, 0xff, 0xff, 3, 1}, true},
		{Values, []byte{1, 0x80, 0x80, 4, 1}, false},
		{Blocks, []byte{1, 0xff, 0xff, 3, 1}, false},
		{Blocks, nil, false},
		{Blocks, []byte{2, 0, 7}, false},
		{Blocks, []byte{2, 3, 7, 3, 1}, false},
		{Values, binary.AppendUvarint(nil, 1<<40), false},
		{Blocks, []byte{0, 0}, false},
		{Blocks, slices.Concat([]byte{0}, content, []byte{0}), true},
		{Blocks, slices.Concat([]byte{0}, content, []byte{1}), false},
		{Blocks, slices.Concat([]byte{0}, content, []byte{0, 0}), false},
	} {
		var out bytes.Buffer
		w := NewWriter(&out, "game size=3", tt.kind, nil)
		w.write(w.tail(append([]byte{0}, tt.summary...)))
		if _, err := openFile(out.Bytes()); (err == nil) != tt.ok {
			t.Errorf("%s, %x: error %v", tt.kind, tt.summary, err)
		}
	}
}

// badDisk fails from byte good on. Otherwise it returns io.EOF together with the last bytes of
// the file, as a ReaderAt may.
type badDisk struct {
	data []byte
	good int64
}

var errDisk = errors.New("bad disk")

func (d badDisk) ReadAt(buf []byte, at int64) (int, error) {
	if at+int64(len(buf)) > d.good {
		return 0, errDisk
	}
	n := copy(buf, d.data[at:])
	if at+int64(n) == int64(len(d.data)) {
		return n, io.EOF
	}
	return n, nil
}

func TestReadErrors(t *testing.T) {
	data := writeFile(t, randomBlocks(11, 300, 10), 100)
	size := int64(len(data))
	f := must.Get(OpenFile(badDisk{data, size}, size, "f.pack"))(t)
	entries, err := f.Cells(7)
	if err != nil || len(entries) != 300 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, good := range []int64{0, size - 1} {
		if _, err := OpenFile(badDisk{data, good}, size, "f.pack"); !errors.Is(err, errDisk) || err.Error() != "f.pack: bad disk" {
			t.Errorf("OpenFile with %d good bytes: error %v", good, err)
		}
	}
	f.r = badDisk{data, 100}
	if _, err := f.Cells(7); !errors.Is(err, errDisk) {
		t.Errorf("Entries: error %v", err)
	}
	if _, _, err := f.Cursor(7, 0).Find(entries[3].First); !errors.Is(err, errDisk) {
		t.Errorf("Find: error %v", err)
	}
	c := f.Cursor(7, 0)
	if err := c.Read(entries[299], newBlock(0, fileSlots)); !errors.Is(err, errDisk) {
		t.Errorf("Read: error %v", err)
	}
	// The failed read has not damaged the state of the cursor.
	if err := c.Read(entries[0], newBlock(0, fileSlots)); err != nil {
		t.Errorf("Read after an error: %v", err)
	}
	if err := c.Read(entries[299], newBlock(0, fileSlots)); !errors.Is(err, errDisk) {
		t.Errorf("Read: error %v", err)
	}
}

// fullDisk accepts this number of bytes.
type fullDisk int

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > int(*d) {
		return 0, errDisk
	}
	*d -= fullDisk(len(p))
	return len(p), nil
}

// TestAppendOrder checks that a range must be above the one before it.
func TestAppendOrder(t *testing.T) {
	for rng, ok := range []bool{false, false, true} {
		w, err := NewWriter(io.Discard, "game size=3", Blocks, nil), error(nil)
		for _, b := range []*block.Block{randomBlock(rand.New(rand.NewPCG(1, 1)), 1, 70, 1, 0, 1), randomBlock(rand.New(rand.NewPCG(1, 1)), uint64(rng), 70, 1, 0, 1)} {
			if err == nil {
				var p Packer
				p.Add(b)
				err = w.Append(&p)
			}
		}
		if (err == nil) != ok {
			t.Errorf("range %d after range 1: error %v", rng, err)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	var p Packer
	for _, b := range randomBlocks(12, 3, 10) {
		p.Add(b)
	}
	write := func(space int, appendBlocks func(*Writer) error) error {
		disk := fullDisk(space)
		w := NewWriter(&disk, "game size=3", Blocks, nil)
		return errors.Join(appendBlocks(w), w.Close())
	}
	for name, appendBlocks := range map[string]func(*Writer) error{
		"Append": func(w *Writer) error { return w.Append(&p) },
	} {
		size := len(writeFile(t, randomBlocks(12, 3, 10), 10))
		for space := range size {
			if err := write(space, appendBlocks); !errors.Is(err, errDisk) {
				t.Errorf("%s, space for %d of %d bytes: error %v", name, space, size, err)
			}
		}
		if err := write(size, appendBlocks); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// mend corrects the checksums of a file's pages and of its end, so that fuzzing reaches the code
// behind them. It gives up if the structure of the file is invalid.
func mend(data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) < tailSize {
		return data
	}
	tail := data[len(data)-tailSize:]
	at, end := binary.LittleEndian.Uint64(tail), uint64(len(data)-tailSize)
	spec, n := binary.Uvarint(data[min(len(magic), len(data)):])
	head := uint64(len(magic)+n) + spec + 1
	if n <= 0 || spec > maxSpec || head > at || at > end {
		return data
	}
	f, v := &File{nil, &index{start: head, end: at, Kind: CellKind(data[head-1])}}, varints{rest: data[at:end]}
	if f.readDirectory(&v); !v.bad {
		v := varints{rest: data[at:end]}
		v.next()
		for _, p := range f.pages {
			for range 7 {
				v.next()
			}
			binary.LittleEndian.PutUint32(v.bytes(sumSize), crc32.Checksum(data[p.at:][:p.length], castagnoli))
		}
	}
	sum := crc32.Update(crc32.Checksum(data[:head], castagnoli), castagnoli, data[at:end])
	binary.LittleEndian.PutUint32(tail[8:], sum)
	binary.LittleEndian.PutUint32(tail[8+sumSize:], crc32.Checksum(tail[:8+sumSize], castagnoli))
	copy(tail[tailSize-len(magic):], magic)
	return data
}

// FuzzOpenFile reads arbitrary bytes as a file, with correct checksums if mended is set. There must be no panic, and no cell
// larger than the file.
func FuzzOpenFile(f *testing.F) {
	for _, size := range []int{0, 1, 3, 257} {
		f.Add(writeFile(f, randomBlocks(13, size, 1<<50), 100), uint64(size), false)
		f.Add(writeFile(f, randomBlocks(14, size, 2), 100), uint64(size), true)
	}
	for _, offset := range []uint64{0, 1 << 40, ^uint64(0) - 9} {
		f.Add(forge(Blocks, forged{page{cells: 1, records: 10, from: offset}, entry(0, 20)}), uint64(0), true)
	}
	r := rand.New(rand.NewPCG(1, 4))
	for kind := range States + 1 {
		f.Add(writeRows(f, kind, r, 13), uint64(40), true)
		f.Add(writeRows(f, kind, r, 700), uint64(40), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, key uint64, mended bool) {
		if mended {
			data = mend(data)
		}
		file, err := openFile(data)
		if err != nil {
			return
		}
		file.Check() // may fail, as all calls below
		size := uint64(len(data))
		b := newBlock(0, fileSlots)
		var rows RowReader
		for _, stage := range file.Stages {
			c := file.Cursor(stage, 100)
			cells, _ := file.Cells(stage)
			if cell, ok, err := c.Find(key); ok && err == nil {
				cells = append(cells, cell)
			}
			for _, cell := range cells {
				if cell.Offset > size || uint64(cell.Length) > size-cell.Offset {
					t.Fatalf("cell %+v of a file of %d bytes", cell, size)
				}
				if mended {
					cell.Sum = crc32.Checksum(data[cell.Offset:][:cell.Length], castagnoli)
				}
				if file.Kind.isBlocks() {
					b.Reset(7, cell.First, 20, b.Low)
					c.Read(cell, b)
				} else {
					rows.Append(nil, file, []Cell{cell}, key)
				}
			}
		}
	})
}

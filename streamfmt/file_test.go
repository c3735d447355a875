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
	w := must.Get(NewWriter(&out, "game size=3", 7))(t)
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

func openFile(data []byte) (*File, error) {
	return OpenFile(bytes.NewReader(data), int64(len(data)), "f.blocks")
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
			if f.Name() != "f.blocks" || f.Spec() != "game size=3" || f.Tier() != 7 {
				t.Errorf("opened %q of %q, tier %d", f.Name(), f.Spec(), f.Tier())
			}
			counts := f.Counts()
			if counts != countsOf(blocks) || f.Stored() != counts.Total() {
				t.Error("wrong counts")
			}
			entries := must.Get(f.Entries())(t)
			if len(entries) != len(blocks) {
				t.Fatalf("%d entries, want %d", len(entries), len(blocks))
			}
			got := newBlock(0, fileSlots)
			c := f.Cursor(1000)
			for i, e := range entries {
				if e.Range != blocks[i].Range {
					t.Fatalf("entry %d has range %#x, want %#x", i, e.Range, blocks[i].Range)
				}
				got.Reset(7, e.Range, 20, got.Low)
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
		entries := must.Get(f.Entries())(t)
		of := map[uint64]Entry{}
		questions := []uint64{0, 1, 1 << 63, ^uint64(0)}
		for i, e := range entries {
			of[e.Range] = e
			if i%7 == 0 || i%pageSize < 2 || i%pageSize > pageSize-2 || i == len(entries)-1 {
				questions = append(questions, e.Range-1, e.Range, e.Range+1)
			}
		}
		ascending := slices.Sorted(slices.Values(questions))
		r := rand.New(rand.NewPCG(2, 3))
		r.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		used := f.Cursor(1 << 16)
		for _, q := range slices.Concat(ascending, questions) {
			want, there := of[q]
			for _, c := range []*Cursor{f.Cursor(0), used} {
				got, ok, err := c.Find(q)
				if err != nil || ok != there || got != want {
					t.Errorf("%d blocks: Find(%#x) = %v, %v, %v, want %v, %v", size.blocks, q, got, ok, err, want, there)
				}
			}
			below, _ := slices.BinarySearchFunc(entries, q, func(e Entry, q uint64) int { return cmp.Compare(e.Range, q) })
			if got, err := used.Search(q); err != nil || got != below {
				t.Errorf("%d blocks: Search(%#x) = %d, %v, want %d", size.blocks, q, got, err, below)
			}
			if len(entries) > 0 {
				i := r.IntN(len(entries))
				if got, err := used.Entry(i); err != nil || got != entries[i] {
					t.Errorf("%d blocks: Entry(%d) = %v, %v, want %v", size.blocks, i, got, err, entries[i])
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
	entries := must.Get(f.Entries())(t)
	got := newBlock(0, fileSlots)
	for _, ahead := range []int{0, 1, 30, 200, 1 << 20} {
		c := f.Cursor(ahead)
		for range 200 {
			i := r.IntN(len(entries))
			got.Reset(7, entries[i].Range, 20, got.Low)
			if err := c.Read(entries[i], got); err != nil {
				t.Fatalf("%d ahead, block %d: %v", ahead, i, err)
			}
			if diff := difference(got, blocks[i]); diff != "" {
				t.Fatalf("%d ahead, block %d: %s", ahead, i, diff)
			}
		}
	}
}

// TestViewPick checks that Pick numbers the records in the order of slots, open ones and those
// with a value alike.
func TestViewPick(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	var blocks []*block.Block
	for i := range uint64(100) {
		blocks = append(blocks, randomBlock(r, i, 200, r.Float64()/2, r.Float64()/2, 5))
	}
	f := mustOpen(t, writeFile(t, blocks, 10))
	entries := must.Get(f.Entries())(t)
	type record struct {
		slot  int
		value byte
	}
	c, v := f.Cursor(0), new(View)
	for n, b := range blocks {
		must.OK(t, c.View(entries[n], b.LowBits, b.Low, v))
		var all, want []record
		for slot := range b.Len() {
			switch {
			case b.Done.Has(slot):
				all = append(all, record{slot, b.Val[slot]})
			case b.Open.Has(slot):
				all = append(all, record{slot, 0})
			}
		}
		var numbers []uint64
		for i := range len(all) + 5 {
			if r.IntN(3) > 0 {
				continue
			}
			numbers = append(numbers, uint64(i))
			if i < len(all) {
				want = append(want, all[i])
			}
		}
		var got []record
		err := v.Pick(numbers, func(i, slot int, value byte) {
			if i != len(got) {
				t.Errorf("block %d: number %d comes after %d", n, i, len(got)-1)
			}
			got = append(got, record{slot, value})
		})
		must.OK(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("block %d: picked %v, want %v", n, got, want)
		}
	}
}

func TestCursorWantsTheSlots(t *testing.T) {
	f := mustOpen(t, writeFile(t, randomBlocks(4, 1, 1), 1))
	entries := must.Get(f.Entries())(t)
	err := f.Cursor(0).Read(entries[0], newBlock(0, fileSlots+1))
	want := fmt.Sprintf("f.blocks: the block at byte %d (range 0x0): a block of 70 slots, expected 71", entries[0].Offset)
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
}

// TestManyPages reads a file with more pages than it caches by several cursors at distances of some
// pages.
func TestManyPages(t *testing.T) {
	blocks := randomBlocks(14, 2*parsedPages*pageSize, 3)
	f := mustOpen(t, writeFile(t, blocks, 1000))
	cursors := []*Cursor{f.Cursor(0), f.Cursor(1 << 10), f.Cursor(0)}
	for i := range blocks {
		for n, c := range cursors {
			at := (i + n*parsedPages*pageSize/2) % len(blocks)
			if e, err := c.Entry(at); err != nil || e.Range != blocks[at].Range {
				t.Fatalf("cursor %d, block %d: range %#x, %v, want %#x", n, at, e.Range, err, blocks[at].Range)
			}
			if e, ok, err := c.Find(blocks[at].Range); err != nil || !ok || e.Range != blocks[at].Range {
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
			c := f.Cursor(500)
			got := newBlock(0, fileSlots)
			for _, want := range blocks {
				e, ok, err := f.Cursor(0).Find(want.Range)
				if err != nil || !ok {
					t.Errorf("Find(%#x): %v, %v", want.Range, ok, err)
					return
				}
				got.Reset(7, e.Range, 20, got.Low)
				if err := c.Read(e, got); err != nil || difference(got, want) != "" {
					t.Errorf("range %#x: %v %s", e.Range, err, difference(got, want))
					return
				}
			}
		})
	}
	all.Wait()
}

// TestAppendFile checks that appending files gives the same bytes as writing one file.
func TestAppendFile(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, size := range fileSizes {
		blocks := randomBlocks(6, size.blocks, size.step)
		want := writeFile(t, blocks, 1000)
		var out bytes.Buffer
		w := must.Get(NewWriter(&out, "game size=3", 7))(t)
		for rest, last := blocks, false; !last; {
			n := min(r.IntN(400), len(rest)) // may be 0
			last = n == len(rest)
			must.OK(t, w.AppendFile(mustOpen(t, writeFile(t, rest[:n], 100))))
			rest = rest[n:]
		}
		if got := w.counts; got != countsOf(blocks) {
			t.Errorf("%d blocks: wrong counts", size.blocks)
		}
		must.OK(t, w.Close())
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%d blocks: the file is not the same", size.blocks)
		}
	}
}

func TestCounts(t *testing.T) {
	var a, b Counts
	a[0], a[6], b[6], b[255] = 1, 2, 3, 4
	a.Add(&b)
	if a[0] != 1 || a[6] != 5 || a[255] != 4 || a.Total() != 10 || b.Total() != 7 {
		t.Errorf("sum %v, of %d; added %d", a, a.Total(), b.Total())
	}
}

// contents returns everything that can be read from a file, as text to compare: its head, its
// counts, and its blocks by Entries.
func contents(data []byte) (string, error) {
	f, err := openFile(data)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintln(&text, f.Spec(), f.Tier(), f.Counts())
	entries, err := f.Entries()
	if err != nil {
		return "", err
	}
	c, b := f.Cursor(0), newBlock(0, fileSlots)
	for _, e := range entries {
		b.Reset(7, e.Range, 20, b.Low)
		if err := c.Read(e, b); err != nil {
			return "", err
		}
		fmt.Fprintln(&text, e.Range, b.Open, b.Done, b.Val)
	}
	return text.String(), nil
}

// TestTruncatedFile checks that a truncated file is an error, whatever its length.
func TestTruncatedFile(t *testing.T) {
	for _, n := range []int{0, 1, 3, 258} {
		data := writeFile(t, randomBlocks(7, n, 10), 100)
		must.Get(contents(data))(t)
		for length := range len(data) {
			f, err := openFile(data[:length])
			if err == nil {
				_, err = f.Entries()
			}
			var bad *FormatError
			if !errors.As(err, &bad) || bad.File != "f.blocks" {
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
		want := must.Get(contents(data))(t)
		var unseen []int
		for i := range data {
			for bit := range 8 {
				data[i] ^= 1 << bit
				got, err := contents(data)
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
	entries := must.Get(mustOpen(t, data).Entries())(t)
	last := entries[len(entries)-1]
	missed, example := 0, ""
	for i := int(last.Offset) + int(last.Length); i < len(data); i++ {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if f, err := openFile(data); err == nil {
				for j, b := range blocks {
					e, ok, err := f.Cursor(0).Find(b.Range)
					if err == nil && ok && e != entries[j] {
						_, err = f.Cursor(0).Raw(e)
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

// forge returns a file of one page, after ten bytes for blocks, with the given index and correct
// checksums.
func forge(rng, offset uint64, index []byte, blocks uint64) []byte {
	var out bytes.Buffer
	w, _ := NewWriter(&out, "game size=3", 7)
	w.write(make([]byte, 10))
	w.blocks, w.first, w.second, w.entries = blocks, rng, offset, index
	w.Close()
	return out.Bytes()
}

// entry returns the bytes of an index entry.
func entry(step, length uint64) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, step), length), 1, 2, 3, 4)
}

// twoPages returns a file of a page of blocks with the ranges from 0 on, and a second page with one
// block.
func twoPages(second uint64) []byte {
	var out bytes.Buffer
	w, _ := NewWriter(&out, "game size=3", 7)
	for rng := range uint64(pageSize) {
		w.enter(Entry{Range: rng, Offset: w.offset, Length: 1})
		w.write([]byte{0})
	}
	w.endPage()
	w.last = 0
	w.enter(Entry{Range: second, Offset: w.offset, Length: 1})
	w.write([]byte{0})
	w.Close()
	return out.Bytes()
}

// TestForgedIndex checks that an index with offsets outside the file is an error, however
// large the numbers are. Correct checksums do not prevent this, because files may come from
// anywhere.
func TestForgedIndex(t *testing.T) {
	head := uint64(len(writeFile(t, nil, 1))) - tailSize
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"a block before the first", forge(0, 0, entry(0, head+10), 1)},
		{"a block past the last", forge(0, head+10, entry(0, 5), 1)},
		{"a block that ends before the page", forge(0, head, entry(0, 5), 1)},
		{"a block that ends after the page", forge(0, head, entry(0, 12), 1)},
		{"more blocks than entries", forge(0, head, entry(0, 10), 2)},
		{"more entries than blocks", forge(0, head, append(entry(0, 5), entry(1, 5)...), 1)},
		{"an offset near 2^64", forge(0, ^uint64(0)-9, entry(0, 20), 1)},
		{"an offset near 2^64, a length near 2^32", forge(0, ^uint64(0)-1<<32+11, entry(0, 1<<32-10), 1)},
		{"a length past 2^32", forge(0, ^uint64(0)-1<<32, entry(0, 1<<32+2), 1)},
		{"a length of 2^64-1", forge(0, head+1, entry(0, ^uint64(0)), 1)},
		{"a block of nothing", forge(0, head, entry(0, 0), 1)},
		{"a range on two pages", twoPages(pageSize - 1)},
		{"pages in another order", twoPages(1)},
	} {
		f, err := openFile(tt.data)
		if err != nil {
			continue
		}
		if entries, err := f.Entries(); err == nil {
			t.Errorf("%s: Entries gives %v", tt.name, entries)
		}
		if e, ok, err := f.Cursor(0).Find(0); err == nil {
			t.Errorf("%s: Find gives %v, %v", tt.name, e, ok)
		}
	}
	if _, err := mustOpen(t, twoPages(pageSize)).Entries(); err != nil {
		t.Errorf("pages in order: %v", err)
	}
}

func TestOpenFileErrors(t *testing.T) {
	data := writeFile(t, randomBlocks(10, 2, 10), 100)
	for _, tt := range []struct{ data, want string }{
		{"", `f.blocks: not a block file: it begins with "", expected "TRBLOCK3"`},
		{"0020\t10\n0021\t6\n", `f.blocks: not a block file: it begins with "0020\t10\n", expected "TRBLOCK3"`},
		{"TRBLOCK2\x03abc", `f.blocks: a block file of format version 2, this program reads version 3: solve the game again`},
		{"TRBLOCK5\x03abc", `f.blocks: a block file of format version 5, this program reads version 4: use the program that wrote it`},
		{"TRBLOCK3", `f.blocks: damaged at its beginning`},
		{"TRBLOCK3\xff\xff\x01", `f.blocks: damaged at its beginning`},
		{"TRBLOCK3\x03abc", `f.blocks: damaged at its beginning`},
		{"TRBLOCK3\x03abc\x01", `f.blocks: damaged at its beginning`},
		{"TRBLOCK3\x03abc\x01\x02", `f.blocks: damaged at its beginning`},
		{"TRBLOCK4\x03abc\x01\x02", `f.blocks: damaged at its beginning`},
		{"TRBLOCK3\x03abc\x01\x01", `f.blocks: cut short: 14 bytes`},
		{string(data[:len(data)-1]), fmt.Sprintf(`f.blocks: cut short: its end mark is missing after %d bytes`, len(data)-1)},
	} {
		_, err := openFile([]byte(tt.data))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.20q: error\n%v, want\n%s", tt.data, err, tt.want)
		}
	}
}

// TestForgedSummary checks that a summary longer than 256 counts is refused before it is read, as it may be as long as
// the file, and that a summary of another length is an error if its checksum is correct.
func TestForgedSummary(t *testing.T) {
	data := writeFile(t, nil, 1)
	at := len(data) - tailSize
	forged := slices.Concat(data[:at], make([]byte, 257*countSize), data[at:])
	if _, err := openFile(forged); err == nil || err.Error() != "f.blocks: damaged at its end" {
		t.Errorf("error %v", err)
	}

	count, stored := make([]byte, countSize), make([]byte, totalSize)
	model := slices.Concat([]byte{0}, stored, []byte{1, 0, 0, 0})
	for _, tt := range []struct {
		magic   string
		parts   byte
		summary []byte
		want    string
	}{
		{fileMagic, wholeTier, count, "<nil>"},
		{fileMagic, wholeTier, stored, "f.blocks: damaged at its end"},
		{fileMagic, halfTier, slices.Concat(count, stored), "<nil>"},
		{fileMagic, halfTier, count, "f.blocks: damaged at its end"},
		{fileMagic, halfTier, stored[1:], "f.blocks: damaged at its end"},
		{compactMagic, wholeTier, slices.Concat(count, model), "<nil>"},
		{compactMagic, wholeTier, slices.Concat(count[1:], model), "f.blocks: damaged at its end"},
		{compactMagic, halfTier, model, "f.blocks: damaged at its end"},
		{compactMagic, wholeTier, stored, "f.blocks: damaged at its end"}, // no model
		{compactMagic, wholeTier, append(stored, 1, 0, 0, 0), "f.blocks: damaged at its end"},
		{compactMagic, wholeTier, append(stored, 0, 0, 0, 0), "f.blocks: damaged at its end: its frequencies are damaged"},
	} {
		var out bytes.Buffer
		w, _ := newWriter(&out, tt.magic, "game size=3", 7, tt.parts)
		must.OK(t, w.end(w.offset, tt.summary, 0, tailMagic))
		if _, err := openFile(out.Bytes()); fmt.Sprint(err) != tt.want {
			t.Errorf("%s, %d, %x: error %v, want %s", tt.magic, tt.parts, tt.summary, err, tt.want)
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
	f := must.Get(OpenFile(badDisk{data, size}, size, "f.blocks"))(t)
	entries, err := f.Entries()
	if err != nil || len(entries) != 300 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, good := range []int64{0, size - 1} {
		if _, err := OpenFile(badDisk{data, good}, size, "f.blocks"); !errors.Is(err, errDisk) || err.Error() != "f.blocks: bad disk" {
			t.Errorf("OpenFile with %d good bytes: error %v", good, err)
		}
	}
	f.r = badDisk{data, 100}
	if _, err := f.Entries(); !errors.Is(err, errDisk) {
		t.Errorf("Entries: error %v", err)
	}
	if _, _, err := f.Cursor(0).Find(entries[3].Range); !errors.Is(err, errDisk) {
		t.Errorf("Find: error %v", err)
	}
	c := f.Cursor(0)
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
		w, err := NewWriter(io.Discard, "game size=3", 7)
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
	file := mustOpen(t, writeFile(t, randomBlocks(12, 3, 10), 10))
	write := func(space int, appendBlocks func(*Writer) error) error {
		disk := fullDisk(space)
		w, err := NewWriter(&disk, "game size=3", 7)
		if err != nil {
			return err
		}
		return errors.Join(appendBlocks(w), w.Close())
	}
	for name, appendBlocks := range map[string]func(*Writer) error{
		"Append":     func(w *Writer) error { return w.Append(&p) },
		"AppendFile": func(w *Writer) error { return w.AppendFile(file) },
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

// mend corrects the checksums of a file's pages and tail, so that fuzzing reaches the code
// behind them. It gives up if the structure of the file is invalid.
func mend(data []byte) []byte {
	data = bytes.Clone(data)
	word := func(at uint64) uint64 { return binary.LittleEndian.Uint64(data[at:]) }
	size := uint64(len(data))
	if size < tailSize {
		return data
	}
	tail := size - tailSize
	index, dir, summary := word(tail), word(tail+8), word(tail+16)
	if index > dir || dir > summary || summary > tail {
		return data
	}
	for end := dir; summary-dir >= entrySize; summary -= entrySize { // from the last page to the first
		page, blocks := word(summary-12), word(summary-20)
		if page > end || blocks > page {
			break
		}
		binary.LittleEndian.PutUint32(data[summary-4:], crc32.Checksum(data[page:end], castagnoli))
		end = blocks
	}
	spec, n := binary.Uvarint(data[len(fileMagic):])
	if n <= 0 || spec > size || uint64(len(fileMagic)+n)+spec > size {
		return data
	}
	head := uint64(len(fileMagic)+n) + spec
	_, n = binary.Uvarint(data[head:])
	sum := crc32.Checksum(data[:head+uint64(max(n, 0))], castagnoli)
	sum = crc32.Update(sum, castagnoli, data[dir:tail+32])
	binary.LittleEndian.PutUint32(data[tail+32:], sum)
	return data
}

// FuzzOpenFile reads arbitrary bytes as a file. There must be no panic, and no entry larger
// than the file.
func FuzzOpenFile(f *testing.F) {
	for _, size := range []int{0, 1, 3, 257} {
		f.Add(writeFile(f, randomBlocks(13, size, 1<<50), 100), uint64(size), false)
		f.Add(writeFile(f, randomBlocks(14, size, 2), 100), uint64(size), true)
	}
	for _, offset := range []uint64{0, 1 << 40, ^uint64(0) - 9} {
		f.Add(forge(0, offset, entry(0, 20), 1), uint64(0), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, rng uint64, mended bool) {
		if mended {
			data = mend(data)
		}
		file, err := openFile(data)
		if err != nil {
			return
		}
		entries, _ := file.Entries()
		if e, ok, err := file.Cursor(0).Find(rng); ok && err == nil {
			entries = append(entries, e)
		}
		size := uint64(len(data))
		c, b := file.Cursor(100), newBlock(0, fileSlots)
		for _, e := range entries {
			if e.Offset > size || uint64(e.Length) > size-e.Offset {
				t.Fatalf("entry %+v of a file of %d bytes", e, size)
			}
			b.Reset(7, e.Range, 20, b.Low)
			c.Read(e, b) // may fail
		}
	})
}

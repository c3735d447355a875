package streamfmt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// deduceByKey sorts slots by a hash of their range and number: an eighth cannot be positions, a quarter
// has each of two values, and the others are open.
func deduceByKey(d *block.Deduced, _ int, rng uint64, from, to int) {
	d.Begin(from, to)
	d.Values = [...]byte{5, 10}
	for i := from; i < to; i++ {
		var kinds [4]uint64 // impossible, the two values, open
		for bit := range 64 {
			h := (rng<<20 + uint64(i)<<6 + uint64(bit)) * 0x9e3779b97f4a7c15 >> 61
			kinds[[8]int{0, 1, 1, 2, 2, 3, 3, 3}[h]] |= 1 << bit
		}
		all := d.Unknown[i]
		d.Known[0][i], d.Known[1][i], d.Unknown[i] = all&kinds[1], all&kinds[2], all&kinds[3]
	}
}

// compactBlock returns a block that agrees with deduceByKey. absent is the share of slots without a
// position. Values follow each other by their difference.
func compactBlock(r *rand.Rand, rng uint64, slots int, absent float64, values []byte) *block.Block {
	low := make([]uint32, slots)
	for i := range low {
		low[i] = uint32(i)
	}
	b := new(block.Block)
	b.Reset(7, rng, 20, low)
	d, at := b.Deduce(deduceByKey), 0
	for slot := range slots {
		value := byte(0)
		switch {
		case r.Float64() < absent:
			continue
		case d.Known[0].Has(slot):
			value = d.Values[0]
		case d.Known[1].Has(slot):
			value = d.Values[1]
		case !d.Unknown.Has(slot):
			continue
		default:
			if r.IntN(4) == 0 {
				at = r.IntN(len(values))
			}
			value = values[at]
		}
		b.Done.Add(slot)
		b.Val[slot] = value
	}
	return b
}

// writeCompact returns a compact file of blocks.
func writeCompact(t testing.TB, blocks []*block.Block, sample int) []byte {
	t.Helper()
	s, p := NewSampler(deduceByKey), new(Packer)
	for _, b := range blocks {
		p.Add(b)
	}
	for _, b := range blocks[:sample] {
		s.Add(b)
	}
	m := s.Model(&p.Counts)
	var out bytes.Buffer
	w := NewWriter(&out, "game size=3", Blocks, m)
	want := p.Counts
	p.Reset()
	p.SetCompact(deduceByKey, m)
	for _, b := range blocks {
		p.Add(b)
	}
	if p.Counts != want {
		t.Errorf("counts %v, want %v", p.Counts, want)
	}
	must.OK(t, w.Append(p))
	must.OK(t, w.Close())
	return out.Bytes()
}

// compactCases are blocks of all sizes around those of words and segments, with few and many values.
func compactCases(r *rand.Rand) (cases [][]*block.Block) {
	for _, values := range [][]byte{{9}, {9, 14}, {6, 9, 13, 14, 18, 255}, bytes.Repeat([]byte{1}, 1)} {
		var blocks []*block.Block
		for i, slots := range []int{1, 2, 63, 64, 65, 127, 500, segmentSlots - 1, segmentSlots, segmentSlots + 1, 3*segmentSlots + 70} {
			for j, absent := range []float64{0, 0.01, 0.5, 0.99} {
				if b := compactBlock(r, uint64(4*i+j), slots, absent, values); !b.Empty() {
					blocks = append(blocks, b)
				}
			}
		}
		cases = append(cases, blocks)
	}
	every := make([]byte, 255)
	for i := range every {
		every[i] = byte(i + 1)
	}
	return append(cases, []*block.Block{compactBlock(r, 1, 20000, 0.1, every)})
}

// TestCompact reads compact blocks completely, and by views in any order of slots.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, blocks := range compactCases(r) {
		for _, sample := range []int{0, 1, len(blocks)} {
			f := mustOpen(t, writeCompact(t, blocks, sample))
			entries, err := f.Cells(7)
			if err != nil || len(entries) != len(blocks) {
				t.Fatalf("%d blocks, %v, want %d", len(entries), err, len(blocks))
			}
			b, c, v := new(block.Block), f.Cursor(7, 100), new(View)
			b.Reset(7, blocks[0].Range, 20, blocks[0].Low)
			if err := c.Read(entries[0], b); err == nil {
				t.Error("a compact block was read without rules")
			}
			f.Deduce = deduceByKey
			for i, want := range blocks {
				if n := int(entries[i].Records); n != want.Count() {
					t.Errorf("block %d: %d records in the index, want %d", i, n, want.Count())
				}
				b.Reset(7, want.Range, 20, want.Low)
				must.OK(t, c.Read(entries[i], b))
				if fmt.Sprint(b.Open, b.Done, b.Val) != fmt.Sprint(want.Open, want.Done, want.Val) {
					t.Fatalf("block %d of %d slots differs", i, want.Len())
				}
				must.OK(t, c.View(entries[i], 20, want.Low, v))
				for range 50 {
					slot := r.IntN(want.Len())
					value, ok, err := v.Value(slot)
					if err != nil || ok != want.Done.Has(slot) || value != want.Val[slot] {
						t.Fatalf("block %d, slot %d: value %d, %v, %v, want %d, %v", i, slot, value, ok, err, want.Val[slot], want.Done.Has(slot))
					}
				}
			}
		}
	}
}

// TestAddHalf counts the records of blocks of half a tier: those that are balanced once, the others twice.
func TestAddHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	for _, blocks := range compactCases(r) {
		counts := countsOf(blocks)
		for _, form := range []byte{hasDone, compactKind, reachedKind} {
			for _, b := range blocks {
				p, balanced, want := new(Packer), make(block.Set, len(b.Done)), Counts{}
				switch form {
				case compactKind:
					p.SetCompact(deduceByKey, NewSampler(deduceByKey).Model(&counts))
				case reachedKind:
					p.SetCompact(deduceReached, nil)
					b = reachedBlock(r, b.Range, b.Len(), 0.1)
				}
				share := r.Float64() * 1.5
				for slot := range b.Len() {
					if !b.Open.Has(slot) && !b.Done.Has(slot) {
						continue
					}
					times := uint64(2)
					if r.Float64() < share {
						balanced.Add(slot)
						times = 1
					}
					want[b.Val[slot]] += times
				}
				if p.AddHalf(b, balanced); p.Counts != want {
					t.Fatalf("%d slots, kind %d: %v, want %v", b.Len(), form, p.Counts, want)
				}
			}
		}
	}
}

// TestContent checks that the checksum of content is the same for every model and in every file, and another one
// after each change of the blocks.
func TestContent(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	var blocks [3]*block.Block
	for i := range blocks {
		blocks[i] = compactBlock(r, uint64(i), 5000, 0.1, []byte{9, 14})
	}
	a, b, c := blocks[0], blocks[1], blocks[2]
	content := func(sample int, blocks ...*block.Block) uint64 {
		return mustOpen(t, writeCompact(t, blocks, sample)).Content
	}
	want := content(0, a, b, c)
	var joined bytes.Buffer
	file := mustOpen(t, writeCompact(t, []*block.Block{b}, 0))
	w := NewWriter(&joined, "game size=3", Blocks, file.Model)
	packed := func(of *block.Block) *Packer {
		var p Packer
		p.SetCompact(deduceByKey, file.Model)
		p.Add(of)
		return &p
	}
	must.OK(t, errors.Join(w.Append(packed(a)), w.Append(packed(b)), w.Append(packed(c)), w.Close()))
	for name, got := range map[string]uint64{
		"another model": content(2, a, b, c),
		"two files":     content(0, a) + content(2, b, c),
		"appended":      mustOpen(t, joined.Bytes()).Content,
	} {
		if got != want {
			t.Errorf("%s: content %#x, want %#x", name, got, want)
		}
	}
	changed := func(change func(c *block.Block)) *block.Block { // of a
		c := *a
		c.Open, c.Done, c.Val = slices.Clone(a.Open), slices.Clone(a.Done), slices.Clone(a.Val)
		change(&c)
		return &c
	}
	set := func(slot int, value byte) *block.Block { // 0: there is no position
		return changed(func(c *block.Block) {
			if c.Val[slot] = value; value == 0 {
				c.Done.Remove(slot)
			}
		})
	}
	open := func(rng uint64, slot int) *block.Block { // it is not compact
		return changed(func(c *block.Block) {
			c.Range = rng
			c.Done.Remove(slot)
			c.Open.Add(slot)
			c.Val[slot] = 0
		})
	}
	known, value := slices.Index(a.Val, 5), slices.Index(a.Val, 9)
	seen := map[uint64]string{want: "the blocks"}
	for name, got := range map[string]uint64{
		"another value":         content(0, set(value, 14), b, c),
		"no position":           content(0, set(value, 0), b, c),
		"no position, deduced":  content(0, set(known, 0), b, c),
		"a block not compact":   content(0, open(0, value), b, c),
		"another not compact":   content(0, open(0, known), b, c),
		"not compact":           content(0, open(0, value), open(1, known)),
		"with ranges exchanged": content(0, open(0, known), open(1, value)),
		"another tier":          content(0, changed(func(c *block.Block) { c.Tier++ }), b, c),
	} {
		if seen[got] != "" {
			t.Errorf("%s: the content is that of %s", name, seen[got])
		}
		seen[got] = name
	}
}

// TestNotCompact writes blocks that disagree with the rules, and values that the model lacks, which are
// not compact.
func TestNotCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	block0 := func() *block.Block { return compactBlock(r, 3, 5000, 0.1, []byte{9, 14}) }
	m := NewSampler(deduceByKey).Model(&Counts{9: 1, 14: 1})
	for name, change := range map[string]func(b *block.Block, d *block.Deduced){
		"an open position": func(b *block.Block, _ *block.Deduced) {
			slot := first(b.Done)
			b.Done.Remove(slot)
			b.Val[slot] = 0
			b.Open.Add(slot)
		},
		"a wrong value":          func(b *block.Block, d *block.Deduced) { slot := first(d.Known[1]); b.Done.Add(slot); b.Val[slot] = 9 },
		"a value without code":   func(b *block.Block, d *block.Deduced) { slot := first(d.Unknown); b.Done.Add(slot); b.Val[slot] = 99 },
		"an impossible position": func(b *block.Block, d *block.Deduced) { impossible(b, d) },
	} {
		b := block0()
		change(b, b.Deduce(deduceByKey))
		var p Packer
		p.SetCompact(deduceByKey, m)
		p.Add(b)
		var out bytes.Buffer
		w := NewWriter(&out, "game size=3", Blocks, m)
		must.OK(t, w.Append(&p))
		must.OK(t, w.Close())
		f := mustOpen(t, out.Bytes())
		f.Deduce = deduceByKey
		entries := must.Get(f.Cells(7))(t)
		got := new(block.Block)
		got.Reset(7, b.Range, 20, b.Low)
		if err := f.Cursor(7, 0).Read(entries[0], got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if fmt.Sprint(got.Open, got.Done, got.Val) != fmt.Sprint(b.Open, b.Done, b.Val) {
			t.Errorf("%s: the block differs", name)
		}
		if p.Counts.Total() != uint64(b.Count()) {
			t.Errorf("%s: counted %d records, want %d", name, p.Counts.Total(), b.Count())
		}
	}
}

// first returns the first slot of a set; -1 if it is empty.
func first(set block.Set) int {
	for slot := range set.All() {
		return slot
	}
	return -1
}

// impossible adds a position that cannot be one.
func impossible(b *block.Block, d *block.Deduced) {
	for slot := range b.Len() {
		if !d.Unknown.Has(slot) && !d.Known[0].Has(slot) && !d.Known[1].Has(slot) {
			b.Done.Add(slot)
			b.Val[slot] = 9
			return
		}
	}
}

// deduceReached is deduceByKey, but those of the first value are terminal.
func deduceReached(d *block.Deduced, tier int, rng uint64, from, to int) {
	deduceByKey(d, tier, rng, from, to)
	d.Values = [...]byte{2, 10}
}

// reachedBlock returns a block of which exactly the terminal positions have a value, as compactBlock.
func reachedBlock(r *rand.Rand, rng uint64, slots int, absent float64) *block.Block {
	low := make([]uint32, slots)
	for i := range low {
		low[i] = uint32(i)
	}
	b := new(block.Block)
	b.Reset(7, rng, 20, low)
	d := b.Deduce(deduceReached)
	for slot := range slots {
		switch {
		case r.Float64() < absent:
		case d.Known[0].Has(slot):
			b.Done.Add(slot)
			b.Val[slot] = d.Values[0]
		case d.Known[1].Has(slot) || d.Unknown.Has(slot):
			b.Open.Add(slot)
		}
	}
	return b
}

// packReached packs a block for which deduceReached holds.
func packReached(b *block.Block) *Packer {
	p := new(Packer)
	p.SetCompact(deduceReached, nil)
	p.Add(b)
	return p
}

// TestReached reads blocks of which the terminal positions have a value, completely and only their open positions. Blocks that
// disagree with the rules are not compact.
func TestReached(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	put := func(b *block.Block, slot int, value byte) { // 0: open
		b.Open.Remove(slot)
		b.Done.Remove(slot)
		if b.Val[slot] = value; value == 0 {
			b.Open.Add(slot)
		} else {
			b.Done.Add(slot)
		}
	}
	for i, slots := range []int{1, 63, 64, 65, 500, segmentSlots + 1, 3*segmentSlots + 70} {
		for _, absent := range []float64{0, 0.001, 0.5, 0.99} {
			for name, change := range map[string]func(b *block.Block, d *block.Deduced){
				"":                         nil,
				"terminal, but open":       func(b *block.Block, d *block.Deduced) { put(b, first(d.Known[0]), 0) },
				"terminal, another value":  func(b *block.Block, d *block.Deduced) { put(b, first(d.Known[0]), 3) },
				"an open one with a value": func(b *block.Block, d *block.Deduced) { put(b, first(d.Unknown), 9) },
				"a known one with a value": func(b *block.Block, d *block.Deduced) { put(b, first(d.Known[1]), 10) },
				"an impossible position":   impossible,
			} {
				b := reachedBlock(r, uint64(i), slots, absent)
				if change != nil && slots >= 500 {
					change(b, b.Deduce(deduceReached))
				}
				if b.Empty() || change != nil && slots < 500 {
					continue
				}
				p := packReached(b)
				kind, _, err := blockKind(p.Bytes, slots)
				if err != nil || (kind == reachedKind) != (change == nil) {
					t.Errorf("%d slots, %q: a block of kind %d, %v", slots, name, kind, err)
				}
				if want := countsOf([]*block.Block{b}); p.Counts != want {
					t.Errorf("%d slots, %q: counts %v, want %v", slots, name, p.Counts, want)
				}
				checkReached(t, p, b, kind)
			}
		}
	}
}

// checkReached reads the block that has been packed, and compares it.
func checkReached(t *testing.T, p *Packer, want *block.Block, kind byte) {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, "game size=3", Blocks, nil)
	must.OK(t, errors.Join(w.Append(p), w.Close()))
	f := mustOpen(t, out.Bytes())
	f.Deduce = deduceReached
	cell, got, c := must.Get(f.Cells(7))(t)[0], new(block.Block), f.Cursor(7, 0)
	for i := range 4 {
		c.OpenOnly = i%2 == 1
		got.Reset(7, want.Range, 20, want.Low)
		must.OK(t, c.Read(cell, got))
		if c.OpenOnly && !slices.Equal(got.Open, want.Open) {
			t.Fatalf("kind %d: the open positions of %d slots differ", kind, want.Len())
		}
		if !c.OpenOnly && difference(got, want) != "" {
			t.Fatalf("kind %d: %d slots: %s", kind, want.Len(), difference(got, want))
		}
	}
	if err := c.View(cell, 20, want.Low, new(View)); (err == nil) != (kind != reachedKind) {
		t.Errorf("a view of a block of kind %d: %v", kind, err)
	}
}

// TestCompactDamaged changes each byte of a compact block, with a correct checksum: what is read is an
// error or some block, and never a panic.
func TestCompactDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	b := compactBlock(r, 3, segmentSlots+200, 0.1, []byte{6, 9, 13})
	data := writeCompact(t, []*block.Block{b}, 1)
	f := mustOpen(t, data)
	entries := must.Get(f.Cells(7))(t)
	raw := data[entries[0].Offset:][:entries[0].Length]
	d := Decoder{compact: &compact{deduceReached, f.Model}}
	errs := 0
	read := func(src []byte) {
		got := new(block.Block)
		got.Reset(7, b.Range, 20, b.Low)
		if err := d.Decode(src, got); err != nil {
			errs++
		}
		v := new(View)
		v.block.Assign(7, b.Range, 20, b.Low)
		if err := v.set(src, d.compact); err == nil {
			for _, slot := range []int{0, b.Len() - 1} {
				v.Value(slot)
			}
		}
	}
	for i, raw := range [][]byte{raw, packReached(reachedBlock(r, 3, b.Len(), 0.1)).Bytes} {
		errs = 0
		for i := range raw {
			damaged := bytes.Clone(raw)
			damaged[i] ^= 1 << r.IntN(8)
			read(damaged)
			read(raw[:i])
		}
		if least := len(raw) * (3 - i) / 2; errs < least { // another absent slot may be one
			t.Errorf("%d errors for %d damaged blocks, want %d", errs, 2*len(raw), least)
		}
	}
}

// FuzzReadModel reads models, which are equal when they are written and read again.
func FuzzReadModel(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 0))
	for _, blocks := range compactCases(r) {
		f.Add(mustOpen(f, writeCompact(f, blocks, len(blocks))).Model.append(nil))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m := readModel(&varints{rest: src})
		if m == nil {
			return
		}
		if again := readModel(&varints{rest: m.append(nil)}); fmt.Sprint(again) != fmt.Sprint(m) {
			t.Errorf("%x: read again: %v", src, again)
		}
	})
}

// FuzzDecodeCompact decodes blocks of a fixed model.
func FuzzDecodeCompact(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 0))
	b := compactBlock(r, 3, segmentSlots+200, 0.1, []byte{6, 9, 13})
	data := writeCompact(f, []*block.Block{b}, 1)
	file := mustOpen(f, data)
	entries := must.Get(file.Cells(7))(f)
	f.Add(data[entries[0].Offset:][:entries[0].Length])
	f.Add(packReached(reachedBlock(r, 3, b.Len(), 0.1)).Bytes)
	f.Fuzz(func(t *testing.T, src []byte) {
		d := Decoder{compact: &compact{deduceReached, file.Model}}
		got := new(block.Block)
		got.Reset(7, b.Range, 20, b.Low)
		if err := d.Decode(src, got); err != nil {
			return
		}
		for i := range got.Done {
			if got.Done[i]&got.Open[i] != 0 {
				t.Fatal("a slot that is open and done")
			}
		}
		for slot := range got.Done.All() {
			if got.Val[slot] == 0 {
				t.Fatalf("slot %d has no value", slot)
			}
		}
		open := new(block.Block)
		open.ResetOpen(7, b.Range, 20, b.Low)
		if err := d.DecodeOpen(src, open); err != nil || !slices.Equal(open.Open, got.Open) {
			t.Fatalf("open slots: %v", err)
		}
	})
}

package streamfmt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// ascending returns 0, 1, … n-1: the low parts of a block that has all positions.
func ascending(n int) []uint32 {
	low := make([]uint32, n)
	for i := range low {
		low[i] = uint32(i)
	}
	return low
}

// newBlock returns an empty block of n slots.
func newBlock(rng uint64, n int) *block.Block {
	b := new(block.Block)
	b.Reset(7, rng, 20, ascending(n))
	return b
}

// randomBlock returns a block whose slots are open or done with the given probabilities; at
// least one is. The done slots have up to the given number of different values.
func randomBlock(r *rand.Rand, rng uint64, slots int, open, done float64, values int) *block.Block {
	b := newBlock(rng, slots)
	choice := make([]byte, values)
	for i, v := range r.Perm(255)[:values] {
		choice[i] = byte(v + 1)
	}
	for i := range slots {
		switch f := r.Float64(); {
		case f < open:
			b.Open.Add(i)
		case f < open+done:
			b.Done.Add(i)
			b.Val[i] = choice[r.IntN(values)]
		}
	}
	if b.Empty() {
		b.Open.Add(r.IntN(slots))
	}
	return b
}

// difference describes the first record in which two blocks differ; "" if they are equal.
func difference(got, want *block.Block) string {
	if slices.Equal(got.Open, want.Open) && slices.Equal(got.Done, want.Done) && bytes.Equal(got.Val, want.Val) {
		return ""
	}
	for i := range want.Len() {
		g := fmt.Sprint(got.Open.Has(i), got.Done.Has(i), got.Val[i])
		w := fmt.Sprint(want.Open.Has(i), want.Done.Has(i), want.Val[i])
		if g != w {
			return fmt.Sprintf("slot %d is (open, done, value) %s, want %s", i, g, w)
		}
	}
	return "bits or values past the last slot"
}

// TestPackGolden checks the packed bytes of small blocks, as described in doc.go.
func TestPackGolden(t *testing.T) {
	for _, tt := range []struct {
		name  string
		slots int
		open  []int
		done  map[int]byte
		want  []byte
	}{
		{"one open", 3, []int{1}, nil, []byte{3, 1, 0, 0b010}},
		{"one done", 3, nil, map[int]byte{2: 6}, []byte{3, 2, 0, 0b100, 1, 6}},
		{"both", 3, []int{0}, map[int]byte{1: 6, 2: 6}, []byte{3, 3, 0, 0b001, 0, 0b110, 1, 6}},
		{"two values", 9, nil, map[int]byte{0: 9, 4: 6, 8: 9}, []byte{9, 2, 0, 0b00010001, 1, 2, 6, 9, 0b101}},
		// 40 slots are 5 bytes, of which one is not zero: mask 0b00100, byte 1.
		{"one level", 40, []int{16}, nil, []byte{40, 1, 1, 0b00100, 1}},
		// Three values take 2 bits each: 0, 1, 2, 1, from the lowest bit up.
		{"three values", 4, nil, map[int]byte{0: 5, 1: 6, 2: 7, 3: 6}, []byte{4, 2, 0, 0b1111, 3, 5, 6, 7, 0b01_10_01_00}},
	} {
		b := newBlock(0, tt.slots)
		for _, i := range tt.open {
			b.Open.Add(i)
		}
		for i, v := range tt.done {
			b.Done.Add(i)
			b.Val[i] = v
		}
		var counts [256]uint64
		if got := new(Encoder).AppendBlock(nil, b, &counts); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: packed as %v, want %v", tt.name, got, tt.want)
		}
	}
}

var (
	packSizes  = []int{1, 2, 7, 8, 9, 63, 64, 65, 1000, 10000}
	packChance = []struct {
		name       string
		open, done float64
	}{
		{"one", 0, 0},
		{"few open", 0.001, 0},
		{"few done", 0, 0.001},
		{"few", 0.002, 0.002},
		{"sparse", 0.02, 0.05},
		{"half", 0.25, 0.25},
		{"open", 1, 0},
		{"done", 0, 1},
		{"dense", 0.1, 0.9},
	}
	packValues = []int{1, 2, 3, 4, 5, 16, 17, 200, 255}
)

// TestPackRoundTrip packs and unpacks random blocks with one Encoder and one Decoder, whose
// memory is reused: earlier blocks must not affect later ones.
func TestPackRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var e Encoder
	var d Decoder
	got := new(block.Block)
	prefix := []byte("before")
	for _, slots := range packSizes {
		for _, c := range packChance {
			for _, values := range packValues {
				if slots == 10000 && values != 3 && values != 200 {
					continue // takes too long
				}
				b := randomBlock(r, 0, slots, c.open, c.done, values)
				var counts, want [256]uint64
				counts[0], want[0] = 5, 5 // AppendBlock adds to counts
				for i := range slots {
					if b.Open.Has(i) {
						want[0]++
					} else if b.Done.Has(i) {
						want[b.Val[i]]++
					}
				}
				packed := e.AppendBlock(prefix, b, &counts)
				if !bytes.HasPrefix(packed, prefix) {
					t.Fatalf("%d slots, %s, %d values: AppendBlock does not append", slots, c.name, values)
				}
				if counts != want {
					t.Errorf("%d slots, %s, %d values: wrong counts", slots, c.name, values)
				}
				got.Reset(0, 0, 20, b.Low)
				open := new(block.Block)
				open.ResetOpen(0, 0, 20, b.Low)
				if err := d.DecodeOpen(packed[len(prefix):], open); err != nil || !slices.Equal(open.Open, b.Open) {
					t.Fatalf("%d slots: the open slots are wrong, %v", slots, err)
				}
				if err := d.Decode(packed[len(prefix):], got); err != nil {
					t.Fatalf("%d slots, %s, %d values: %v", slots, c.name, values, err)
				}
				if diff := difference(got, b); diff != "" {
					t.Fatalf("%d slots, %s, %d values: %s", slots, c.name, values, diff)
				}
			}
		}
	}
}

// TestPackSize checks that a sparse bitmap is small, and that a dense one is not larger than
// its bits.
func TestPackSize(t *testing.T) {
	for _, tt := range []struct {
		open  float64
		most  int
		slots int
	}{{0, 20, 10000}, {0.001, 80, 10000}, {0.5, 1260, 10000}, {1, 1260, 10000}} {
		r := rand.New(rand.NewPCG(9, 9))
		var counts [256]uint64
		b := randomBlock(r, 0, tt.slots, tt.open, 0, 1)
		if got := len(new(Encoder).AppendBlock(nil, b, &counts)); got > tt.most {
			t.Errorf("%d open of %d slots take %d bytes, want %d at most", b.Count(), tt.slots, got, tt.most)
		}
	}
}

// TestDecodeCutShort checks that a packed block that is truncated, or followed by more bytes,
// is an error.
func TestDecodeCutShort(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	for _, slots := range []int{1, 65, 1000} {
		for _, c := range packChance {
			b := randomBlock(r, 0, slots, c.open, c.done, 3)
			var counts [256]uint64
			packed := new(Encoder).AppendBlock(nil, b, &counts)
			for n := range len(packed) {
				if err := new(Decoder).Decode(packed[:n], newBlock(0, slots)); err == nil {
					t.Errorf("%d slots, %s: %d of %d bytes are no error", slots, c.name, n, len(packed))
				}
			}
			if err := new(Decoder).Decode(append(packed, 0), newBlock(0, slots)); err == nil {
				t.Errorf("%d slots, %s: a byte more is no error", slots, c.name)
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct {
		src  []byte
		want string
	}{
		{nil, "the block ends too early"},
		{[]byte{10}, "the block ends too early"},
		{[]byte{9, 1, 0, 0, 0}, "a block of 9 slots, expected 10"},
		{[]byte{10, 0}, "a block of kind 0"},
		{[]byte{10, 6, 0, 1, 0}, "a block of kind 6"},
		{[]byte{10, 4, 7}, errRules.Error()},
		{[]byte{10, 5, 7}, errRules.Error()},
		{[]byte{10, 1, 5, 1}, "a bitmap of 5 levels"},
		{[]byte{10, 1, 0, 1}, "the block ends too early"},
		{[]byte{10, 1, 0, 0, 0b100}, "a bit past the last slot"},
		{[]byte{10, 1, 1, 0b100, 1}, "the block ends too early"}, // the mask has only two bytes
		{[]byte{10, 1, 0, 1, 0, 7}, "1 bytes after the block"},
		{[]byte{10, 2, 0, 1, 0}, "the block ends too early"},
		{[]byte{10, 2, 0, 1, 0, 0}, "the block ends too early"}, // no values
		{[]byte{10, 2, 0, 1, 0, 2, 6}, "the block ends too early"},
		{[]byte{10, 2, 0, 1, 0, 2, 6, 7}, "the block ends too early"},
		{[]byte{10, 2, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, "the block ends too early"}, // no values, but a code
		{[]byte{10, 3, 0, 3, 0, 0, 1, 0, 1, 6}, "a position that is open and done"},
		{[]byte{10, 2, 0, 1, 0, 1, 0}, "a position that is done, but has no value"},
		{[]byte{10, 2, 0, 1, 0, 2, 0, 6, 1}, "a position that is done, but has no value"},
		{[]byte{10, 2, 0, 1, 0, 3, 2, 6, 10, 3}, "a position that is done, but has no value"}, // code 3 of 0 to 2
	} {
		err := new(Decoder).Decode(tt.src, newBlock(0, 10))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v: error %v, want %s", tt.src, err, tt.want)
		}
		v := new(View)
		v.block.Assign(7, 0, 20, newBlock(0, 10).Low)
		err = v.set(tt.src, new(compact))
		for slot := 0; slot < 10 && err == nil; slot++ {
			_, _, err = v.Value(slot)
		}
		if err == nil || err != errReached && err.Error() != tt.want {
			t.Errorf("%v: a View: error %v, want %s", tt.src, err, tt.want)
		}
	}
}

// FuzzDecode decodes arbitrary bytes. There must be no panic, and a block that decodes must be
// equal after packing and decoding it again.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(12, 13))
	for _, slots := range []int{1, 65, 1000} {
		for _, c := range packChance {
			var counts [256]uint64
			b := randomBlock(r, 0, slots, c.open, c.done, 1+r.IntN(20))
			f.Add(new(Encoder).AppendBlock(nil, b, &counts))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		slots, _ := binary.Uvarint(data)
		b := newBlock(0, int(slots%5000))
		if err := new(Decoder).Decode(data, b); err != nil || b.Empty() {
			return
		}
		var counts [256]uint64
		again := newBlock(0, b.Len())
		must.OK(t, new(Decoder).Decode(new(Encoder).AppendBlock(nil, b, &counts), again))
		if diff := difference(again, b); diff != "" {
			t.Fatal(diff)
		}
	})
}

package search

import (
	"math/rand/v2"
	"testing"
)

// A table gives back what was put in last for a key, or nothing; never what is another
// key's.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		words   int
		keyBits uint
		format  format
		wide    bool
	}{
		{8 << 10, 49, fastFormat(7), true},
		{128 << 10, 42, fastFormat(7), false},
		{8 << 10, 20, fastFormat(5), false},
		{128, 64, fastFormat(9), true},
		{8 << 10, 1, plainFormat, false},
		{512, 64, plainFormat, true},
		{4, 12, plainFormat, true},
	} {
		table := newTable(newSlab(tt.words), tt.keyBits, tt.format)
		if table.wide != tt.wide {
			t.Errorf("%d words, keys of %d bits: wide: %v", tt.words, tt.keyBits, table.wide)
		}
		last := make(map[uint64]entry)
		keys := make([]uint64, 500)
		for i := range keys {
			keys[i] = r.Uint64() >> (64 - tt.keyBits)
		}
		found := 0
		for range 20000 {
			table.age = uint64(r.IntN(4))
			key := keys[r.IntN(len(keys))]
			if e := table.get(key); e != 0 {
				found++
				if e != last[key] {
					t.Fatalf("%+v: key %#x: %#x, put %#x", tt, key, e, last[key])
				}
			}
			e := table.pack(r.IntN(800)-400, r.IntN(800)-400, r.IntN(table.full+1), r.IntN(32), uint16(r.IntN(5)))
			table.put(key, e)
			last[key] = e
		}
		if found == 0 {
			t.Errorf("%+v: nothing is ever found", tt)
		}
	}
}

// What goes into an entry comes out of it.
func TestEntry(t *testing.T) {
	for _, f := range []format{plainFormat, fastFormat(7)} {
		table := newTable(newSlab(1<<17), 49, f)
		table.age = 3
		for _, low := range []int{-infinite, -32766, -400, -1, 0, 1, 400, 32705, 32766, infinite} {
			e := table.pack(low, infinite, 5, 31, 3)
			got, high := table.bounds(e)
			want := clamp(low, -32767, 32767)
			if f.shift == 0 {
				want = clamp(low, -65535, 65535)
			}
			if got != want && !(low == -infinite && got < -32766) && !(low == infinite && got > 32766) || high < 32767 ||
				table.depthOf(e) != 5 || table.workOf(e) != 31 || table.moveOf(e) != 3 || table.ageOf(e) != 3 {
				t.Errorf("%+v: %d comes back as %d to %d, depth %d, work %d, move %d", f, low, got, high, table.depthOf(e), table.workOf(e), table.moveOf(e))
			}
		}
	}
}

package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
)

// TestTable checks that a table returns the last entry stored for a key, or nothing; never
// the entry of another key.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		words   int
		keyBits uint
		traits  game.Traits
		wide    bool
	}{
		{8 << 10, 49, game.Traits{MaxMoves: 7, MaxPlies: 42}, true},
		{128 << 10, 42, game.Traits{MaxMoves: 7, MaxPlies: 42}, false},
		{8 << 10, 20, game.Traits{MaxMoves: 5, MaxPlies: 18}, false},
		{128, 64, game.Traits{MaxMoves: 9, MaxPlies: 63}, true},
		{8 << 10, 1, game.Traits{MaxMoves: 5, MaxPlies: 400}, false},
		{128 << 10, 36, game.Traits{MaxMoves: 6, MaxPlies: 3000, OnlyWho: true}, false},
		{512, 64, game.Traits{MaxMoves: 500}, true},
		{4, 12, game.Traits{MaxMoves: 1 << 16}, true},
	} {
		table := newTable(newSlab(tt.words), tt.keyBits, formatOf(tt.traits))
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

// TestEntry checks that an entry returns the fields that were packed.
func TestEntry(t *testing.T) {
	for _, tt := range []struct {
		traits     game.Traits
		full, last int // the maximum depth, and the maximum number of moves to a win
	}{
		{game.Traits{MaxMoves: 1 << 16}, game.MaxRemoteness, game.MaxRemoteness},
		{game.Traits{MaxMoves: 279}, game.MaxRemoteness, game.MaxRemoteness},
		{game.Traits{MaxMoves: 7, MaxPlies: 42}, 63, 42},
		{game.Traits{MaxMoves: 4, MaxPlies: 42}, 63, 42}, // five values of the move: four moves, or none
		{game.Traits{MaxMoves: 7, MaxPlies: 63}, 63, 63},
		{game.Traits{MaxMoves: 6, MaxPlies: 3000}, 4095, 3000},
		{game.Traits{MaxMoves: 6, MaxPlies: 3000, OnlyWho: true}, 1023, 0},
	} {
		table := newTable(newSlab(1<<17), 49, formatOf(tt.traits))
		table.age = 2
		for _, low := range []int{-infinite, game.LostIn(0), game.LostIn(1), game.LostIn(tt.last), -399, -1, 0, 1, 399, game.WonIn(tt.last), game.WonIn(1), game.WonIn(0), infinite} {
			e := table.pack(low, infinite, tt.full-1, 31, 4)
			got, high := table.bounds(e)
			want := clamp(low, game.LostIn(0), game.WonIn(0))
			if tt.traits.OnlyWho && low > mate {
				want = game.WonIn(0)
			} else if tt.traits.OnlyWho && low < -mate {
				want = game.LostIn(0)
			}
			if got != want || high != game.WonIn(0) || table.full != tt.full ||
				table.depthOf(e) != tt.full-1 || table.workOf(e) != 31 || table.moveOf(e) != 4 || table.ageOf(e) != 2 {
				t.Errorf("%+v: %d comes back as %d to %d, depth %d, work %d, move %d", tt, low, got, high, table.depthOf(e), table.workOf(e), table.moveOf(e))
			}
		}
	}
}

// TestReplacement checks that the first entry of a bucket keeps the position with the most
// work of the current search. A position that it loses moves to the second entry, which
// otherwise takes the newest position.
func TestReplacement(t *testing.T) {
	for _, wide := range []bool{false, true} {
		words, keyBits := 128<<10, uint(42)
		if wide {
			words, keyBits = 8<<10, 49
		}
		table := newTable(newSlab(words), keyBits, formatOf(game.Traits{MaxMoves: 7, MaxPlies: 42}))
		if table.wide != wide {
			t.Fatalf("%d words, keys of %d bits: wide: %v", words, keyBits, table.wide)
		}
		var keys []uint64 // all in one bucket
		bucket, _ := table.place(1)
		for key := uint64(1); len(keys) < 6; key++ {
			if at, _ := table.place(key); at == bucket {
				keys = append(keys, key)
			}
		}
		entries := make([]entry, len(keys))
		for step, tt := range []struct {
			key, work int
			age       uint64
			keep      bool
			left      []int // the keys found afterwards
		}{
			{0, 20, 1, true, []int{0}},
			{1, 5, 1, true, []int{0, 1}},
			{2, 10, 1, true, []int{0, 2}}, // less work: it goes to the second entry, whatever is there
			{3, 2, 1, true, []int{0, 3}},
			{4, 20, 1, true, []int{0, 4}}, // equal work: the first entry moves to the second
			{5, 1, 1, true, []int{4, 5}},  // less work: it replaces the second
			{4, 1, 1, true, []int{4, 5}},  // the same key stays where it is
			{0, 2, 1, true, []int{0, 4}},  // which now had less work
			{1, 1, 2, true, []int{0, 1}},  // the work of an earlier search does not count
			{2, 1, 2, true, []int{1, 2}},
			{3, 9, 2, false, []int{2, 3}}, // without Buckets: the second entry is overwritten
			{4, 9, 2, false, []int{2, 4}},
		} {
			table.age, table.keep = tt.age, tt.keep
			entries[tt.key] = table.pack(-step, step, 3, tt.work, 1)
			table.put(keys[tt.key], entries[tt.key])
			var left []int
			for i, key := range keys {
				if e := table.get(key); e != 0 {
					left = append(left, i)
					if e != entries[i] {
						t.Errorf("wide: %v, step %d: key %d has %#x, want %#x", table.wide, step, i, e, entries[i])
					}
				}
			}
			if !slices.Equal(left, tt.left) {
				t.Fatalf("wide: %v, step %d: found are %v, want %v", table.wide, step, left, tt.left)
			}
		}
	}
}

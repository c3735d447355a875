package block_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game/block"
)

// ascending returns n different random numbers below limit, in order.
func ascending(r *rand.Rand, n int, limit uint32) []uint32 {
	seen := map[uint32]bool{}
	low := make([]uint32, 0, n)
	for len(low) < n {
		if v := r.Uint32N(limit); !seen[v] {
			seen[v] = true
			low = append(low, v)
		}
	}
	slices.Sort(low)
	return low
}

// numbers returns 0, 1, … n-1.
func numbers(n int) []uint32 {
	low := make([]uint32, n)
	for i := range low {
		low[i] = uint32(i)
	}
	return low
}

// Slot finds the same slot as a linear search, with any hint.
func TestSlotAgainstLinearSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	var b block.Block
	for _, n := range []int{0, 1, 2, 3, 7, 64, 200} {
		for _, limit := range []uint32{uint32(n) + 1, 3*uint32(n) + 2, 1 << 31} { // from dense to sparse
			low := ascending(r, n, limit)
			b.Reset(1, 5, 31, low)
			questions := append([]uint32{0, 1, limit - 1, limit, 1<<32 - 1}, low...)
			for range 50 {
				questions = append(questions, r.Uint32N(limit))
			}
			for _, q := range questions {
				want := slices.Index(low, q)
				for _, hint := range []int{0, n / 2, max(0, n-1), n, n + 1, n + 1000, r.IntN(n + 2)} {
					slot, ok := b.Slot(q, hint)
					if ok != (want >= 0) || ok && slot != want {
						t.Fatalf("Slot(%d, %d) of %v = %d, %v, want %d", q, hint, low, slot, ok, want)
					}
				}
			}
		}
	}
}

func TestKey(t *testing.T) {
	var b block.Block
	b.Reset(3, 0xabc, 8, []uint32{0x07, 0x0b, 0xff})
	if b.Tier != 3 || b.Len() != 3 {
		t.Errorf("tier %d and %d slots, want tier 3 and 3 slots", b.Tier, b.Len())
	}
	for i, want := range []uint64{0xabc07, 0xabc0b, 0xabcff} {
		if got := b.Key(i); got != want {
			t.Errorf("Key(%d) = %#x, want %#x", i, got, want)
		}
	}
	b.Reset(3, 1<<63+1, 0, []uint32{0}) // a key without a low part
	if got := b.Key(0); got != 1<<63+1 {
		t.Errorf("Key(0) = %#x, want the range itself", got)
	}
}

func TestCloseMakesOpenDone(t *testing.T) {
	var b block.Block
	b.Reset(0, 0, 8, numbers(70))
	b.Open.Add(3)
	b.Open.Add(69)
	b.Done.Add(64)
	b.Val[3], b.Val[64], b.Val[69] = 6, 10, 7
	if b.Count() != 3 || b.Empty() {
		t.Fatalf("Count() = %d, Empty() = %v, want 3, false", b.Count(), b.Empty())
	}
	b.Close()
	if got, want := b.Done.Append(nil), []uint32{3, 64, 69}; !slices.Equal(got, want) {
		t.Errorf("after Close done is %v, want %v", got, want)
	}
	if !b.Open.Empty() {
		t.Errorf("after Close %v is open", b.Open.Append(nil))
	}
	if b.Val[3] != 6 || b.Val[64] != 10 || b.Val[69] != 7 {
		t.Errorf("Close changed values")
	}
	if b.Count() != 3 {
		t.Errorf("after Close Count() = %d, want 3", b.Count())
	}
}

// A block that is re-used is equal to a new one, also when it grows and shrinks.
func TestResetForgets(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	var b block.Block
	for round := range 100 {
		n := 1 + r.IntN(300)
		b.Reset(round, uint64(round), 10, numbers(n))
		if b.Tier != round || b.Range != uint64(round) || b.Len() != n {
			t.Fatalf("Reset left tier %d, range %d, %d slots", b.Tier, b.Range, b.Len())
		}
		if !b.Empty() || b.Count() != 0 {
			t.Fatalf("round %d: the block is not empty after Reset", round)
		}
		if len(b.Open) != block.Words(n) || len(b.Done) != block.Words(n) {
			t.Fatalf("round %d: sets of %d and %d words, want %d", round, len(b.Open), len(b.Done), block.Words(n))
		}
		if len(b.Val) != n+1 {
			t.Fatalf("round %d: %d values for %d slots, want one more", round, len(b.Val), n)
		}
		for i, v := range b.Val {
			if v != 0 {
				t.Fatalf("round %d: Val[%d] = %d after Reset", round, i, v)
			}
		}
		b.Reset(round, 0, 10, b.Low)
		b.Open.Fill(n)
		b.Done.Fill(n)
		for i := range b.Val {
			b.Val[i] = byte(1 + i%255)
		}
		if r.IntN(2) == 0 {
			b.Close()
		}
	}
}

// Memory is re-used: after the largest block, Reset does not allocate.
func TestResetAllocatesNothing(t *testing.T) {
	var b block.Block
	large, small := numbers(1000), numbers(10)
	b.Reset(0, 0, 10, large)
	b.Open.Fill(1000)
	got := testing.AllocsPerRun(10, func() {
		for _, low := range [][]uint32{small, large} {
			b.Reset(0, 0, 10, low)
			b.Open.Fill(len(low))
			b.Close()
		}
	})
	if got != 0 {
		t.Errorf("Reset and Close allocate %v times", got)
	}
}

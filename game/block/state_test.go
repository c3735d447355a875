package block_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game/block"
)

// A State is compared with an array of values.
func TestStateAgainstValues(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, uint64(n)))
			var s block.State
			s.Reset(n)
			open := newSet(n)
			model := make(map[int]byte)
			for range 20 {
				s.Reached.Union(randomSet(r, n))
				s.Open(open)
				of := randomSet(r, n)
				of.Intersect(of, open)
				result, remoteness := uint8(1+r.IntN(3)), r.IntN(block.MaxCount+1)
				s.Decide(result, remoteness, of)
				for _, i := range of.Append(nil) {
					model[int(i)] = byte(remoteness<<2) | result
				}
			}
			var counts, want [256]uint64
			s.Count(&counts)
			with := newSet(n)
			for i := range n {
				value, reached := s.Value(i)
				if reached != s.Reached.Has(i) || value != model[i] {
					t.Fatalf("slot %d: value %d, reached %v, want %d", i, value, reached, model[i])
				}
				if reached {
					want[value]++
				}
				for result := uint8(1); result <= 3; result++ {
					if s.With(with, result); with.Has(i) != (value&3 == result) {
						t.Fatalf("slot %d of value %d: with result %d: %v", i, value, result, with.Has(i))
					}
				}
			}
			if counts != want {
				t.Errorf("counts %v, want %v", counts, want)
			}
		})
	}
}

// Messages added in pieces give the same result as messages added at once.
func TestInboxAdd(t *testing.T) {
	for _, n := range sizes {
		r := rand.New(rand.NewPCG(10, uint64(n)))
		var all, piece block.Inbox
		all.Reset(n)
		model := make([]int, n)
		some := newSet(n)
		for range 10 {
			piece.Reset(n)
			for range 3 {
				s := randomSet(r, n)
				piece.Times.Add(s)
				for _, i := range s.Append(nil) {
					model[i]++
				}
			}
			received := randomSet(r, n)
			piece.Some.Union(received)
			some.Union(received)
			if !all.Add(&piece) {
				t.Fatal("too many")
			}
		}
		whole := newSet(n)
		whole.Fill(n)
		count := some.Count()
		for _, times := range model {
			if times > 0 {
				count++
			}
		}
		if got := all.Count(); got != count {
			t.Fatalf("%d slots: %d received, want %d", n, got, count)
		}
		for i := range n {
			if all.Times.Get(i) != model[i] || all.Some.Has(i) != some.Has(i) {
				t.Fatalf("%d slots: slot %d received %d times, want %d", n, i, all.Times.Get(i), model[i])
			}
		}
		var rest block.Counter
		rest.Reset(n)
		rest.PutAll(40, whole)
		if !rest.SubCounter(&all.Times, whole) {
			t.Fatal("too many taken")
		}
		for i := range n {
			if rest.Get(i) != 40-model[i] {
				t.Fatalf("%d slots: slot %d: %d are left, want %d", n, i, rest.Get(i), 40-model[i])
			}
		}
		rest.PutAll(0, whole)
		one := newSet(n)
		one.Add(n - 1)
		piece.Reset(n)
		piece.Times.Add(one)
		if rest.SubCounter(&piece.Times, whole) {
			t.Error("a count below 0 is not reported")
		}
		all.Times.PutAll(block.MaxCount, one)
		if all.Add(&piece) {
			t.Error("a count above the largest is not reported")
		}
	}
}

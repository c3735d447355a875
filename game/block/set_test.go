package block_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game/block"
)

// sizes are numbers of slots around the boundaries of words.
var sizes = []int{1, 2, 63, 64, 65, 127, 128, 129, 1000}

// newSet returns an empty set of n slots.
func newSet(n int) block.Set { return make(block.Set, block.Words(n)) }

func TestWords(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 63: 1, 64: 1, 65: 2, 128: 2, 129: 3} {
		if got := block.Words(n); got != want {
			t.Errorf("Words(%d) = %d, want %d", n, got, want)
		}
	}
}

// checkSet compares the results of all methods of a set with a map.
func checkSet(t *testing.T, s block.Set, model map[int]bool, n int) {
	t.Helper()
	var want []uint32
	for i := range n {
		if s.Has(i) != model[i] {
			t.Fatalf("Has(%d) = %v, want %v", i, s.Has(i), model[i])
		}
		if model[i] {
			want = append(want, uint32(i))
		}
	}
	if s.Count() != len(want) {
		t.Fatalf("Count() = %d, want %d", s.Count(), len(want))
	}
	if s.Empty() != (len(want) == 0) {
		t.Fatalf("Empty() = %v with %d slots in the set", s.Empty(), len(want))
	}
	if got := s.Append([]uint32{7}); got[0] != 7 || !slices.Equal(got[1:], want) {
		t.Fatalf("Append([7]) = %v, want 7 and %v", got, want)
	}
	var all []uint32
	for slot := range s.All() {
		all = append(all, uint32(slot))
	}
	if !slices.Equal(all, want) {
		t.Fatalf("All() gives %v, want %v", all, want)
	}
}

func TestSetAgainstMap(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			s, other := newSet(n), newSet(n)
			model, otherModel := map[int]bool{}, map[int]bool{}
			checkSet(t, s, model, n)
			for range 200 {
				i := r.IntN(n)
				switch r.IntN(8) {
				case 0, 1:
					s.Add(i)
					model[i] = true
				case 2, 3:
					s.Remove(i)
					delete(model, i)
				case 4, 5:
					other.Add(i)
					otherModel[i] = true
				case 6:
					other.Remove(i)
					delete(otherModel, i)
				case 7:
					s.Union(other)
					for i := range otherModel {
						model[i] = true
					}
				}
				checkSet(t, s, model, n)
			}
			checkSet(t, other, otherModel, n) // Union does not change it
		})
	}
}

// Fill adds all slots and no bit past the last one, whatever the set contained before.
func TestSetFill(t *testing.T) {
	for _, n := range append([]int{0}, sizes...) {
		s := newSet(n)
		for range 2 {
			s.Fill(n)
			if s.Count() != n {
				t.Errorf("after Fill(%d) the set counts %d", n, s.Count())
			}
			for i := range n {
				if !s.Has(i) {
					t.Errorf("after Fill(%d) slot %d is out", n, i)
				}
			}
			if n > 0 {
				s.Remove(n - 1)
			}
		}
	}
}

package block_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game/block"
)

// randomSet returns a set of n slots; most words are empty, full or mixed.
func randomSet(r *rand.Rand, n int) block.Set {
	s := newSet(n)
	density := []float64{0, 0.1, 0.5, 1}[r.IntN(4)]
	for i := range n {
		if i%64 == 0 && r.IntN(2) == 0 {
			density = []float64{0, 0.1, 0.5, 1}[r.IntN(4)]
		}
		if r.Float64() < density {
			s.Add(i)
		}
	}
	return s
}

// Every method is compared with an array of numbers. Overflow and underflow are reported, and
// wrap around.
func TestCounterAgainstNumbers(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, uint64(n)))
			var c, other block.Counter
			c.Reset(n)
			other.Reset(n)
			model, otherModel := make([]int, n), make([]int, n)
			for i := range n {
				otherModel[i] = r.IntN(block.MaxCount + 1)
				other.Put(i, otherModel[i])
			}
			overflows := 0
			for range 500 {
				s, of := randomSet(r, n), randomSet(r, n)
				number := r.IntN(block.MaxCount + 1)
				if r.IntN(4) > 0 {
					number = r.IntN(3) // so that most additions fit
				}
				ok, want := true, true
				change := func(i, by int) {
					model[i] += by
					if model[i] < 0 || model[i] > block.MaxCount {
						want = false
					}
					model[i] &= block.MaxCount
				}
				kind := r.IntN(8)
				switch kind {
				case 0, 1:
					ok = c.Add(s)
				case 2, 3, 4:
					ok = subtract(&c, s, of)
				case 5:
					ok = c.AddCounter(&other, number, of)
				case 6:
					c.PutAll(number, of)
				case 7:
					i := r.IntN(n)
					c.Put(i, number)
					model[i] = number
				}
				for i := range n {
					switch {
					case kind <= 1 && s.Has(i):
						change(i, 1)
					case kind >= 2 && kind <= 4 && s.Has(i) && of.Has(i):
						change(i, -1)
					case kind == 5 && of.Has(i):
						change(i, otherModel[i])
						change(i, number)
					case kind == 6 && of.Has(i):
						model[i] = number
					}
				}
				if ok != want {
					t.Fatalf("method %d reports %v, want %v", kind, ok, want)
				}
				if !ok {
					overflows++
				}
				zero := newSet(n)
				zero.Fill(n)
				c.Zero(zero, of)
				for i := range n {
					if c.Get(i) != model[i] {
						t.Fatalf("after method %d slot %d counts %d, want %d", kind, i, c.Get(i), model[i])
					}
					if zero.Has(i) != (of.Has(i) && model[i] == 0) {
						t.Fatalf("Zero has slot %d: %v, but it counts %d (asked for: %v)", i, zero.Has(i), model[i], of.Has(i))
					}
					if other.Get(i) != otherModel[i] {
						t.Fatalf("method %d changed the other counter", kind)
					}
				}
				for p := range c {
					past := newSet(n)
					past.Fill(n)
					for i, w := range c[p] {
						if w&^past[i] != 0 {
							t.Fatalf("method %d sets bits past slot %d", kind, n)
						}
					}
				}
			}
			if overflows == 0 || overflows == 500 {
				t.Errorf("%d of 500 changes did not fit: one side is not tested", overflows)
			}
		})
	}
}

// subtract subtracts one from the counts of the slots that are in both s and of.
func subtract(c *block.Counter, s, of block.Set) (ok bool) {
	var ones block.Counter
	ones.Reset(64 * len(s))
	ones.PutAll(1, s)
	return c.SubCounter(&ones, of)
}

// A counter counts up to MaxCount and back to 0.
func TestCounterRange(t *testing.T) {
	var c block.Counter
	c.Reset(3)
	s, all := newSet(3), newSet(3)
	s.Add(1)
	all.Fill(3)
	for n := 1; n <= block.MaxCount; n++ {
		if !c.Add(s) || c.Get(1) != n {
			t.Fatalf("after %d additions it counts %d", n, c.Get(1))
		}
	}
	if c.Add(s) {
		t.Errorf("one more than %d is no error", block.MaxCount)
	}
	c.Put(1, block.MaxCount)
	for n := block.MaxCount - 1; n >= 0; n-- {
		if !subtract(&c, s, all) || c.Get(1) != n {
			t.Fatalf("it counts %d, want %d", c.Get(1), n)
		}
	}
	if subtract(&c, s, all) {
		t.Error("one less than 0 is no error")
	}
	if c.Get(0) != 0 || c.Get(2) != 0 {
		t.Error("other slots are counted")
	}
}

// Reset re-uses and clears the memory.
func TestCounterReset(t *testing.T) {
	var c block.Counter
	c.Reset(1000)
	full := newSet(1000)
	full.Fill(1000)
	if n := testing.AllocsPerRun(10, func() {
		c.PutAll(block.MaxCount, full)
		c.Reset(100)
		c.Reset(1000)
	}); n != 0 {
		t.Errorf("Reset allocates %v times", n)
	}
	for i := range 1000 {
		if c.Get(i) != 0 {
			t.Fatalf("slot %d counts %d after Reset", i, c.Get(i))
		}
	}
	c.Reset(65)
	if len(c[0]) != block.Words(65) {
		t.Errorf("%d words for 65 slots", len(c[0]))
	}
}

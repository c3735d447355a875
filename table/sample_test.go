package table

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// numbers returns a tier as a part of ranges: the number of the positions of each, and its upper bound. Positions with the same
// number in their ranges have the same value.
func numbers(ranges [][2]int, tier int) *stored.Part {
	f := stored.File{Tier: tier, Counts: make(Counts), End: len(ranges)}
	for _, r := range ranges {
		for n := range r[0] {
			f.Counts[game.Value(n+1)]++
		}
	}
	return &stored.Part{
		Files: []stored.File{f}, Len: len(ranges),
		Range:  func(i int) (rng uint64, most int, err error) { return uint64(i), ranges[i][1], nil },
		Reader: func(int) stored.Reader { return &numbersReader{counts: ranges, tier: tier} },
	}
}

// A numbersReader reads the ranges of numbers.
type numbersReader struct {
	stored.Reader
	counts   [][2]int
	tier, at int
}

func (*numbersReader) Times(int) uint64 { return 1 }

func (r *numbersReader) Load(slots []uint32, i int) (uint64, []uint32, error) {
	r.at = i
	for n := range r.counts[i][0] {
		slots = append(slots, uint32(n))
	}
	return uint64(i), slots, nil
}

func (r *numbersReader) At(slot int) (game.Position, game.Value) {
	return numbered(r.tier, r.at, slot), game.Value(slot + 1)
}

// numbered returns a position of a range.
func numbered(tier, rng, n int) game.Position {
	return game.Position(tier)<<32 | game.Position(rng)<<8 | game.Position(n)
}

// scanOf returns a scan of parts.
func scanOf(t *testing.T, of Selection, parts ...*stored.Part) *Scan {
	s := &Scan{ctx: t.Context(), g: testgames.TieGame(), of: of, parts: parts}
	for _, p := range parts {
		s.n += p.Len
	}
	return s
}

// TestSample checks that a sample has the requested number of positions, without duplicates, and that all positions are equally
// likely, even though a range may have fewer positions than its bound, or not all are wanted.
func TestSample(t *testing.T) {
	for _, of := range []Selection{{}, {Value: func(v game.Value) bool { return v != 2 }}} {
		s := scanOf(t, of, numbers([][2]int{{2, 3}, {0, 2}, {9, 9}}, 1), numbers([][2]int{{0, 0}, {7, 20}, {2, 2}}, 2), numbers([][2]int{{0, 5}}, 3))
		all, bounds, err := s.bounds()
		must.OK(t, err)
		if want := map[bool]uint64{true: 20, false: 16}[of.Value == nil]; all != want || bounds[s.Len()] != 36 {
			t.Fatalf("%d positions, %d places, want %d and 36", all, bounds[s.Len()], want)
		}
		for n := uint64(1); n <= 5; n++ {
			const seeds = 4000
			picked, drawn := make(map[game.Position]int), 0
			for seed := range uint64(seeds) {
				found, ok, err := s.draw(n, all, bounds, rand.New(rand.NewPCG(seed, 0)))
				must.OK(t, err)
				if !ok {
					continue
				}
				drawn++
				seen := make(map[game.Position]bool)
				for _, one := range found {
					if p := one.position; seen[p] || one.value != game.Value(p&0xff+1) || one.tier != int(p>>32) || !s.wants(p, one.value) {
						t.Fatalf("position %#x, value %d of tier %d, %d others", p, one.value, one.tier, len(seen))
					}
					seen[one.position] = true
					picked[one.position]++
				}
				if uint64(len(found)) != n {
					t.Fatalf("%d of %d, seed %d: %d are picked", n, all, seed, len(found))
				}
			}
			if uint64(len(picked)) != all || drawn < seeds/2 {
				t.Errorf("%d of %d: %d are ever picked, in %d samples", n, all, len(picked), drawn)
			}
			for p, count := range picked {
				if want := drawn * int(n) / int(all); count < want*7/10-20 || count > want*13/10+20 {
					t.Errorf("%d of %d: %#x is picked %d times, want about %d", n, all, p, count, want)
				}
			}
		}
	}
}

// TestSamplePlaces checks which positions are at places, and which have the lowest orders.
func TestSamplePlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var parts []*stored.Part
	var all []one // by place; without a value, there is none
	for tier := range 3 {
		var ranges [][2]int
		for rng := range 100 {
			most := max(0, random.IntN(6)-2)
			r := [2]int{max(0, most-random.IntN(2)), most}
			for n := range most {
				at := one{position: numbered(tier, rng, n), tier: tier}
				if n < r[0] {
					at.value = game.Value(n + 1)
				}
				all = append(all, at)
			}
			ranges = append(ranges, r)
		}
		parts = append(parts, numbers(ranges, tier))
	}
	s := scanOf(t, Selection{}, parts...)
	_, bounds, err := s.bounds()
	must.OK(t, err)
	for _, share := range []float64{0.01, 0.1, 1} {
		var places []uint64
		var want []one
		for place, one := range all {
			if random.Float64() < share {
				if places = append(places, uint64(place)); one.value != 0 {
					want = append(want, one)
				}
			}
		}
		random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		if got := must.Get(s.at(places, bounds))(t); !slices.Equal(got, want) {
			t.Errorf("share %v: got %v, want %v", share, got, want)
		}
	}
	all = slices.DeleteFunc(all, func(at one) bool { return at.value == 0 })
	for i := range all {
		all[i].order = mix(all[i].position, 7)
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.order, b.order) })
	for _, n := range []int{0, 1, 10, 100, len(all), len(all) + 1} {
		if got, want := must.Get(s.lowest(uint64(n), 7, bounds))(t), all[:min(n, len(all))]; !slices.Equal(got, want) {
			t.Errorf("the lowest %d: got %v, want %v", n, got, want)
		}
	}
}

// TestSampleOfWrongCounts checks that drawing ends if there are fewer positions than recorded.
func TestSampleOfWrongCounts(t *testing.T) {
	s := scanOf(t, Selection{}, numbers([][2]int{{1, 300}}, 0))
	_, bounds, err := s.bounds()
	must.OK(t, err)
	if found, ok, err := s.draw(2, 50, bounds, rand.New(rand.NewPCG(1, 1))); ok || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

//go:build !js

package table

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// This file draws positions uniformly at random. The number of wanted positions of a batch is not known before the batch is
// read, but an upper bound is. Places are drawn below the sum of the bounds: each is a batch and a number in it. If the batch
// has a position of that number, and it is wanted, it is taken; otherwise another place is drawn. No place is drawn twice. So a
// sample of N positions reads at most N batches, times the factor by which the bounds are too large.

const (
	// mostPlaces is the maximum number of places that Sample draws, because they are in memory; if there are more batches than
	// that, their number is the maximum.
	mostPlaces = 1 << 20
	// sparse is the limit for reading ahead: Sample does not read ahead if fewer than one in sparse batches is needed.
	sparse = 2
)

// Sample returns n random positions of a selection, all if there are fewer, in a batch for each tier, in the order of keys. All
// positions have the same probability. The same seed gives the same positions. Where reading all positions costs less than
// drawing some, or their number is not known, Sample reads all.
func (t *Table) Sample(ctx context.Context, n, seed uint64, of Selection) ([]Batch, error) {
	scan, err := t.Scan(ctx, of)
	if err != nil {
		return nil, err
	}
	all, bounds, err := scan.bounds()
	if err != nil || all == 0 {
		return nil, explain(t.g, err)
	}
	var found []one
	ok := false
	if _, symmetric := t.g.(game.Symmetric); !of.Images || !symmetric {
		found, ok, err = scan.draw(n, all, bounds, rand.New(rand.NewPCG(seed, 0)))
	}
	if err == nil && !ok {
		found, err = scan.lowest(n, seed, bounds)
	}
	if err == nil && !of.Images && !of.Canonical && uint64(len(found)) < min(n, all) {
		err = stored.NoCounts(path.Dir(t.sealed.name))
	}
	return batchesOf(found), err
}

// bounds returns the number of positions with wanted values, as recorded in the files, and for each batch an upper bound of
// the numbers of positions of all batches before it, without those of tiers that have none; the last element is that of all.
func (s *Scan) bounds() (all uint64, bounds []uint64, err error) {
	sum := uint64(0)
	for _, part := range s.parts {
		i := 0
		for _, f := range part.Files {
			before := all
			for v, n := range f.Counts {
				if s.of.Value == nil || s.of.Value(v) {
					all += n
				}
			}
			for ; i < f.End; i++ {
				if bounds = append(bounds, sum); all == before {
					continue
				}
				_, most, err := part.Range(i)
				if err != nil {
					return 0, nil, err
				}
				sum += uint64(most)
			}
		}
	}
	return all, append(bounds, sum), nil
}

// A one is a position of a sample.
type one struct {
	position game.Position
	value    game.Value
	tier     int
	order    uint64 // see Scan.lowest
}

// byKey compares positions by tier and key.
func byKey(a, b one) int {
	return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.position, b.position))
}

// draw draws n positions of about all. ok is false if it would need too many places.
func (s *Scan) draw(n, all uint64, bounds []uint64, random *rand.Rand) (found []one, ok bool, err error) {
	sum := bounds[s.Len()]
	limit := min(sum/2, uint64(max(s.Len(), mostPlaces)))
	tried := make(map[uint64]bool)
	for missing := n; missing > 0; missing = n - uint64(len(found)) {
		want := float64(missing)*float64(sum)/float64(all) + 1
		if float64(len(tried))+want > float64(limit) {
			return nil, false, nil
		}
		var places []uint64
		for range int(want) {
			place := random.Uint64N(sum)
			for tried[place] {
				place = random.Uint64N(sum)
			}
			tried[place] = true
			places = append(places, place)
		}
		more, err := s.at(places, bounds)
		if err != nil {
			return nil, false, err
		}
		random.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		found = append(found, more[:min(missing, uint64(len(more)))]...)
	}
	return found, true, nil
}

// at returns the wanted positions at places, in the order of tiers and keys.
func (s *Scan) at(places, bounds []uint64) (found []one, err error) {
	slices.Sort(places)
	var batches []int
	var drawn [][]uint64 // their places
	for len(places) > 0 {
		batch := sort.Search(s.Len(), func(i int) bool { return bounds[i+1] > places[0] })
		n, _ := slices.BinarySearch(places, bounds[batch+1])
		batches, drawn, places = append(batches, batch), append(drawn, places[:n]), places[n:]
	}
	ahead := stored.Ahead
	if sparse*len(batches) < s.Len() {
		ahead = 0
	}
	var mu sync.Mutex // protects found
	err = s.each(batches, ahead, func(b *loaded) func(int) error {
		return func(i int) error {
			mu.Lock()
			defer mu.Unlock()
			for _, place := range drawn[i] {
				if p, v, ok := b.position(s.g, place-bounds[batches[i]]); ok && s.wants(p, v) {
					found = append(found, one{position: p, value: v, tier: b.file.Tier})
				}
			}
			return nil
		}
	})
	slices.SortFunc(found, byKey)
	return found, err
}

// position returns the n-th of the stored positions and then of their mirror images; ok is false if there is none.
func (b *loaded) position(g game.Game, n uint64) (p game.Position, v game.Value, ok bool) {
	all := uint64(len(b.slots))
	if n >= 2*all {
		return 0, 0, false
	}
	slot := int(b.slots[n%all])
	if p, v = b.At(slot); n < all {
		return p, v, true
	} else if b.Times(slot) < 2 {
		return 0, 0, false
	}
	return g.(game.Mirrored).Mirror(p), v, true
}

// lowest reads all positions of the batches that may have some, and returns the n with the lowest orders, which are pseudorandom.
func (s *Scan) lowest(n, seed uint64, bounds []uint64) (found []one, err error) {
	var mu sync.Mutex // protects found and most
	most := uint64(math.MaxUint64)
	cut := func() {
		slices.SortFunc(found, func(a, b one) int { return cmp.Compare(a.order, b.order) })
		found = found[:min(n, uint64(len(found)))]
	}
	err = parallel.All(s.ctx, s.Len(), func() func(int) error {
		read, b := s.Reader(), new(Batch)
		var some []one
		return func(i int) error {
			if bounds[i] == bounds[i+1] {
				return nil
			}
			if err := read(i, b); err != nil {
				return err
			}
			mu.Lock()
			limit := most
			mu.Unlock()
			some = some[:0]
			for j, p := range b.Positions {
				if order := mix(p, seed); order <= limit {
					some = append(some, one{p, b.Values[j], b.Tier, order})
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if found = append(found, some...); n > 0 && uint64(len(found)) >= 2*n {
				cut()
				most = found[n-1].order
			}
			return nil
		}
	})
	cut()
	return found, err
}

// mix returns a pseudorandom number for a position and a seed. Different positions have different numbers: it is the
// finalizer of SplitMix64 (Steele, Lea and Flood 2014), which is a bijection.
func mix(p game.Position, seed uint64) uint64 {
	z := p + seed*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// batchesOf returns positions as batches by tier, in the order of keys.
func batchesOf(all []one) (batches []Batch) {
	slices.SortFunc(all, byKey)
	for i, o := range all {
		if i == 0 || o.tier != all[i-1].tier {
			batches = append(batches, Batch{Tier: o.tier})
		}
		b := &batches[len(batches)-1]
		b.Positions, b.Values = append(b.Positions, o.position), append(b.Values, o.value)
	}
	return batches
}

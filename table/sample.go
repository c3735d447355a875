//go:build !js

package table

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// This file draws positions uniformly at random. The number of positions of a block is not
// known before the block is read, but an upper bound is. Places are drawn below the sum of the
// bounds: each is a block and a number in it. If the block has a position of that number, it
// is taken; otherwise the place is empty, and another one is drawn. A block is read once for
// all its places: its bitmaps are counted, and only the values at the places are decoded. So a
// sample of N positions reads at most N blocks, times the factor by which the bounds are too
// large.

// mostPlaces is the maximum number of places that Sample draws, because they are in memory; if
// there are more batches than that, their number is the maximum.
const mostPlaces = 4 << 20

// Sample returns n random positions of a selection, all if there are fewer, in a batch for each tier, in the order of keys. All
// positions have the same probability. The same seed gives the same positions. Where reading all positions costs less than
// drawing some, or the number of those that are wanted is not known, Sample reads all.
func (t *Table) Sample(ctx context.Context, n, seed uint64, of Selection) ([]Batch, error) {
	_, symmetric := t.g.(game.Symmetric)
	_, mirrored := t.g.(game.Mirrored)
	if of.Images && symmetric || of.Canonical && mirrored {
		return t.readSample(ctx, n, seed, of)
	}
	parts, err := t.parts()
	if err != nil {
		return nil, err
	}
	var strata []stratum
	var all uint64
	for _, part := range parts {
		for i, f := range part.Files {
			s := stratum{part, i, len(strata), all, 0}
			for v, n := range f.Counts {
				if of.tier(s.tier) && of.value(v) {
					s.count += n
				}
			}
			strata, all = append(strata, s), all+s.count
		}
	}
	if 4*n > all {
		return t.readSample(ctx, n, seed, of)
	}
	pick := newSample(all, n, seed)
	var picked []Batch
	for _, s := range strata {
		batches, err := t.sampleTier(ctx, &s, pick, of)
		if err != nil {
			return nil, explain(t.g, err)
		}
		picked = append(picked, batches...)
	}
	return picked, nil
}

// A stratum is the wanted positions of a tier.
type stratum struct {
	part         rulesPart
	file         int // of the part
	tier         int
	first, count uint64 // the number of the first one among all of a sample, and how many they are
}

// sampleTier returns the positions of a sample that are in a stratum.
func (t *Table) sampleTier(ctx context.Context, s *stratum, pick *sample, of Selection) ([]Batch, error) {
	n := pick.among(s.first, s.first+s.count)
	if n == 0 {
		return nil, nil
	}
	file, err := s.part.bounded(s.file)
	if err != nil {
		return nil, err
	}
	places := float64(file.places()) * float64(n) / float64(s.count) // to draw
	if 4*n > s.count || places > float64(max(file.end-file.first, mostPlaces)) {
		of.Tier = func(tier int) bool { return tier == s.tier }
		return t.readSample(ctx, n, pick.seed, of)
	}
	found, err := file.draw(ctx, n, s.count, pick.random(s.first), of.value)
	for i := range found {
		found[i].tier = s.tier
	}
	return batchesOf(found), err
}

// readSample is Sample, and reads all positions: it returns those with the lowest orders.
func (t *Table) readSample(ctx context.Context, n, seed uint64, of Selection) ([]Batch, error) {
	images := of.Images
	of.Images = false // they need not be sorted
	scan, err := t.Scan(ctx, of)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // protects all and most
	var all []one
	most := uint64(math.MaxUint64)
	lowest := func() {
		slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.order, b.order) })
		all = all[:min(n, uint64(len(all)))]
	}
	err = parallel.All(ctx, scan.Len(), func() func(int) error {
		read, b := scan.Reader(), new(Batch)
		var found []one
		same := make([]game.Position, 1)
		return func(i int) error {
			if err := read(i, b); err != nil {
				return err
			}
			mu.Lock()
			limit := most
			mu.Unlock()
			found = found[:0]
			for j, p := range b.Positions {
				if same[0] = p; images {
					same = game.ImagesOf(same[:0], t.g, p)
				}
				for _, p := range same {
					if order := mix(p, seed); order <= limit {
						found = append(found, one{p, b.Values[j], b.Tier, order})
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, found...); n > 0 && uint64(len(all)) >= 2*n {
				lowest()
				most = all[n-1].order
			}
			return nil
		}
	})
	lowest()
	return batchesOf(all), err
}

// A one is a position of a sample. readSample returns those with the lowest orders.
type one struct {
	position game.Position
	value    game.Value
	tier     int
	order    uint64
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
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.position, b.position)) })
	for i, o := range all {
		if i == 0 || o.tier != all[i-1].tier {
			batches = append(batches, Batch{Tier: o.tier})
		}
		b := &batches[len(batches)-1]
		b.Positions, b.Values = append(b.Positions, o.position), append(b.Values, o.value)
	}
	return batches
}

// drawRounds is the number of rounds of drawing after which a file must have fewer positions
// than it records. Each round draws about as many places as are still needed.
const drawRounds = 1000

// sparse is the limit for reading ahead: a reader does not read ahead if fewer than one in
// sparse ranges is needed.
const sparse = 2

// drawn contains the places of a range that were drawn.
type drawn struct {
	i       int      // index of the range in its part
	numbers []uint64 // of positions in the range, ascending
	place   uint64   // the first place of the range
}

// each calls do for the given ranges of a part, nil for all, on all cores, with the slots of all stored positions of
// the range.
func (part rulesPart) each(ctx context.Context, of []int, newDo func(stored.Reader) func(i int, rng uint64, slots []uint32) error) error {
	n := part.Len
	if of != nil {
		n = len(of)
	}
	ahead := part.ahead(n)
	return parallel.All(ctx, n, func() func(int) error {
		reader := part.Reader(ahead)
		do := newDo(reader)
		var slots []uint32
		return func(i int) (err error) {
			if of != nil {
				i = of[i]
			}
			var rng uint64
			if rng, slots, err = reader.Load(slots[:0], i); err != nil {
				return err
			}
			return do(i, rng, slots)
		}
	})
}

// ahead returns the number of bytes to read ahead when only some ranges are read.
func (part rulesPart) ahead(of int) int {
	if sparse*of < part.Len {
		return 0
	}
	return stored.Ahead
}

// sumEvery is the number of ranges between two sums of a bounded.
const sumEvery = 256

// A bounded is a file of a part, with upper bounds for the numbers of positions of its ranges.
type bounded struct {
	rulesPart
	name       string
	first, end int      // the indexes of its first range, and of the one after the last
	sums       []uint64 // the sum of the bounds before every sumEvery-th range, and of all
}

// bounded computes the bounds of a file.
func (part rulesPart) bounded(file int) (*bounded, error) {
	b := &bounded{rulesPart: part, name: part.Files[file].Name, end: part.Files[file].End}
	if file > 0 {
		b.first = part.Files[file-1].End
	}
	var sum uint64
	for i := b.first; i < b.end; i++ {
		if (i-b.first)%sumEvery == 0 {
			b.sums = append(b.sums, sum)
		}
		_, most, err := part.Range(i)
		if err != nil {
			return nil, err
		}
		sum += uint64(most)
	}
	b.sums = append(b.sums, sum)
	return b, nil
}

// places returns the number of places of the file.
func (b *bounded) places() uint64 { return b.sums[len(b.sums)-1] }

// group groups ascending places by range.
func (b *bounded) group(places []uint64) (ranges []drawn, err error) {
	i, sum := b.first, uint64(0) // a range, and the sum of the bounds before it
	for len(places) > 0 {
		n := sort.Search(len(b.sums), func(n int) bool { return b.sums[n] > places[0] }) - 1
		if from := b.first + n*sumEvery; from > i {
			i, sum = from, b.sums[n]
		}
		_, most, err := b.Range(i)
		if err != nil {
			return nil, err
		}
		d := drawn{i: i, place: sum}
		i, sum = i+1, sum+uint64(most)
		for ; len(places) > 0 && places[0] < sum; places = places[1:] {
			d.numbers = append(d.numbers, places[0]-d.place)
		}
		if len(d.numbers) > 0 {
			ranges = append(ranges, d)
		}
	}
	return ranges, nil
}

// draw draws n of the positions of the file whose values are wanted. all is the number of these positions.
func (b *bounded) draw(ctx context.Context, n, all uint64, random *rand.Rand, wanted func(game.Value) bool) (taken []one, err error) {
	sum := b.places()
	var tried []uint64 // ascending
	for round := 0; sum > 0 && round < drawRounds; round++ {
		want := int(float64(n-uint64(len(taken)))*float64(sum)/float64(all)) + 1
		places := make([]uint64, want)
		for i := range places {
			places[i] = random.Uint64N(sum)
		}
		slices.Sort(places)
		places = slices.DeleteFunc(slices.Compact(places), func(place uint64) bool {
			_, again := slices.BinarySearch(tried, place)
			return again
		})
		groups, err := b.group(places)
		if err != nil {
			return nil, err
		}
		found, has := make([]one, len(places)), make([]bool, len(places))
		if err := parallel.All(ctx, len(groups), func() func(int) error {
			pick := b.Picker(b.ahead(len(groups)))
			return func(i int) error {
				d := &groups[i]
				at, _ := slices.BinarySearch(places, d.place+d.numbers[0])
				return pick(d.i, d.numbers, func(i int, p game.Position, v game.Value) {
					found[at+i], has[at+i] = one{position: p, value: v}, wanted(v)
				})
			}
		}); err != nil {
			return nil, err
		}
		before := len(taken)
		for i, one := range found {
			if has[i] {
				taken = append(taken, one)
			}
		}
		if uint64(len(taken)) >= n { // drop the surplus of this round at random
			last := taken[before:]
			random.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
			return taken[:n], nil
		}
		tried = append(tried, places...)
		slices.Sort(tried)
	}
	return nil, stored.NoCounts(b.name)
}

// A sample is a random subset of the numbers below a limit. It determines how many positions
// of each file are drawn.
type sample struct {
	seed    uint64
	numbers []uint64 // ascending
}

// newSample draws n of the numbers below all.
func newSample(all, n, seed uint64) *sample {
	s := &sample{seed: seed}
	random := rand.New(rand.NewPCG(seed, 0))
	for uint64(len(s.numbers)) < n {
		for range n - uint64(len(s.numbers)) {
			s.numbers = append(s.numbers, random.Uint64N(all))
		}
		slices.Sort(s.numbers)
		s.numbers = slices.Compact(s.numbers)
	}
	return s
}

// among returns how many numbers of the sample are at least first and below end.
func (s *sample) among(first, end uint64) uint64 {
	i, _ := slices.BinarySearch(s.numbers, first)
	j, _ := slices.BinarySearch(s.numbers, end)
	return uint64(j - i)
}

// random returns the generator that draws positions of a file; first is the number of the
// file's first position.
func (s *sample) random(first uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, first+1)) }

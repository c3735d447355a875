package table

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"
)

// How positions are drawn at random, each as likely. How many a block has is not known
// before it is read, but at most how many. Places are drawn below the sum of these bounds:
// each is a number in a block. If the block has so many positions, that one is taken;
// otherwise the place is empty, and another is drawn. So a sample of N reads about N blocks
// for each that its bounds are too large by, and each block once for all its places.

// drawRounds is how often places are drawn, before a file must have fewer positions than it
// says: each round draws about as many as are missing.
const drawRounds = 1000

// sparse is of how many ranges one at most is wanted where nothing is read ahead.
const sparse = 2

// drawn is the positions of a range that were drawn.
type drawn struct {
	i       int      // the index of the range in its part
	numbers []uint64 // of positions of the range, ascending
	out     bool     // all but these
}

// of keeps of the slots of the range those that were drawn.
func (d drawn) of(slots []uint32) []uint32 {
	numbers := d.numbers
	if !d.out {
		for i, n := range numbers {
			slots[i] = slots[n]
		}
		return slots[:len(numbers)]
	}
	kept := slots[:0]
	for i, slot := range slots {
		if len(numbers) > 0 && numbers[0] == uint64(i) {
			numbers = numbers[1:]
		} else {
			kept = append(kept, slot)
		}
	}
	return kept
}

// each calls do for those ranges of a part, on all cores, with their number in the list and
// the slots of all their positions.
func (part *rulesPart) each(ctx context.Context, of []drawn, newDo func(rulesReader) func(i int, d drawn, slots []uint32) error) error {
	ahead := verifyAhead
	if sparse*len(of) < len(part.ranges) {
		ahead = 0
	}
	return each(ctx, len(of), func() func(int) error {
		reader := part.reader(ahead)
		do := newDo(reader)
		var slots []uint32
		return func(i int) (err error) {
			if slots, err = reader.load(slots[:0], part.ranges[of[i].i]); err != nil {
				return err
			}
			return do(i, of[i], slots)
		}
	})
}

// bounds are the sums of the bounds of the ranges of a file, from its first range on.
func (part *rulesPart) bounds(file int) (first int, sums []uint64) {
	if file > 0 {
		first = part.files[file-1].end
	}
	sums = make([]uint64, 0, part.files[file].end-first)
	var sum uint64
	for i := first; i < part.files[file].end; i++ {
		sum += uint64(part.most(i))
		sums = append(sums, sum)
	}
	return first, sums
}

// draw draws n of the positions of a file, of which there are so many that are wanted; nil:
// all are. More than half of them are drawn by drawing the others.
func (part *rulesPart) draw(ctx context.Context, file int, n, all uint64, random *rand.Rand, wanted func(rulesReader, uint32) bool) ([]drawn, error) {
	if n == 0 {
		return nil, nil
	}
	out := n > all/2 && wanted == nil
	if out {
		n = all - n
	}
	first, sums := part.bounds(file)
	places, err := part.places(ctx, first, sums, n, all, random, wanted)
	if err != nil {
		return nil, err
	}
	if places == nil && n > 0 {
		return nil, wrongCounts(part.files[file].name)
	}
	ranges := group(first, sums, places)
	if !out {
		return ranges, nil
	}
	whole := make([]drawn, 0, len(sums))
	for i := range sums {
		d := drawn{i: first + i, out: true}
		if len(ranges) > 0 && ranges[0].i == d.i {
			d.numbers, ranges = ranges[0].numbers, ranges[1:]
		}
		whole = append(whole, d)
	}
	return whole, nil
}

// places draws n places that have positions, ascending; nil: there are not so many.
func (part *rulesPart) places(ctx context.Context, first int, sums []uint64, n, all uint64, random *rand.Rand, wanted func(rulesReader, uint32) bool) ([]uint64, error) {
	if len(sums) == 0 || sums[len(sums)-1] == 0 {
		return nil, nil
	}
	sum := sums[len(sums)-1]
	var taken, tried []uint64 // tried ascend
	for range drawRounds {
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
		has := make([]bool, len(places))
		if err := part.each(ctx, group(first, sums, places), func(reader rulesReader) func(int, drawn, []uint32) error {
			return func(_ int, d drawn, slots []uint32) error {
				at, _ := slices.BinarySearch(places, before(sums, d.i-first)+d.numbers[0])
				for i, number := range d.numbers {
					has[at+i] = number < uint64(len(slots)) && (wanted == nil || wanted(reader, slots[number]))
				}
				return nil
			}
		}); err != nil {
			return nil, err
		}
		var more []uint64
		for i, place := range places {
			if has[i] {
				more = append(more, place)
			}
		}
		if missing := int(n) - len(taken); len(more) >= missing { // as likely each which are too many
			random.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
			taken = append(taken, more[:missing]...)
			slices.Sort(taken)
			return taken, nil
		}
		taken, tried = append(taken, more...), append(tried, places...)
		slices.Sort(tried)
	}
	return nil, nil
}

// before is the sum of the bounds before the i-th range of a file.
func before(sums []uint64, i int) uint64 {
	if i == 0 {
		return 0
	}
	return sums[i-1]
}

// group are ascending places by range.
func group(first int, sums, places []uint64) (ranges []drawn) {
	for len(places) > 0 {
		i := sort.Search(len(sums), func(i int) bool { return sums[i] > places[0] })
		n := sort.Search(len(places), func(n int) bool { return places[n] >= sums[i] })
		numbers := make([]uint64, n)
		for j, place := range places[:n] {
			numbers[j] = place - before(sums, i)
		}
		ranges = append(ranges, drawn{i: first + i, numbers: numbers})
		places = places[n:]
	}
	return ranges
}

// A sample is some of the numbers below another, each as likely as the others: how many of
// each file are drawn.
type sample struct {
	seed    uint64
	numbers []uint64 // ascending
	out     bool     // these are the ones that are not picked
}

// newSample picks n of the numbers below all.
func newSample(all, n, seed uint64) *sample {
	s := &sample{seed: seed, out: n > all/2}
	if s.out {
		n = all - n
	}
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

// among is how many numbers are picked from first to the one before end.
func (s *sample) among(first, end uint64) uint64 {
	i, _ := slices.BinarySearch(s.numbers, first)
	j, _ := slices.BinarySearch(s.numbers, end)
	if s.out {
		return end - first - uint64(j-i)
	}
	return uint64(j - i)
}

// random is what the positions of a file are drawn by, of which the first has that number.
func (s *sample) random(first uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, first+1)) }

package table

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game"
)

// How positions are drawn at random, each as likely. How many a block has is not known
// before it is read, but at most how many. Places are drawn below the sum of these bounds:
// each is a number in a block. If the block has so many positions, that one is taken;
// otherwise the place is empty, and another is drawn. A block is read once for all its
// places: its bitmaps are counted, and only the values at the places are decoded. So a
// sample of N reads N blocks at most, times the factor by which the bounds are too large.

// drawRounds is how often places are drawn, before a file must have fewer positions than it
// says: each round draws about as many as are missing.
const drawRounds = 1000

// sparse is of how many ranges one at most is wanted where nothing is read ahead.
const sparse = 2

// drawn is the positions of a range that were drawn.
type drawn struct {
	i       int      // the index of the range in its part
	numbers []uint64 // of positions of the range, ascending
	out     bool     // all but these; otherwise:

	positions []game.Position // with these numbers
	values    []game.Value
}

// of keeps of the slots of the range, of which all but some were drawn, those that were.
func (d drawn) of(slots []uint32) []uint32 {
	numbers := d.numbers
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
	ahead := part.ahead(of)
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

// pickEach calls do for those ranges of a part, on all cores, with their number in the
// list.
func (part *rulesPart) pickEach(ctx context.Context, of []drawn, newDo func(picker) func(i int, d drawn) error) error {
	ahead := part.ahead(of)
	return each(ctx, len(of), func() func(int) error {
		var p picker
		if part.picker != nil {
			p = part.picker(ahead)
		} else {
			p = &readPicker{rulesReader: part.reader(ahead)}
		}
		do := newDo(p)
		return func(i int) error { return do(i, of[i]) }
	})
}

// ahead is how many bytes to read ahead for those ranges.
func (part *rulesPart) ahead(of []drawn) int {
	if sparse*len(of) < len(part.ranges) {
		return 0
	}
	return verifyAhead
}

// A readPicker picks what a reader reads.
type readPicker struct {
	rulesReader
	slots []uint32
}

func (r *readPicker) pick(rng uint64, numbers []uint64, take func(i int, p game.Position, v game.Value)) (err error) {
	if r.slots, err = r.load(r.slots[:0], rng); err != nil {
		return err
	}
	for i, n := range numbers {
		if n < uint64(len(r.slots)) {
			p, v := r.at(int(r.slots[n]))
			take(i, p, v)
		}
	}
	return nil
}

// A bounded is a file of a part, and how many positions its ranges have at most.
type bounded struct {
	*rulesPart
	name  string
	first int      // the index of its first range
	sums  []uint64 // of the bounds of its ranges, up to each
}

// bounded adds up the bounds of a file.
func (part *rulesPart) bounded(file int) *bounded {
	b := &bounded{rulesPart: part, name: part.files[file].name}
	if file > 0 {
		b.first = part.files[file-1].end
	}
	b.sums = make([]uint64, 0, part.files[file].end-b.first)
	var sum uint64
	for i := b.first; i < part.files[file].end; i++ {
		sum += uint64(part.most(i))
		b.sums = append(b.sums, sum)
	}
	return b
}

// places is how many places the file has.
func (b *bounded) places() uint64 { return b.before(len(b.sums)) }

// before is the sum of the bounds before the i-th range of the file.
func (b *bounded) before(i int) uint64 {
	if i == 0 {
		return 0
	}
	return b.sums[i-1]
}

// group are ascending places by range.
func (b *bounded) group(places []uint64) (ranges []drawn) {
	for len(places) > 0 {
		i := sort.Search(len(b.sums), func(i int) bool { return b.sums[i] > places[0] })
		n := sort.Search(len(places), func(n int) bool { return places[n] >= b.sums[i] })
		numbers := make([]uint64, n)
		for j, place := range places[:n] {
			numbers[j] = place - b.before(i)
		}
		ranges = append(ranges, drawn{i: b.first + i, numbers: numbers})
		places = places[n:]
	}
	return ranges
}

// draw draws n of the positions of the file, of which there are so many whose values are
// wanted; nil: all are. More than half of them are drawn by drawing the others.
func (b *bounded) draw(ctx context.Context, n, all uint64, random *rand.Rand, wanted func(game.Value) bool) ([]drawn, error) {
	if n == 0 {
		return nil, nil
	}
	out := n > all/2 && wanted == nil
	if out {
		n = all - n
	}
	taken, err := b.taken(ctx, n, all, random, wanted)
	if err != nil {
		return nil, err
	}
	if taken == nil && n > 0 {
		return nil, wrongCounts(b.name)
	}
	places := make([]uint64, len(taken))
	for i, t := range taken {
		places[i] = t.place
	}
	ranges := b.group(places)
	if !out {
		for i := range ranges {
			d := &ranges[i]
			for _, t := range taken[:len(d.numbers)] {
				d.positions, d.values = append(d.positions, t.position), append(d.values, t.value)
			}
			taken = taken[len(d.numbers):]
		}
		return ranges, nil
	}
	whole := make([]drawn, 0, len(b.sums))
	for i := range b.sums {
		d := drawn{i: b.first + i, out: true}
		if len(ranges) > 0 && ranges[0].i == d.i {
			d.numbers, ranges = ranges[0].numbers, ranges[1:]
		}
		whole = append(whole, d)
	}
	return whole, nil
}

// A place is one that was drawn, and the position there, if it has one that is wanted.
type place struct {
	place    uint64
	position game.Position
	value    game.Value
	has      bool
}

// taken draws n places that have positions, ascending; nil: there are not so many.
func (b *bounded) taken(ctx context.Context, n, all uint64, random *rand.Rand, wanted func(game.Value) bool) ([]place, error) {
	sum := b.places()
	if sum == 0 {
		return nil, nil
	}
	var taken []place
	var tried []uint64 // ascending
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
		found := make([]place, len(places))
		if err := b.pickEach(ctx, b.group(places), func(picker picker) func(int, drawn) error {
			return func(_ int, d drawn) error {
				from := b.before(d.i - b.first)
				at, _ := slices.BinarySearch(places, from+d.numbers[0])
				return picker.pick(b.ranges[d.i], d.numbers, func(i int, p game.Position, v game.Value) {
					found[at+i] = place{from + d.numbers[i], p, v, wanted == nil || wanted(v)}
				})
			}
		}); err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(p place) bool { return !p.has })
		if missing := int(n) - len(taken); len(found) >= missing { // as likely each which are too many
			random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
			taken = append(taken, found[:missing]...)
			slices.SortFunc(taken, func(a, b place) int { return cmp.Compare(a.place, b.place) })
			return taken, nil
		}
		taken, tried = append(taken, found...), append(tried, places...)
		slices.Sort(tried)
	}
	return nil, nil
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

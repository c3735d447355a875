package layers

import (
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// Parts returns one part, because moves may lead to any later tier. Its ranges are intervals.
func (t *Table) Parts() ([]*stored.Part, error) {
	of, err := t.rows(func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	part := &stored.Part{Own: true, Images: 1, Len: len(of.all)}
	begins := []int{0} // index of the first interval of each tier; at the end, the number of all intervals
	for tier := range t.tiers {
		end := begins[tier]
		for end < len(of.all) && of.all[end].tier == tier {
			end++
		}
		begins = append(begins, end)
		counts, err := t.Counts(tier)
		if err != nil {
			return nil, err
		}
		part.Files = append(part.Files, stored.File{Name: t.files.Tiers[tier].Name, Counts: counts, End: end})
	}
	part.Slots = func(rng uint64) int { return int(of.all[rng].Rows) } // exact, as the files are sorted
	part.Range = func(i int) (rng uint64, most int, err error) { return uint64(i), part.Slots(uint64(i)), nil }
	reader := func() *partReader {
		return &partReader{tableRows: of, begins: begins, keep: t.keep, kept: make(map[uint64][]Row)}
	}
	part.Reader = func(int) stored.Reader { return reader() }
	part.Picker = func(int) func(int, []uint64, func(int, game.Position, game.Value)) error { return reader().pick }
	return []*stored.Part{part}, nil
}

// A partReader reads intervals of tiers.
type partReader struct {
	*tableRows
	begins []int
	loader Loader
	rows   []Row // the rows of the current interval
	kept   map[uint64][]Row
	held   int // number of rows in kept
	keep   int
}

// Load reads an interval.
func (r *partReader) Load(slots []uint32, i int) (rng uint64, _ []uint32, err error) {
	if r.rows, err = r.read(&r.loader, r.rows, i); err == nil {
		err = r.check(r.rows, i)
	}
	for slot := range r.rows {
		slots = append(slots, uint32(slot)) // no key is there twice, so there are about as many as an interval has
	}
	return uint64(i), slots, err
}

// pick loads an interval.
func (r *partReader) pick(i int, numbers []uint64, take func(i int, p game.Position, v game.Value)) error {
	_, _, err := r.Load(nil, i)
	for i, n := range numbers {
		if err == nil && n < uint64(len(r.rows)) {
			take(i, r.rows[n].Key, ValueOf(r.rows[n].Word))
		}
	}
	return err
}

// At returns the position and the value of a slot.
func (r *partReader) At(slot int) (game.Position, game.Value) {
	return r.rows[slot].Key, ValueOf(r.rows[slot].Word)
}

// Times returns 1: Counts counts the positions that are stored.
func (r *partReader) Times(int) uint64 { return 1 }

// Image returns none.
func (r *partReader) Image(game.Position) (image game.Position, ok bool) { return 0, false }

// Find looks up a position of any tier.
func (r *partReader) Find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	p = stored.Canonical(r.g, p)
	tier := game.TierOf(r.g, p)
	if tier >= len(r.begins)-1 {
		return 0, 0, 0, false, nil
	}
	first, of := r.begins[tier], r.all[r.begins[tier]:r.begins[tier+1]]
	rng = uint64(first + sort.Search(len(of)-1, func(i int) bool { return of[i].Last >= p }))
	rows, ok := r.kept[rng]
	if !ok {
		if r.held > r.keep {
			clear(r.kept)
			r.held = 0
		}
		if rows, err = r.read(&r.loader, nil, int(rng)); err != nil {
			return 0, 0, 0, false, err
		}
		r.kept[rng] = rows
		r.held += len(rows)
	}
	if slot, ok = findRow(rows, p); !ok {
		return 0, 0, 0, false, nil
	}
	return rng, slot, ValueOf(rows[slot].Word), true, nil
}

package layers

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/streamfmt"
)

// tableRows are the positions of some tiers, in the order of tiers and keys.
type tableRows struct {
	*Table
	all    []Interval
	begins []int // the index of the first interval of each tier; at the end, the number of all intervals
}

// Parts returns one part, because moves may lead to any later tier. Its ranges are intervals.
func (t *Table) Parts(wanted func(tier int) bool) ([]*stored.Part, error) {
	of, part := &tableRows{Table: t, begins: []int{0}}, &stored.Part{Own: true, Images: 1}
	for tier := range t.tiers {
		if wanted(tier) {
			f, err := t.tier(tier)
			if err != nil {
				return nil, err
			}
			of.all = append(of.all, Cut(cmp.Or(t.Interval, streamfmt.CellRows), f)...)
			part.Files = append(part.Files, stored.File{Name: t.files.Tiers[tier].Name, Tier: tier, Counts: f.Counts(), End: len(of.all)})
		}
		of.begins = append(of.begins, len(of.all))
	}
	part.Len = len(of.all)
	part.Slots = func(rng uint64) int { return int(of.all[rng].Rows) } // exact, as the files are sorted
	part.Range = func(i int) (rng uint64, most int, err error) { return uint64(i), part.Slots(uint64(i)), nil }
	part.Reader = func(int) stored.Reader { return &partReader{tableRows: of, kept: make(map[uint64][]Row)} }
	return []*stored.Part{part}, nil
}

// read reads interval i, in the memory of dst.
func (of *tableRows) read(l *Loader, dst []Row, i int) ([]Row, error) {
	f, err := of.tier(of.tierOf(i))
	if err != nil {
		return nil, err
	}
	return l.Load(dst, f, of.all[i])
}

// tierOf returns the tier of interval i.
func (of *tableRows) tierOf(i int) int {
	return sort.Search(len(of.tiers), func(tier int) bool { return of.begins[tier+1] > i })
}

// check returns a Fault if a position of interval i is there twice, or does not belong to the tier.
func (of *tableRows) check(rows []Row, i int) error {
	tier := of.tierOf(i)
	for i, row := range rows {
		switch {
		case i > 0 && row.Key == rows[i-1].Key:
			return &stored.Fault{Position: row.Key, Reason: "is there twice"}
		case of.g.Check(row.Key) == nil && game.TierOf(of.g, row.Key) != tier:
			return &stored.Fault{Position: row.Key, Reason: fmt.Sprintf("is in the file of tier %d", tier)}
		}
	}
	return nil
}

// A partReader reads intervals of tiers.
type partReader struct {
	*tableRows
	loader Loader
	rows   []Row // the rows of the current interval
	kept   map[uint64][]Row
	held   int // number of rows in kept
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
	p = game.StoredOf(r.g, p)
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

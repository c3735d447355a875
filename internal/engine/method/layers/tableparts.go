package layers

import (
	"fmt"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/streamfmt"
)

// A tableCell is a cell of a file of the table.
type tableCell struct {
	*file
	number int
}

func (c tableCell) cell() *streamfmt.Cell { return &c.cells[c.number] }

// Parts returns one part, because moves may lead to any later tier. Its ranges are cells.
func (t *Table) Parts(wanted func(tier int) bool) ([]*stored.Part, error) {
	var all []tableCell
	part, begins := &stored.Part{Own: true}, []int{0}
	for tier := range t.tiers {
		if wanted(tier) {
			s, err := t.tier(tier)
			if err != nil {
				return nil, err
			}
			for _, f := range s.files {
				for i := range f.cells {
					all = append(all, tableCell{f, i})
				}
			}
			part.Files = append(part.Files, stored.File{Name: t.files.Tiers[tier].Name, Tier: tier, Counts: s.Counts(), End: len(all)})
		}
		begins = append(begins, len(all))
	}
	part.Len = len(all)
	part.Slots = func(rng uint64) int { return int(all[rng].cell().Records) }
	part.Range = func(i int) (rng uint64, most int, err error) { return uint64(i), part.Slots(uint64(i)), nil }
	part.Reader = func(ahead int) stored.Reader {
		return &partReader{Table: t, part: part, all: all, begins: begins, ahead: ahead > 0, kept: make(map[uint64][]Row)}
	}
	return []*stored.Part{part}, nil
}

// A partReader reads cells of tiers.
type partReader struct {
	*Table
	part   *stored.Part
	all    []tableCell // in the order of tiers and keys
	begins []int       // the index of the first cell of each tier; at the end, the number of all cells
	ahead  bool        // whether Load reads cells ahead
	cells  streamfmt.RowReader
	rows   []Row // the rows of the current cell
	kept   map[uint64][]Row
	held   int // number of rows in kept
}

// Load reads a cell. It returns a Fault if a position is there twice, or does not belong to the tier.
func (r *partReader) Load(slots []uint32, i int) (rng uint64, _ []uint32, err error) {
	c, tier, end := r.all[i], r.part.File(i).Tier, len(r.all[i].file.cells)
	if !r.ahead {
		end = c.number + 1
	}
	if r.rows, err = c.read(&r.cells, r.rows, c.number, end); err != nil {
		return 0, slots, err
	}
	for slot, row := range r.rows {
		switch {
		case slot > 0 && row.Key == r.rows[slot-1].Key:
			return 0, slots, &stored.Fault{Position: row.Key, Reason: "is there twice"}
		case r.g.Check(row.Key) == nil && game.TierOf(r.g, row.Key) != tier:
			return 0, slots, &stored.Fault{Position: row.Key, Reason: fmt.Sprintf("is in the file of tier %d", tier)}
		}
		slots = append(slots, uint32(slot))
	}
	return uint64(i), slots, nil
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
	i := sort.Search(len(of), func(i int) bool { return of[i].cell().Last >= p })
	if i == len(of) {
		return 0, 0, 0, false, nil
	}
	rng = uint64(first + i)
	rows, ok := r.kept[rng]
	if !ok {
		if r.held > r.keep {
			clear(r.kept)
			r.held = 0
		}
		if rows, err = of[i].read(new(streamfmt.RowReader), nil, of[i].number, of[i].number+1); err != nil {
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

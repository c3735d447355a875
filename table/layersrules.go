//go:build !js

package table

import (
	"cmp"
	"context"
	"fmt"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/streamfmt"
)

func (t *layerTable) verify(ctx context.Context, report func(share float64)) error {
	_, _, err := Rules{Report: report}.Verify(ctx, &Table{g: t.g, contents: t})
	return err
}

// intervalRows is the number of rows that are checked at a time, and read at a time to find
// successors.
const intervalRows = streamfmt.CellRows

// keepRows is the number of rows that a worker of the check caches.
const keepRows = rulesKeep / 16

// A layerInterval is a range of the check by Rules: some rows of a tier.
type layerInterval struct {
	layers.Interval
	tier int
}

// layerIntervals are the ranges of the check by Rules: their indexes.
type layerIntervals []layerInterval

func (of layerIntervals) Len() int { return len(of) }

func (of layerIntervals) at(i int) (rng uint64, most int, err error) {
	return uint64(i), int(of[i].Rows), nil
}

// parts returns one part, because moves may lead to any later tier. Its ranges are the indexes
// of the intervals of all tiers.
func (t *layerTable) parts() (parts []*rulesPart, most int, err error) {
	part := &rulesPart{own: true}
	var intervals layerIntervals
	begins := []int{0} // index of the first interval of each tier; at the end, the number of all intervals
	for tier, name := range t.names {
		f, err := t.tier(tier)
		if err != nil {
			return nil, 0, err
		}
		for _, interval := range layers.Cut(cmp.Or(t.interval, intervalRows), f) {
			intervals = append(intervals, layerInterval{interval, tier})
		}
		begins = append(begins, len(intervals))
		part.files = append(part.files, rulesFile{name, f.Counts(), len(intervals)})
	}
	part.ranges = intervals
	part.reader = func(int) rulesReader {
		return &layerReader{t: t, intervals: intervals, begins: begins, kept: make(map[uint64][]layers.Row)}
	}
	return []*rulesPart{part}, game.MaxRemoteness, nil
}

// A layerReader reads intervals of tiers.
type layerReader struct {
	t         *layerTable
	intervals []layerInterval
	begins    []int
	loader    layers.Loader
	rows      []layers.Row // the rows of the current interval
	kept      map[uint64][]layers.Row
	held      int // number of rows in kept
}

func (r *layerReader) load(slots []uint32, rng uint64) (_ []uint32, err error) {
	if r.rows, err = r.read(r.rows, rng); err != nil {
		return nil, err
	}
	tier := r.intervals[rng].tier
	for i, row := range r.rows {
		switch {
		case i > 0 && row.Key == r.rows[i-1].Key:
			return nil, newFault(r.t.g, row.Key, "is there twice")
		case r.t.g.Check(row.Key) == nil && game.TierOf(r.t.g, row.Key) != tier:
			return nil, newFault(r.t.g, row.Key, fmt.Sprintf("is in the file of tier %d", tier))
		}
		slots = append(slots, uint32(i)) // no key is there twice, so there are about intervalRows
	}
	return slots, nil
}

func (r *layerReader) read(dst []layers.Row, rng uint64) ([]layers.Row, error) {
	interval := r.intervals[rng]
	f, err := r.t.tier(interval.tier)
	if err != nil {
		return nil, err
	}
	return r.loader.Load(dst, f, interval.Interval)
}

func (r *layerReader) at(slot int) (game.Position, game.Value) {
	return r.rows[slot].Key, layers.ValueOf(r.rows[slot].Word)
}

func (r *layerReader) find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	p = canonical(r.t.g, p)
	tier := game.TierOf(r.t.g, p)
	if tier >= len(r.t.tiers) {
		return 0, 0, 0, false, nil
	}
	first, of := r.begins[tier], r.intervals[r.begins[tier]:r.begins[tier+1]]
	rng = uint64(first + sort.Search(len(of)-1, func(i int) bool { return of[i].Last >= p }))
	rows, ok := r.kept[rng]
	if !ok {
		if r.held > cmp.Or(r.t.keep, keepRows) {
			clear(r.kept)
			r.held = 0
		}
		if rows, err = r.read(nil, rng); err != nil {
			return 0, 0, 0, false, err
		}
		r.kept[rng] = rows
		r.held += len(rows)
	}
	if slot, ok = findRow(rows, p); !ok {
		return 0, 0, 0, false, nil
	}
	return rng, slot, layers.ValueOf(rows[slot].Word), true, nil
}

//go:build !js

package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// rowLists is the contents of the table of a game for which only the rules are known: a list
// of Values for each tier. Such games may have many tiers, so a file is opened when it is
// first needed. The first lists.MaxOpen of them stay open; the others are opened again for
// each interval that is read.
type rowLists struct {
	g        game.Acyclic
	fsys     store.FS
	names    []string
	seals    []*store.SealedFile
	interval int // number of rows that are checked at a time
	keep     int // number of rows that a worker of the check caches, plus at most one interval

	mu     sync.Mutex // protects tiers and opened
	tiers  []*lists.Source
	opened int // number of tiers that have been opened

	looks  sync.Mutex // protects the fields below, which look-ups use
	loader lists.Loader
	cells  recent[cellKey, []lists.Row]
}

// A cellKey identifies a cell of a tier.
type cellKey struct {
	tier int
	at   lists.Place
}

// recentCells is the number of cells that look-ups cache, of 16 KB each.
const recentCells = 64

func openLists(fsys store.FS, data string, g game.Acyclic, seal *store.Seal) (*rowLists, error) {
	t := &rowLists{g: g, fsys: fsys, interval: intervalRows, keep: rulesKeep / 16, tiers: make([]*lists.Source, g.Tiers()+1), cells: recent[cellKey, []lists.Row]{most: recentCells}}
	tiers, err := sealedTiers(seal, data, g)
	for _, files := range tiers {
		t.names, t.seals = append(t.names, filepath.Join(data, Dir, files[0].Name)), append(t.seals, &files[0])
	}
	return t, err
}

// Close closes the files.
func (t *rowLists) Close() error {
	var errs []error
	for _, tier := range t.tiers {
		if tier != nil {
			errs = append(errs, tier.Close())
		}
	}
	return errors.Join(errs...)
}

// tier returns the file of a tier, and opens it first if necessary.
func (t *rowLists) tier(i int) (_ *lists.Source, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tiers[i] == nil {
		s, err := lists.OpenFile(t.fsys, t.names[i], t.g, i, lists.Values, t.seals[i])
		if t.opened++; err == nil && t.opened > lists.MaxOpen {
			err = s.Close() // the index stays in memory
		}
		if err != nil {
			return nil, err
		}
		t.tiers[i] = s
	}
	return t.tiers[i], nil
}

func (t *rowLists) counts(tier int) (Counts, error) {
	f, err := t.tier(tier)
	if err != nil {
		return nil, err
	}
	return f.Counts(), nil
}

// lookup searches the only cell of a tier that may contain the position.
func (t *rowLists) lookup(p game.Position) (v game.Value, ok bool, err error) {
	tier := t.g.Tier(p)
	f, err := t.tier(tier)
	if err != nil {
		return 0, false, err
	}
	at, ok := f.Find(p)
	if !ok {
		return 0, false, nil
	}
	t.looks.Lock()
	defer t.looks.Unlock()
	rows, err := t.cells.get(cellKey{tier, at}, func(rows *[]lists.Row) (err error) {
		*rows, err = t.loader.Cell(*rows, f, at)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	i, ok := findRow(*rows, p)
	if !ok {
		return 0, false, nil
	}
	v = lists.ValueOf((*rows)[i].Word)
	if n := v.Remoteness(); n > t.g.Tiers()-tier { // game.Values.Before could exceed MaxRemoteness
		return 0, false, newFault(t.g, p, fmt.Sprintf("is %d moves from its end, and only %d tiers follow", n, t.g.Tiers()-tier))
	}
	return v, true, nil
}

// findRow searches rows for a position.
func findRow(rows []lists.Row, p game.Position) (i int, ok bool) {
	return slices.BinarySearchFunc(rows, p, func(row lists.Row, p game.Position) int { return cmp.Compare(row.Key, p) })
}

func (t *rowLists) verify(ctx context.Context, report func(share float64)) error {
	_, _, err := Rules{Report: report}.Verify(ctx, &Table{g: t.g, contents: t})
	return err
}

// intervalRows is the number of rows that are checked at a time, and read at a time to find
// successors.
const intervalRows = 1 << 12

// A listInterval is a range of the check by Rules: some rows of a tier.
type listInterval struct {
	lists.Interval
	tier int
}

// listIntervals are the ranges of the check by Rules: their indexes.
type listIntervals []listInterval

func (of listIntervals) Len() int { return len(of) }

func (of listIntervals) at(i int) (rng uint64, most int, err error) {
	return uint64(i), int(of[i].Rows), nil
}

// parts returns one part, because moves may lead to any later tier. Its ranges are the indexes
// of the intervals of all tiers.
func (t *rowLists) parts() (parts []*rulesPart, most int, err error) {
	part := &rulesPart{own: true}
	var intervals listIntervals
	begins := []int{0} // index of the first interval of each tier; at the end, the number of all intervals
	for tier, name := range t.names {
		f, err := t.tier(tier)
		if err != nil {
			return nil, 0, err
		}
		for _, interval := range lists.Cut(t.interval, f) {
			intervals = append(intervals, listInterval{interval, tier})
		}
		begins = append(begins, len(intervals))
		part.files = append(part.files, rulesFile{name, f.Counts(), len(intervals)})
	}
	part.ranges = intervals
	part.reader = func(int) rulesReader {
		return &listReader{t: t, intervals: intervals, begins: begins, kept: make(map[uint64][]lists.Row)}
	}
	return []*rulesPart{part}, game.MaxRemoteness, nil
}

// A listReader reads intervals of tiers.
type listReader struct {
	t         *rowLists
	intervals []listInterval
	begins    []int
	loader    lists.Loader
	rows      []lists.Row // of the current interval
	kept      map[uint64][]lists.Row
	held      int // number of rows in kept
}

func (r *listReader) load(slots []uint32, rng uint64) (_ []uint32, err error) {
	if r.rows, err = r.read(r.rows, rng); err != nil {
		return nil, err
	}
	tier := r.intervals[rng].tier
	for i, row := range r.rows {
		switch {
		case i > 0 && row.Key == r.rows[i-1].Key:
			return nil, newFault(r.t.g, row.Key, "is there twice")
		case r.t.g.Check(row.Key) == nil && r.t.g.Tier(row.Key) != tier:
			return nil, newFault(r.t.g, row.Key, fmt.Sprintf("is in the file of tier %d", tier))
		}
		slots = append(slots, uint32(i)) // no key is there twice, so there are about intervalRows
	}
	return slots, nil
}

func (r *listReader) read(dst []lists.Row, rng uint64) ([]lists.Row, error) {
	interval := r.intervals[rng]
	f, err := r.t.tier(interval.tier)
	if err != nil {
		return nil, err
	}
	return r.loader.Load(dst, f, interval.Interval)
}

func (r *listReader) at(slot int) (game.Position, game.Value) {
	return r.rows[slot].Key, lists.ValueOf(r.rows[slot].Word)
}

func (r *listReader) find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	tier := r.t.g.Tier(p)
	if tier >= len(r.t.tiers) {
		return 0, 0, 0, false, nil
	}
	first, of := r.begins[tier], r.intervals[r.begins[tier]:r.begins[tier+1]]
	rng = uint64(first + sort.Search(len(of)-1, func(i int) bool { return of[i].Last >= p }))
	rows, ok := r.kept[rng]
	if !ok {
		if r.held > r.t.keep {
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
	return rng, slot, lists.ValueOf(rows[slot].Word), true, nil
}

package table

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
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
	interval int // number of rows that are checked at a time; 0: intervalRows
	keep     int // number of rows that a worker of the check caches, plus at most one interval; 0: keepRows

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

func openLists(fsys store.FS, data string, g game.Acyclic, seal *store.Seal) (contents, error) {
	t := &rowLists{g: g, fsys: fsys, tiers: make([]*lists.Source, g.Tiers()+1), cells: recent[cellKey, []lists.Row]{most: recentCells}}
	tiers, err := sealedTiers(seal, data, g)
	for _, files := range tiers {
		t.names, t.seals = append(t.names, path.Join(data, Dir, files[0].Name)), append(t.seals, &files[0])
	}
	return t.contents(), err
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

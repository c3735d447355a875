package table

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// canonical returns the position that a table stores in place of p.
func canonical(g game.Game, p game.Position) game.Position {
	if s, ok := g.(game.Symmetric); ok {
		return s.Canonical(p)
	}
	return p
}

// layerTable is the contents of the table of a game that is not game.Tiered: a list
// of Values for each tier. Such games may have many tiers, so a file is opened when it is
// first needed. The first layers.MaxOpen of them stay open; the others are opened again for
// each interval that is read.
type layerTable struct {
	g        game.Game
	acyclic  bool
	fsys     store.FS
	data     string   // the data directory
	names    []string // by tier, for errors
	files    [][]store.SealedFile
	interval int // number of rows that are checked at a time; 0: intervalRows
	keep     int // number of rows that a worker of the check caches, plus at most one interval; 0: keepRows

	tiers  []layerFile
	opened atomic.Int64 // number of tiers that have been opened

	loaders chan *layers.Loader // free ones
	cells   *recent[cellKey, []layers.Row]
}

// A layerFile is the file of a tier.
type layerFile struct {
	mu sync.Mutex
	*layers.Source
}

// A cellKey identifies a cell of a tier.
type cellKey struct {
	tier int
	at   layers.Place
}

// recentCells is the number of cells that look-ups cache, of 16 KB each.
const recentCells = 64

func openLayers(fsys store.FS, data string, g game.Game, seal *store.Seal) (contents, error) {
	t := &layerTable{g: g, acyclic: game.IsAcyclic(g), fsys: fsys, data: data, tiers: make([]layerFile, game.LastTier(g)+1), loaders: make(chan *layers.Loader, maxFree),
		cells: newRecent[cellKey, []layers.Row](recentCells)}
	var err error
	t.files, err = sealedTiers(seal, data, g)
	for tier := range t.files {
		t.names = append(t.names, path.Join(data, TierFile(tier)))
	}
	return t.contents(), err
}

// Close closes the files.
func (t *layerTable) Close() error {
	var errs []error
	for i := range t.tiers {
		if tier := &t.tiers[i]; tier.Source != nil {
			errs = append(errs, tier.Close())
		}
	}
	return errors.Join(errs...)
}

// tier returns the file of a tier, and opens it first if necessary.
func (t *layerTable) tier(i int) (_ *layers.Source, err error) {
	o := &t.tiers[i]
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Source == nil {
		s, err := layers.OpenTable(t.fsys, path.Join(t.data, Dir), t.g, i, t.files[i])
		if opened := t.opened.Add(1); err == nil && opened > layers.MaxOpen {
			err = s.Close() // the index stays in memory
		}
		if err != nil {
			return nil, err
		}
		o.Source = s
	}
	return o.Source, nil
}

func (t *layerTable) counts(tier int) (Counts, error) {
	f, err := t.tier(tier)
	if err != nil {
		return nil, err
	}
	return f.Counts(), nil
}

// lookup searches the only cell of a tier that may contain the position.
func (t *layerTable) lookup(p game.Position) (v game.Value, ok bool, err error) {
	p = canonical(t.g, p)
	tier := game.TierOf(t.g, p)
	f, err := t.tier(tier)
	if err != nil {
		return 0, false, err
	}
	at, ok := f.Find(p)
	if !ok {
		return 0, false, nil
	}
	t.cells.Lock()
	defer t.cells.Unlock()
	rows, err := t.cells.get(cellKey{tier, at}, func(rows *[]layers.Row) (err error) {
		var l *layers.Loader
		select {
		case l = <-t.loaders:
		default:
			l = new(layers.Loader)
		}
		*rows, err = l.Cell(*rows, f, at)
		select {
		case t.loaders <- l:
		default:
		}
		return err
	})
	if err != nil {
		return 0, false, err
	}
	i, ok := findRow(*rows, p)
	if !ok {
		return 0, false, nil
	}
	v = layers.ValueOf((*rows)[i].Word)
	if n := v.Remoteness(); t.acyclic && n > game.LastTier(t.g)-tier { // game.Values.Before could exceed MaxRemoteness
		return 0, false, newFault(t.g, p, fmt.Sprintf("is %d moves from its end, and only %d tiers follow", n, game.LastTier(t.g)-tier))
	}
	return v, true, nil
}

// findRow searches rows for a position.
func findRow(rows []layers.Row, p game.Position) (i int, ok bool) {
	return slices.BinarySearchFunc(rows, p, func(row layers.Row, p game.Position) int { return cmp.Compare(row.Key, p) })
}

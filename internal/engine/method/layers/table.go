package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Table is the table of a game: Values for each tier. Such games may have many tiers, so a file is opened when it is
// first needed. The first MaxOpen of them stay open; the others are opened again for each interval that is read. A Table is
// safe for concurrent use.
type Table struct {
	g       game.Game
	acyclic bool
	files   stored.Files
	tiers   []tableTier
	opened  atomic.Int64 // number of tiers that have been opened
	cells   *stored.Recent[[]Row]
	keep    int // number of rows that a partReader caches, plus at most one cell
}

// A tableTier is the file of a tier.
type tableTier struct {
	mu sync.Mutex
	*Source
}

const (
	// recentCells is the number of cells that look-ups cache, of 16 KB each.
	recentCells = 64
	// keepRows is the number of rows that a partReader caches: 32 MB.
	keepRows = 2 << 20
)

// OpenTable opens the table of a game.
func OpenTable(g game.Game, files stored.Files) *Table {
	return &Table{g: g, acyclic: game.IsAcyclic(g), files: files, tiers: make([]tableTier, len(files.Tiers)), cells: stored.NewRecent[[]Row](recentCells), keep: keepRows}
}

// Close closes the files.
func (t *Table) Close() error {
	var errs []error
	for i := range t.tiers {
		if tier := &t.tiers[i]; tier.Source != nil {
			errs = append(errs, tier.Close())
		}
	}
	return errors.Join(errs...)
}

// tier returns the file of a tier, and opens it first if necessary.
func (t *Table) tier(i int) (_ *Source, err error) {
	o := &t.tiers[i]
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Source == nil {
		s, err := OpenValues(t.files.FS, t.files.Of(i), t.g, i)
		if opened := t.opened.Add(1); err == nil && opened > MaxOpen {
			err = s.Close() // the index stays in memory
		}
		if err != nil {
			return nil, err
		}
		o.Source = s
	}
	return o.Source, nil
}

// Counts returns the number of positions of a tier by value, as recorded in its files.
func (t *Table) Counts(tier int) (map[game.Value]uint64, error) {
	f, err := t.tier(tier)
	if err != nil {
		return nil, err
	}
	return f.Counts(), nil
}

// Lookup searches the only cell of a tier that may contain the position.
func (t *Table) Lookup(p game.Position) (v game.Value, ok bool, err error) {
	p = game.StoredOf(t.g, p)
	tier := game.TierOf(t.g, p)
	source, err := t.tier(tier)
	if err != nil {
		return 0, false, err
	}
	f, i := source.find(p)
	if f == nil {
		return 0, false, nil
	}
	err = t.cells.Use(stored.Key{Tier: tier, At: f.cells[i].First}, func(rows *[]Row) (err error) {
		*rows, err = f.read(new(streamfmt.RowReader), *rows, i, i+1)
		return err
	}, func(rows *[]Row) error {
		var i int
		if i, ok = findRow(*rows, p); ok {
			v = ValueOf((*rows)[i].Word)
		}
		return nil
	})
	if err != nil || !ok {
		return 0, false, err
	}
	if n := v.Remoteness(); t.acyclic && n > game.LastTier(t.g)-tier { // game.Values.Before could exceed MaxRemoteness
		return 0, false, &stored.Fault{Position: p, Reason: fmt.Sprintf("is %d moves from its end, and only %d tiers follow", n, game.LastTier(t.g)-tier)}
	}
	return v, true, nil
}

// findRow searches rows for a position.
func findRow(rows []Row, p game.Position) (i int, ok bool) {
	return slices.BinarySearchFunc(rows, p, func(row Row, p game.Position) int { return cmp.Compare(row.Key, p) })
}

// Stored returns 0: Counts counts the positions that are stored.
func (t *Table) Stored(int) uint64 { return 0 }

// Content returns "".
func (t *Table) Content() string { return "" }

// Verify checks nothing: moves are those of the rules in any case.
func (t *Table) Verify(context.Context, func(share float64)) (ok bool, err error) { return false, nil }

// Before returns the predecessors of a position if the rules give them.
func (t *Table) Before(p game.Position) (from []game.Position, ok bool) {
	g, ok := t.g.(game.Reversible)
	if !ok {
		return nil, false
	}
	for _, q := range g.Predecessors(nil, p) {
		from = append(from, game.StoredOf(t.g, q))
	}
	return game.Distinct(from, 0), true
}

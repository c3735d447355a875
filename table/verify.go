//go:build !js

package table

import (
	"context"
	"fmt"

	"github.com/treereduce/treereduce/game"
)

// contents is the part of a table that depends on the kind of game.
type contents interface {
	// lookup implements Table.Lookup for a valid position.
	lookup(p game.Position) (v game.Value, ok bool, err error)
	// before calls do, in the order of tiers and keys, for positions that include all
	// predecessors of p, which is valid.
	before(p game.Position, do func(game.Position, game.Value)) error
	// counts returns the number of positions of a tier by value, as recorded in its file.
	counts(tier int) (Counts, error)
	// verify checks the complete table. It calls report now and
	// then with the share that is done, unless report is nil.
	verify(ctx context.Context, report func(share float64)) error
	// parts returns the parts that Rules checks, and the greatest remoteness that the format
	// can store.
	parts() (parts []*rulesPart, most int, err error)
	Close() error
}

func (t *blockTable) contents() contents { return t }
func (t *layerTable) contents() contents { return t }

// start returns the value of the initial position, which every table must contain.
func (t *Table) start() (game.Value, error) {
	v, ok, err := t.contents.lookup(t.g.Start())
	if err == nil && !ok {
		err = t.fault(t.g.Start(), "is missing: it is the initial position")
	}
	return v, err
}

// Verify checks that the table is complete and correct, and returns the number of its
// positions: no position is missing, no position is unreachable, and every value follows from
// the values of the successors. The first error is a *Fault, or the error of a damaged file.
// Verify does not solve the game again; its method depends on the kind of game. A table of
// lists is checked by Rules without a sample.
func (t *Table) Verify(ctx context.Context) (positions uint64, err error) {
	return t.VerifyReport(ctx, nil)
}

// VerifyReport is like Verify, but calls report now and then with the share that is done, from
// 0 to 1, unless report is nil.
func (t *Table) VerifyReport(ctx context.Context, report func(share float64)) (positions uint64, err error) {
	if err := t.contents.verify(ctx, report); err != nil {
		return 0, err
	}
	return t.Positions()
}

// wrongCounts is the error for a file whose recorded counts differ from its positions.
func wrongCounts(name string) error {
	return fmt.Errorf("%s: the recorded counts differ from the positions in the file", name)
}

//go:build !js

package table

import (
	"context"

	"github.com/treereduce/treereduce/game"
)

// start returns the value of the initial position, which every table must contain.
func (t *Table) start() (game.Value, error) {
	v, ok, err := t.method.Lookup(t.g.Start())
	if err == nil && !ok {
		err = t.fault(t.g.Start(), "is missing: it is the initial position")
	}
	return v, explain(t.g, err)
}

// Verify checks that the table is complete and correct, and returns the number of its
// positions: no position is missing, no position is unreachable, and every value follows from
// the values of the successors. The first error is a *Fault, or the error of a damaged file.
// A table of blocks is checked by sets of positions: the set methods of the game compute each tier from the stored tier before it
// or after it. Any other is checked by Rules without a sample.
func (t *Table) Verify(ctx context.Context) (positions uint64, err error) {
	return t.VerifyReport(ctx, nil)
}

// VerifyReport is like Verify, but calls report now and then with the share that is done, from
// 0 to 1, unless report is nil.
func (t *Table) VerifyReport(ctx context.Context, report func(share float64)) (positions uint64, err error) {
	ok, err := t.method.Verify(ctx, report)
	if err == nil && !ok {
		_, _, err = Rules{Report: report}.Verify(ctx, t)
	}
	if err != nil {
		return 0, explain(t.g, err)
	}
	return t.Positions()
}

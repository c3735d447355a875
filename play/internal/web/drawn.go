//go:build !js

package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

// drawn returns a random position of those that the filter selects. Each is equally likely: first the
// tier is drawn, by the numbers of positions.
func drawn(ctx context.Context, t *Source, f filter) (game.Position, error) {
	tier, rank, all := -1, uint64(0), uint64(0)
	for i := f.first; i <= f.last; i++ {
		counts, err := t.Table.Counts(i)
		if err != nil {
			return 0, err
		}
		var n uint64
		for v, count := range counts {
			if f.wanted(v) {
				n += count
			}
		}
		if all += n; n > 0 && rand.Uint64N(all) < n {
			tier, rank = i, rand.Uint64N(n)
		}
	}
	if all == 0 {
		return 0, badRequest(errors.New("the table has no position with this tier, result and number of moves to the end"))
	}
	scan, err := t.Table.Scan(ctx, func(of int) bool { return of == tier })
	if err != nil {
		return 0, err
	}
	picked, _, err := scan.Sample(ctx, 1, rand.Uint64(), f.wanted)
	if err != nil {
		return 0, err
	}
	for _, b := range picked {
		if len(b.Positions) > 0 {
			return b.Positions[0], nil
		}
	}
	for b, err := range scan.Batches() {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return 0, err
		}
		for i, v := range b.Values {
			if !f.wanted(v) {
				continue
			}
			if rank == 0 {
				return b.Positions[i], nil
			}
			rank--
		}
	}
	return 0, fmt.Errorf("%s: tier %d has fewer positions than its file records", t.Name, tier)
}

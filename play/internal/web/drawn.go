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
	counts := make([]uint64, f.last-f.first+1)
	var all uint64
	for i := range counts {
		values, err := t.Table.Counts(f.first + i)
		if err != nil {
			return 0, err
		}
		for v, n := range values {
			if f.wanted(v) {
				counts[i] += n
			}
		}
		all += counts[i]
	}
	if all == 0 {
		return 0, badRequest(errors.New("the table has no position with this tier, result and number of moves to the end"))
	}
	n, tier := rand.Uint64N(all), f.first
	for ; n >= counts[tier-f.first]; tier++ {
		n -= counts[tier-f.first]
	}
	scan, err := t.Table.Scan(ctx, func(of int) bool { return of == tier })
	if err != nil {
		return 0, err
	}
	picked, _, err := scan.Sample(ctx, 1, rand.Uint64(), f.wanted)
	for _, b := range picked {
		if len(b.Positions) > 0 {
			return b.Positions[0], nil
		}
	}
	if err != nil {
		return 0, err
	}
	for b, err := range scan.Batches() {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return 0, err
		}
		for i, v := range b.Values {
			if !f.wanted(v) {
				continue
			}
			if n == 0 {
				return b.Positions[i], nil
			}
			n--
		}
	}
	return 0, fmt.Errorf("%s: tier %d has fewer positions than its file records", t.Name, tier)
}

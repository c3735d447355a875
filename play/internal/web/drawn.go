//go:build !js

package web

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/accuracy"
)

// drawn returns a random position of those that the filter selects. Each is equally likely: first the
// tier is drawn, by the numbers of positions.
func drawn(ctx context.Context, t *Source, f filter) (game.Position, error) {
	tier, all := -1, uint64(0)
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
			tier = i
		}
	}
	if all == 0 {
		return 0, badRequest(errors.New("the table has no position with this tier, result and number of moves to the end"))
	}
	found, err := accuracy.Draw(ctx, t.Table, tier, 1, rand.New(rand.NewPCG(rand.Uint64(), 0)), f.wanted)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: tier %d has fewer positions than its file records", t.Name, tier)
	}
	if err != nil {
		return 0, err
	}
	return found[0], nil
}

//go:build !js

package web

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/table"
)

// drawn returns a random position of those that the filter selects. Each is equally likely.
func drawn(ctx context.Context, t *Source, f filter) (game.Position, error) {
	tiers := func(i int) bool { return i >= f.first && i <= f.last }
	found, err := t.Table.Sample(ctx, 1, rand.Uint64(), table.Selection{Tier: tiers, Value: f.wanted})
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, badRequest(errors.New("the table has no position with this tier, result and number of moves to the end"))
	}
	return found[0].Positions[0], nil
}

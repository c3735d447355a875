// Package accuracy measures how good the moves of a player are: it draws positions, asks the player for a move at
// each of them, and compares the value of the move with that of the position.
package accuracy

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/table"
)

// maxTries is the number of random games in a row without a new position after which FromGames ends.
const maxTries = 1000

// FromGames draws at most n different positions with a choice of moves: each one from a game of random moves, at
// one of its plies, all with the same probability. The same seed gives the same positions.
func FromGames(g game.Game, n int, seed uint64) (drawn []*player.History) {
	random, rule := rand.New(rand.NewPCG(seed, 0)), game.DrawRuleOf(g)
	seen := make(map[game.Position]bool)
	for tries := 0; len(drawn) < n && tries < maxTries; tries++ {
		h := player.NewHistory(g)
		for _, _, over := referee.Ended(h, rule); !over; _, _, over = referee.Ended(h, rule) {
			moves := h.Moves()
			if h.Play(moves[random.IntN(len(moves))].Name) != nil {
				return drawn // cannot happen: the move is legal
			}
		}
		if len(h.Names()) == 0 {
			return drawn
		}
		for range 1 + random.IntN(len(h.Names())) {
			h.Undo()
		}
		if p := h.Position(); !seen[p] && len(h.Moves()) > 1 {
			seen[p] = true
			drawn, tries = append(drawn, h), 0
		}
	}
	return drawn
}

// CanDraw reports whether FromTable can draw positions from a table: whether every play ends, and the rules give the
// predecessors of a position.
func CanDraw(t *table.Table) bool { return game.IsAcyclic(t.Game()) && t.KnowsPredecessors() }

// FromTable draws at most n positions with a choice of moves from a table for which CanDraw is true: the same
// number from each tier, as far as a tier has them, and within a tier all with the same probability. The moves
// that lead to a position are random, too. The same seed gives the same positions.
func FromTable(ctx context.Context, t *table.Table, n int, seed uint64) (drawn []*player.History, err error) {
	random := rand.New(rand.NewPCG(seed, 0))
	tiers := make([][]game.Position, t.Tiers()+1)
	for tier := range tiers {
		if tiers[tier], err = drawTier(ctx, t, tier, n, random); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(tiers, func(a, b []game.Position) int { return cmp.Compare(len(a), len(b)) })
	for i, positions := range tiers {
		for _, p := range positions[:min(len(positions), (n-len(drawn))/(len(tiers)-i))] {
			h, err := reach(t, p, random)
			if err != nil {
				return nil, err
			}
			drawn = append(drawn, h)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	random.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn, nil
}

// drawTier draws at most n positions of a tier, in random order, and returns those with a choice of moves.
func drawTier(ctx context.Context, t *table.Table, tier, n int, random *rand.Rand) ([]game.Position, error) {
	positions, err := Draw(ctx, t, tier, n, random, func(v game.Value) bool { return v.Remoteness() > 0 })
	return slices.DeleteFunc(positions, func(p game.Position) bool { return len(t.Game().Moves(nil, p)) < 2 }), err
}

// Draw draws at most n positions with wanted values from a tier, all with the same probability, in random order.
func Draw(ctx context.Context, t *table.Table, tier, n int, random *rand.Rand, wanted func(game.Value) bool) ([]game.Position, error) {
	batches, err := t.Sample(ctx, uint64(n), random.Uint64(), table.Selection{Tier: func(of int) bool { return of == tier }, Value: wanted})
	if err != nil {
		return nil, err
	}
	var positions []game.Position
	for _, b := range batches {
		positions = append(positions, b.Positions...)
	}
	random.Shuffle(len(positions), func(i, j int) { positions[i], positions[j] = positions[j], positions[i] })
	return positions, nil
}

// reach returns a history of random moves that ends at p.
func reach(t *table.Table, p game.Position, random *rand.Rand) (*player.History, error) {
	var names []string
	for at := p; at != t.Game().Start(); {
		before, err := t.Predecessors(at)
		if err == nil && len(before) == 0 {
			err = t.Unreached(at, errors.New("is in the table, but play cannot reach it: check it with driver verify"))
		}
		if err != nil {
			return nil, err
		}
		from := before[random.IntN(len(before))]
		at, names = from.Position, append(names, from.Move)
	}
	h := player.NewHistory(t.Game())
	for _, name := range slices.Backward(names) {
		if err := h.Play(name); err != nil {
			return nil, err
		}
	}
	return h, nil
}

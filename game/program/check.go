package program

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/treereduce/treereduce/game"
)

const (
	// mostGames is the number of random games after which Check has seen what it finds.
	mostGames = 1000
	// mostPlies is the number of moves after which a random game ends.
	mostPlies = 1000
)

// Check checks a game at up to most positions of random games: that positions are accepted, that texts and
// numbers of positions are inverses, that moves lead to tiers to which they may lead, and that another copy of the program
// gives the same answers in another order. It returns the number of positions, and the first fault.
func Check(ctx context.Context, g game.Game, most int, seed uint64) (n int, err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	if g.ToMove(g.Start()) != game.First {
		return 0, fmt.Errorf("%s: player 2 moves in the initial position, expected player 1", g.Spec())
	}
	checked := make(map[game.Position][]game.Move)
	for range mostGames {
		p := g.Start()
		for plies := 0; plies < mostPlies && len(checked) < most && ctx.Err() == nil; plies++ {
			moves, ok := checked[p]
			if !ok {
				moves = g.Moves(nil, p)
				if err := checkPosition(g, p, moves); err != nil {
					return len(checked), fmt.Errorf("%s: position %d: %w", g.Spec(), p, err)
				}
				checked[p] = moves
			}
			if len(moves) == 0 {
				break
			}
			p = moves[r.IntN(len(moves))].To
		}
	}
	if ctx.Err() != nil {
		return len(checked), context.Cause(ctx)
	}
	return len(checked), again(g, checked)
}

// checkPosition checks one position.
func checkPosition(g game.Game, p game.Position, moves []game.Move) error {
	if err := g.Check(p); err != nil {
		return err
	}
	text := string(g.AppendText(nil, p))
	if read, err := g.Parse(text); err != nil {
		return fmt.Errorf("its text %q is not read: %w", text, err)
	} else if read != p {
		return fmt.Errorf("its text %q is read as position %d", text, read)
	}
	g.Picture(p) // ends the command if it is wrong
	a, tiers := g.(game.Tiered)
	later := map[bool]string{true: "the same or a later one", false: "a later one"}
	for _, m := range moves {
		if err := g.Check(m.To); err != nil {
			return fmt.Errorf("move %s: %w", m.Name, err)
		}
		switch {
		case tiers && (a.Tier(m.To) < a.Tier(p) || a.Tier(m.To) == a.Tier(p) && !a.Loops(a.Tier(p))):
			return fmt.Errorf("move %s leads from tier %d to tier %d, expected %s", m.Name, a.Tier(p), a.Tier(m.To), later[a.Loops(a.Tier(p))])
		case tiers && a.Tier(m.To) > a.Tiers():
			return fmt.Errorf("move %s leads to tier %d, the last one is %d", m.Name, a.Tier(m.To), a.Tiers())
		}
	}
	return nil
}

// again asks another copy of the program for the positions in another order, many at a time.
func again(g game.Game, checked map[game.Position][]game.Move) error {
	if r, ok := g.(interface{ renew() }); ok {
		r.renew()
	}
	for ps := range slices.Chunk(slices.Sorted(maps.Keys(checked)), game.BatchSize) {
		b, err := game.BatchOf(g, ps)
		if err != nil {
			return err
		}
		for _, p := range ps {
			end, endBefore := b.Primitive(p).Outcome().For(b.ToMove(p)), g.Primitive(p).Outcome().For(g.ToMove(p))
			if end != endBefore || !slices.Equal(successors(b.Moves(nil, p)), successors(checked[p])) {
				return fmt.Errorf("%s: position %d: asked again, the program gives another answer", g.Spec(), p)
			}
		}
	}
	return nil
}

// successors returns the positions to which moves lead, in ascending order.
func successors(moves []game.Move) (to []game.Position) {
	for _, m := range moves {
		to = append(to, m.To)
	}
	slices.Sort(to)
	return to
}

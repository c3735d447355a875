package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/search"
)

// movesNodes is how many nodes a second of a move's time is worth where positions are chosen:
// what is proven within these is no choice to get wrong.
const movesNodes = 2_000_000

// RunMoves counts how many moves of the search give value away, on n positions of 7×6
// connect 4 that it does not prove soon: of 8 to 20 stones, with moves that lead to different
// results. A move has a time and one core. Each is compared with exact results, which a
// search without a limit finds.
func RunMoves(ctx context.Context, out io.Writer, n int, limit time.Duration) error {
	g, err := connectn.New(7, 6, 4)
	if err != nil {
		return err
	}
	b := &searchBench{ctx: ctx, out: out, g: g}
	s, err := search.New(g, search.Options{Memory: tableMemory})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(7, 6))
	var nodes []uint64
	proven, away := 0, 0
	for len(nodes) < n {
		p := b.random(r, 8+r.IntN(13), 1)[0]
		s.Forget()
		if soon, err := s.Search(ctx, p, search.Limit{Nodes: uint64(limit.Seconds() * movesNodes), Bare: true}); err != nil || ctx.Err() != nil {
			return context.Cause(ctx)
		} else if soon.Exact {
			continue
		}
		results := make(map[string]game.Result)
		for _, m := range g.Moves(nil, p) {
			after, err := s.Search(ctx, m.To, search.Limit{Weak: true, Bare: true})
			if err != nil || ctx.Err() != nil {
				return context.Cause(ctx)
			}
			results[m.Name] = after.Value.Outcome().For(g.ToMove(p))
		}
		best, same := game.Loses, true
		for _, result := range results {
			if order(result) > order(best) {
				best = result
			}
			same = same && result == results[g.Moves(nil, p)[0].Name]
		}
		if same {
			continue
		}
		s.Forget()
		found, err := s.Search(ctx, p, search.Limit{Time: limit})
		if err != nil || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		nodes = append(nodes, found.Nodes)
		if found.Exact {
			proven++
		}
		if chosen := found.Line[0].Name; results[chosen] != best {
			away++
			fmt.Fprintf(out, "%q: move %s is a %s, expected a %s\n", g.AppendText(nil, p), chosen, results[chosen], best)
		}
	}
	slices.Sort(nodes)
	fmt.Fprintf(out, "%d moves at %v: %d gave value away, %d results were proven, %d nodes a move in the median.\n", n, limit, away, proven, nodes[n/2])
	return nil
}

// order is the higher the better a result is.
func order(r game.Result) int { return [...]int{game.Loses: 1, game.Ties: 2, game.Wins: 3}[r] }

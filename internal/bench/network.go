package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/search"
)

// A phase is positions of Network of which nothing is soon proven.
type phase struct {
	name  string
	chips [2]int // on the board, from, to
	count int
}

// networkPhases are what is measured; the first two are of adds.
var networkPhases = []phase{
	{"opening", [2]int{4, 7}, 10},
	{"middle", [2]int{8, 15}, 10},
	{"steps", [2]int{20, 20}, 5},
}

// moveTime is what a move of the course may take.
const moveTime = 5 * time.Second

// RunNetwork measures the search of Network in this process: how far it looks ahead in five
// seconds on one core, in each phase of the game, and how long an exact depth of two takes
// where there are most moves.
func RunNetwork(ctx context.Context, out io.Writer) error {
	g := network.New()
	s, err := search.New(g, search.Options{Memory: tableMemory})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(20, 26))
	fmt.Fprintf(out, "| Network, %v a move, one core | positions | plies, median | fewest | most | nodes | million nodes a CPU second |\n|---|---|---|---|---|---|---|\n", moveTime)
	var adds []int
	for _, ph := range networkPhases {
		depths, nodes, cpu, err := ph.measure(ctx, g, s, r)
		if err != nil {
			return err
		}
		networkRow(out, ph.name, depths, nodes, cpu)
		if ph.chips[1] < 2*network.Chips {
			adds = append(adds, depths...)
		}
	}
	slices.Sort(adds)
	fmt.Fprintf(out, "\nAll %d positions of the add phase: %d plies in the median.\n", len(adds), adds[len(adds)/2])

	var busiest search.Result
	moves := 0
	for range 2000 {
		for _, p := range gametest.Walk(r, g, 60) {
			n := len(g.Moves(nil, p))
			if n <= moves {
				continue
			}
			s.Forget()
			found, err := s.Search(ctx, p, search.Limit{Depth: 2})
			if err != nil {
				return err
			}
			if !found.Exact { // who can win looks no further
				busiest, moves = found, n
			}
		}
	}
	fmt.Fprintf(out, "Exactly two plies of a position with %d moves: %.3f s, %d nodes.\n", moves, busiest.Time.Seconds(), busiest.Nodes)
	return nil
}

// measure searches positions of a phase, each with an empty table.
func (ph phase) measure(ctx context.Context, g *network.Rules, s *search.Searcher, r *rand.Rand) (depths []int, nodes uint64, cpu time.Duration, err error) {
	for len(depths) < ph.count {
		p, ok := ph.position(g, r)
		if !ok {
			continue
		}
		s.Forget()
		soon, err := s.Search(ctx, p, search.Limit{Time: moveTime / 10})
		if err != nil || ctx.Err() != nil {
			return nil, 0, 0, context.Cause(ctx)
		}
		if soon.Exact || soon.Score <= -provenScore || soon.Score >= provenScore {
			continue
		}
		s.Forget()
		before, err := cpuTime()
		if err != nil {
			return nil, 0, 0, err
		}
		found, err := s.Search(ctx, p, search.Limit{Time: moveTime})
		if err != nil || ctx.Err() != nil {
			return nil, 0, 0, context.Cause(ctx)
		}
		after, err := cpuTime()
		if err != nil {
			return nil, 0, 0, err
		}
		nodes, cpu = nodes+found.Nodes, cpu+after-before
		depths = append(depths, found.Depth)
	}
	slices.Sort(depths)
	return depths, nodes, cpu, nil
}

// provenScore is what a search says of a win that is proven, but not in how many moves.
const provenScore = game.MostAssessed

// position is one of the phase from a random game, if that gets there.
func (ph phase) position(g *network.Rules, r *rand.Rand) (game.Position, bool) {
	chips := ph.chips[0] + r.IntN(ph.chips[1]-ph.chips[0]+1)
	walk := gametest.Walk(r, g, chips+r.IntN(4)*(chips/(2*network.Chips)))
	p := walk[len(walk)-1]
	return p, g.Primitive(p) == 0 && len(walk) > chips
}

func networkRow(out io.Writer, name string, depths []int, nodes uint64, cpu time.Duration) {
	fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %.2f |\n", name, len(depths), depths[len(depths)/2], depths[0], depths[len(depths)-1], nodes,
		float64(nodes)/cpu.Seconds()/1e6)
}

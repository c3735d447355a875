package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/search"
)

// What is measured of Mancala.
const (
	mancalaPositions = 20          // of each kind
	mancalaMove      = time.Second // for a move
	mancalaPlies     = 12          // at random, to the middle of a game
	mancalaFew       = 16          // stones in the pits: such a position is to be solved within a move
	mancalaEndgames  = 12          // stones of the endgames, as a player builds them
	mancalaMemory    = 512 << 20   // of the table with which whole games are solved
)

// RunMancala measures the search of Mancala, on all cores: how deep it comes in a second,
// how soon few stones are solved, and whole games.
func RunMancala(ctx context.Context, out io.Writer, o Options) error {
	b := &mancalaBench{ctx: ctx, out: out, runs: max(o.Runs, 1)}
	if err := b.endgames(o.Large); err != nil {
		return err
	}
	if err := b.moves(); err != nil {
		return err
	}
	boards := []mancalaBoard{{4, 4, mancalaEndgames, game.Tie}, {4, 8, mancalaEndgames, game.Undecided}, {5, 3, mancalaEndgames, game.Undecided}}
	if o.Large {
		boards = append(boards, mancalaBoard{5, 4, mancalaFew, game.Undecided}, mancalaBoard{6, 3, mancalaFew, game.FirstWins})
	}
	return b.whole(boards)
}

type mancalaBench struct {
	ctx  context.Context
	out  io.Writer
	runs int
}

// endgames builds databases.
func (b *mancalaBench) endgames(large bool) error {
	fmt.Fprint(b.out, "| endgames of 6 pits a row | boards (bytes) | wall s |\n|---|---|---|\n")
	sizes := []int{10, mancalaEndgames}
	if large {
		sizes = append(sizes, 16)
	}
	for _, stones := range sizes {
		var seconds []float64
		for range b.runs {
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			begun := time.Now()
			mancala.NewEndgames(6, stones)
			seconds = append(seconds, time.Since(begun).Seconds())
		}
		slices.Sort(seconds)
		fmt.Fprintf(b.out, "| up to %d stones | %.0f | %.2f |\n", stones, mancala.Boards(6, stones), seconds[len(seconds)/2])
	}
	fmt.Fprintln(b.out)
	return nil
}

// searcher makes one with endgames.
func (b *mancalaBench) searcher(pits, stones, endgames int, memory int64) (*mancala.Searched, *search.Searcher, error) {
	g, err := mancala.New(pits, stones)
	if err != nil {
		return nil, nil, err
	}
	fast, err := g.(*mancala.Searched).WithEndgames(mancala.NewEndgames(pits, min(endgames, 2*pits*stones)))
	if err != nil {
		return nil, nil, err
	}
	s, err := search.New(fast, search.Options{Threads: runtime.GOMAXPROCS(0), Memory: memory})
	return fast, s, err
}

// moves searches for a second in the middle of games, and where few stones are left.
func (b *mancalaBench) moves() error {
	g, s, err := b.searcher(6, 4, mancalaEndgames, tableMemory)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	var middle, late []game.Position
	for len(middle) < mancalaPositions || len(late) < mancalaPositions {
		walk := gametest.Walk(r, g, 1000)
		if p := walk[min(mancalaPlies, len(walk)-1)]; g.Primitive(p) == 0 && len(middle) < mancalaPositions {
			middle = append(middle, p)
		}
		at := slices.IndexFunc(walk, func(p game.Position) bool { return g.InPits(p) == mancalaFew })
		if at >= 0 && len(late) < mancalaPositions {
			late = append(late, walk[at])
		}
	}
	fmt.Fprintf(b.out, "| 6,4, %d positions, %v each, %d cores | solved | plies, median | least | positions looked at, median | time, median |\n|---|---|---|---|---|---|\n", mancalaPositions, mancalaMove, runtime.GOMAXPROCS(0))
	for _, set := range []struct {
		name      string
		positions []game.Position
	}{{fmt.Sprintf("middle: %d moves at random", mancalaPlies), middle}, {fmt.Sprintf("%d stones left", mancalaFew), late}} {
		var depths, nodes []int
		var seconds []float64
		solved := 0
		for _, p := range set.positions {
			s.Forget()
			found, err := s.Search(b.ctx, p, search.Limit{Time: mancalaMove, First: true})
			if err != nil {
				return err
			}
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			if found.Exact {
				solved++
			} else {
				depths = append(depths, found.Depth)
			}
			nodes, seconds = append(nodes, int(found.Nodes)), append(seconds, found.Time.Seconds())
		}
		slices.Sort(depths)
		slices.Sort(nodes)
		slices.Sort(seconds)
		// A solved one has been looked through to its end.
		median, least := "to the end", "to the end"
		if at := mancalaPositions / 2; at < len(depths) {
			median = fmt.Sprint(depths[at])
		}
		if len(depths) > 0 {
			least = fmt.Sprint(depths[0])
		}
		fmt.Fprintf(b.out, "| %s | %d | %s | %s | %d | %.2f s |\n", set.name, solved, median, least, nodes[len(nodes)/2], seconds[len(seconds)/2])
	}
	fmt.Fprintln(b.out)
	return nil
}

// A mancalaBoard is solved from its start.
type mancalaBoard struct {
	pits, stones int
	endgames     int          // up to so many stones, built first
	want         game.Outcome // Undecided: it is not known from elsewhere
}

// whole finds who wins boards from their start.
func (b *mancalaBench) whole(boards []mancalaBoard) error {
	fmt.Fprint(b.out, "| Mancala, who wins | | endgames built | wall s, with them | nodes | million nodes a second |\n|---|---|---|---|---|---|\n")
	for _, board := range boards {
		begun := time.Now()
		g, s, err := b.searcher(board.pits, board.stones, board.endgames, mancalaMemory)
		if err != nil {
			return err
		}
		found, err := s.Search(b.ctx, g.Start(), search.Limit{Bare: true})
		if err != nil {
			return err
		}
		if !found.Exact {
			return b.ctx.Err()
		}
		if v := found.Value.Outcome(); board.want != game.Undecided && v != board.want {
			return fmt.Errorf("%s: %s, expected %s", g.Spec(), g.Values().Word(v), g.Values().Word(board.want))
		}
		fmt.Fprintf(b.out, "| %d,%d | %s | %d stones | %.2f | %d | %.1f |\n", board.pits, board.stones, g.Values().Word(found.Value.Outcome()), board.endgames, time.Since(begun).Seconds(), found.Nodes, float64(found.Nodes)/found.Time.Seconds()/1e6)
	}
	return nil
}

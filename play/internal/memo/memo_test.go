package memo_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/memo"
)

// acyclic makes a game from its spec.
func acyclic(t *testing.T, spec string) game.Tiered {
	t.Helper()
	return solved.Game(t, spec).(game.Tiered)
}

// winner calls FindWinner with a table of that number of chains.
func winner(t *testing.T, g game.Tiered, chains int, p game.Position) (memo.Verdict, *memo.Searcher) {
	t.Helper()
	s := must.Get(memo.New(g, memo.Options{Chains: chains}))(t)
	v := must.Get(s.FindWinner(context.Background(), p))(t)
	return v, s
}

// everyPosition checks the value of every position that can be reached, with tables of these numbers of chains, from
// whichever position the search begins; and without a table, of positions at most within moves before the last
// tier. The move must be the first of the best.
func everyPosition(t *testing.T, g game.Tiered, within int, chains ...int) {
	t.Helper()
	values := gametest.Search(g)
	for _, n := range append(chains, 0) {
		s := must.Get(memo.New(g, memo.Options{Chains: n}))(t)
		for p, want := range values {
			if n == 0 && g.Tiers()-g.Tier(p) > within {
				continue
			}
			v := must.Get(s.FindWinner(t.Context(), p))(t)
			if best := first(g, p, values); v.Value != want || v.Move != best {
				t.Fatalf("%s, %d chains, %q: %+v, want move %d, %s", g.Spec(), n, g.AppendText(nil, p), v, best, want)
			}
		}
		if got := s.Counts().Positions; n > 0 && got != uint64(len(values)) {
			t.Errorf("%s, %d chains: %d positions examined, want %d", g.Spec(), n, got, len(values))
		}
	}
}

func TestEveryPosition(t *testing.T) {
	for _, spec := range []string{
		"connectn width=2 height=2 connect=2", "connectn width=3 height=3 connect=3", "connectn width=4 height=3 connect=3",
		"connectn width=2 height=5 connect=2", "connectn width=3 height=4 connect=4",
		"mnk width=3 height=2 connect=3", "mnk width=3 height=3 connect=3", "mancala pits=2 stones=1", "mancala pits=2 stones=2",
	} {
		everyPosition(t, acyclic(t, spec), 8, 1, 7, 1000)
	}
}

// TestLongEveryPosition checks boards of Connect N of at most 12 squares and 7 columns, with every
// length of a line, and boards of up to 16 squares that are at least 3 high and wide. The
// search without a table runs on boards of at most 12 squares, from 8 moves before the end
// on, or 6 if a position has more than 4 moves. With TREEREDUCE_SQUARES=16 it checks every
// board of at most 16 squares.
func TestLongEveryPosition(t *testing.T) {
	longtest.Skip(t)
	squares := longtest.Number(t, "TREEREDUCE_SQUARES", 0)
	for width := 1; width <= max(squares, 7); width++ {
		for height := 1; width*height <= cmp.Or(squares, 16); height++ {
			within := 8
			switch {
			case squares > 0:
				within = -1
			case width*height > 12 && min(width, height) < 3:
				continue
			case width*height > 12:
				within = -1
			case width > 4:
				within = 6
			}
			for connect := 1; connect <= max(width, height); connect++ {
				everyPosition(t, acyclic(t, fmt.Sprintf("connectn width=%d height=%d connect=%d", width, height, connect)), within, 1_000_000)
			}
		}
	}
}

// first returns the index of the first of the best moves.
func first(g game.Tiered, p game.Position, values map[game.Position]game.Value) int {
	best := -1
	moves := g.Moves(nil, p)
	for i, m := range moves {
		if best < 0 || g.Values().Better(g.ToMove(p), values[m.To], values[moves[best].To]) {
			best = i
		}
	}
	return best
}

// TestCounts checks that with a table a position is examined once, and looked up once for
// each move to it, and that the next game needs one lookup. Without a table, it is examined
// as often as play reaches it.
func TestCounts(t *testing.T) {
	g := acyclic(t, "connectn width=4 height=3 connect=3")
	positions, moves := uint64(0), uint64(1)
	for p := range gametest.Search(g) {
		positions++
		moves += uint64(len(g.Moves(nil, p)))
	}
	_, s := winner(t, g, 10, g.Start())
	want := memo.Counts{Positions: positions, Lookups: moves, Hits: moves - positions, Steps: s.Counts().Steps}
	if got := s.Counts(); got != want || got.Steps < got.Hits {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := s.Table().Len(); n != int(positions) || s.Table().MeanChain() != float64(positions)/10 {
		t.Errorf("%d positions in chains of %f", n, s.Table().MeanChain())
	}
	must.Get(s.FindWinner(context.Background(), g.Start()))(t)
	want.Lookups, want.Hits, want.Steps = want.Lookups+1, want.Hits+1, s.Counts().Steps
	if got := s.Counts(); got != want {
		t.Errorf("the next game: %+v, want %+v", got, want)
	}

	var games func(p game.Position) uint64
	games = func(p game.Position) uint64 {
		n := uint64(1)
		for _, m := range g.Moves(nil, p) {
			n += games(m.To)
		}
		return n
	}
	_, s = winner(t, g, 0, g.Start())
	if got, want := s.Counts(), (memo.Counts{Positions: games(g.Start())}); got != want {
		t.Errorf("without a table: %+v, want %+v", got, want)
	}
}

// TestChains checks that chains have about equal lengths, whatever their number.
func TestChains(t *testing.T) {
	g := acyclic(t, "connectn width=4 height=4 connect=3")
	for _, chains := range []int{300, 1 << 12, 10_007, 100_000} {
		_, s := winner(t, g, chains, g.Start())
		// A successful lookup compares half of a chain on average, an unsuccessful one all
		// elements that are there at that time.
		c, mean := s.Counts(), s.Table().MeanChain()
		if a := float64(c.Steps) / float64(c.Lookups); a > mean/2+1.2 {
			t.Errorf("%d chains: %.2f elements a look-up, the mean chain has %.2f", chains, a, mean)
		}
	}
}

// TestMemory checks that a table stays within its memory; a position that does not fit is
// examined again.
func TestMemory(t *testing.T) {
	for _, n := range []int{1, 1000, 1 << 16, 100_000} {
		table := must.Get(memo.NewTable(1000, 4*1000+16*int64(n)))(t)
		for table.Insert(game.Position(table.Len()), memo.Verdict{Value: 1}) {
		}
		if table.Len() != n {
			t.Errorf("%d positions where there is room for %d", table.Len(), n)
		}
	}
	if _, err := memo.NewTable(1<<18, 1<<20); err == nil {
		t.Error("a table with no room but for its chains")
	}
	g := acyclic(t, "connectn width=4 height=3 connect=3")
	s := must.Get(memo.New(g, memo.Options{Chains: 1000, Memory: 4000 + 16*6000}))(t)
	v, err := s.FindWinner(context.Background(), g.Start())
	if err != nil || v.Value.String() != "X wins in 9" || s.Table().Len() != 6000 || s.Counts().Positions <= 7157 {
		t.Errorf("%s, %v, %d in the table, %+v", v.Value, err, s.Table().Len(), s.Counts())
	}
	for _, chains := range []int{-1, memo.MaxChains + 1} {
		if _, err := memo.New(g, memo.Options{Chains: chains}); err == nil {
			t.Errorf("%d chains", chains)
		}
	}
}

// TestStopped checks that a search that is stopped returns an error, and leaves no wrong
// entries.
func TestStopped(t *testing.T) {
	large := must.Get(connectn.New(7, 6, 4))(t)
	for _, chains := range []int{0, 1000} {
		s, err := memo.New(large, memo.Options{Chains: chains})
		must.OK(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		begun := time.Now()
		_, err = s.FindWinner(ctx, 0)
		cancel()
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
			t.Errorf("%d chains: %v after %v", chains, err, took)
		}
	}
	g := acyclic(t, "connectn width=4 height=4 connect=3")
	s := must.Get(memo.New(g, memo.Options{Chains: 1000}))(t)
	for n := time.Duration(0); ; n = 2*n + 1 { // the first one has no time
		ctx, cancel := context.WithTimeout(context.Background(), n*100*time.Microsecond)
		v, err := s.FindWinner(ctx, g.Start())
		cancel()
		if err != nil {
			continue
		}
		if n == 0 || v.Value.String() != "X wins in 9" {
			t.Errorf("%s, stopped %v", v.Value, n > 0)
		}
		break
	}
}

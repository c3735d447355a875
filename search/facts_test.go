package search

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	tables "github.com/treereduce/treereduce/table"
)

// facts are known results of Connect N: of each board, by the column of the first move. W,
// T and L are results for the player who makes that move, with the number of moves from the
// empty board.
var facts = []struct {
	width, height, connect int
	first                  string
	long                   bool
}{
	{3, 3, 3, "T9 T9 T9", false},
	{3, 4, 3, "T12 T12 T12", false},
	{4, 3, 3, "W11 W9 W9 W11", false},
	{4, 4, 3, "W15 W9 W9 W15", false},
	{4, 5, 3, "W17 W11 W11 W17", false},
	{5, 4, 3, "L12 W9 W9 W9 L12", false},
	{5, 5, 3, "L14 W11 W9 W11 L14", false},
	{4, 4, 4, "T16 T16 T16 T16", false},
	{5, 4, 4, "L20 T20 T20 T20 L20", false},
	{6, 4, 4, "L24 L24 L24 L24 L24 L24", false},
	{7, 4, 4, "L28 L28 L28 T28 L28 L28 L28", false},
	{6, 6, 4, "L34 L34 L36 L36 L34 L34", true},
	{7, 5, 4, "L34 T35 T35 T35 T35 T35 L34", true},
}

func checkFacts(t *testing.T, long bool) {
	for _, tt := range facts {
		if tt.long != long {
			continue
		}
		g := parse(t, board(tt.width, tt.height, tt.connect))
		s := newSearcher(t, g, Options{Threads: 2})
		for i, m := range g.Moves(nil, g.Start()) {
			fact := strings.Fields(tt.first)[i]
			want := map[byte]string{'W': "X wins in ", 'T': "tie in ", 'L': "O wins in "}[fact[0]] + fact[1:]
			r := solved(t, s, m.To, Limit{})
			if got := g.Values().Text(g.Values().Before(r.Value)); got != want {
				t.Errorf("%s, column %s: %s, want %s", g.Spec(), m.Name, got, want)
			}
		}
	}
}

func TestFacts(t *testing.T) { checkFacts(t, false) }

func TestLongFacts(t *testing.T) {
	longtest.Skip(t)
	checkFacts(t, true)
}

// TestLongTable compares random positions of 5×5 connect 4 with the solved table.
func TestLongTable(t *testing.T) {
	longtest.Skip(t)
	g := parse(t, board(5, 5, 4))
	tab := must.Get(solveTable(t.TempDir(), g))(t)
	defer tab.Close()
	r := rand.New(rand.NewPCG(9, 9))
	for _, threads := range []int{1, 2} {
		s := newSearcher(t, g, Options{Threads: threads})
		for range 10000 {
			walk := gametest.Walk(r, g, r.IntN(26))
			p := walk[len(walk)-1]
			want, ok, err := tab.Lookup(p)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if got := solved(t, s, p, Limit{}); got.Value != want {
				t.Fatalf("%q is %s, found %s", g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(got.Value))
			}
		}
	}
}

// solveTable solves a game into a directory that does not exist, or is empty.
func solveTable(dir string, g game.Game) (*tables.Table, error) {
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil)
	if err != nil {
		return nil, err
	}
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Codec: jobdir.Packed, Final: solve.FinalNo, UntilTier: -1}
	if _, err := solve.Run(context.Background(), data, g, o); err != nil {
		data.Close()
		return nil, err
	}
	if err := data.Close(); err != nil {
		return nil, err
	}
	return tables.OpenOf(store.Local{}, dir, g)
}

// longestRow limits the columns of boards with one row. Those with 15 and 16 columns have
// five times as many positions as all others together, and only lines along the row.
const longestRow = 14

// TestLongSquares compares every position of every board of at most TREEREDUCE_SQUARES
// squares (default: 12) with the solved table of the board: outcome and length. It
// searches one of two positions that are mirror images. A searcher processes a board in the
// order of its table, so for most positions it has already searched all successors.
func TestLongSquares(t *testing.T) {
	longtest.Skip(t)
	squares := longtest.Number(t, "TREEREDUCE_SQUARES", 12)
	var boards [][3]int
	for width := 1; width <= squares; width++ {
		for height := 1; width*height <= squares; height++ {
			if height == 1 && width > longestRow {
				continue
			}
			for connect := 1; connect <= max(width, height); connect++ {
				boards = append(boards, [3]int{width, height, connect})
			}
		}
	}
	slices.SortStableFunc(boards, func(a, b [3]int) int { return -cmp.Compare(a[0], b[0]) }) // the ones that take longest first
	var all, searched atomic.Uint64
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(boards)) && !t.Failed(); i = next.Add(1) - 1 {
				b := boards[i]
				a, s, err := checkTable(t.TempDir(), parse(t, board(b[0], b[1], b[2])), uint(b[1])+1)
				if err != nil {
					t.Error(err)
				}
				all.Add(a)
				searched.Add(s)
			}
		})
	}
	wait.Wait()
	t.Logf("%d boards, %d positions, %d searched", len(boards), all.Load(), searched.Load())
}

// checkTable searches all positions of a board, except mirror images, with one worker or
// with two. bits is the number of bits of a column. It returns the number of positions, and
// the number of positions searched.
func checkTable(dir string, g game.Game, bits uint) (all, searched uint64, err error) {
	tab, err := solveTable(dir, g)
	if err != nil {
		return 0, 0, err
	}
	defer tab.Close()
	var searchers []*Searcher
	for _, threads := range []int{1, 2} {
		s, err := New(g, Options{Memory: 4 << 20, Threads: threads})
		if err != nil {
			return 0, 0, err
		}
		searchers = append(searchers, s)
	}
	for b, err := range tab.All() {
		if err != nil {
			return 0, 0, err
		}
		for i, p := range b.Positions {
			all++
			if p > mirrored(p, g.KeyBits(), bits) {
				continue
			}
			searched++
			r, err := searchers[b.Tier&1].Search(context.Background(), p, Limit{Bare: true})
			if err != nil {
				return 0, 0, err
			}
			if !r.Exact || r.Value != b.Values[i] {
				return 0, 0, fmt.Errorf("%s: %q is %s, found %s", g.Spec(), g.AppendText(nil, p), g.Values().Text(b.Values[i]), g.Values().Text(r.Value))
			}
		}
	}
	return all, searched, nil
}

// mirrored returns the mirror image of a board whose columns take bits bits.
func mirrored(p game.Position, keyBits, bits uint) (m game.Position) {
	for ; keyBits > 0; keyBits -= bits {
		m = m<<bits | p&(1<<bits-1)
		p >>= bits
	}
	return m
}

package search

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
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
	tab := solveTable(t, g)
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

// solveTable solves a game.
func solveTable(t *testing.T, g game.Game) *tables.Table {
	t.Helper()
	dir := t.TempDir()
	data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Final: solve.FinalNo, UntilTier: -1}
	must.Get(solve.Run(t.Context(), data, g, o))(t)
	must.OK(t, data.Close())
	return must.Get(tables.OpenOf(store.Local{}, dir, g))(t)
}

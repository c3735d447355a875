package memo_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/memo"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// likeTable compares the value of every position of a solved game with its table: with that
// many chains, and without a table of its own for positions at most plainWithin moves
// before the last tier. In a game with millions of positions it checks one in 17.
func likeTable(t *testing.T, g game.Acyclic, chains, plainWithin int) {
	t.Helper()
	tab := solved.Table(t, g)
	positions := must.Get(tab.Positions())(t)
	began := time.Now()
	defer func() { t.Log(g.Spec(), time.Since(began)) }()
	s := must.Get(memo.New(g, memo.Options{Chains: chains}))(t)
	plain := must.Get(memo.New(g, memo.Options{}))(t)
	seen := map[game.Position]bool{g.Start(): true}
	for todo := []game.Position{g.Start()}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, m := range g.Moves(nil, p) {
			if !seen[m.To] {
				seen[m.To] = true
				todo = append(todo, m.To)
			}
		}
		if positions > 1_000_000 && p%17 != 0 {
			continue // looking up all positions takes minutes
		}
		want, ok, err := tab.Lookup(p)
		if !ok || err != nil {
			t.Fatalf("%s: %q is not in the table, %v", g.Spec(), g.AppendText(nil, p), err)
		}
		searchers := []*memo.Searcher{s}
		if g.Tiers()-g.Tier(p) <= plainWithin {
			searchers = append(searchers, plain)
		}
		for _, s := range searchers {
			v, err := s.FindWinner(t.Context(), p)
			if err != nil || v.Value != want {
				t.Fatalf("%s: %q: %s, %v, the table has %s", g.Spec(), g.AppendText(nil, p), v.Value, err, want)
			}
		}
	}
	if uint64(len(seen)) != positions || s.Counts().Positions != positions {
		t.Errorf("%s: %d positions are reached, %d examined, the table has %d", g.Spec(), len(seen), s.Counts().Positions, positions)
	}
}

// TestTables compares small boards of several games with their tables.
func TestTables(t *testing.T) {
	for _, spec := range []string{
		"connectn width=3 height=3 connect=3", "connectn width=4 height=3 connect=3", "connectn width=2 height=5 connect=2",
		"connectn width=3 height=4 connect=4", "mnk width=3 height=3 connect=3", "mancala pits=2 stones=2",
	} {
		likeTable(t, acyclic(t, spec), 5000, 8)
	}
}

// TestLongTables checks boards of Connect N of at most 12 squares and 7 columns, with every
// length of a line, and boards of up to 16 squares that are at least 3 high and wide. The
// search without a table runs on boards of at most 12 squares, from 8 moves before the end
// on, or 6 if a position has more than 4 moves. With TREEREDUCE_SQUARES=16 it checks every
// board of at most 16 squares.
func TestLongTables(t *testing.T) {
	longtest.Skip(t)
	squares := longtest.Number(t, "TREEREDUCE_SQUARES", 0)
	for width := 1; width <= max(squares, 7); width++ {
		for height := 1; width*height <= cmp.Or(squares, 16); height++ {
			within := 8
			switch {
			case squares > 0:
				within = 0
			case width*height > 12 && min(width, height) < 3:
				continue
			case width*height > 12:
				within = 0
			case width > 4:
				within = 6
			}
			for connect := 1; connect <= max(width, height); connect++ {
				likeTable(t, acyclic(t, fmt.Sprintf("connectn width=%d height=%d connect=%d", width, height, connect)), 1_000_000, within)
			}
		}
	}
}

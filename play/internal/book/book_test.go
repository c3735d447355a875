package book

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/search"
)

// made makes a book of a game.
func made(t testing.TB, g game.Tiered, plies int) *Book {
	t.Helper()
	return must.Get(New(g, plies, must.Get(Search(t.Context(), g, plies, searcher(t, g)))(t)))(t)
}

func searcher(t testing.TB, g game.Game) *search.Searcher {
	t.Helper()
	return must.Get(search.New(g, search.Options{Memory: 1 << 20}))(t)
}

// acyclic makes one of our games without cycles.
func acyclic(t testing.TB, spec string) game.Tiered {
	t.Helper()
	return must.Get(all.Kinds().Parse(spec))(t).(game.Tiered)
}

// TestBook checks that a book has the values of all positions up to its last ply, those of the
// solved game, and no others; and that its best moves are best.
func TestBook(t *testing.T) {
	for spec, most := range map[string]int{
		"connectn width=4 height=4 connect=3": 6,
		"connectn width=5 height=3 connect=3": 5,
		"connectn width=2 height=2 connect=2": 3, // where play is over
		"connectn width=1 height=1 connect=1": 1,
		"mnk width=3 height=3 connect=3":      4, // without mirror images
	} {
		g := acyclic(t, spec)
		want := gametest.Search(g)
		for plies := range most + 1 {
			b := made(t, g, plies)
			at := map[game.Position]bool{g.Start(): true}
			for ply := range most + 1 {
				next := make(map[game.Position]bool)
				for p := range at {
					moves := g.Moves(nil, p)
					for _, m := range moves {
						next[m.To] = true
					}
					v, ok := b.Lookup(p)
					if inside := ply <= plies && len(moves) > 0; ok != inside || ok && v != want[p] {
						t.Fatalf("%s, %d plies, %q: %v %v, want %v %v", spec, plies, g.AppendText(nil, p), v, ok, want[p], inside)
					}
					best, after, ok := b.Best(p)
					if ok && (want[best.To] != after || g.Values().Before(after) != want[p]) || !ok && ply < plies && len(moves) > 0 {
						t.Fatalf("%s, %d plies, %q: best %s %v %v, want %v", spec, plies, g.AppendText(nil, p), best.Name, after, ok, want[p])
					}
				}
				at = next
			}
		}
	}
}

// TestErrors checks the errors for values of other positions, and for positions whose value a search does not prove.
func TestErrors(t *testing.T) {
	g := acyclic(t, "connectn width=4 height=3 connect=3")
	if _, err := New(g, 3, make([]byte, 3)); err == nil || !strings.Contains(err.Error(), "positions, found 3") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	large := acyclic(t, "connectn width=7 height=6 connect=4")
	if _, err := Search(ctx, large, 1, searcher(t, large)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	mancala := acyclic(t, "mancala pits=2 stones=2")
	if _, err := Search(t.Context(), mancala, 2, searcher(t, mancala)); err == nil || !strings.Contains(err.Error(), "does not prove") {
		t.Errorf("Mancala: error %v", err)
	}
}

// TestEmbedded checks the values of the first moves in the embedded book: in the middle column the
// first player wins with the last but one move; the score of other solvers is 0 beside it, then -1
// and -2 (J. D. Allen and V. Allis, 1988; P. Pons, Solving Connect 4).
func TestEmbedded(t *testing.T) {
	g := must.Get(all.Kinds().Parse("connectn width=7 height=6 connect=4"))(t)
	b := Embedded(g)
	edge, next, inner, middle := game.NewValue(game.SecondWins, 39), game.NewValue(game.SecondWins, 41), game.NewValue(game.Tie, 41), game.NewValue(game.FirstWins, 40)
	want := []game.Value{edge, next, inner, middle, inner, next, edge}
	for i, m := range g.Moves(nil, g.Start()) {
		if got, ok := b.Lookup(m.To); !ok || got != want[i] {
			t.Errorf("move %s: %v, %v, want %v", m.Name, got, ok, want[i])
		}
	}
	if got, ok := b.Lookup(g.Start()); !ok || got != g.Values().Before(middle) {
		t.Errorf("start: %v, %v", got, ok)
	}
	if small, err := all.Kinds().Parse("connectn width=6 height=5 connect=4"); err != nil || Embedded(small) != nil {
		t.Errorf("6×5: %v, or it has a book", err)
	}
}

// TestEmbeddedScores compares random positions of ply 6 with another program, connect-four-ai 1.0.0 of
// B. Rall: the columns, from 1, and the score as play score prints it.
func TestEmbeddedScores(t *testing.T) {
	const scores = `
257771 0, 314744 17, 647214 -5, 174457 17, 716436 -2,
725131 2, 116514 0, 624615 -1, 274452 18, 326274 -1,
314756 18, 126673 1, 163665 4, 457623 3, 354754 4,
571426 2, 744623 2, 567663 1, 146517 0, 257434 -2`
	g := acyclic(t, "connectn width=7 height=6 connect=4")
	b := Embedded(g)
	for pair := range strings.SplitSeq(scores, ",") {
		columns, text, _ := strings.Cut(strings.TrimSpace(pair), " ")
		p := g.Start()
		for _, c := range columns {
			p = g.Moves(nil, p)[slices.IndexFunc(g.Moves(nil, p), func(m game.Move) bool { return m.Name == string(c-1) })].To
		}
		v, ok := b.Lookup(p)
		score := 0
		if v.Outcome() != game.Tie {
			if score = (44 - 6 - v.Remoteness()) / 2; v.Outcome() == game.SecondWins {
				score = -score
			}
		}
		if got := strconv.Itoa(score); !ok || got != text {
			t.Errorf("%s: %v, score %s, want %s", columns, v, got, text)
		}
	}
}

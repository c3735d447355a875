package search

import (
	"context"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
)

// What is known of whole games, proven from their start.
func TestKnownValues(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"connectn width=2 height=2 connect=2", "X wins in 3"},
		{"connectn width=3 height=3 connect=3", "tie in 9"},
		{"connectn width=4 height=4 connect=3", "X wins in 9"},
		{"connectn width=4 height=4 connect=4", "tie in 16"},
		{"mnk width=3 height=3 connect=3", "tie in 9"},
		{"quickcross width=3 height=2 connect=2", "LOSE in 2"},
	} {
		g := parse(t, tt.spec)
		s, err := New(g, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Search(context.Background(), g.Start(), Limit{})
		if got := g.Values().Text(r.Value); err != nil || !r.Exact || got != tt.want {
			t.Errorf("%s: %s (exact: %v), error %v; want %s", tt.spec, got, r.Exact, err, tt.want)
		}
	}
}

// parse makes a game of ours.
func parse(t testing.TB, spec string) game.Game {
	t.Helper()
	g, err := all.Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

package gametest

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
)

// SameMoves compares the moves of a position with those of another implementation of the rules. The keys of want are the
// names of the moves, its values the texts of the positions after them. SameMoves deletes the entries of want.
func SameMoves(t testing.TB, g game.Game, p game.Position, want map[string]string) {
	t.Helper()
	for _, m := range g.Moves(nil, p) {
		if after := string(g.AppendText(nil, m.To)); after != want[m.Name] {
			t.Fatalf("%s: %q: move %s leads to %q, want %q", g.Spec(), g.AppendText(nil, p), m.Name, after, want[m.Name])
		}
		delete(want, m.Name)
	}
	if len(want) > 0 {
		t.Fatalf("%s: %q: the moves %v are missing", g.Spec(), g.AppendText(nil, p), want)
	}
}

// BenchmarkEdges measures the moves of positions and the canonical positions to which they lead, by the time for each move.
// The positions are those of random games of at most this many moves that are not terminal and that wanted selects.
func BenchmarkEdges(b *testing.B, g game.Symmetric, most int, wanted func(p game.Position) bool) {
	b.Helper()
	const positions = 10_000
	r := rand.New(rand.NewPCG(3, 4))
	var open []game.Position
	for len(open) < positions {
		for _, p := range Walk(r, g, most) {
			if g.Primitive(p) == 0 && wanted(p) {
				open = append(open, p)
			}
		}
	}
	var moves []game.Move
	edges := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range open {
			moves = g.Moves(moves[:0], p)
			for i := range moves {
				moves[i].To = g.Canonical(moves[i].To)
			}
			edges += len(moves)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(edges), "ns/edge")
}

package mills

import (
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// Figures describe a solved game: canonical positions, these with their images, moves to different canonical
// positions, and the positions by their result.
type figures struct{ canonical, images, edges, win, lose, draw, longest int }

// TestPublished compares with GamesmanOne, which publishes the figures of Five and Six Men's Morris.
func TestPublished(t *testing.T) {
	published(t, 5, figures{1120745, 17844721, 7039410, 631982, 380089, 108674, 74})
}

func TestLongPublished(t *testing.T) {
	longtest.Skip(t)
	published(t, 6, figures{2660288, 42372745, 16335906, 1467733, 974903, 217652, 119})
}

func published(t *testing.T, men int, want figures) {
	t.Helper()
	if got := solve(must.Get(New(men))(t)); got != want {
		t.Errorf("%d men: %+v, want %+v", men, got, want)
	}
}

// solve solves a game without ties by its canonical positions, from the ends backward.
func solve(g game.Tiered) (f figures) {
	s := g.(game.Symmetric)
	start := s.Canonical(g.Start())
	positions, numbers := []game.Position{start}, map[game.Position]int32{start: 0}
	var edges []int32 // successors of all positions, one after the other
	var first []int   // of each position: where its successors begin
	var images, scratch []game.Position
	var moves []game.Move
	for n := 0; n < len(positions); n++ {
		images, moves, scratch = s.Images(images[:0], positions[n]), g.Moves(moves[:0], positions[n]), scratch[:0]
		f.images += len(images)
		for _, m := range moves {
			scratch = append(scratch, s.Canonical(m.To))
		}
		slices.Sort(scratch)
		first = append(first, len(edges))
		for _, p := range slices.Compact(scratch) {
			to, ok := numbers[p]
			if !ok {
				to = int32(len(positions))
				numbers[p] = to
				positions = append(positions, p)
			}
			edges = append(edges, to)
		}
	}
	f.canonical, f.edges = len(positions), len(edges)
	first = append(first, len(edges))
	before := make([]int32, len(positions)+1) // where the predecessors of a position begin
	for _, to := range edges {
		before[to+1]++
	}
	for n := range positions {
		before[n+1] += before[n]
	}
	predecessors, at := make([]int32, len(edges)), slices.Clone(before)
	left := make([]int, len(positions)) // successors that are not known to be won
	var decided []int32                 // in the order of their plies
	plies, won := make([]int, len(positions)), make([]bool, len(positions))
	known := make([]bool, len(positions))
	for n := range positions {
		left[n] = first[n+1] - first[n]
		if left[n] == 0 {
			known[n] = true
			decided = append(decided, int32(n))
		}
		for _, to := range edges[first[n]:first[n+1]] {
			predecessors[at[to]] = int32(n)
			at[to]++
		}
	}
	for i := 0; i < len(decided); i++ {
		n := decided[i]
		for _, p := range predecessors[before[n]:before[n+1]] {
			if left[p]--; !known[p] && (!won[n] || left[p] == 0) {
				known[p], won[p], plies[p] = true, !won[n], plies[n]+1
				decided = append(decided, p)
			}
		}
	}
	for n := range positions {
		switch {
		case !known[n]:
			f.draw++
		case won[n]:
			f.win++
		default:
			f.lose++
		}
		f.longest = max(f.longest, plies[n])
	}
	return f
}

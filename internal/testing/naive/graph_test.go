package naive

import (
	"maps"
	"testing"
)

// graph is a game given as lists of moves; positions without moves are terminal.
type graph struct {
	moves    map[uint64][]uint64
	finished map[uint64]string
}

// TestSolve checks the definition case by case. In the last one, the player at 1 can move to 2 or to 6 and back, and the player at
// 2 can end in a tie at once, but wins by the longer path, so play goes on for ever between 1 and 6:
//
//	6 <-> 1 --> 2 --> 7 (tie)
//	            |
//	            3 --> 4 --> 5 (lost)
func TestSolve(t *testing.T) {
	for _, test := range []struct {
		name string
		game graph
		want map[uint64]Worth
	}{
		{"start is finished", graph{nil, map[uint64]string{0: Lose}}, map[uint64]Worth{0: {Lose, 0}}},
		{"nearest loss", graph{map[uint64][]uint64{0: {1, 2}, 1: {3}, 3: {4}}, map[uint64]string{2: Lose, 4: Lose}},
			map[uint64]Worth{0: {Win, 1}, 1: {Lose, 2}, 2: {Lose, 0}, 3: {Win, 1}, 4: {Lose, 0}}},
		{"farthest win", graph{map[uint64][]uint64{0: {1, 2}, 1: {3}, 2: {4}, 4: {5}, 5: {6}}, map[uint64]string{3: Lose, 6: Lose}},
			map[uint64]Worth{0: {Lose, 4}, 1: {Win, 1}, 2: {Win, 3}, 3: {Lose, 0}, 4: {Lose, 2}, 5: {Win, 1}, 6: {Lose, 0}}},
		{"two moves to one successor", graph{map[uint64][]uint64{0: {1, 1}, 1: {2}}, map[uint64]string{2: Lose}},
			map[uint64]Worth{0: {Lose, 2}, 1: {Win, 1}, 2: {Lose, 0}}},
		{"nearest tie", graph{map[uint64][]uint64{0: {1, 2, 0}, 1: {2}}, map[uint64]string{2: Tie}},
			map[uint64]Worth{0: {Tie, 1}, 1: {Tie, 1}, 2: {Tie, 0}}},
		{"tie before loss", graph{map[uint64][]uint64{0: {1, 2}, 1: {3}}, map[uint64]string{2: Tie, 3: Lose}},
			map[uint64]Worth{0: {Tie, 1}, 1: {Win, 1}, 2: {Tie, 0}, 3: {Lose, 0}}},
		{"finished win", graph{map[uint64][]uint64{0: {1}, 1: {0, 2}}, map[uint64]string{2: Win}},
			map[uint64]Worth{0: {Draw, 0}, 1: {Draw, 0}, 2: {Win, 0}}},
		{"round and round", graph{map[uint64][]uint64{0: {1}, 1: {0}}, nil},
			map[uint64]Worth{0: {Draw, 0}, 1: {Draw, 0}}},
		{"ties after wins", graph{map[uint64][]uint64{0: {1}, 1: {2, 6}, 6: {1}, 2: {7, 3}, 3: {4}, 4: {5}}, map[uint64]string{5: Lose, 7: Tie}},
			map[uint64]Worth{0: {Draw, 0}, 1: {Draw, 0}, 2: {Win, 3}, 3: {Lose, 2}, 4: {Win, 1}, 5: {Lose, 0}, 6: {Draw, 0}, 7: {Tie, 0}}},
	} {
		g := Graph{Finished: func(p uint64) string { return test.game.finished[p] }, Successors: func(p uint64) []uint64 { return test.game.moves[p] }}
		if got := g.Solve(); !maps.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

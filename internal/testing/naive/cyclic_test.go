package naive

import (
	"fmt"
	"maps"
	"testing"
)

// graph is a game given as lists of moves; positions without moves are terminal.
type graph struct {
	moves    map[uint64][]uint64
	finished map[uint64]string
}

func (g graph) solve(start uint64) map[uint64]Worth {
	return SolveCyclic(start, func(p uint64) string { return g.finished[p] }, func(p uint64) []uint64 { return g.moves[p] })
}

// atOnce solves like the program of 2011. In each pass, a position that is decided or is a
// tie is sent to its predecessors. A tie turns a predecessor that is a draw so far into a tie, which
// is sent on at once; a loss turns any predecessor into a win.
func (g graph) atOnce(start uint64) map[uint64]Worth {
	worth := map[uint64]Worth{}
	left := map[uint64]int{}
	predecessors := map[uint64][]uint64{}
	var frontier []uint64
	seen := map[uint64]bool{start: true}
	for next := []uint64{start}; len(next) > 0; next = next[1:] {
		p := next[0]
		worth[p] = Worth{Draw, 0}
		if result := g.finished[p]; result != "" {
			worth[p] = Worth{result, 0}
			frontier = append(frontier, p)
		}
		for _, successor := range g.moves[p] {
			left[p]++
			predecessors[successor] = append(predecessors[successor], p)
			if !seen[successor] {
				seen[successor] = true
				next = append(next, successor)
			}
		}
	}
	for len(frontier) > 0 {
		var changed []uint64
		for _, successor := range frontier {
			for _, p := range predecessors[successor] {
				now, was := Worth{}, worth[p].Result
				switch worth[successor].Result {
				case Lose:
					if was == Win {
						continue
					}
					now.Result = Win
				case Tie:
					if was != Draw {
						continue
					}
					now.Result = Tie
				case Win:
					if left[p]--; left[p] > 0 {
						continue
					}
					now.Result = Lose
				}
				now.Remoteness = worth[successor].Remoteness + 1
				worth[p] = now
				changed = append(changed, p)
			}
		}
		frontier = changed
	}
	return worth
}

// TestTiesSettleAfterWins shows that if ties are decided before wins, a draw is taken for a
// tie. The player at 1 can move to 2 or to 6 and back; the player at 2 can end in a tie at
// once, but wins by the longer path:
//
//	6 <-> 1 --> 2 --> 7 (tie)
//	            |
//	            3 --> 4 --> 5 (lost)
//
// So 2 is bad for the player at 1, and play goes on for ever between 1 and 6.
func TestTiesSettleAfterWins(t *testing.T) {
	g := graph{
		moves:    map[uint64][]uint64{1: {2, 6}, 6: {1}, 2: {7, 3}, 3: {4}, 4: {5}},
		finished: map[uint64]string{5: Lose, 7: Tie},
	}
	want := map[uint64]Worth{
		1: {Draw, 0}, 2: {Win, 3}, 3: {Lose, 2}, 4: {Win, 1}, 5: {Lose, 0}, 6: {Draw, 0}, 7: {Tie, 0},
	}
	if got := g.solve(1); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	wrong := g.atOnce(1)
	if wrong[2] != want[2] {
		t.Errorf("at once: 2 is %v, want %v", wrong[2], want[2])
	}
	if wrong[1].Result != Tie || wrong[6].Result != Tie {
		t.Errorf("at once: 1 and 6 are %v and %v: this game does not show the difference", wrong[1], wrong[6])
	}
}

// TestSolveCyclic checks the definition case by case.
func TestSolveCyclic(t *testing.T) {
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
	} {
		if got := test.game.solve(0); !maps.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestQuickCross checks reference results of small boards: reached, won, lost, drawn. The
// positions reached must be those that satisfy Reachable.
func TestQuickCross(t *testing.T) {
	for _, test := range []struct {
		q                         QuickCross
		start                     Worth
		reached, won, lost, drawn int
	}{
		{QuickCross{2, 3, 2}, Worth{Lose, 2}, 349, 86, 263, 0},
		{QuickCross{3, 3, 3}, Worth{Lose, 6}, 18753, 10812, 7709, 232},
	} {
		t.Run(fmt.Sprint(test.q), func(t *testing.T) {
			worth := test.q.Solve()
			if worth[0] != test.start {
				t.Errorf("the start is %v, want %v", worth[0], test.start)
			}
			count := map[string]int{}
			for _, w := range worth {
				count[w.Result]++
			}
			if len(worth) != test.reached || count[Win] != test.won || count[Lose] != test.lost || count[Draw] != test.drawn || count[Tie] != 0 {
				t.Errorf("%d positions: %v, want %d of %+v", len(worth), count, test.reached, test)
			}
			size := 1
			for range test.q.W * test.q.H {
				size *= 3
			}
			for p := range uint64(size) {
				if _, ok := worth[p]; ok != test.q.Reachable(p) {
					t.Fatalf("%q is reached: %v", test.q.board(p), ok)
				}
				if test.q.hash(test.q.board(p)) != p {
					t.Fatalf("%q has the hash %d, want %d", test.q.board(p), test.q.hash(test.q.board(p)), p)
				}
			}
		})
	}
}

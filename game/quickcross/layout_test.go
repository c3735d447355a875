package quickcross

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

var _ game.Cyclic = (*Rules)(nil)

// plain is Quick Cross position by position, for game.PlainRanges.
type plain struct {
	game.Game
	r *Rules
}

func (p plain) Info() game.Info { return game.Info{Hashes: p.r.Positions()} }

// Parents removes or rotates a piece.
func (p plain) Parents(dst []game.Position, to game.Position) []game.Position {
	for i := range p.r.squares {
		weight := p.r.weights[i]
		switch p.r.digit(to, i) {
		case 1:
			dst = append(dst, to-weight, to+weight)
		case 2:
			dst = append(dst, to-2*weight, to-weight)
		}
	}
	return dst
}

// The contract of a game, on boards of every shape.
func TestContract(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {3, 3, 3}, {5, 4, 3}, {26, 1, 2}, {1, 31, 5}, {6, 5, 4}} {
		gametest.Contract(t, mustNew(t, b[0], b[1], b[2]))
	}
}

// The set methods agree with the moves, for any division into range and low part.
func TestSetsAgainstMoves(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {2, 1, 1}, {2, 1, 2}, {2, 2, 2}, {2, 3, 2}, {5, 1, 4}, {1, 6, 3}, {3, 2, 3}, {3, 3, 3}, {3, 3, 2}, {4, 2, 1}} {
		squares := b[0] * b[1]
		for low := max(0, squares-6); low <= squares; low++ {
			r, err := newRules(b[0], b[1], b[2], low)
			if err != nil {
				t.Fatal(err)
			}
			gametest.Check(t, r)
			if squares <= 6 {
				gametest.Check(t, game.PlainRanges(plain{r, r}, r.RangeSize()))
			}
		}
		r := mustNew(t, b[0], b[1], b[2])
		for _, size := range []int{1, 7, 100, 1000} { // the last range is shorter
			if size < int(r.Positions()) && int(r.Positions()) < 1000*size {
				gametest.Check(t, game.PlainRanges(plain{r, r}, size))
			}
		}
	}
	if !testing.Short() {
		gametest.Check(t, mustNew(t, 4, 3, 3))
	}
}

// On a board too large to enumerate, sets are compared with the moves of some of their
// positions.
func TestSetsOfLargeBoard(t *testing.T) {
	for _, b := range [][3]int{{5, 5, 4}, {26, 1, 3}, {1, 31, 4}, {6, 5, 3}} {
		r := mustNew(t, b[0], b[1], b[2])
		rnd := rand.New(rand.NewPCG(3, uint64(r.squares)))
		mover := r.NewMover()
		size := uint64(r.RangeSize())
		set := make(block.Set, block.Words(r.RangeSize()))
		for range 200 {
			// Few pieces, so that most positions are not terminal.
			var p game.Position
			for range rnd.IntN(r.squares) {
				p = p - uint64(r.digit(p, 0)) + rnd.Uint64N(3) // square 0
				p = p/3 + p%3*r.weights[r.squares-1]           // the next one
			}
			rng, slot := p/size, int(p%size)
			set.Add(slot)
			lost := false
			mover.Finished(rng, set, func(game.Result, block.Set) { lost = true })
			if lost != (r.Primitive(p) != 0) {
				t.Fatalf("%q: Finished emits it: %v", r.AppendText(nil, p), lost)
			}
			var got, want []game.Position
			mover.Children(rng, set, func(rng uint64, to block.Set) {
				for _, slot := range to.Append(nil) {
					got = append(got, rng*size+uint64(slot))
				}
			})
			for _, m := range r.Moves(nil, p) {
				want = append(want, m.To)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !lost && !slices.Equal(got, want) {
				t.Fatalf("%q: children %d, want %d", r.AppendText(nil, p), got, want)
			}
			set.Remove(slot)
		}
	}
}

// A Mover does not allocate.
func TestMoverAllocatesNothing(t *testing.T) {
	r := mustNew(t, 4, 3, 3)
	mover := r.NewMover().(game.Backward)
	set := make(block.Set, block.Words(r.RangeSize()))
	set.Fill(r.RangeSize())
	var c block.Counter
	c.Reset(r.RangeSize())
	emit := func(uint64, block.Set) {}
	finish := func(game.Result, block.Set) {}
	for rng := range game.Ranges(r) {
		if n := testing.AllocsPerRun(1, func() {
			mover.Children(rng, set, emit)
			mover.Parents(rng, set, emit)
			mover.Finished(rng, set, finish)
			mover.CountMoves(rng, set, &c)
		}); n != 0 {
			t.Fatalf("range %d: %v allocations", rng, n)
		}
	}
}

// oracle returns the oracle's values for a board, and caches them.
func oracle(q naive.QuickCross) map[uint64]naive.Worth {
	if oracles[q] == nil {
		oracles[q] = q.Solve()
	}
	return oracles[q]
}

var oracles = map[naive.QuickCross]map[uint64]naive.Worth{}

// Several Movers of the same rules work concurrently; mainly for the race detector.
func TestMoversAtOnce(t *testing.T) {
	r, err := newRules(3, 3, 3, 6)
	if err != nil {
		t.Fatal(err)
	}
	want := gametest.Solve(r).Values
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := gametest.Solve(r).Values; !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	wg.Wait()
}

// worth returns a value in the form of the oracle.
func worth(result game.Result, remoteness int) naive.Worth {
	return naive.Worth{Result: result.String(), Remoteness: remoteness}
}

// Solving with sets agrees with the oracle, for ranges of every size, and with solving
// position by position.
func TestSolveAgainstOracle(t *testing.T) {
	solveAgainstOracle(t, [][3]int{{1, 1, 1}, {2, 2, 1}, {2, 2, 2}, {2, 3, 2}, {3, 2, 3}, {4, 1, 3}, {1, 5, 5}, {3, 3, 3}, {3, 3, 2}, {4, 2, 4}})
}

// Boards of 12 squares.
func TestLongSolveAgainstOracle(t *testing.T) {
	longtest.Skip(t)
	solveAgainstOracle(t, [][3]int{{4, 3, 3}, {3, 4, 3}})
}

func solveAgainstOracle(t *testing.T, boards [][3]int) {
	for _, b := range boards {
		squares := b[0] * b[1]
		want := oracle(naive.QuickCross{W: b[0], H: b[1], Connect: b[2]})
		var all []game.Cyclic
		for _, low := range []int{0, 2, 4, 8, 10, squares} {
			if low <= squares && squares-low <= 8 {
				r, err := newRules(b[0], b[1], b[2], low)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, r)
			}
		}
		if squares <= 9 {
			r := mustNew(t, b[0], b[1], b[2])
			all = append(all, game.PlainRanges(plain{r, r}, 1000))
		}
		for _, g := range all {
			s := gametest.Solve(g)
			for p := range g.Positions() {
				result, remoteness, ok := s.Value(p)
				if w, reached := want[p]; ok != reached || ok && w != worth(result, remoteness) {
					t.Fatalf("%s, ranges of %d: %q is %v %d, reached: %v, want %v", g.Spec(), g.RangeSize(), g.AppendText(nil, p), result, remoteness, ok, w)
				}
			}
		}
	}
}

// The results of an independent program, see the tables of the project.
func TestReference(t *testing.T) { reference(t, 0, 9) }

// Boards of 12 squares, and 4×4.
func TestLongReference(t *testing.T) {
	longtest.Skip(t)
	reference(t, 10, 16)
}

// reference checks boards with least to most squares.
func reference(t *testing.T, least, most int) {
	for _, tt := range []struct {
		width, height, connect int
		start                  naive.Worth
		reached, wins, losses  int
		draws, moves           int
		remoteness             []int // number of positions decided in 0, 1, … plies
		new                    []int
	}{
		{2, 3, 2, worth(game.Loses, 2), 349, 86, 263, 0, 844, []int{262, 86, 1}, nil},
		{3, 3, 3, worth(game.Loses, 6), 18753, 10812, 7709, 232, 140200, []int{7628, 10666, 12, 56, 60, 90, 9}, []int{1, 18, 144, 672, 2016, 4032, 5320, 4344, 1890, 316}},
		{4, 3, 3, worth(game.Loses, 8), 453831, 211188, 242101, 542, 3596984, []int{241678, 210248, 108, 424, 234, 436, 72, 80, 9}, []int{1, 24, 264, 1760, 7920, 25344, 58912, 98992, 116564, 90688, 42386, 10120, 856}},
		{3, 4, 3, worth(game.Loses, 8), 453831, 211188, 242101, 542, 3596984, []int{241678, 210248, 108, 424, 234, 436, 72, 80, 9}, []int{1, 24, 264, 1760, 7920, 25344, 58912, 98992, 116564, 90688, 42386, 10120, 856}},
		{4, 4, 3, worth(game.Draws, 0), 28999497, -1, -1, -1, 232393776, make([]int, 10), nil},
		{4, 4, 4, worth(game.Draws, 0), 42658929, -1, -1, -1, 732403664, make([]int, 14), nil},
	} {
		if squares := tt.width * tt.height; squares < least || squares > most || squares > 9 && testing.Short() {
			continue
		}
		r := mustNew(t, tt.width, tt.height, tt.connect)
		s := gametest.Solve(r)
		checkStart := func(who string, got naive.Worth) {
			if got != tt.start {
				t.Errorf("%s: %s has %v for the start, want %v", r.Spec(), who, got, tt.start)
			}
		}
		result, remoteness, _ := s.Value(0)
		checkStart("Solve", worth(result, remoteness))
		check := func(what string, got, want int) {
			t.Helper()
			if got != want && want >= 0 {
				t.Errorf("%s: %d %s, want %d", r.Spec(), got, what, want)
			}
		}
		sum := func(list []int) (n int) {
			for _, v := range list {
				n += v
			}
			return n
		}
		check("reached", sum(s.New), tt.reached)
		check("reached with a value", sum(s.Values[0])+sum(s.Values[1])+sum(s.Values[2]), tt.reached)
		check("won", sum(s.Values[game.Wins]), tt.wins)
		check("lost", sum(s.Values[game.Loses]), tt.losses)
		check("tied", sum(s.Values[game.Ties]), 0)
		check("drawn", sum(s.Values[game.Draws]), tt.draws)
		check("moves", s.Moves, tt.moves)
		histogram := make([]int, max(len(s.Values[game.Wins]), len(s.Values[game.Loses])))
		for i := range histogram {
			for _, result := range []game.Result{game.Wins, game.Loses} {
				if i < len(s.Values[result]) {
					histogram[i] += s.Values[result][i]
				}
			}
		}
		check("values of remoteness", len(histogram), len(tt.remoteness))
		if tt.remoteness[0] != 0 && !slices.Equal(histogram, tt.remoteness) {
			t.Errorf("%s: by remoteness %d, want %d", r.Spec(), histogram, tt.remoteness)
		}
		if tt.new != nil && !slices.Equal(s.New, tt.new) {
			t.Errorf("%s: passes reach %d, want %d", r.Spec(), s.New, tt.new)
		}
		q := naive.QuickCross{W: tt.width, H: tt.height, Connect: tt.connect}
		if tt.width*tt.height == 16 {
			checkReachable(t, r, s, q, 1009)
			continue
		}
		checkReachable(t, r, s, q, 1)
		values := oracle(q)
		checkStart("the oracle", values[0])
		count := map[string]int{}
		byRemoteness := make([]int, len(tt.remoteness))
		for _, w := range values {
			count[w.Result]++
			if w.Result != naive.Draw {
				byRemoteness[w.Remoteness]++
			}
		}
		check("reached by the oracle", len(values), tt.reached)
		check("won by the oracle", count[naive.Win], tt.wins)
		check("lost by the oracle", count[naive.Lose], tt.losses)
		check("drawn by the oracle", count[naive.Draw], tt.draws)
		if !slices.Equal(byRemoteness, tt.remoteness) {
			t.Errorf("%s: the oracle has by remoteness %d, want %d", r.Spec(), byRemoteness, tt.remoteness)
		}
	}
}

// checkReachable compares the reached positions with a rule that decides reachability without
// playing, for every stride-th hash.
func checkReachable(t *testing.T, r *Rules, s *gametest.Solution, q naive.QuickCross, stride uint64) {
	t.Helper()
	for p := uint64(0); p < r.Positions(); p += stride {
		if _, _, ok := s.Value(p); ok != q.Reachable(p) {
			t.Fatalf("%s: %q is reached: %v, want %v", r.Spec(), r.AppendText(nil, p), ok, !ok)
		}
	}
}

func TestSinglePositions(t *testing.T) {
	small, large := mustNew(t, 3, 3, 3), mustNew(t, 4, 3, 3)
	solved := map[*Rules]*gametest.Solution{small: gametest.Solve(small), large: gametest.Solve(large)}
	check := func(r *Rules, text, want string) {
		t.Helper()
		p, err := r.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got := "not reached"
		if result, remoteness, ok := solved[r].Value(p); ok {
			got = fmt.Sprint(result, " ", remoteness)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	check(small, ".../.../...", "LOSE 6")
	check(small, "-../.../...", "WIN 5")
	check(small, "--./.../...", "WIN 1")
	check(small, "|-./.../...", "DRAW 0")
	check(small, "---/.../...", "LOSE 0")
	check(small, "|../.-./...", "LOSE 4")
	check(small, "-|./|-./..-", "LOSE 0") // 6703
	check(small, "-|./-|./..-", "WIN 1")
	check(small, "---/---/...", "not reached")
	check(large, "..../..../....", "LOSE 8")
	check(large, "|.-|/-.../....", "WIN 3")
	for _, m := range large.Moves(nil, 0) {
		want := "WIN 7"
		if m.Name[:2] == "b2" || m.Name[:2] == "c2" {
			want = "WIN 5"
		}
		check(large, string(large.AppendText(nil, m.To)), want)
	}
}

// BenchmarkSolve solves in memory on one core, with forward and retrograde passes.
func BenchmarkSolve(b *testing.B) {
	for _, board := range [][3]int{{4, 3, 3}, {4, 4, 3}, {4, 4, 4}} {
		r := mustNew(b, board[0], board[1], board[2])
		b.Run(fmt.Sprintf("%d×%d connect %d", board[0], board[1], board[2]), func(b *testing.B) {
			for b.Loop() {
				gametest.Solve(r)
			}
		})
	}
}

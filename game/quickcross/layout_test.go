package quickcross

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

var _ game.Cyclic = (*Rules)(nil)

// plain is Quick Cross position by position, for game.WithRanges.
type plain struct{ game.Reversible }

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
			r := must.Get(newRules(b[0], b[1], b[2], low))(t)
			gametest.Check(t, r)
			if squares <= 6 {
				gametest.Check(t, game.WithRanges(plain{r}, r.RangeSize()))
			}
		}
		r := mustNew(t, b[0], b[1], b[2])
		for _, size := range []int{1, 7, 100, 1000} { // the last range is shorter
			if size < int(r.Positions()) && int(r.Positions()) < 1000*size {
				gametest.Check(t, game.WithRanges(plain{r}, size))
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
			mover.Successors(rng, set, func(rng uint64, to block.Set) {
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
				t.Fatalf("%q: successors %d, want %d", r.AppendText(nil, p), got, want)
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
			mover.Successors(rng, set, emit)
			mover.Predecessors(rng, set, emit)
			mover.Finished(rng, set, finish)
			mover.CountMoves(rng, set, &c)
		}); n != 0 {
			t.Fatalf("range %d: %v allocations", rng, n)
		}
	}
}

// passes returns the number of positions that each forward pass reaches first, by set methods.
func passes(g game.Cyclic) (found []int) {
	sets := func() []block.Set {
		all := make([]block.Set, game.Ranges(g))
		for rng := range all {
			all[rng] = make(block.Set, block.Words(game.RangeLen(g, uint64(rng))))
		}
		return all
	}
	mover, reached, fresh := g.NewMover(), sets(), sets()
	fresh[0].Add(0)
	for {
		n, next := 0, sets()
		for rng, set := range fresh {
			for i := range set {
				set[i] &^= reached[rng][i]
			}
			n += set.Count()
			reached[rng].Union(set)
			open := slices.Clone(set)
			mover.Finished(uint64(rng), set, func(_ game.Result, over block.Set) {
				for i, w := range over {
					open[i] &^= w
				}
			})
			mover.Successors(uint64(rng), open, func(to uint64, set block.Set) { next[to].Union(set) })
		}
		if n == 0 {
			return found
		}
		found, fresh = append(found, n), next
	}
}

// Several Movers of the same rules work concurrently; mainly for the race detector.
func TestMoversAtOnce(t *testing.T) {
	r := must.Get(newRules(3, 3, 3, 6))(t)
	want := passes(r)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := passes(r); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	wg.Wait()
}

// The values that follow from the moves agree with the oracle.
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
		r, want := mustNew(t, b[0], b[1], b[2]), naive.QuickCross{W: b[0], H: b[1], Connect: b[2]}.Solve()
		values := gametest.Search(r)
		for p := range r.Positions() {
			v, ok := values[p]
			got := naive.Worth{Result: game.Result(v.Outcome()).String(), Remoteness: v.Remoteness()}
			if w, reached := want[p]; ok != reached || ok && w != got {
				t.Fatalf("%s: %q is %v, reached: %v, want %v", r.Spec(), r.AppendText(nil, p), got, ok, w)
			}
		}
	}
}

// The results of an independent program, see the tables of the project; TestLongQuickCross4x4 of
// package cmd has those of 4×4.
func TestReference(t *testing.T) { reference(t, 0, 9) }

// Boards of 12 squares.
func TestLongReference(t *testing.T) {
	longtest.Skip(t)
	reference(t, 10, 12)
}

// reference checks boards with least to most squares.
func reference(t *testing.T, least, most int) {
	large := []int{1, 24, 264, 1760, 7920, 25344, 58912, 98992, 116564, 90688, 42386, 10120, 856}
	byRemoteness := []int{241678, 210248, 108, 424, 234, 436, 72, 80, 9}
	for _, tt := range []struct {
		width, height, connect int
		reached, wins, losses  int
		draws                  int
		remoteness             []int // number of positions decided in 0, 1, … plies
		passes                 []int
	}{
		{2, 3, 2, 349, 86, 263, 0, []int{262, 86, 1}, []int{1, 12, 60, 144, 116, 16}},
		{3, 3, 3, 18753, 10812, 7709, 232, []int{7628, 10666, 12, 56, 60, 90, 9}, []int{1, 18, 144, 672, 2016, 4032, 5320, 4344, 1890, 316}},
		{4, 3, 3, 453831, 211188, 242101, 542, byRemoteness, large},
		{3, 4, 3, 453831, 211188, 242101, 542, byRemoteness, large},
	} {
		if squares := tt.width * tt.height; squares < least || squares > most {
			continue
		}
		r := mustNew(t, tt.width, tt.height, tt.connect)
		if got := passes(r); !slices.Equal(got, tt.passes) {
			t.Errorf("%s: passes reach %d, want %d", r.Spec(), got, tt.passes)
		}
		count := map[game.Result]int{}
		remoteness := make([]int, len(tt.remoteness))
		values := gametest.Search(r)
		for _, v := range values {
			count[game.Result(v.Outcome())]++
			if v != 0 {
				remoteness[v.Remoteness()]++
			}
		}
		want := map[game.Result]int{game.Wins: tt.wins, game.Loses: tt.losses}
		if tt.draws > 0 {
			want[game.Draws] = tt.draws
		}
		if len(values) != tt.reached || !maps.Equal(count, want) || !slices.Equal(remoteness, tt.remoteness) {
			t.Errorf("%s: %d positions, %v, by remoteness %d, want %d, %v, %d", r.Spec(), len(values), count, remoteness, tt.reached, want, tt.remoteness)
		}
	}
}

func TestSinglePositions(t *testing.T) {
	r := mustNew(t, 3, 3, 3)
	values := gametest.Search(r)
	for text, want := range map[string]string{
		".../.../...": "LOSE in 6",
		"-../.../...": "WIN in 5",
		"--./.../...": "WIN in 1",
		"|-./.../...": "DRAW",
		"---/.../...": "LOSE in 0",
		"|../.-./...": "LOSE in 4",
		"-|./|-./..-": "LOSE in 0", // 6703
		"-|./|-./...": "WIN in 1",
		"---/---/...": "not reached",
	} {
		p := must.Get(r.Parse(text))(t)
		got := "not reached"
		if v, ok := values[p]; ok {
			got = r.Values().Text(v)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestCanonical counts the boards that are essentially different: those of two squares are "..", "-.", "--" and "-|".
func TestCanonical(t *testing.T) {
	for board, want := range map[[3]int]int{{2, 1, 2}: 4, {2, 2, 2}: 13} {
		r := mustNew(t, board[0], board[1], board[2])
		different := make(map[game.Position]bool)
		for p := range r.Positions() {
			different[r.Canonical(p)] = true
		}
		if len(different) != want {
			t.Errorf("%s: %d, want %d", r.Spec(), len(different), want)
		}
	}
}

// TestImages compares the images of boards of every shape with those that transform their texts.
func TestImages(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	exchanged := strings.NewReplacer("-", "|", "|", "-")
	for _, b := range [][3]int{{1, 1, 1}, {2, 1, 2}, {1, 4, 2}, {2, 2, 2}, {5, 1, 4}, {2, 3, 2}, {3, 3, 3}, {4, 3, 3}, {4, 4, 4}, {5, 4, 4}, {7, 3, 3}, {5, 5, 4}, {26, 1, 3}, {1, 31, 4}, {6, 5, 3}} {
		r := mustNew(t, b[0], b[1], b[2])
		for range 200 {
			p := rnd.Uint64N(r.Positions())
			var boards [][][]byte
			for _, text := range []string{string(r.AppendText(nil, p)), exchanged.Replace(string(r.AppendText(nil, p)))} {
				board := bytes.Split([]byte(text), []byte("/"))
				for range 4 {
					mirrored := turned(turned(turned(turned(board)))) // a copy
					slices.Reverse(mirrored)
					boards = append(boards, board, mirrored)
					board = turned(board)
				}
			}
			var want []game.Position
			for _, board := range boards {
				if len(board) == b[1] {
					want = append(want, must.Get(r.Parse(string(bytes.Join(board, []byte("/")))))(t))
				}
			}
			slices.Sort(want)
			want = slices.Compact(want)
			if got := r.Images(nil, p); !slices.Equal(got, want) || r.Canonical(p) != want[0] {
				t.Fatalf("%s: the images of %q are %d, the least %d, want %d", r.Spec(), r.AppendText(nil, p), got, r.Canonical(p), want)
			}
		}
	}
}

// turned returns a board turned by a quarter.
func turned(board [][]byte) (columns [][]byte) {
	for x := range board[0] {
		var column []byte
		for y := range board {
			column = append(column, board[len(board)-1-y][x])
		}
		columns = append(columns, column)
	}
	return columns
}

// TestPredecessors compares the predecessors of every board with the moves to it.
func TestPredecessors(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {2, 2, 2}, {4, 1, 3}, {3, 2, 3}, {3, 3, 3}, {2, 4, 2}} {
		r := mustNew(t, b[0], b[1], b[2])
		want := make(map[game.Position][]game.Position)
		for p := range r.Positions() {
			for _, m := range r.Moves(nil, p) {
				want[m.To] = append(want[m.To], p)
			}
		}
		for p := range r.Positions() {
			got := slices.DeleteFunc(r.Predecessors(nil, p), func(p game.Position) bool { return r.Primitive(p) != 0 })
			slices.Sort(got)
			if !slices.Equal(got, want[p]) {
				t.Fatalf("%s: the predecessors of %q are %d, want %d", r.Spec(), r.AppendText(nil, p), got, want[p])
			}
		}
	}
}

// BenchmarkMoves measures the rules for an edge: whether a board of 4×4 is terminal, its moves, and their canonical forms.
func BenchmarkMoves(b *testing.B) {
	r := mustNew(b, 4, 4, 4)
	var boards []game.Position
	rnd := rand.New(rand.NewPCG(1, 1))
	for len(boards) < 1<<12 {
		if p := rnd.Uint64N(r.Positions()); r.Primitive(p) == 0 {
			boards = append(boards, p)
		}
	}
	var moves []game.Move
	edges, begin := 0, time.Now()
	for i := 0; b.Loop(); i++ {
		moves = r.Moves(moves[:0], boards[i%len(boards)])
		for _, m := range moves {
			r.Canonical(m.To)
		}
		edges += len(moves)
	}
	b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(edges), "ns/edge")
}

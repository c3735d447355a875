package solve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// streams is a runner that runs passes as the commands do, on lines, for games that the
// commands do not know. The input is text, the output of the map is sorted, and one reducer
// keeps the states in files.
type streams struct{ inline.Runner }

func (s *streams) Run(ctx context.Context, pass *runner.Job) (stats runner.Stats, err error) {
	if pass.Step == step.Final {
		return s.Runner.Run(ctx, pass)
	}
	g := pass.Method.States
	in := bytes.NewBufferString("start\n")
	if pass.Step != step.Create {
		fresh, err := jobdir.OpenNew(pass.FS, pass.Input, g)
		if err != nil {
			return stats, err
		}
		defer fresh.Close()
		in.Reset()
		if err := fresh.WriteLines(in, 0, fresh.Len()); err != nil {
			return stats, err
		}
	}
	o := step.Options{Source: "test", Combine: pass.Tier%2 == 0, Memory: pass.Tier % 3, Number: pass.Tier}
	if step.NeedsMoves(g, pass.Step) {
		moves, err := layers.OpenMoves(pass.FS, pass.PreviousPass, g)
		if err != nil {
			return stats, err
		}
		defer moves.Close()
		o.Moves = moves.Reader()
	}
	var messages, out bytes.Buffer
	mapped, err := step.Map(pass.Step, pass.Method, in, &messages, o)
	if err != nil {
		return stats, err
	}
	stats.Messages = mapped.Messages
	states, err := jobdir.OpenStates(pass.FS, pass.PreviousPass, g)
	if err != nil {
		return stats, err
	}
	defer states.Close()
	sorted := strings.NewReader(strings.Join(slices.Sorted(strings.Lines(messages.String())), ""))
	o.LoadState = states.Cursor().Load
	o.Create = func(name string) (io.WriteCloser, error) { return pass.FS.Create(filepath.Join(pass.Output, name)) }
	edges := layers.NewEdgeOutbox(o.Create, 0, g, 1+pass.Tier*5)
	if step.StoresEdges(g, pass.Step) {
		o.StoreEdges = edges.SendEdges
	}
	n, err := step.Reduce(pass.Step, pass.Method, sorted, &out, o)
	if err := edges.Finish(err); err != nil {
		return stats, err
	}
	stats.AddNew(n.New)
	f, err := pass.FS.Create(filepath.Join(pass.Output, jobdir.PartName(0, jobdir.Packed)))
	if err != nil {
		return stats, err
	}
	w := jobdir.NewRangeWriter(f, g, jobdir.Packed)
	return stats, w.Finish(w.AppendLines(&out, "test"))
}

// TestGraphs solves games with wins, losses and ties for the player to move, through the
// complete loop, in memory and on lines, and compares the values with a brute force solution.
// In such a game a position may receive a loss and a win in the same pass, and ties must wait
// for both.
func TestGraphs(t *testing.T) { graphs(t, 40) }

// TestLongGraphs tests more games.
func TestLongGraphs(t *testing.T) {
	longtest.Skip(t)
	graphs(t, 200)
}

// TestSparse solves a game with only rules, whose few positions are far apart among 2^36
// hashes: ranges without positions must cost next to nothing.
func TestSparse(t *testing.T) {
	far := func(p game.Position) game.Position { return p * 5_000_000_003 } // TieGame has 13 positions
	small := testgames.TieGame()
	g := testgames.Graph{Next: make(map[game.Position][]game.Position), End: make(map[game.Position]game.Result), Size: 1 << 36}
	for p, next := range small.Next {
		for _, to := range next {
			g.Next[far(p)] = append(g.Next[far(p)], far(to))
		}
	}
	for p, result := range small.End {
		g.End[far(p)] = result
	}
	for name, run := range map[string]runner.Runner{"inline": &inline.Runner{}, "streams": &streams{}} {
		rules := gametest.RulesOnly(g)
		dir, _ := solved(t, rules, func(o *solve.Options) { o.Runner = run })
		want, wantDir := "", ""
		wantDir, _ = solved(t, game.WithRanges(small, 5), nil)
		for line := range strings.Lines(final(t, wantDir)) {
			p, rest, _ := strings.Cut(line, "\t")
			n := must.Get(strconv.ParseUint(p, 10, 64))(t)
			want += fmt.Sprintf("%d\t%s", far(n), rest)
		}
		if got := final(t, dir); got != want {
			t.Errorf("%s: %s", name, difference(got, want))
		}
		if n, err := verify(dir, rules); err != nil || n != 11 {
			t.Errorf("%s: %d positions, %v", name, n, err)
		}
	}
}

// graphs tests n random games.
func graphs(t *testing.T, n int) {
	r := rand.New(rand.NewPCG(9, 15))
	both, seen := 0, make(map[string]int)
	for i := range n {
		graph := testgames.RandomGraph(r, 2+r.IntN(60))
		worth := graph.Worth()
		for p, w := range worth {
			if w.Remoteness > 0 || w.Result == naive.Draw {
				seen[w.Result]++
			}
			received := make(map[naive.Worth]bool)
			for _, to := range graph.Next[p] {
				received[worth[to]] = true
			}
			if n := w.Remoteness - 1; w.Result == naive.Win && received[naive.Worth{Result: naive.Lose, Remoteness: n}] && received[naive.Worth{Result: naive.Win, Remoteness: n}] {
				both++
			}
		}
		want := finalOf(graph.Size, worth)
		// Every other game has only rules; of these, a third has next to no memory for messages, and a third only enough
		// for some of those of the next pass.
		g, inboxes := game.WithRanges(graph, 1+i%7*9), 0
		if i%2 == 1 {
			g, inboxes = game.WithRanges(gametest.RulesOnly(graph), g.RangeSize()), []int{0, 1, 100}[i/2%3]
		}
		for name, run := range map[string]runner.Runner{"inline": &inline.Runner{InboxMemory: inboxes}, "streams": &streams{}} {
			dir, result := solved(t, g, func(o *solve.Options) { o.Runner = run })
			if got := final(t, dir); got != want {
				t.Fatalf("%s: moves %v, ends %v: %s", name, graph.Next, graph.End, difference(got, want))
			}
			if w := worth[0]; !strings.HasPrefix(result.Value, w.Result) {
				t.Errorf("%s: the start is %s, want %v", name, result.Value, w)
			}
			if _, err := verify(dir, g); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if both == 0 || seen[naive.Win] == 0 || seen[naive.Lose] == 0 || seen[naive.Tie] == 0 || seen[naive.Draw] == 0 {
		t.Errorf("the games do not have it all: %v, %d receive both in one pass", seen, both)
	}
	t.Logf("%v, %d receive both in one pass", seen, both)
}

// odd is a game that violates some requirement.
type odd struct {
	game.Game
	values game.Values
	bits   uint
	moves  func(p game.Position) []game.Position // of position 0
	toMove game.Player
}

func (g *odd) Values() game.Values                  { return g.values }
func (g *odd) Info() game.Info                      { return game.Info{} }
func (g *odd) KeyBits() uint                        { return g.bits }
func (g *odd) ToMove(game.Position) game.Player     { return g.toMove }
func (g *odd) Primitive(p game.Position) game.Value { return game.Value(p) } // 1: the second player has won

func (g *odd) Moves(dst []game.Move, p game.Position) []game.Move {
	for _, to := range g.moves(p) {
		dst = append(dst, game.Move{To: to})
	}
	return dst
}

// TestRulesOnlyErrors checks that violations of the requirements on a game without tiers are
// reported, before the first job or when they occur.
func TestRulesOnlyErrors(t *testing.T) {
	mover := game.Values{OfMover: true, TiesSoon: true}
	to := func(all ...game.Position) func(game.Position) []game.Position {
		return func(game.Position) []game.Position { return all }
	}
	var many []game.Position
	for p := range game.Position(64) {
		many = append(many, 4*p+1, 4*p+1)
	}
	for _, c := range []struct {
		g    odd
		want string // "": no error
	}{
		{odd{values: mover, bits: 20, moves: to(1, 1)}, ""},
		{odd{values: mover, bits: 8, moves: to(many[2:]...)}, ""},
		{odd{values: mover, bits: 8, moves: to(many...)}, "position 0x0 is not terminal, and has 64 successors: expected 1 to 63"},
		{odd{values: mover, bits: 8, moves: to()}, "position 0x0 is not terminal, and has 0 successors: expected 1 to 63"},
		{odd{values: mover, bits: 8, moves: to(256)}, "a move of position 0x0 leads to 0x100, expected one below 0x100"},
		{odd{values: mover, bits: 8, moves: to(1), toMove: game.Second}, "it is the same player's turn: turns must alternate in a game without tiers"},
		{odd{values: game.Values{OfMover: true}, bits: 8, moves: to(1)}, "its values must be those of the player to move, and of several ties the soonest"},
		{odd{values: game.Values{TiesSoon: true}, bits: 8, moves: to(1)}, "its values must be those of the player to move, and of several ties the soonest"},
		{odd{values: mover, bits: 46, moves: to(1)}, "its positions are 67108864 ranges, at most 33554432 can be solved"},
		{odd{values: mover, bits: 64, moves: to(1)}, "its positions are 8796093022208 ranges, at most 33554432 can be solved"},
	} {
		c.g.Game = testgames.Graph{Size: 1}
		_, err := solveInto(t, t.TempDir(), &c.g, options(), store.Fresh)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestReversibleMoves checks that a Reversible game is refused if a position that is not terminal
// has no moves, or more than a block.Counter can count. Of 65 moves, 64 lead into an endless
// cycle and one to a win for the opponent: counted modulo 64, they would make the draw a loss.
func TestReversibleMoves(t *testing.T) {
	for n, want := range map[int]string{
		0:   "position 0x0 is not terminal, and has 0 moves: expected 1 to 63",
		1:   "",
		63:  "",
		64:  "position 0x0 is not terminal, and has 64 moves: expected 1 to 63",
		65:  "position 0x0 is not terminal, and has 65 moves: expected 1 to 63",
		129: "position 0x0 is not terminal, and has 129 moves: expected 1 to 63",
	} {
		g := testgames.Graph{Next: map[game.Position][]game.Position{1: {2}, 2: {1}}, End: map[game.Position]game.Result{3: game.Wins}, Size: 4}
		for len(g.Next[0]) < n {
			g.Next[0] = append(g.Next[0], game.Position(1+len(g.Next[0])%2))
		}
		if n > 1 {
			g.Next[0][n-1] = 3
		}
		for name, run := range map[string]runner.Runner{"inline": &inline.Runner{}, "streams": &streams{}} {
			o := options()
			o.Runner = run
			r, err := solveInto(t, t.TempDir(), g, o, store.Fresh)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %d moves: %v, want %q", name, n, err, want)
			}
			if err == nil && r.Value != "DRAW" {
				t.Errorf("%s: %d moves: %s, want DRAW", name, n, r.Value)
			}
		}
	}
}

// beyond is a Reversible game in which position 3 has additional moves, and position 7 additional
// predecessors.
type beyond struct {
	testgames.Graph
	moves, predecessors []game.Position
}

func (g beyond) Moves(dst []game.Move, p game.Position) []game.Move {
	dst = g.Graph.Moves(dst, p)
	if p == 3 {
		for _, to := range g.moves {
			dst = append(dst, game.Move{To: to})
		}
	}
	return dst
}

func (g beyond) Predecessors(dst []game.Position, p game.Position) []game.Position {
	dst = g.Graph.Predecessors(dst, p)
	if p == 7 {
		dst = append(dst, g.predecessors...)
	}
	return dst
}

// TestBeyondPositions checks that moves and predecessors of a Reversible game that are not hashes
// are refused with an error that names them: in the last range, which is shorter, after it,
// and far beyond.
func TestBeyondPositions(t *testing.T) {
	for _, p := range []game.Position{13, 14, 15, 64, 1 << 20, ^game.Position(0)} {
		for _, size := range []int{5, 1000} {
			for want, g := range map[string]beyond{
				fmt.Sprintf("a move of a position of range 0x0 leads to %#x, expected one below 0xd", p):          {testgames.TieGame(), []game.Position{p}, nil},
				fmt.Sprintf("a predecessor of a position of range %#x is %#x, expected one below 0xd", 7/size, p): {testgames.TieGame(), nil, []game.Position{p}},
			} {
				_, err := solveInto(t, t.TempDir(), game.WithRanges(g, size), options(), store.Fresh)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("ranges of %d: %v, want %q", size, err, want)
				}
			}
		}
	}
}

package solve_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/table"
)

func quickCross(t *testing.T, w, h, connect int) game.Game {
	t.Helper()
	return must.Get(quickcross.New(w, h, connect))(t)
}

// loopGame returns a game with wins, losses, ties and draws. Three of its four tiers have inner moves.
func loopGame() *testgames.Tiered {
	return testgames.RandomTiered(rand.New(rand.NewPCG(2895, 2)), testgames.TieredOptions{Positions: 60, OfMover: true})
}

// loopGames are games with inner moves: with stored edges, with predecessors that the game computes, and with one tier.
func loopGames(t *testing.T) []game.Game {
	g := loopGame()
	return []game.Game{g, g.Backward(), quickCross(t, 2, 2, 2), gametest.RulesOnly(testgames.TieGame())}
}

// TestLoopGame checks that the tests of this file test something.
func TestLoopGame(t *testing.T) {
	all, g := &failing{at: -1}, loopGame()
	dir, _ := solved(t, g, func(o *solve.Options) { o.Runner = all })
	seen := make(map[game.Outcome]bool)
	for _, v := range valuesIn(t, g, dir) {
		seen[v.Outcome()] = true
	}
	if n := strings.Count(strings.Join(all.ran, " "), ".t"); n < 3 || len(all.ran) < 25 || len(seen) != 4 || g.Tiers() != 3 {
		t.Errorf("%d tiers, %d outcomes, %d jobs, %d of them passes of ties: %v", g.Tiers(), len(seen), len(all.ran), n, all.ran)
	}
}

// bytesOf returns a checksum of each file of the table of a data directory, and of the text. The
// division of the text into parts does not matter.
func bytesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, table.Dir, "*"))
	if err != nil || len(names) < 2 {
		t.Fatalf("%v: %v", names, err)
	}
	sums := map[string]string{"final": fmt.Sprintf("%x", sha256.Sum256([]byte(final(t, dir))))}
	for _, name := range names {
		text := must.Get(os.ReadFile(name))(t)
		sums[filepath.Base(name)] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return sums
}

// failing is a runner whose job number at fails, before or after its work.
type failing struct {
	inline.Runner
	at    int // counted from 0
	after bool
	ran   []string
}

var errFailing = errors.New("it is the test")

func (f *failing) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	n := len(f.ran)
	if n == f.at && !f.after {
		return runner.Stats{}, errFailing
	}
	stats, err := f.Runner.Run(ctx, job)
	if err == nil && n == f.at {
		err = errFailing
	}
	if err == nil {
		f.ran = append(f.ran, job.Name)
	}
	return stats, err
}

// interrupted stops a run at any job, before it runs or after it has written everything. The run must resume with
// that job, and give the same bytes.
func interrupted(t *testing.T, g game.Game) {
	t.Helper()
	all := &failing{at: -1}
	plain, whole := solved(t, g, func(o *solve.Options) { o.Runner = all })
	want := bytesOf(t, plain)
	for at := range all.ran {
		for _, after := range []bool{false, true} {
			dir := t.TempDir()
			o := options()
			first := &failing{at: at, after: after}
			o.Runner, o.Reducers, o.MinDrop = first, 2, int64(at/2%2)
			if _, err := solveInto(t, dir, g, o, store.Fresh); !errors.Is(err, errFailing) {
				t.Fatalf("at %s: %v", all.ran[at], err)
			}
			then := &failing{at: -1}
			o.Runner = then
			o.Report = texts(func(text string) { t.Errorf("at %s: %s", all.ran[at], text) })
			r, err := solveInto(t, dir, g, o, store.Resume)
			if err != nil || r.Positions != whole.Positions {
				t.Fatalf("at %s: %d positions, %v", all.ran[at], r.Positions, err)
			}
			if ran := slices.Concat(first.ran, then.ran); !slices.Equal(ran, all.ran) {
				t.Errorf("at %s: the jobs were %v, want %v", all.ran[at], ran, all.ran)
			}
			if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
				t.Errorf("at %s: %v", all.ran[at], diff)
			}
		}
	}
}

// TestInterrupted stops runs at any job.
func TestInterrupted(t *testing.T) {
	for _, g := range append(loopGames(t), smallGame(t)) {
		interrupted(t, g)
	}
}

// TestOptions checks that no option changes a byte.
func TestOptions(t *testing.T) {
	for _, g := range append(loopGames(t), quickCross(t, 3, 3, 3), smallGame(t)) {
		plain, _ := solved(t, g, nil)
		want := bytesOf(t, plain)
		for name, change := range map[string]func(*solve.Options){
			"3 reducers":    func(o *solve.Options) { o.Reducers = 3 },
			"20 reducers":   func(o *solve.Options) { o.Reducers = 20 },
			"drop":          func(o *solve.Options) { o.MinDrop = 1 },
			"keep all":      func(o *solve.Options) { o.KeepAll = true },
			"keep all text": func(o *solve.Options) { o.KeepAll, o.Lines, o.Reducers = true, true, 2 },
			"little memory": func(o *solve.Options) {
				o.Runner = &inline.Runner{Memory: method.Of(g).LeastInline(-1, true)}
			},
		} {
			dir, _ := solved(t, g, change)
			if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
				t.Errorf("%s, %s: %v", g.Spec(), name, diff)
			}
			if kept := glob(t, dir, "data_second*"); (len(kept) > 0) != strings.HasPrefix(name, "keep") {
				t.Errorf("%s, %s: %v have been kept", g.Spec(), name, kept)
			}
		}
	}
}

// TestLoopsPrune stops forward passes without having deleted what they absorbed, as after a kill between a commit and that.
// The next pass of a resumed run deletes it. It also stops passes that have deleted what they absorbed, and loses the last one,
// as a power cut may. The passes must run again.
func TestLoopsPrune(t *testing.T) {
	g, o := quickCross(t, 3, 3, 3), options()
	o.UntilTier, o.MinDrop = 0, 1
	all := &failing{at: -1}
	o.Runner = all
	dir := t.TempDir()
	whole := must.Get(solveInto(t, dir, g, o, store.Fresh))(t)
	const states = "data_*/_states-*"
	want := glob(t, dir, states)
	if len(want) == len(all.ran) {
		t.Error("no states are deleted")
	}
	for at := 1; at < len(all.ran); at++ {
		for _, lost := range []bool{false, true} {
			dir := t.TempDir()
			o.Runner, o.MinDrop = &failing{at: at}, 1<<40
			if lost {
				o.MinDrop = 1
			}
			if _, err := solveInto(t, dir, g, o, store.Fresh); !errors.Is(err, errFailing) {
				t.Fatal(err)
			}
			if lost {
				must.OK(t, os.RemoveAll(filepath.Join(dir, all.ran[at-1])))
			}
			o.Runner, o.MinDrop = &inline.Runner{}, 1
			r := must.Get(solveInto(t, dir, g, o, store.Resume))(t)
			if got := glob(t, dir, states); !slices.Equal(got, want) || !slices.Equal(r.Tiers, whole.Tiers) {
				t.Errorf("stopped at %s, lost %v: %v, %v positions; want %v, %v", all.ran[at], lost, got, r.Tiers, want, whole.Tiers)
			}
		}
	}
}

// TestUntil checks that --until-tier counts what the forward passes find, also if the tiers have been made or solved before, and
// that a run can continue from there.
func TestUntil(t *testing.T) {
	for _, g := range []game.Tiered{loopGame(), ticTacToe(t)} {
		want := make([]int64, g.Tiers()+1)
		for p := range testgames.Solve(g) {
			if game.CanonicalOf(g, p) == p {
				want[g.Tier(p)]++
			}
		}
		dir := t.TempDir()
		o := options()
		o.MinDrop = 1
		for i, until := range []int{0, 1, 1, 3, 20, -1, 1} {
			o.UntilTier = until
			mode := store.Resume
			if i == 0 {
				mode = store.Fresh
			}
			r := must.Get(solveInto(t, dir, g, o, mode))(t)
			if n := min(until+1, len(want)); until >= 0 && !slices.Equal(r.Tiers[:n], want[:n]) || r.Solved != (until < 0) {
				t.Errorf("%s, until %d: %v, solved %v; want %v", g.Spec(), until, r.Tiers, r.Solved, want)
			}
		}
	}
}

// TestDamaged stops runs at any job, and damages a file or a directory that they have left. A resumed run
// must find the damage, if it reads the file, and give the same bytes.
func TestDamaged(t *testing.T) { damaged(t, 2) }

// TestLongDamaged damages more.
func TestLongDamaged(t *testing.T) {
	longtest.SkipShare(t)
	damaged(t, 100)
}

// damaged tests n damages for each job.
func damaged(t *testing.T, n int) {
	rnd := rand.New(rand.NewPCG(3, 3))
	rebuilt, failed := 0, 0
	for _, g := range append(loopGames(t)[:2], smallGame(t)) {
		all := &failing{at: -1}
		plain, _ := solved(t, g, func(o *solve.Options) { o.Runner = all })
		want := bytesOf(t, plain)
		for at := 1; at < len(all.ran); at++ {
			for range n {
				dir, o := t.TempDir(), options()
				o.Runner, o.MinDrop, o.KeepAll = &failing{at: at}, int64(rnd.IntN(2)), rnd.IntN(3) == 0
				if rnd.IntN(2) == 0 && o.KeepAll {
					o.Lines = true
				}
				if _, err := solveInto(t, dir, g, o, store.Fresh); !errors.Is(err, errFailing) {
					t.Fatal(err)
				}
				what := damage(t, rnd, dir)
				what = fmt.Sprintf("%s, stopped at %s, %s", g.Spec(), all.ran[at], what)
				found := false
				o.Runner, o.Report = &inline.Runner{}, func(e solve.Event) { found = found || e.Kind == solve.Damaged }
				_, err := solveInto(t, dir, g, o, store.Resume)
				switch {
				case err != nil && !game.IsAcyclic(g) && strings.Contains(err.Error(), dir):
					t.Logf("%s: %v", what, err)
					failed++
				case err != nil:
					t.Errorf("%s: %v", what, err)
				default:
					if diff := storetest.Differences(bytesOf(t, dir), want); diff != nil {
						t.Errorf("%s: %v", what, diff)
					}
				}
				if found {
					rebuilt++
				}
			}
		}
	}
	if rebuilt == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d damages were found, %d runs failed", rebuilt, failed)
}

// damage damages a file or a directory of a job, or deletes it, and returns what it did.
func damage(t *testing.T, rnd *rand.Rand, dir string) string {
	t.Helper()
	names := append(glob(t, dir, "data_*/*"), glob(t, dir, "table/*")...)
	name := names[rnd.IntN(len(names))]
	file := filepath.Join(dir, name)
	text := must.Get(os.ReadFile(file))(t)
	switch way := rnd.IntN(8); {
	case way == 0:
		must.OK(t, os.RemoveAll(filepath.Dir(file)))
		return filepath.Dir(name) + " deleted"
	case way == 1:
		must.OK(t, os.Remove(file))
		return name + " deleted"
	case len(text) == 0:
		must.OK(t, os.WriteFile(file, []byte("x"), 0o666))
		return name + " is longer"
	case way <= 3:
		n := rnd.IntN(len(text))
		must.OK(t, os.Truncate(file, int64(n)))
		return fmt.Sprintf("%s cut to %d bytes", name, n)
	}
	at, bit := rnd.IntN(len(text)), byte(1)<<rnd.IntN(8)
	text[at] ^= bit
	must.OK(t, os.WriteFile(file, text, 0o666))
	return fmt.Sprintf("%s, byte %d with bit %d flipped", name, at, bit)
}

// TestTies checks ties, which are decided after wins and losses.
func TestTies(t *testing.T) {
	graph := testgames.TieGame()
	for _, g := range []game.Game{graph, gametest.RulesOnly(graph)} {
		dir, r := solved(t, g, func(o *solve.Options) { o.Reducers = 2 })
		must.OK(t, testgames.Compare(g, valuesIn(t, g, dir)))
		if r.Value != "TIE in 2" {
			t.Errorf("%T: %s", g, r.Value)
		}
	}
}

// A tieredGraph is a graph whose positions from 2 on are a second tier. Both tiers have inner moves.
type tieredGraph struct{ testgames.Graph }

func (tieredGraph) Tiers() int               { return 1 }
func (tieredGraph) Tier(p game.Position) int { return int(min(p/2, 1)) }
func (tieredGraph) Loops(int) bool           { return true }

// TestNearestOutside checks that the player to move prefers the nearest of several wins, or ties, in later tiers.
func TestNearestOutside(t *testing.T) {
	for _, end := range []game.Result{game.Loses, game.Ties} {
		graph := testgames.Graph{
			Next: map[game.Position][]game.Position{0: {1, 2, 5}, 1: {0}, 2: {3}, 3: {4}, 5: {6}, 6: {7}, 7: {8}, 8: {9}},
			End:  map[game.Position]game.Result{4: end, 9: end},
			Size: 10,
		}
		for _, g := range []game.Game{tieredGraph{graph}, struct{ game.Tiered }{tieredGraph{graph}}} {
			dir, _ := solved(t, g, nil)
			must.OK(t, testgames.Compare(g, valuesIn(t, g, dir)))
		}
	}
}

// A decidedGraph is a graph in which 1 and 2 are terminal, and the rules decide 3 and 4. Values name the winner, and the first
// player is to move everywhere but at 4 and 5.
type decidedGraph struct {
	testgames.Graph
	loops bool
}

func (decidedGraph) Values() game.Values {
	return game.Values{Players: [2]string{"left", "right"}, TiesSoon: true}
}
func (decidedGraph) Tiers() int               { return 4 }
func (decidedGraph) Tier(p game.Position) int { return []int{0, 4, 4, 3, 3, 1, 2, 2, 2, 2, 2}[p] }
func (g decidedGraph) Loops(int) bool         { return g.loops }
func (decidedGraph) ToMove(p game.Position) game.Player {
	if p == 4 || p == 5 {
		return game.Second
	}
	return game.First
}

func (g decidedGraph) Known(p game.Position) game.Value {
	if p == 3 || p == 4 {
		return game.NewValue(game.WinFor(g.ToMove(p)), 1)
	}
	return g.Primitive(p)
}

// TestDecided checks the choice between successors that the rules decide, of which one is a move away from the end.
func TestDecided(t *testing.T) {
	graph := testgames.Graph{
		Next: map[game.Position][]game.Position{0: {5, 9, 10}, 3: {1}, 4: {2}, 5: {6, 7, 8}, 6: {3}, 7: {3, 1}, 8: {1, 3}, 9: {2, 4}, 10: {4, 2}},
		End:  map[game.Position]game.Result{1: game.Wins, 2: game.Loses},
		Size: 11,
	}
	for _, loops := range []bool{false, true} {
		g := decidedGraph{graph, loops}
		dir, _ := solved(t, g, nil)
		must.OK(t, testgames.Compare(g, valuesIn(t, g, dir)))
	}
}

package solve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// options are those of most tests. FinalAuto writes the text of all games but 5×5.
func options() solve.Options {
	return solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Final: solve.FinalAuto, UntilTier: -1}
}

// texts returns a function for Options.Report that passes the lines for the user on.
func texts(do func(text string)) func(solve.Event) {
	return func(e solve.Event) {
		if e.Text != "" {
			do(e.Text)
		}
	}
}

// solved solves a game inline into a new directory. change, if not nil, changes the options.
func solved(t *testing.T, g game.Game, change func(*solve.Options)) (dir string, r solve.Result) {
	t.Helper()
	dir = t.TempDir()
	o := options()
	if change != nil {
		change(&o)
	}
	return dir, must.Get(solveInto(t, dir, g, o, store.Fresh))(t)
}

func solveInto(t *testing.T, dir string, g game.Game, o solve.Options, mode store.Mode) (solve.Result, error) {
	t.Helper()
	return solveWith(t, store.Local{}, dir, g, o, mode)
}

// solveWith is solveInto on a file system.
func solveWith(t *testing.T, fsys store.FS, dir string, g game.Game, o solve.Options, mode store.Mode) (solve.Result, error) {
	t.Helper()
	data := must.Get(store.Create(fsys, dir, g.Spec(), mode, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	return solve.Run(context.Background(), data, g, o)
}

// finalParts lists the parts of DIR/final.
func finalParts(t *testing.T, dir string) []string {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, solve.FinalDir, "part-*"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("no parts of final: %v", err)
	}
	return parts
}

// final reads DIR/final.
func final(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, p := range finalParts(t, dir) {
		text := must.Get(os.ReadFile(p))(t)
		all.Write(text)
	}
	return all.String()
}

func rules(t *testing.T, w, h, connect int) *connectn.Rules {
	t.Helper()
	return must.Get(connectn.New(w, h, connect))(t)
}

// difference describes the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}

// A knownSize is the published count and value of a board.
type knownSize struct {
	w, h, connect int
	positions     uint64
	value         string
}

// TestKnownSizes checks the published counts and values, and verifies the tables.
func TestKnownSizes(t *testing.T) {
	knownSizes(t, []knownSize{
		{2, 2, 2, 13, "X wins in 3"},
		{3, 3, 3, 694, "tie in 9"},
		{4, 3, 3, 7157, "X wins in 9"},
		{3, 4, 3, 2715, "tie in 12"},
		{4, 5, 3, 195472, "X wins in 11"},
		{4, 4, 4, 161029, "tie in 16"},
		{5, 4, 4, 3945711, "tie in 20"},
		{4, 5, 4, 1706255, "tie in 20"},
	})
}

// TestLongKnownSizes does the same with 5×5.
func TestLongKnownSizes(t *testing.T) {
	longtest.Skip(t)
	knownSizes(t, []knownSize{{5, 5, 4, 69763700, "tie in 25"}})
}

func knownSizes(t *testing.T, sizes []knownSize) {
	for _, test := range sizes {
		t.Run(fmt.Sprintf("%dx%dc%d", test.w, test.h, test.connect), func(t *testing.T) {
			if raceEnabled && test.positions > 1e6 {
				t.Skip("too large for the race detector; make test does it")
			}
			g := rules(t, test.w, test.h, test.connect)
			dir, r := solved(t, g, nil)
			if r.Positions != test.positions || r.Value != test.value {
				t.Errorf("got %d positions and %s, want %d and %s", r.Positions, r.Value, test.positions, test.value)
			}
			if n, err := verify(dir, g); err != nil || n != test.positions {
				t.Errorf("verify: %d positions, %v", n, err)
			}
		})
	}
}

// TestLongManyCores solves 5×5, or with the race detector 4×5, with 64 workers, of which most are far
// behind others at any time: each must read the blocks that it asked for, although they share memory.
func TestLongManyCores(t *testing.T) {
	longtest.Skip(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	width := 5
	if raceEnabled {
		width = 4
	}
	g := rules(t, width, 5, 4)
	dir, r := solved(t, g, func(o *solve.Options) { o.Final = solve.FinalNo })
	if n, err := verify(dir, g); err != nil || n != r.Positions {
		t.Errorf("verified %d of %d positions, %v", n, r.Positions, err)
	}
}

// verify verifies the table of a game.
func verify(dir string, g game.Game) (positions uint64, err error) {
	tab, err := table.OpenOf(store.Local{}, dir, g)
	if err != nil {
		return 0, err
	}
	defer tab.Close()
	return tab.Verify(context.Background())
}

// TestPlies runs the forward jobs of boards that are too large to solve. The counts of 7×6 are
// OEIS A212693, those of 8×7 come from a plain search.
func TestPlies(t *testing.T) {
	for _, test := range []struct {
		w, h, connect int
		plies         []int64
	}{
		{7, 6, 4, []int64{1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186, 1662623, 4568683}},
		{8, 7, 4, plies(t, rules(t, 8, 7, 4), 7)},
		{31, 1, 5, plies(t, rules(t, 31, 1, 5), 3)},
		{1, 63, 4, plies(t, rules(t, 1, 63, 4), 20)},
		{2, 31, 4, plies(t, rules(t, 2, 31, 4), 12)},
	} {
		t.Run(fmt.Sprintf("%dx%dc%d", test.w, test.h, test.connect), func(t *testing.T) {
			want := test.plies
			if raceEnabled {
				want = want[:len(want)-3]
			}
			_, r := solved(t, rules(t, test.w, test.h, test.connect), func(o *solve.Options) { o.UntilTier = len(want) - 1 })
			for tier, n := range want {
				if r.Tiers[tier] != n {
					t.Errorf("tier %d: %d positions, want %d", tier, r.Tiers[tier], n)
				}
			}
			if r.Solved {
				t.Error("solved, though it should have stopped")
			}
		})
	}
}

// plies counts the positions of the first tiers, one by one.
func plies(t *testing.T, g game.Game, until int) []int64 {
	t.Helper()
	counts := []int64{1}
	tier := map[game.Position]bool{g.Start(): true}
	for range until {
		next := make(map[game.Position]bool)
		for p := range tier {
			for _, m := range g.Moves(nil, p) {
				next[m.To] = true
			}
		}
		counts = append(counts, int64(len(next)))
		tier = next
	}
	return counts
}

// TestTimeLeft formats more seconds than the nanoseconds of a time.Duration can express.
func TestTimeLeft(t *testing.T) {
	for left, want := range map[float64]string{0: "0 s", 0.4: "0 s", 59.6: "60 s", 3.6e13: "10,000,000,000 h"} {
		if got := (solve.Event{Left: left}).TimeLeft(); got != want {
			t.Errorf("%g s: %s, want %s", left, got, want)
		}
	}
}

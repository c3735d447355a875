// Package runnertest tests a runner: it solves small games and compares every value with a
// brute force solution. It knows nothing of how the runner works.
package runnertest

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// Check solves a game. The run with one reducer must have the values of a brute force solution. A run with three reducers that
// keeps lines, which is stopped after each of its first jobs and cancelled during the next one, must have the same table and the
// same text of all positions.
func Check(t *testing.T, r runner.Runner, g game.Game) {
	t.Helper()
	dir := t.TempDir()
	options := solve.Options{Runner: r, Reducers: 1, Combine: true, Final: solve.FinalYes, UntilTier: -1}
	if err := run(t.Context(), dir, g, options, store.Fresh); err != nil {
		t.Fatalf("%s: %v", g.Spec(), err)
	}
	must.OK(t, testgames.Compare(g, solved.Values(t, store.Local{}, dir, g)))
	want := dir

	dir = t.TempDir()
	options.Reducers, options.Combine, options.KeepAll, options.Lines = 3, false, true, true
	mode := store.Fresh
	for tier := range 3 {
		options.UntilTier = tier
		if err := run(t.Context(), dir, g, options, mode); err != nil {
			t.Fatalf("%s, until tier %d: %v", g.Spec(), tier, err)
		}
		mode = store.Resume
	}
	options.UntilTier = -1
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := options
	cancelled.Runner = cancelling{r, cancel}
	if err := run(ctx, dir, g, cancelled, mode); !errors.Is(err, context.Canceled) {
		t.Errorf("%s, cancelled: %v", g.Spec(), err)
	}
	options.Reducers = 2
	if err := run(t.Context(), dir, g, options, mode); err != nil {
		t.Fatalf("%s, resumed: %v", g.Spec(), err)
	}
	solved.SameText(t, store.Local{}, dir, want)
	if _, err := os.Stat(filepath.Join(dir, solve.FinalDir, store.Success)); err != nil {
		t.Errorf("%s: %v", g.Spec(), err)
	}
}

// Layers solves a game with random options, and compares every value with testgames.Solve. The run is stopped before or
// after one of its first jobs, and resumed.
func Layers(t *testing.T, r runner.Runner, g game.Game, random *rand.Rand) {
	t.Helper()
	dir := t.TempDir()
	stops := &stopping{r, random.IntN(20), random.IntN(2) == 0}
	options := solve.Options{Runner: stops, Reducers: 1 + random.IntN(3), Combine: random.IntN(2) == 0, Lines: random.IntN(2) == 0,
		KeepAll: random.IntN(2) == 0, MinDrop: 1, Final: solve.FinalNo, UntilTier: -1}
	err := run(t.Context(), dir, g, options, store.Fresh)
	if errors.Is(err, errStopped) {
		options.Runner = r
		err = run(t.Context(), dir, g, options, store.Resume)
	}
	if err != nil {
		t.Fatalf("%s: %v", g.Spec(), err)
	}
	must.OK(t, testgames.Compare(g, solved.Values(t, store.Local{}, dir, g)))
}

// stopping is a runner that fails after some jobs, before or after its work.
type stopping struct {
	runner.Runner
	jobs  int
	after bool
}

var errStopped = errors.New("stopped by the test")

func (s *stopping) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	s.jobs--
	if s.jobs >= 0 || s.after {
		stats, err = s.Runner.Run(ctx, job)
	}
	if s.jobs < 0 && err == nil {
		err = errStopped
	}
	return stats, err
}

// cancelling is a runner whose jobs are cancelled before they begin.
type cancelling struct {
	runner.Runner
	cancel func()
}

func (c cancelling) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	c.cancel()
	return c.Runner.Run(ctx, job)
}

func run(ctx context.Context, dir string, g game.Game, o solve.Options, mode store.Mode) error {
	data, err := store.Create(store.Local{}, dir, g.Spec(), mode, solve.IsRunArtifact, nil)
	if err != nil {
		return err
	}
	_, err = solve.Run(ctx, data, g, o)
	return errors.Join(err, data.Close())
}

// EveryBoard solves every board of Connect N that has at most most positions, packed and with one
// reducer, and compares the number of positions and the value byte of each with a second
// implementation of the game. It leaves out single columns of more than tallest rows: they have few
// positions and many jobs.
func EveryBoard(t *testing.T, r runner.Runner, most, tallest int) {
	t.Helper()
	if testing.Short() {
		t.Skip("with the race detector it takes long")
	}
	boards, positions := 0, 0
	for h := 1; h < 64; h++ {
		naive.Boards(h, most, func(w, connect int, values map[string]byte) {
			if w == 1 && h > tallest {
				return
			}
			g := must.Get(connectn.New(w, h, connect))(t)
			boards, positions = boards+1, positions+len(values)
			equalBoard(t, r, g, values)
		})
	}
	t.Logf("%d boards with %d positions compared", boards, positions)
	if boards == 0 {
		t.Error("no board was compared")
	}
}

// Board is EveryBoard for one board.
func Board(t *testing.T, r runner.Runner, w, h, connect int) {
	t.Helper()
	g := must.Get(connectn.New(w, h, connect))(t)
	equalBoard(t, r, g, naive.Solve(w, h, connect))
}

// equalBoard solves a board and compares it with the value bytes of its positions, by their text.
func equalBoard(t *testing.T, r runner.Runner, g game.Game, values map[string]byte) {
	t.Helper()
	found := solveIn(t, r, g)
	for p, v := range found {
		if text := string(g.AppendText(nil, p)); byte(v) != values[text] {
			t.Fatalf("%s: %q has %d, want %d", g.Spec(), text, v, values[text])
		}
	}
	if len(found) != len(values) {
		t.Errorf("%s: %d positions, want %d", g.Spec(), len(found), len(values))
	}
}

// solveIn solves a game, packed and with one reducer, and returns the values of all positions.
func solveIn(t *testing.T, r runner.Runner, g game.Game) map[game.Position]game.Value {
	t.Helper()
	dir := must.Get(os.MkdirTemp(t.TempDir(), ""))(t)
	defer os.RemoveAll(dir)
	options := solve.Options{Runner: r, Reducers: 1, Combine: true, Final: solve.FinalNo, UntilTier: -1}
	if err := run(t.Context(), dir, g, options, store.Fresh); err != nil {
		t.Fatalf("%s: %v", g.Spec(), err)
	}
	return solved.Values(t, store.Local{}, dir, g)
}

// EverySize solves every size of these games, with parameters of 1 to 5, that has at most most
// positions, and compares every value with a brute force solution.
func EverySize(t *testing.T, r runner.Runner, kinds game.Kinds, most int) {
	t.Helper()
	if testing.Short() {
		t.Skip("with the race detector it takes long")
	}
	for _, kind := range kinds {
		games, large := 0, 0
		var try func(args []int)
		try = func(args []int) {
			if len(args) < len(kind.Params) {
				for n := 1; n <= 5; n++ {
					try(append(args, n))
				}
				return
			}
			g, err := kind.New(args)
			if err != nil {
				return
			}
			if g.Info().Vast > 0 || !atMost(g, most) {
				large++
				return
			}
			must.OK(t, testgames.Compare(g, solveIn(t, r, g)))
			games++
		}
		try(nil)
		t.Logf("%s: %d sizes compared", kind.Name, games)
		if games+large == 0 {
			t.Errorf("%s: there is no size with parameters from 1 to 5", kind.Name)
		}
	}
}

// atMost reports whether at most most positions of a game can be reached.
func atMost(g game.Game, most int) bool {
	found := map[game.Position]bool{g.Start(): true}
	for next := []game.Position{g.Start()}; len(next) > 0 && len(found) <= most; {
		p := next[len(next)-1]
		next = next[:len(next)-1]
		if g.Primitive(p) != 0 {
			continue
		}
		for _, m := range g.Moves(nil, p) {
			if !found[m.To] {
				found[m.To] = true
				next = append(next, m.To)
			}
		}
	}
	return len(found) <= most
}

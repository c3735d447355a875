package inline_test

import (
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// TestBlocks solves boards by blocks, with much memory and with the least.
func TestBlocks(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {3, 2, 2}, {3, 3, 3}, {4, 3, 3}} {
		g := must.Get(connectn.New(size[0], size[1], size[2]))(t)
		runnertest.Check(t, &inline.Runner{}, g, solved.SameText)
		runnertest.Check(t, &inline.Runner{Memory: inline.Least(game.MethodOf(g), -1, true)}, g, solved.SameText)
	}
}

// TestEveryBoard compares the boards of Connect N with a second implementation of the game: every one
// that has at most 10,000 positions, and long ones.
func TestEveryBoard(t *testing.T) {
	runnertest.EveryBoard(t, &inline.Runner{}, 10_000, 12)
	for connect := 3; connect <= 5; connect++ {
		runnertest.Board(t, &inline.Runner{}, 2, 10, connect)
	}
	runnertest.Board(t, &inline.Runner{}, 12, 1, 3)
	runnertest.Board(t, &inline.Runner{}, 1, 21, 3)
}

// TestLongEveryBoard compares every board that has at most TREEREDUCE_POSITIONS positions; up to five
// million take an hour or more.
func TestLongEveryBoard(t *testing.T) {
	longtest.SkipShare(t)
	runnertest.EveryBoard(t, &inline.Runner{}, longtest.Number(t, "TREEREDUCE_POSITIONS", 400_000), 24)
}

// TestEverySize compares every small size of all games with brute force.
func TestEverySize(t *testing.T) { runnertest.EverySize(t, &inline.Runner{}, all.Kinds(), 3000) }

// TestLists solves a board by lists, with much memory and with the least.
func TestLists(t *testing.T) {
	g := must.Get(mnk.New(3, 2, 2))(t)
	runnertest.Check(t, &inline.Runner{}, g, solved.SameText)
	runnertest.Check(t, &inline.Runner{Memory: inline.Least(game.MethodOf(g), -1, true)}, g, solved.SameText)
}

// TestStates solves random graphs with predecessors, and with rules only, with the inboxes and
// the edges in memory and in files, of which no job may leave spilled inboxes behind.
func TestStates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		graph := testgames.RandomGraph(r, 2+r.IntN(100))
		for _, inbox := range []int{0, 1} {
			counted := &spilling{Runner: inline.Runner{InboxMemory: inbox, EdgesMemory: inbox}, t: t}
			runnertest.Check(t, counted, game.WithRanges(graph, 8), solved.SameText)
			runnertest.Check(t, counted, game.WithRanges(gametest.RulesOnly(graph), 8), solved.SameText)
			if (counted.spills > 0) != (inbox == 1) {
				t.Errorf("inboxes of %d bytes: %d spill files", inbox, counted.spills)
			}
		}
	}
}

// spilling is a runner that counts the spill files, and checks that none of them is left.
type spilling struct {
	inline.Runner
	t      *testing.T
	spills int
}

func (s *spilling) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	own := *job
	own.FS = &spillFS{job.FS, s}
	stats, err := s.Runner.Run(ctx, &own)
	if left, _ := filepath.Glob(filepath.Join(job.Output, "_spill-*")); len(left) > 0 {
		s.t.Errorf("left: %q", left)
	}
	return stats, err
}

type spillFS struct {
	store.FS
	s *spilling
}

func (f *spillFS) Create(name string) (io.WriteCloser, error) {
	if strings.HasPrefix(filepath.Base(name), "_spill-") {
		f.s.spills++
	}
	return f.FS.Create(name)
}

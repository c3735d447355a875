package pipe_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

func TestMain(m *testing.M) { programs.Main(m, nil) }

// TestSolve solves a game of each method with processes.
func TestSolve(t *testing.T) {
	bin := programs.Dir(t)
	specs := []string{"mnk width=2 height=2 connect=2", "connectn width=2 height=3 connect=2", "quickcross width=2 height=2 connect=2", "dodgem size=2"}
	if testing.Short() {
		specs = specs[:1] // with the race detector, processes start slowly
	}
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			g := must.Get(all.Kinds().Parse(spec))(t)
			runnertest.Check(t, &pipe.Runner{Bin: bin}, g)
		})
	}
}

// TestBoards compares boards of Connect N, solved with processes, with a second implementation of the
// game.
func TestBoards(t *testing.T) {
	r, boards := &pipe.Runner{Bin: programs.Dir(t)}, [][3]int{{1, 5, 2}, {5, 1, 3}, {3, 2, 2}, {2, 10, 3}}
	if testing.Short() {
		boards = boards[:1] // as in TestSolve
	}
	for _, b := range boards {
		runnertest.Board(t, r, b[0], b[1], b[2])
	}
}

// TestLongEveryBoard compares every board that has at most TREEREDUCE_POSITIONS positions.
func TestLongEveryBoard(t *testing.T) {
	longtest.SkipShare(t)
	runnertest.EveryBoard(t, &pipe.Runner{Bin: programs.Dir(t)}, longtest.Number(t, "TREEREDUCE_POSITIONS", 100), 3)
}

// firstTier returns a game, and a directory of its first tier.
func firstTier(t *testing.T) (g game.Game, dir string) {
	t.Helper()
	g = must.Get(all.Kinds().Parse("connectn width=2 height=2 connect=2"))(t)
	return g, solved.Sealed(t, "data_first0", g, 0, "00\n")
}

// TestPrograms replaces a program of a job by shell commands. Duplicates must be dropped, an error
// must name the program and show what it has written to stderr, and each line that a reducer gets
// must be read.
func TestPrograms(t *testing.T) {
	g, input := firstTier(t)
	const mapper, reducer = "possible_map", "possible_reduce"
	for _, test := range []struct{ replaced, program, err, part string }{
		{mapper, "exec $BIN/possible_map", "", "02\n10\n"},
		{mapper, `cat >/dev/null; printf '10\n10\n02\n'`, "", "02\n10\n"},
		{mapper, "cat >/dev/null; echo cannot >&2; exit 3", "possible_map (task 0): cannot", ""},
		{mapper, "kill -9 $$", "possible_map (task 0) was killed (signal: killed)", ""},
		{mapper, "cat >/dev/null; yes x | head -n 400000 | tr -d '\n' || { echo pipe >&2; exit 1; }; exit 1", "output of possible_map (task 0): expected lines of less than", ""},
		{mapper, "cat >/dev/null; echo x", `possible_reduce: stdin:1: expected a key of 2 hexadecimal digits`, ""},
		{reducer, "cat; echo reporter:counter:x,records in,3 >&2", "sort was given 2 lines, possible_reduce (task 0) read 3", ""},
		{reducer, "cat; echo reporter:counter:x,records in,1 >&2", "sort was given 2 lines, possible_reduce (task 0) read 1", ""},
	} {
		out := filepath.Join(t.TempDir(), "out")
		must.OK(t, os.Mkdir(out, 0o777))
		bin := programs.Dir(t)
		r := pipe.Runner{Bin: bin, Programs: map[string]string{test.replaced: strings.ReplaceAll(test.program, "$BIN", bin)}}
		job := &runner.Job{Name: "data_first1", Step: step.Possible, FS: store.Local{}, Method: method.Of(g), Tier: 1, Input: []string{input}, Output: out, Reducers: 1}
		stats, err := r.Run(context.Background(), job)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want an error of %s", test.program, err, test.err)
			}
			continue
		}
		must.OK(t, job.Method.WriteLines(job))
		part, readErr := os.ReadFile(filepath.Join(out, "part-00000"))
		if err != nil || readErr != nil || string(part) != test.part || stats.Records != 2 {
			t.Errorf("%s: %v, %v, %q, %d records; want %q", test.program, err, readErr, part, stats.Records, test.part)
		}
	}
}

// TestPartNotClosed checks that a job fails if the file system cannot close a part.
func TestPartNotClosed(t *testing.T) {
	g, input := firstTier(t)
	failed := errors.New("cannot be closed")
	out := filepath.Join(t.TempDir(), "out")
	must.OK(t, os.Mkdir(out, 0o777))
	r := pipe.Runner{Bin: programs.Dir(t)}
	_, err := r.Run(t.Context(), &runner.Job{Name: "data_first1", Step: step.Possible, FS: storetest.Unclosed{FS: store.Local{}, Err: failed}, Method: method.Of(g),
		Tier: 1, Input: []string{input}, Output: out, Reducers: 1})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
}

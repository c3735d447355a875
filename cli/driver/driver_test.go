package driver

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
)

// some contains a game for each method: blocks (with ranges), states (with cycles) and lists.
func some() game.Kinds { return game.Kinds{connectn.Kind, quickcross.Kind, mnk.Kind} }

// runs runs a command line, which must succeed.
func runs(t *testing.T, line string) (stdout string) {
	t.Helper()
	status, stdout, stderr := runLine(some(), line, "")
	if status != 0 || stderr != "" {
		t.Fatalf("driver %s: status %d, %s", line, status, stderr)
	}
	return stdout
}

// runLine runs a command line and returns its status and output.
func runLine(games game.Kinds, line, stdin string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(games, append([]string{"driver"}, strings.Fields(line)...), strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// refused checks that command lines are usage errors: two lines, the given one and one that refers to the help.
func refused(t *testing.T, lines map[string]string) {
	t.Helper()
	for line, want := range lines {
		status, stdout, stderr := runLine(some(), line, "")
		hint, ok := strings.CutPrefix(stderr, "driver: "+want+"\ndriver: see driver")
		if status != 2 || stdout != "" || !ok || strings.Count(hint, "\n") != 1 || !strings.HasSuffix(hint, " --help\n") {
			t.Errorf("driver %s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}

// solved returns a solved data directory for each game of some.
func solved(t *testing.T) map[string]string {
	t.Helper()
	dirs := make(map[string]string)
	for name, board := range map[string]string{"connectn": "--width 2 --height 2 --connect 2", "quickcross": "--width 2 --height 2 --connect 2", "mnk": "--width 2 --height 2 --connect 2"} {
		dirs[name] = filepath.Join(t.TempDir(), name)
		runs(t, "solve "+name+" "+board+" --data "+dirs[name])
	}
	return dirs
}

// TestCommands checks the list of commands, that the games of a program are in order, and that none is made before it is
// named.
func TestCommands(t *testing.T) {
	games := some()
	games[2].New = func([]int) (game.Game, error) { return nil, errors.New("it is made") }
	const want = "driver: expected a command: solve, status, lookup, stats, export, compare, verify, plan, check, ranges, completion\n"
	if status, _, stderr := runLine(games, "", ""); status != 2 || !strings.HasPrefix(stderr, want) {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
	for _, line := range []string{"solve --help", "ranges connectn --tier 1 --reducers 1"} {
		if status, _, stderr := runLine(games, line, ""); status != 0 {
			t.Errorf("driver %s: %s", line, stderr)
		}
	}
	if _, _, stderr := runLine(games, "solve mnk", ""); !strings.HasPrefix(stderr, "driver: it is made\n") {
		t.Error(stderr)
	}
	for want, games := range map[string]game.Kinds{
		"driver: no games are given\n":           nil,
		"driver: game connectn is given twice\n": append(some(), connectn.Kind),
		"driver: game nim, parameter reducers: a common flag has this name\n": {{
			Name: "nim", New: connectn.Kind.New, Params: []game.Param{{Name: "reducers"}}}},
	} {
		if status, stdout, stderr := runLine(games, "help", ""); status != 1 || stdout != "" || stderr != want {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}

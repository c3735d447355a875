package amazon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
)

// some contains a game for each method: blocks, states (with cycles) and lists.
func some() game.Kinds { return game.Kinds{connectn.Kind, quickcross.Kind, mnk.Kind} }

// runs runs a command line, which must succeed.
func runs(t *testing.T, line string) (stdout string) {
	t.Helper()
	status, stdout, stderr := runLine(line)
	// If S3 is slow, a run reports what it is waiting for.
	if status != 0 || stderr != "" && !strings.Contains(stderr, "copying ") {
		t.Fatalf("driver %s: status %d, %s", line, status, stderr)
	}
	return stdout
}

// runLine runs a command line and returns its status and output.
func runLine(line string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Extension().Run(some(), append([]string{"driver"}, strings.Fields(line)...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// solved returns a solved data directory for each game of some.
func solved(t *testing.T) map[string]string {
	t.Helper()
	dirs := make(map[string]string)
	for _, name := range some().Names() {
		dirs[name] = filepath.Join(t.TempDir(), name)
		runs(t, "solve "+name+" --width 2 --height 2 --connect 2 --data "+dirs[name])
	}
	return dirs
}

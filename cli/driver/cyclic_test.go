//go:build linux && !race

package driver_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/programs"
)

var oneError = regexp.MustCompile(`^driver: .*: dies\n$`)

// TestReducerDies checks that nothing is damaged if a reducer dies after it has written the
// run of states and printed the new positions: the pass is not committed, and --resume
// runs it again.
func TestReducerDies(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	drive(t, smallCyclic, plain)
	for _, name := range []string{"mark_reduce", "begin_reduce", "solve_reduce"} {
		t.Run(name, func(t *testing.T) {
			step := strings.TrimSuffix(name, "_reduce")
			own := withScripts(t, map[string]string{name: name + " || exit\nif [ \"$treereduce_pass\" = 3 ] || [ " + step + " = begin ]; then echo dies >&2; exit 3; fi"})
			dir := filepath.Join(t.TempDir(), "d")
			cmd := exec.Command(filepath.Join(own, "driver"), append(slices.Clip(smallCyclic), "--runner", "pipe", "--reducers", "2", "--data", dir)...)
			out, err := cmd.CombinedOutput()
			if err == nil || !oneError.Match(programs.Progress.ReplaceAll(out, nil)) {
				t.Fatalf("%v: %s", err, out)
			}
			if states, err := filepath.Glob(filepath.Join(dir, "_attempt-*", "_states-*")); err != nil || len(states) == 0 {
				t.Errorf("the reducer wrote no states: %v", err)
			}
			drive(t, smallCyclic, dir, "--runner=pipe", "--reducers=2", "--resume")
			same(t, dir, plain)
		})
	}
}

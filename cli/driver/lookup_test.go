package driver

import (
	"strings"
	"testing"
)

// A look-up is the same command for every game.
func TestLookup(t *testing.T) {
	for name, dir := range solved(t) {
		said := runs(t, "lookup --start --data "+dir)
		want := map[string]string{
			"connectn":   `"    ", X to move: X wins in 3`,
			"quickcross": `"../..", hash 0: LOSE in 2`,
			"mnk":        `"../..", X to move: X wins in 3`,
		}[name]
		if !strings.Contains(said, "\n"+want) {
			t.Errorf("%s: %s, want %s", name, said, want)
		}
	}
}

// Lines are looked up one by one; one that is wrong does not stop the others.
func TestLookupLines(t *testing.T) {
	status, stdout, stderr := told(some(), "lookup --data "+solved(t)["mnk"], "a1\nz9\na1 b1\n")
	if status != 1 || !strings.Contains(stdout, `"X./..", O to move: X wins in 2`) || !strings.Contains(stdout, `"XO/..", X to move: X wins in 1`) ||
		!strings.HasPrefix(stderr, "driver: stdin:2: expected a position") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

package driver

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTable solves with a small table, and makes a full one small and full again. All commands that
// read tables must print the same.
func TestTable(t *testing.T) {
	full, small := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "d")
	solve := "solve connectn --width 4 --height 3 --connect 3 --data "
	runs(t, solve+full)
	runs(t, solve+small+" --table small")
	commands := []string{"stats --csv", "export", "export --tier 5 --outcome X", "lookup --start --line", "lookup 1 1 2 --parents", "lookup 1 1 2 0 --parents --tsv", "verify", "verify --rules"}
	want := make([]string, len(commands))
	for i, command := range commands {
		want[i] = runs(t, command+" --data "+full)
	}
	same := func(dir string) {
		t.Helper()
		for i, command := range commands {
			if got := runs(t, command+" --data "+dir); got != want[i] {
				t.Errorf("%s: %s, want %s", command, got, want[i])
			}
		}
		if got := runs(t, "compare "+full+" "+dir); !strings.Contains(got, "are the same") {
			t.Error(got)
		}
		if got := runs(t, solve+dir+" --resume"); !strings.Contains(got, "solved by an earlier run") {
			t.Error(got)
		}
	}
	same(small)
	resized := func(size, dir, want string) {
		t.Helper()
		if got := runs(t, "table "+size+" "+dir); !strings.HasPrefix(got, dir+"/table: "+size+", "+want+" of 13 tiers, ") {
			t.Errorf("table %s: %s", size, got)
		}
		same(dir)
		if got := runs(t, "status --data "+dir); strings.Contains(got, "\nsmall table: ") != (size == "small") {
			t.Errorf("%s: %s", size, got)
		}
	}
	resized("full", small, "13")
	resized("full", small, "13")
	resized("small", full, "7")
	resized("small", full, "7")
	status, _, stderr := runLine(some(), solve+full+" --resume --table full", "")
	if status != 1 || stderr != "driver: "+full+"/table is small: driver table full "+full+" makes it full\n" {
		t.Errorf("status %d, %s", status, stderr)
	}
	refused(t, map[string]string{
		"table":              "expected small or full, and a data directory",
		"table tiny " + full: "expected small or full, and a data directory",
		"solve connectn --table tiny --data " + full:    `--table "tiny": expected full or small`,
		"solve quickcross --table small --data " + full: "--table small: quickcross width=3 height=3 connect=3 is not solved by blocks: only such games have small tables",
	})
}

package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestFormat3 checks that a run of format 3 is refused by its directory and what to do, whether it is finished or not, and
// that --overwrite replaces it.
func TestFormat3(t *testing.T) {
	const board = "connectn --width 3 --height 2 --connect 2"
	for _, lost := range []string{"", "table/_SUCCESS", "table"} {
		dir := filepath.Join(t.TempDir(), "run")
		must.OK(t, os.CopyFS(dir, os.DirFS("../../internal/engine/solve/testdata/format3")))
		if lost != "" {
			must.OK(t, os.RemoveAll(filepath.Join(dir, lost)))
		}
		want := "data directory " + dir + ": of format version 3, this program reads version 4: driver solve --overwrite starts over\n"
		for _, line := range []string{
			"lookup --start --data " + dir, "stats --data " + dir, "export --data " + dir,
			"verify --data " + dir, "verify --rules --data " + dir, "compare " + dir + " " + dir,
			"solve " + board + " --data " + dir, "solve " + board + " --resume --data " + dir, "solve " + board + " --replace --data " + dir,
		} {
			if status, stdout, stderr := runLine(some(), line, ""); status != 1 || stdout != "" || !strings.HasSuffix(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("without %q, driver %s: status %d, %s%s, want %s", lost, line, status, stdout, stderr, want)
			}
		}
		runs(t, "status --data "+dir)
		if lost == "" {
			must.OK(t, os.Remove(filepath.Join(dir, "treereduce.json")))
			want := dir + "/table/tier-00.blocks: of an earlier format: solve the game again\n"
			if status, _, stderr := runLine(some(), "stats --data "+dir, ""); status != 1 || !strings.HasSuffix(stderr, want) {
				t.Errorf("a table alone: status %d, %s, want %s", status, stderr, want)
			}
			continue
		}
		runs(t, "solve "+board+" --overwrite --data "+dir)
		runs(t, "verify --data "+dir)
	}
}

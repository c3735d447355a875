package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestSmall checks that a run whose table lacks every second tier, as an earlier version made it, is
// refused by its directory and what to do, whether it is finished or not, and that --overwrite replaces
// it.
func TestSmall(t *testing.T) {
	const board = "connectn --width 3 --height 2 --connect 2"
	for _, lost := range []string{"", "table/_SUCCESS", "table"} {
		dir := filepath.Join(t.TempDir(), "small")
		must.OK(t, os.CopyFS(dir, os.DirFS("../../internal/engine/solve/testdata/format3/small")))
		if lost != "" {
			must.OK(t, os.RemoveAll(filepath.Join(dir, lost)))
		}
		want := "data directory " + dir + ": an earlier version made its table small (without every second tier), which this version does not read: driver solve --overwrite starts over\n"
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
		runs(t, "solve "+board+" --overwrite --data "+dir)
		runs(t, "verify --data "+dir)
	}
}

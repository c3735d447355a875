//go:build hadoop

package driver_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// examples is the directory of the rules programs in Python.
const examples = "../../python/examples/rules"

// TestHadoopRules solves games whose rules are Python programs, by jobs on the cluster that ask them. The exports are those of
// the same games in Go.
func TestHadoopRules(t *testing.T) {
	testRules(t, "mnk --width 3 --height 3 --connect 3", "quickcross --width 3 --height 2 --connect 2")
}

// TestLongHadoopRules is TestHadoopRules with games of more jobs.
func TestLongHadoopRules(t *testing.T) {
	longtest.Share(t)
	testRules(t, "mnk --width 4 --height 3 --connect 3", "quickcross --width 3 --height 3 --connect 3", "dodgem --size 3", "mancala --pits 3 --stones 2")
}

func testRules(t *testing.T, games ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
	t.Cleanup(cancel)
	s := up(ctx, t)
	zip := filepath.Join(t.TempDir(), "treereduce.zip")
	pack := exec.Command("python3", "-m", "zipfile", "-c", zip, "treereduce")
	pack.Dir = "../../python"
	process.Output(t, pack)
	for _, spec := range games {
		words := strings.Fields(spec)
		t.Run(words[0], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(dir, "treereduce.zip"), must.Get(os.ReadFile(zip))(t), 0o666))
			file := words[0] + ".py"
			must.OK(t, os.WriteFile(filepath.Join(dir, file), must.Get(os.ReadFile(filepath.Join(examples, file)))(t), 0o666))
			in := func(args ...string) string {
				cmd := s.driver(ctx, nil, args...)
				cmd.Dir = dir
				return process.Output(t, cmd)
			}
			above := "0"
			if words[0] == "mancala" {
				above = "100" // records of a job: most of its 385 jobs have fewer
			}
			rules := "--rules-program=env PYTHONPATH=treereduce.zip python3 " + file
			data := s.DefaultFS() + "/rules/" + words[0]
			in(append([]string{"solve", "py" + words[0], rules, "--data", data, "--runner", "hadoop", "--cluster-above", above, "--files", "treereduce.zip"}, words[1:]...)...)
			in(append([]string{"solve"}, words...)...)
			found, want := in("export", rules, "--data", data), in("export")
			if words[0] == "mnk" || words[0] == "mancala" { // their numbers contain the tier
				found, want = withoutHash(found), withoutHash(want)
			}
			if sorted(found) != sorted(want) {
				t.Errorf("%s: the export of %d bytes differs from that of the game in Go, of %d", spec, len(found), len(want))
			}
		})
	}
}

// sorted returns sorted lines.
func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// withoutHash returns the lines of an export without the column of hashes.
func withoutHash(export string) string {
	var rest []string
	for line := range strings.Lines(export) {
		position, others, _ := strings.Cut(line, "\t")
		_, values, _ := strings.Cut(others, "\t")
		rest = append(rest, position+"\t"+values)
	}
	return strings.Join(rest, "")
}

//go:build hadoop

package driver_test

import (
	"context"
	"fmt"
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

// TestHadoopRules solves games whose rules are Python programs, by jobs on the cluster that ask them. The values are those of
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
			found, want := values(in("export", rules, "--data", data)), values(in("export"))
			if !slices.Equal(found, want) {
				t.Errorf("%s: the export of %d positions differs from that of the game in Go, of %d", spec, len(found), len(want))
			}
		})
	}
}

// values returns the positions of an export, each with its result and remoteness for the player to move, in the order of
// their texts: a game in Go and its rules in Python may number positions, and name values, differently.
func values(export string) (lines []string) {
	for line := range strings.Lines(export) {
		fields := strings.Split(line, "\t") // position, hash, result, remoteness, value
		lines = append(lines, fmt.Sprint(fields[0], " ", fields[2], " ", fields[3]))
	}
	slices.Sort(lines)
	return lines
}

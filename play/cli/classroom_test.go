//go:build linux && !race

package play_test

import (
	"encoding/csv"
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
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// answering is the text of a program for the shell that answers every command, but does something
// else for genmove.
func answering(genmove string) string {
	return "while read -r id command rest; do\ncase $command in genmove) " + genmove + ";; esac\nprintf '=%s\\n\\n' $id\ndone\n"
}

// badPrograms are programs for the shell that lose every game that they have a move in.
var badPrograms = map[string]string{
	"crashes":      answering("exit 7"),
	"ends":         "exit 3\n",
	"hangs":        answering("sleep 1000"),
	"never starts": "sleep 1000\n",
	"prints":       "yes nonsense\n",
	"talks":        answering("echo let me think"),
	"illegal":      answering("echo \"=$id 99\"; echo; continue"),
	"starts late":  "sleep 0.3\n" + answering("exit 1"),
	"forks":        answering("for i in 1 2 3 4 5 6 7 8; do setsid sleep 1000 & done; exit 1"),
	"eats memory":  answering("python3 -c 'x = bytearray(600 << 20); x[::4096] = x[::4096]'; exit 1"),
}

// TestLongClassroom plays a tournament of 30 programs, of which 20 are bad ones, three times beside
// two busy loops, with limits: the ranking of the ten good ones is the same each time, and no process is
// left, even of those that leave their process group.
func TestLongClassroom(t *testing.T) {
	longtest.Skip(t)
	programs.NeedLimits(t)
	dir := t.TempDir()
	must.OK(t, os.Chmod(filepath.Dir(dir), 0o755)) // root's programs run as nobody
	var roster strings.Builder
	for depth := 1; depth <= 10; depth++ {
		// An engine that knows time_left would search less deeply on a busy machine.
		fmt.Fprintf(&roster, "depth %d,\"%s engine connectn --threads 1 --memory 1M machine:depth=%d | sed -u s/time_left/_/\"\n", depth, must.Get(exec.LookPath("play"))(t), depth)
	}
	for name, text := range badPrograms {
		file := strings.ReplaceAll(name, " ", "-") + ".sh"
		must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
		for n := range 2 {
			fmt.Fprintf(&roster, "%s %d,sh %s\n", name, n+1, file)
		}
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "roster.csv"), []byte(roster.String()), 0o666))
	for range 2 {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		programs.Start(t, loop)
		defer func() { loop.Process.Kill(); loop.Wait() }()
	}
	mark := "TREEREDUCE_CLASSROOM=" + dir
	var first []string
	for round := range 3 {
		begun := time.Now()
		cmd := programs.Command(dir, "play tournament connectn --width 6 --height 5 --connect 4 --games 2 --parallel 4 --seed 1 --time 300ms --memory-limit 200M -q --roster roster.csv --csv table.csv --html table.html")
		cmd.Env = append(cmd.Environ(), mark)
		status, stdout, stderr := process.Run(cmd)
		if status != 0 || !strings.Contains(stdout, "\n870 games, ") {
			t.Fatalf("exit status %d, %s%s", status, stdout, stderr)
		}
		f := must.Get(os.Open(filepath.Join(dir, "table.csv")))(t)
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil || len(rows) != 31 {
			t.Fatalf("%v, %v", rows, err)
		}
		var ranking []string
		for _, row := range rows[1:] {
			if strings.HasPrefix(row[1], "depth ") {
				ranking = append(ranking, row[1]+": "+row[5])
				if row[10] != "0" {
					t.Errorf("%s has %s faults", row[1], row[10])
				}
			}
		}
		if !strings.HasPrefix(rows[10][1], "depth ") {
			t.Errorf("the tenth is %s", rows[10][1])
		}
		if round == 0 {
			first = ranking
		} else if !slices.Equal(ranking, first) {
			t.Errorf("ranking %d is %q, the first one was %q", round+1, ranking, first)
		}
		if left := running(mark); len(left) > 0 {
			t.Errorf("processes are left: %q", left)
		}
		t.Logf("%v: %s", time.Since(begun).Round(time.Second), stdout)
	}
}

// running returns the command lines of the processes that have a variable in their environment.
func running(variable string) (all []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), variable) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

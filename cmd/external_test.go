//go:build linux

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// external copies testdata/external, a module outside this one, and returns its directory and a
// function that runs a command there.
func external(t *testing.T) (dir string, run func(words ...string) (status int, out string)) {
	t.Helper()
	dir = t.TempDir()
	must.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "external"))))
	root := must.Get(filepath.Abs(".."))(t)
	// It has our requirements, as go mod tidy would write them, so that no other modules are
	// needed.
	const ours = "module github.com/treereduce/treereduce\n"
	gomod := strings.Replace(readPage(t, "go.mod"), ours, "module external\n\nrequire github.com/treereduce/treereduce v0.0.0\n\nreplace github.com/treereduce/treereduce => "+root+"\n", 1)
	for name, text := range map[string]string{"go.mod": gomod, "go.sum": readPage(t, "go.sum")} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir, func(words ...string) (int, string) {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOPROXY=off", "GOWORK=off") // no downloads
		status, stdout, stderr := process.Run(cmd)
		return status, stdout + stderr
	}
}

// TestDifferentBuilds builds the driver of a module with other rules than its mapper and
// reducer, without version control: the first job reports it. A program of the module reads the
// table that they make.
func TestDifferentBuilds(t *testing.T) {
	t.Parallel()
	_, run := external(t)
	do := func(want int, line string) string {
		t.Helper()
		status, out := run("sh", "-ec", line)
		if status != want {
			t.Fatalf("%s: status %d, %s", line, status, out)
		}
		return out
	}
	const solve = "bin/driver solve nim --runner pipe --overwrite --stones "
	do(0, "go build -o bin/ ./driver ./processes ./mapper ./reducer")
	if out, want := do(1, solve+"20"), `(to build it: see "In a module of your own" in docs/adding-a-game.md)`+"\n"; !strings.HasSuffix(out, want) {
		t.Errorf("without the steps: %s, want %s", out, want)
	}
	do(0, "for s in "+strings.Join(step.AllNames(), " ")+"; do ln bin/mapper bin/${s}_map; ln bin/reducer bin/${s}_reduce; done; "+
		"sed -i 's/min(3, left/min(4, left/' nim/nim.go; go build -o bin/ ./driver")
	out := do(1, solve+"20")
	want := regexp.MustCompile(`^driver: data_first0: init_map \(task 0\): init_map: driver and this program are different builds \(rules [0-9a-f]{8} in the driver, [0-9a-f]{8} here\): ` +
		`rebuild driver, mapper and reducer together: see "In a module of your own" in docs/adding-a-game.md\n$`)
	if !want.MatchString(out) {
		t.Errorf("other rules: %s, want %s", out, want)
	}
	do(0, solve+"3") // with a heap of three, the moves are the same
	do(0, "go build -o bin/ ./mapper ./reducer; for s in "+strings.Join(step.AllNames(), " ")+"; do ln -f bin/mapper bin/${s}_map; ln -f bin/reducer bin/${s}_reduce; done")
	do(0, solve+"20")
	if out, want := do(0, "go run ./values all_data"), "Black wins in 8; 0 of 40 positions are ties\n"; out != want {
		t.Errorf("the program that reads the table: %s, want %s", out, want)
	}
}

// TestLongExternal builds a module outside this one, testdata/external, with its own game, as
// docs/adding-a-game.md describes, and solves that game and one of ours with the module's
// programs.
func TestLongExternal(t *testing.T) {
	longtest.Skip(t)
	dir, runIn := external(t)
	run := func(words ...string) string {
		t.Helper()
		status, out := runIn(words...)
		if status != 0 {
			t.Fatalf("%v: status %d\n%s", words, status, out)
		}
		return out
	}
	// The commands of the page for a new module, except for go.mod, which is made above.
	block := regexp.MustCompile("(?s)```sh\n.*?\ngo mod tidy\n(.*?)```").FindStringSubmatch(readPage(t, "docs/adding-a-game.md"))
	if block == nil {
		t.Fatal("docs/adding-a-game.md does not say how a module is built")
	}
	if output := run("sh", "-ec", block[1]); !strings.HasPrefix(output, "nim stones=20 last=wins: Black wins in ") {
		t.Errorf("as the page says, it says %s", output)
	}
	run("go", "test", "./...") // this includes the contract test of the game
	for _, name := range step.AllNames() {
		for _, side := range []string{"_map", "_reduce"} {
			if _, err := os.Stat(filepath.Join(dir, "bin", name+side)); err != nil {
				t.Errorf("the page leaves out a step: %v", err)
			}
		}
	}
	for _, test := range []struct{ game, says, lookup, finds, looks string }{
		{"connectn --width 3 --height 3 --connect 3", "Connect 3 on 3×3: tie in 9 moves\n694 positions", "1 1", "X to move: you tie in 7", "X to move: you tie in 7"},
		{"nim --stones 20", "nim stones=20 last=wins: Black wins in ", "take3", `"17:Black", Black to move: you win in `, `"17:Black", Black to move: you win in `},
		{"nim --stones 20 --last loses", "nim stones=20 last=loses: White wins in ", "1:White", "White to move: you lose in 1", "White to move: you lose in 1"},
	} {
		kind, params, _ := strings.Cut(test.game, " ")
		for _, by := range []string{"memo", "search"} {
			words := append([]string{"bin/play", "find-winner", kind, "--by", by}, strings.Fields(params)...)
			if output := run(append(words, strings.Fields(test.lookup)...)...); !strings.Contains(output, test.finds) {
				t.Errorf("%s: find-winner by %s says %s, want %s", test.game, by, output, test.finds)
			}
		}
		if output := run(append(append([]string{"bin/play", kind}, strings.Fields(params)...), "machine:depth=2", "random")...); !strings.Contains(output, " after ") {
			t.Errorf("%s: a game says %s", test.game, output)
		}
		var runs []string
		for _, runner := range []string{"inline", "pipe"} {
			name := fmt.Sprintf("%s, %s", test.game, runner)
			data := strings.ReplaceAll(test.game+"-"+runner, " ", "")
			words := append(append([]string{"bin/driver", "solve"}, strings.Fields(test.game)...), "--runner", runner, "--reducers", "2", "--data", data)
			if output := run(words...); !strings.HasPrefix(output, test.says) {
				t.Errorf("%s: %s, want %s", name, output, test.says)
			}
			if output := run("bin/driver", "lookup", "--data", data, test.lookup); !strings.Contains(output, test.looks) {
				t.Errorf("%s: lookup says %s, want %s", name, output, test.looks)
			}
			run("bin/driver", "verify", "--data", data)
			run("bin/driver", "verify", "--data", data, "--rules")
			run("bin/driver", "stats", "--data", data)
			runs = append(runs, filepath.Join(dir, data))
		}
		solved.SameText(t, store.Local{}, runs[1], runs[0])
	}
	// A runner of its own is planned, refused, stopped, resumed and watched as ours are, with each method.
	run("go", "build", "-o", "bin/", "./processes")
	nim := "nim --stones 20 --runner processes"
	solve := "bin/processes solve " + nim + " --reducers 2 --data nim_data"
	for _, test := range []struct {
		line   string
		status int
		want   string
	}{
		{"bin/processes plan " + nim, 0, "nim stones=20 last=wins: 40 positions"},
		{solve + " --at-a-time 0", 2, "processes: --at-a-time 0: expected at least 1"},
		{solve + " --data hdfs://localhost:1/nim", 2, "processes: --runner processes needs a directory on this machine"},
		{strings.Replace(solve, "--runner processes", "--runner inline --at-a-time 3", 1), 2, "processes: --at-a-time is an option of --runner processes"},
		{solve + " --memory 70M", 2, "processes: --memory 70M: nim stones=20 last=wins needs at least 160M"},
		{solve + " --until-tier 9", 0, "tier 0: 1 position\n"},
		{"bin/processes status --data nim_data", 0, "nim stones=20 last=wins: "},
		{solve + " --resume", 0, "nim stones=20 last=wins: Black wins in "},
		{"bin/processes solve connectn --width 3 --height 3 --connect 3 --runner processes --reducers 2 --data 3x3", 0, "Connect 3 on 3×3: tie in 9 moves\n694 positions"},
	} {
		if status, out := runIn(strings.Fields(test.line)...); status != test.status || !strings.HasPrefix(out, test.want) {
			t.Errorf("%s: status %d, %s, want %d, %s", test.line, status, out, test.status, test.want)
		}
	}
	if out := run("bin/processes", "plan", "nim", "--stones", "20", "--runner", "processes"); !strings.HasSuffix(out, "assumed: runner processes takes as long as pipe\n") {
		t.Errorf("the plan ends with %s", out)
	}
	solved.SameText(t, store.Local{}, filepath.Join(dir, "nim_data"), filepath.Join(dir, "nim--stones20-inline"))
	solved.SameText(t, store.Local{}, filepath.Join(dir, "3x3"), filepath.Join(dir, "connectn--width3--height3--connect3-inline"))
	// Its programs know its games and no others.
	for words, want := range map[string]string{
		"bin/play quickcross random random":               `play: unknown command or game "quickcross", expected tui, web, find-winner, match, tournament, engine, replay, review, accuracy, train, score, completion, nim, connectn, connect4, fourinarow`,
		"bin/driver solve quickcross":                     `driver: unknown game "quickcross", expected nim, connectn, connect4, fourinarow`,
		"bin/mapper possible --game quickcross":           `mapper: unknown game "quickcross"`,
		"bin/mapper possible --stones 20":                 "mapper: nim: missing --last (or treereduce_last in the environment)",
		"bin/mapper possible --stones 20 --last ever":     `mapper: --last: expected wins or loses, found "ever"`,
		"bin/mapper possible --game connectn --stones 20": "mapper: unknown flag --stones: did you mean --states?",
	} {
		cmd := exec.Command(filepath.Join(dir, strings.Fields(words)[0]), strings.Fields(words)[1:]...)
		status, _, stderr := process.Run(cmd)
		if got, _, _ := strings.Cut(stderr, "\n"); status != 2 || got != want {
			t.Errorf("%s: status %d, %s, want %s", words, status, got, want)
		}
	}
}

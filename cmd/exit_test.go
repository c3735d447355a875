//go:build linux

package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// runs creates a folder with runs in different states: three and cross are solved, part is
// stopped, bad has the table of another game; steps may write to made.
func runs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, line := range []string{
		"driver solve connectn --data three",
		"driver solve quickcross --width 2 --height 3 --connect 2 --data cross --keep all",
		"driver solve connectn --data part --until-tier 3",
		"driver solve connectn --data bad --until-tier 3 --keep all",
	} {
		if status, _, stderr := process.Run(programs.Command(dir, line)); status != 0 || stderr != "" {
			t.Fatalf("%s: exit status %d, %s", line, status, stderr)
		}
	}
	must.OK(t, os.CopyFS(filepath.Join(dir, "bad", "table"), os.DirFS(filepath.Join(dir, "cross", "table"))))
	for _, made := range []string{"begin", "ties1"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, "made", made), 0o777))
	}
	return dir
}

// The parameters of the games that runs solves.
const (
	three = " --width 3 --height 3 --connect 3"
	cross = " --game quickcross --width 2 --height 3 --connect 2"
)

// TestExitStatus checks the errors of every command: a failure has status 1 and one line; a usage
// error has 2 and a second line that refers to the help; both print nothing on stdout. Success has
// status 0 and nothing on stderr; the scripts in testdata/script, here and beside the commands, and the function refused of cli/driver and
// play/cli, have more of it.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	dir := runs(t)
	type test struct {
		line, stdin string
		status      int
	}
	tests := []test{
		{"driver", "", 2},
		{"driver help dance", "", 2},
		{"driver -h dance", "", 2},
		{"driver dance", "", 2},

		{"driver help solve chess", "", 2},
		{"driver completion", "", 2},
		{"driver completion csh", "", 2},
		{"play --version", "", 0},
		{"mapper --version", "", 0},

		{"driver solve", "", 2},
		{"driver solve help dance", "", 2},
		{"driver solve chess", "", 2},
		{"driver solve connectn --data three", "", 1},
		{"driver solve connectn --data three --width 4 --resume", "", 1},
		{"driver solve connectn --data bad --resume", "", 1},
		{"driver solve connectn --data bad --resume --runner pipe", "", 1},
		{"driver solve connectn --data three/_lock/d", "", 1},
		{"driver solve connectn --width x", "", 2},
		{"driver solve connectn --width -3", "", 2},
		{"driver solve connectn --memory -1", "", 2},
		{"driver solve connectn --memory 64M -1", "", 2},

		{"driver status --data nothing", "", 1},
		{"driver status three", "", 2},
		{"driver status --jsno", "", 2},

		{"driver lookup --data three 9", "", 1},
		{"driver lookup --data part 1", "", 1},
		{"driver lookup --data nothing 1", "", 1},
		{"driver lookup --data cross a9-", "", 1},
		{"driver lookup --data nothing --value 66", "", 1},
		{"driver lookup --data three --value X", "", 2},

		{"driver stats --data three --svg no/such.svg", "", 1},
		{"driver stats --data part --svg x", "", 1},

		{"driver export --data part", "", 1},
		{"driver export three", "", 2},
		{"driver export --data three --format xlsx", "", 2},
		{"driver compare three", "", 2},
		{"driver compare three nothing", "", 1},
		{"driver compare three cross", "", 1},

		{"driver verify --data part", "", 1},
		{"driver verify --fast", "", 2},

		{"driver ranges connectn --tier 3 --reducers 2 --out no/such", "", 1},
		{"driver ranges connectn --tier 3 --reducers -2", "", 2},
		{"driver ranges connectn --tier -3 --reducers 2", "", 2},

		{"play", "", 2},
		{"play help dance", "", 2},
		{"play find-winner connectn", "1\n1 1\n", 0},
		{"play find-winner connectn 9", "", 1},
		{"play score", "", 2},
		{"play score connectn", "", 0},
		{"play score connectn", "19\n", 1},
		{"play connectn", "", 0},
		{"play connectn human human", "1\n", 0},
		{"play connectn --data nothing table random", "", 1},

		{"mapper", "", 2},
		{"mapper dance", "", 2},
		{"reducer", "", 2},
		{"reducer dance", "", 2},
		{"mapper possible --width 0 --height 3 --connect 3", "", 2},
		{"mapper mark" + three, "", 2},
		{"reducer possible" + cross, "", 2},
		{"mapper solve --turn Y" + three, "", 2},
		{"mapper solve" + three, "", 2},
		{"reducer mark --tier 0 --pass 0 --states cross/data_first0 --output out" + cross, "", 2},
		{"reducer mark" + cross, "", 2},
		{"reducer mark --tier 0 --pass 1 --states x:/y --output out" + cross, "", 1},
		{"reducer mark --tier 0 --pass 1 --states cross/data_first0 --output x:/y" + cross, "", 1},

		// What no script does.
		{"reducer begin --tier 0 --states cross/data_first0 --output made/begin" + cross, "", 0},
		{"mapper ties" + cross, "", 0},
		{"reducer ties --tier 0 --pass 1 --states cross/data_second0.0 --output made/ties1" + cross, "", 0},
		{"mapper final" + cross, "", 0},
		{"reducer final" + cross, "", 0},
	}
	for side, name := range map[string]string{"map": "mapper", "reduce": "reducer"} {
		for _, each := range step.AllNames() {
			tests = append(tests,
				test{name + " " + each + " --nonsense", "", 2},
				test{each + "_" + side + " word", "", 2})
			of := []string{three + " --turn O"}
			switch each {
			case step.Mark, step.Begin, step.Ties, step.Values:
				of = []string{cross}
			case step.Solve, step.Final:
				of = append(of, cross)
			}
			if side == "map" && each == step.Init {
				continue // it accepts any line
			}
			for _, game := range of {
				if side == "reduce" && game == cross && each != step.Final {
					game += " --tier 0 --output made/bad --states cross/data_first0"
					if each != step.Begin && each != step.Values {
						game += " --pass 1"
					}
				}
				tests = append(tests, test{name + " " + each + game, "garbage\n", 1})
			}
		}
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			cmd := programs.Command(dir, test.line)
			cmd.Stdin = strings.NewReader(test.stdin)
			status, stdout, stderr := process.Run(cmd)
			lines := strings.Count(stderr, "\n")
			name, _, _ := strings.Cut(test.line, " ")
			usage := 2 // lines of an error of usage
			if test.line == "play" {
				usage++ // how to begin
			}
			count := "" // the summary of a step run by hand, or of play score
			switch {
			case lines != 1 || name == "driver":
			case name == "play":
				count = " nodes in "
			default:
				count = " in, "
			}
			switch {
			case status != test.status:
				t.Errorf("%s: exit status %d, want %d: %s", test.line, status, test.status, stderr)
			case status == 0 && stderr != "" && (count == "" || !strings.Contains(stderr, count)):
				t.Errorf("%s: done, but prints %s", test.line, stderr)
			case status == 1 && lines != 1, status == 2 && (lines != usage || !strings.Contains(stderr, "\n"+name+": see "+name) || !strings.HasSuffix(stderr, " --help\n")):
				t.Errorf("%s: exit status %d with %d lines: %s", test.line, status, lines, stderr)
			case status != 0 && (stdout != "" || !strings.HasPrefix(stderr, name+": ")):
				t.Errorf("%s: exit status %d, stdout %q, stderr %q", test.line, status, stdout, stderr)
			}
		})
	}
}

// full opens a file to which nothing can be written.
func full(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// closed opens a pipe whose reading end is closed.
func closed(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	must.OK(t, err)
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// printing contains commands that print, with different code each.
var printing = []string{
	"driver --help", "driver --version", "driver help stats", "driver help solve connectn", "driver completion zsh", "driver solve --help", "driver solve connectn --help",
	"driver solve connectn --data again", "driver solve connectn --data again --overwrite --json",
	"driver solve connectn --data part --until-tier 3 --resume", "driver solve connectn --data part --until-tier 3 --resume --json",
	"driver solve quickcross --data cross2 --width 2 --height 2 --connect 2",
	"driver status --data three", "driver status --data three --json",
	"driver lookup --data three 1", "driver lookup --data three", "driver lookup --data cross --start",
	"driver stats --data three", "driver stats --data three --json", "driver stats --data cross",
	"driver lookup --data three --json 1", "driver lookup --data three --tsv",
	"driver stats --data three --csv", "driver stats --data part", "driver stats --data part --csv", "driver stats --data three --svg -",
	"driver export --data three", "driver export --data cross --format csv", "driver export --data three --format jsonl --sample 5",
	"driver compare three three", "driver lookup --data three --value 66",
	"driver verify --data three", "driver verify --data cross",
	"driver ranges connectn --tier 3 --reducers 2",
	"play --help", "play help score", "play find-winner connectn 1", "play find-winner connectn", "play find-winner connectn --json",
	"play score connectn", "play score connectn --json",
	"play connectn human human", "play connectn human machine", "play connectn random machine",
	"play match --help", "play match connectn random random", "play match connectn -q random human", "play match connectn --json -q random random",
	"play tournament connectn random random random", "play tournament connectn --json random random", "play engine connectn",
	"play web --listen localhost:0",
	"mapper --help", "possible_map --help", "reducer --help",
	"mapper possible" + three, "init_map" + three, "mapper mark" + cross,
}

// printed returns one of these commands with its input.
func printed(dir, line string) *exec.Cmd {
	cmd := programs.Command(dir, line)
	cmd.Stdin = strings.NewReader("000\n")
	if strings.HasPrefix(line, "driver") || strings.HasPrefix(line, "play") {
		cmd.Stdin = strings.NewReader("1\n")
	}
	return cmd
}

// TestLostOutput checks every command whose output cannot be written: on a full disk, it prints one
// line and exits with status 1, and what it has solved stays; if its output pipe is closed, it dies
// silently, as Unix tools do.
func TestLostOutput(t *testing.T) {
	for name, lost := range map[string]struct {
		open   func(*testing.T) *os.File
		status int
		stderr string
	}{
		"full":   {full, 1, "[^\n]*write /dev/stdout: no space left on device\n"},
		"closed": {closed, 128 + int(syscall.SIGPIPE), ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := runs(t), lost.open(t)
			for _, line := range printing {
				t.Run(line, func(t *testing.T) {
					cmd := printed(dir, line)
					cmd.Stdout = out
					status, _, stderr := process.Run(cmd)
					if status != lost.status || !regexp.MustCompile("^"+lost.stderr+"$").MatchString(stderr) {
						t.Errorf("%s: exit status %d, %q", line, status, stderr)
					}
				})
			}
			if lost.status != 1 {
				return
			}
			if status, _, stderr := process.Run(programs.Command(dir, "driver verify --data again")); status != 0 {
				t.Errorf("what was solved: %s", stderr)
			}
		})
	}
}

// TestLostAnswers checks that look-ups whose output cannot be written end although there is
// more input.
func TestLostAnswers(t *testing.T) {
	cmd := programs.Command(runs(t), "driver lookup --data three")
	stdin, err := cmd.StdinPipe()
	must.OK(t, err)
	cmd.Stdout = full(t)
	programs.Start(t, cmd)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err == nil {
			_, err = stdin.Write(bytes.Repeat([]byte("1\n"), 1000))
		}
	}()
	<-ended
	cmd.Wait()
	if status := process.ExitStatus(cmd); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
}

// TestLostMessages checks that a run does not fail because its messages cannot be written.
func TestLostMessages(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"driver solve connectn --data d", "driver solve connectn --data p --runner pipe", "possible_map" + three} {
		cmd := printed(dir, line)
		cmd.Stderr = full(t)
		if status, stdout, _ := process.Run(cmd); status != 0 || stdout == "" {
			t.Errorf("%s: exit status %d, %q", line, status, stdout)
		}
	}
}

// TestStatus checks that status detects how a run has ended, for all ways in which it can, and
// that it reports a run as running while its driver lives.
func TestStatus(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const large = "driver solve connectn --width 5 --height 5 --connect 4 --data " // takes some seconds
	dir := runs(t)
	status := func(data, word, output string) {
		t.Helper()
		code, out, stderr := process.Run(programs.Command(dir, "driver status --data "+data))
		first := regexp.MustCompile(`^\w+ width=\d+ height=\d+ connect=\d+: ` + output + `\n`)
		if code != 0 || stderr != "" || !first.MatchString(out) {
			t.Errorf("%s: exit status %d, %q, %s", data, code, stderr, out)
		}
		if strings.Contains(out, " left") != (word == "running") || strings.Contains(out, "error: ") != (word == "failed") {
			t.Errorf("%s is %s: %s", data, word, out)
		}
		var r struct{ State, Status, Error string }
		_, out, _ = process.Run(programs.Command(dir, "driver status --json --data "+data))
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Status != word || (r.Error != "") != (word == "failed") {
			t.Errorf("%s: %+v, %v, want %s", data, r, err, word)
		}
		if word != "died" && r.State != word || word == "died" && r.State != "running" {
			t.Errorf("%s: state %s, %s", data, r.State, word)
		}
	}
	// begin starts a run, one at a time, and waits until status shows programs.Progress.
	begin := func(data string) *exec.Cmd {
		t.Helper()
		cmd := programs.Command(dir, large+data)
		programs.Start(t, cmd)
		must.Until(t, func() bool {
			_, out, _ := process.Run(programs.Command(dir, "driver status --data "+data))
			return strings.Contains(out, " left")
		}, func() string { return "nothing is known of " + data })
		return cmd
	}
	status("three", "solved", "solved")
	status("cross", "solved", "solved")
	status("part", "stopped", "stopped after data_first3; --resume continues")
	process.Run(programs.Command(dir, "driver solve connectn --data bad --resume --keep all"))
	status("bad", "failed", "failed")

	killed := begin("killed")
	status("killed", "running", "running")
	killed.Process.Kill()
	killed.Wait()
	status("killed", "died", `died (in|after) data_\w+; --resume continues`)

	for data, end := range map[string]struct {
		signal os.Signal
		status int
	}{"stopped": {os.Interrupt, 130}, "ended": {syscall.SIGTERM, 143}} {
		cmd := begin(data)
		cmd.Process.Signal(end.signal)
		cmd.Wait()
		if code := process.ExitStatus(cmd); code != end.status {
			t.Errorf("%s: exit status %d, want %d", data, code, end.status)
		}
		status(data, "stopped", `stopped (in|after) data_\w+; --resume continues`)
	}

	// status creates no files.
	os.Remove(filepath.Join(dir, "killed", "_lock"))
	status("killed", "died", "died .*; --resume continues")
	if _, err := os.Stat(filepath.Join(dir, "killed", "_lock")); err == nil {
		t.Error("status makes a lock")
	}
}

//go:build linux && !race

package play_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// stopped starts a command, and sends it a Ctrl-C when it has printed a line with the prefix
// after and the file there exists, if one is given. It returns how the command ends.
func stopped(t *testing.T, dir, line, after, there string, typed *os.File) (status int, stdout, stderr string) {
	t.Helper()
	cmd := programs.Command(dir, line)
	out := must.Get(cmd.StdoutPipe())(t)
	var errs strings.Builder
	cmd.Stderr = &errs
	if typed != nil {
		cmd.Stdin = typed
	}
	programs.Start(t, cmd)
	var output strings.Builder
	for lines := bufio.NewReader(out); ; {
		text, err := lines.ReadString('\n')
		output.WriteString(text)
		if after != "" && strings.HasPrefix(text, after) {
			if after = ""; there != "" {
				programs.WaitFor(t, filepath.Join(dir, there))
			}
			cmd.Process.Signal(os.Interrupt)
		}
		if err != nil {
			break
		}
	}
	cmd.Wait()
	return process.ExitStatus(cmd), output.String(), errs.String()
}

// TestMatchStops checks that Ctrl-C ends a match, a tournament and an engine immediately, with
// the result of the games so far, whichever player is thinking.
func TestMatchStops(t *testing.T) {
	dir := t.TempDir()
	// An engine that moves immediately in its first game, and then thinks forever.
	const thinker = `games=0
while read -r id command rest; do
case $command in clear_board) games=1;; genmove) [ $games = 1 ] && { echo $$ >thinks; sleep 1000 & echo $! >child; wait; };; esac
case $command in genmove) answer=0;; *) answer=;; esac
printf '=%s %s\n\n' $id $answer
done
`
	must.OK(t, os.WriteFile(filepath.Join(dir, "thinker"), []byte("#!/bin/sh\n"+thinker), 0o777))
	silent, w, err := os.Pipe() // the input of a human who types nothing
	must.OK(t, err)
	defer silent.Close()
	defer w.Close()
	for _, tt := range []struct {
		line, after, there, output string
		typed                      *os.File
	}{
		{"play match connectn --games 100000 --time 1h --save kept random random", "game 3,", "", "\nrandom     ", nil},
		{"play match connectn --width 7 --height 6 --connect 4 --openings 0 --time 1h random machine", "X (random)", "", "", nil},
		{"play match connectn --width 1 --height 2 --connect 2 --games 2 --openings 0 --time 1h program:./thinker program:./thinker", "game 1,", "child", "\nprogram:./thinker      ", nil},
		{"play match connectn random human", "O to move", "", "", silent},
		{"play tournament connectn --games 100000 random random random", "game 3,", "", "\n3 random", nil},
	} {
		status, stdout, stderr := stopped(t, dir, tt.line, tt.after, tt.there, tt.typed)
		if status != 130 || stderr != "play: stopped\n" || !strings.Contains(stdout, tt.output) {
			t.Errorf("%s: exit status %d, %q, %s", tt.line, status, stderr, stdout)
		}
	}
	if status, stdout, stderr := process.Run(programs.Command(dir, "play replay kept")); status != 0 || !strings.Contains(stdout, "game 3,") {
		t.Errorf("what was kept: exit status %d, %s%s", status, stdout, stderr)
	}
	// No process is left thinking.
	for _, name := range []string{"thinks", "child"} {
		pid := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		must.Until(t, func() bool {
			stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, func() string { return name + " goes on" })
	}

	cmd := programs.Command(dir, "play engine connectn --width 7 --height 6 --connect 4 --time 1h")
	stdin := must.Get(cmd.StdinPipe())(t)
	defer stdin.Close()
	out := must.Get(cmd.StdoutPipe())(t)
	programs.Start(t, cmd)
	io.WriteString(stdin, "name\ngenmove first\n")
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "= treereduce\n" {
		t.Fatal(line, err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if status := process.ExitStatus(cmd); status != 143 {
		t.Errorf("engine: exit status %d", status)
	}
}

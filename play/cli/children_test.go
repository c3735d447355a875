//go:build linux && !race

package play_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// stubborn is a rules program and a player that ignores signals and the end of its input: its argument says whether it
// starts another process, in its process group (fork) or in a session of its own (setsid), and whether it prints a header
// (mute) or plays (plays).
const stubborn = `trap '' INT TERM HUP
(: >started) 2>/dev/null
case $1 in
fork*) sh "$0" left </dev/null >/dev/null 2>&1 & ;;
setsid*) setsid sh "$0" left </dev/null >/dev/null 2>&1 & ;;
esac
case $1 in
*plays) exec play engine connectn random ;;
*mute) printf 'treereduce rules 1\nname two\nbits 4\nstart 1\n\n' ;;
esac
while :; do sleep 0.05; done
`

// moments are the times after its start at which a command gets a signal.
var moments = []time.Duration{0, 20, 50, 100, 150, 200, 300, 500, 800, 1500}

// TestChildren sends signals to commands with programs that ignore them, each at one of the moments, and checks that no
// process is left.
func TestChildren(t *testing.T) { testChildren(t, 1) }

// TestLongChildren is TestChildren at all moments.
func TestLongChildren(t *testing.T) {
	longtest.Skip(t)
	testChildren(t, len(moments))
}

// testChildren sends signals at n of the moments for each command and signal.
func testChildren(t *testing.T, n int) {
	t.Parallel()
	commands := map[string]string{
		"solve": "driver solve two --data d --rules-program", "check": "driver check two --rules-program", "web": "play web --listen localhost:0 --rules-program",
		"match": "play match connectn --time 1m random",
	}
	turn := 0
	for name, line := range commands {
		kinds, sandbox := []string{"silent", "mute", "fork", "fork-mute", "setsid-mute"}, "--sandbox"
		if name == "match" {
			kinds, sandbox = []string{"silent", "fork", "fork-plays", "setsid"}, "--memory-limit 512M --no-network"
		}
		for _, program := range kinds {
			for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
				for range n {
					turn++
					moment, line := moments[turn%len(moments)]*time.Millisecond, line
					if strings.HasPrefix(program, "setsid") {
						programs.NeedLimits(t)
						line = strings.Replace(line, " --", " "+sandbox+" --", 1)
					}
					t.Run(fmt.Sprintf("%s %s %v %v", name, program, s, moment), func(t *testing.T) {
						t.Parallel()
						signalled(t, line, program, s, moment)
					})
				}
			}
		}
	}
}

// signalled starts a command line with a stubborn program, sends it a signal, and checks that no process is left.
func signalled(t *testing.T, line, program string, s syscall.Signal, moment time.Duration) {
	if signal.Ignored(s) {
		t.Skip("its programs ignore this signal, as they would after nohup")
	}
	dir := t.TempDir()
	must.OK(t, os.Chmod(filepath.Dir(dir), 0o755))
	file := filepath.Join(dir, "program.sh")
	must.OK(t, os.WriteFile(file, []byte(stubborn), 0o644))
	cmd, word := programs.Command(dir, line), "sh "+file+" "+program
	if strings.Contains(line, "match") {
		word = "program:" + word
	}
	cmd.Args = append(cmd.Args, word)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		for _, pid := range named(file) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if s == syscall.SIGKILL && strings.HasPrefix(program, "fork") {
		programs.WaitFor(t, filepath.Join(dir, "started")) // a SIGKILL during the start of a program may leave what it has started
		moment += 100 * time.Millisecond
	}
	time.Sleep(moment)
	must.OK(t, cmd.Process.Signal(s))
	begun := time.Now()
	cmd.Wait()
	must.Until(t, func() bool { return len(named(file)) == 0 }, func() string { return fmt.Sprintf("processes %d are left; %s", named(file), out.Bytes()) })
	t.Logf("the last process ended after %v", time.Since(begun))
}

// named returns the processes whose command lines have a text.
func named(text string) (pids []int) {
	found, _ := exec.Command("pgrep", "-f", text).Output()
	for _, word := range strings.Fields(string(found)) {
		pid := 0
		if _, err := fmt.Sscan(word, &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

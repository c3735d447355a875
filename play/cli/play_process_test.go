//go:build linux && !race

package play_test

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// A talk is a running command with which a test exchanges lines.
type talk struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr strings.Builder
}

// talkTo starts a command.
func talkTo(t *testing.T, line string) *talk {
	t.Helper()
	k := &talk{cmd: programs.Command(t.TempDir(), line)}
	var err error
	if k.stdin, err = k.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out := must.Get(k.cmd.StdoutPipe())(t)
	k.stdout, k.cmd.Stderr = bufio.NewReader(out), &k.stderr
	programs.Start(t, k.cmd)
	return k
}

// stopped sends a signal and checks that the command ends soon, with the exit status of that
// signal. It returns the rest of the output.
func (k *talk) stopped(t *testing.T, signal os.Signal) (stdout, stderr string) {
	t.Helper()
	k.cmd.Process.Signal(signal)
	begun := time.Now()
	rest, err := io.ReadAll(k.stdout)
	k.cmd.Wait()
	if status := process.ExitStatus(k.cmd); status != 128+int(signal.(syscall.Signal)) || err != nil || time.Since(begun) > 30*time.Second {
		t.Errorf("%v: exit status %d after %v, %v", k.cmd, status, time.Since(begun), err)
	}
	return string(rest), k.stderr.String()
}

// ticksOf returns the CPU time of a process in hundredths of a second.
func ticksOf(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest) // see proc_pid_stat(5)
	if len(f) < 13 || f[0] == "Z" {
		return math.MaxInt
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}

// TestPlayStops stops searches and games by Ctrl-C: a search prints its best move so far, if it
// has one; a command that waits for a human ends.
func TestPlayStops(t *testing.T) {
	t.Parallel()
	const large = "connectn --width 8 --height 7 --connect 4 " // the opening book does not answer
	for _, test := range []struct {
		line   string
		signal os.Signal
		says   string
	}{
		{"find-winner " + large + "--threads 1 --start", os.Interrupt, `\n"  +", X to move: not proven\nbest move so far: \d\n[\d,]+ positions, [\d,]+ look-ups in [\d.]+ (µs|ms|s)\n$`},
		{"find-winner " + large + "--by plain --start", os.Interrupt, `^$`},
		{"find-winner " + large + "--by memo --start", syscall.SIGTERM, `^$`},
		{"score " + large, os.Interrupt, `^$`},
		{large + "human human", os.Interrupt, `\nX to move\n$`},
		{large + "human machine", syscall.SIGTERM, `^help lists moves and other words\nWho moves first, human or machine\?\n$`},
		{large + "--time 1h machine machine", os.Interrupt, `\n 0 1 2 3 4 5 6 7\n$`},
	} {
		t.Run(test.line, func(t *testing.T) {
			k := talkTo(t, "play "+test.line)
			if strings.HasPrefix(test.line, "score") {
				io.WriteString(k.stdin, "\n")
			}
			if strings.HasSuffix(test.says, `\n$`) && !strings.HasPrefix(test.line, "find-winner") {
				k.stdout.Peek(1)
			} else {
				for ticksOf(k.cmd.Process.Pid) < 100 { // it is searching, even on a busy machine
					time.Sleep(10 * time.Millisecond)
				}
			}
			time.Sleep(time.Second / 2)
			output, stderr := k.stopped(t, test.signal)
			if !regexp.MustCompile(test.says).MatchString(output) || stderr != "play: stopped\n" {
				t.Errorf("%s: %q, %q, want %s", test.line, output, stderr, test.says)
			}
		})
	}
}

package emrtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// bin is the directory of driver-aws, which the tests run as processes.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "treereduce-bin-")
		if err == nil {
			defer os.RemoveAll(dir)
			bin = dir
			build := exec.Command("go", "build", "-o", dir+"/", "./cmd/driver-aws")
			build.Dir = filepath.Join("..", "..", "..", "..")
			var out []byte
			if out, err = build.CombinedOutput(); err != nil {
				err = fmt.Errorf("%v: %w\n%s", build, err, out)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// command returns a command that runs in a directory; line is the name of a program in bin and its
// arguments.
func command(dir, line string) *exec.Cmd {
	words := strings.Fields(line)
	cmd := exec.Command(filepath.Join(bin, words[0]), words[1:]...)
	cmd.Dir = dir
	return cmd
}

// A terminal is a command in a terminal.
type terminal struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File

	mu     sync.Mutex
	output []byte
}

// inTerminal starts a command in a terminal.
func inTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	term := &terminal{t: t, cmd: cmd}
	term.pty = must.Get(pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 40}))(t)
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		term.pty.Close()
	})
	go func() {
		var buf [1000]byte
		for {
			n, err := term.pty.Read(buf[:])
			term.mu.Lock()
			term.output = append(term.output, buf[:n]...)
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return term
}

// text returns the output so far.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.output)
}

// shows waits until the output contains a text.
func (term *terminal) shows(text string) {
	term.t.Helper()
	wait(term.t, text, func() bool { return strings.Contains(term.text(), text) })
}

// types sends input.
func (term *terminal) types(text string) {
	term.t.Helper()
	must.Get(term.pty.WriteString(text))(term.t)
}

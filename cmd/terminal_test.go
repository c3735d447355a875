//go:build linux

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	line "golang.org/x/term"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// A terminal is a terminal in which a program runs, with its screen.
type terminal struct {
	t   *testing.T
	cmd *exec.Cmd
	own *os.File // the program's side, kept open
	pty *os.File // our side
	was *line.State

	mu     sync.Mutex
	screen vt10x.Terminal
	rest   []byte // the beginning of an incomplete sequence
	modes  map[string]bool
	output strings.Builder
	read   chan struct{} // closed at the end of the output
}

// foreign matches sequences that the emulator misinterprets: queries for the terminal's
// features, and settings of keys. setMode matches changes of modes, which are recorded.
var (
	foreign = regexp.MustCompile(`\x1b\[[<=>][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*(\$p|u)`)
	setMode = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	partial = regexp.MustCompile(`\x1b(\[[0-9;<=>?$]*)?$`)
)

// inTerminal starts a command line in a terminal with a number of columns and lines. The
// command is one of ours, as in command, or a program given by its path.
func inTerminal(t *testing.T, dir, words string, columns, lines int, env ...string) *terminal {
	t.Helper()
	cmd := command(dir, words)
	if strings.HasPrefix(words, "/") {
		cmd = exec.Command(strings.Fields(words)[0], strings.Fields(words)[1:]...)
		cmd.Dir = dir
	}
	term := &terminal{t: t, cmd: cmd, modes: make(map[string]bool), read: make(chan struct{}),
		screen: vt10x.New(vt10x.WithSize(columns, lines))}
	var err error
	if term.pty, term.own, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	must.OK(t, pty.Setsize(term.pty, size(columns, lines)))
	term.was = term.settings()
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = term.own, term.own, term.own
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	kept := t.TempDir()
	term.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "COLORTERM=", "NO_COLOR=", "LC_ALL=C.UTF-8",
		"XDG_CONFIG_HOME="+filepath.Join(kept, "config"), "XDG_STATE_HOME="+filepath.Join(kept, "state")), append(env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	must.OK(t, term.cmd.Start())
	go term.show()
	t.Cleanup(func() {
		term.cmd.Process.Kill()
		term.cmd.Wait()
		term.own.Close()
		<-term.read
		term.pty.Close()
	})
	return term
}

func size(columns, lines int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(columns), Rows: uint16(lines)}
}

// settings returns the line settings of the terminal.
func (term *terminal) settings() *line.State {
	term.t.Helper()
	s, err := line.GetState(int(term.own.Fd()))
	if err != nil {
		term.t.Fatal(err)
	}
	return s
}

// show passes the output to the emulator.
func (term *terminal) show() {
	defer close(term.read)
	buf := make([]byte, 1<<16)
	for {
		n, err := term.pty.Read(buf)
		term.mu.Lock()
		term.output.Write(buf[:n])
		text := append(term.rest, buf[:n]...)
		end := len(text)
		if at := partial.FindIndex(text); at != nil {
			end = at[0]
		}
		for _, m := range setMode.FindAllStringSubmatch(string(text[:end]), -1) {
			for _, mode := range strings.Split(m[1], ";") {
				term.modes[mode] = m[2] == "h"
			}
		}
		term.screen.Write(foreign.ReplaceAll(text[:end], nil))
		term.rest = append([]byte(nil), text[end:]...)
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text returns the text of the screen, without blanks at the ends of lines.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	lines := strings.Split(term.screen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// shows waits until the screen matches a pattern, and returns its text.
func (term *terminal) shows(pattern string) string {
	term.t.Helper()
	want := regexp.MustCompile(pattern)
	for range 500 {
		if text := term.text(); want.MatchString(text) {
			return text
		}
		time.Sleep(20 * time.Millisecond)
	}
	term.t.Fatalf("the screen does not show %s:\n%s", pattern, term.text())
	return ""
}

// wrote reports whether the program has written a text at any time.
func (term *terminal) wrote(text string) bool {
	term.mu.Lock()
	defer term.mu.Unlock()
	return strings.Contains(term.output.String(), text)
}

// clicks presses and releases the left mouse button at a column and a line, counted from 1.
func (term *terminal) clicks(column, line int) {
	term.t.Helper()
	term.types(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", column, line, column, line))
}

// types sends input.
func (term *terminal) types(text string) {
	term.t.Helper()
	if _, err := term.pty.WriteString(text); err != nil {
		term.t.Fatal(err)
	}
}

// ends waits for the end of the program, and checks that the terminal is as it was before: the
// line settings, the screen, the cursor, and all modes.
func (term *terminal) ends(status int) {
	term.t.Helper()
	done := make(chan error, 1)
	go func() { done <- term.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		term.t.Fatalf("it does not end:\n%s", term.text())
	}
	if got := process.ExitStatus(term.cmd); got != status {
		term.t.Errorf("exit status %d, want %d:\n%s", got, status, term.text())
	}
	if now := term.settings(); !reflect.DeepEqual(now, term.was) {
		term.t.Errorf("the terminal is left in %+v, it was in %+v", now, term.was)
	}
	left := term.left()
	for range 250 { // the last bytes may still be in transit
		if left == "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
		left = term.left()
	}
	if left != "" {
		term.t.Errorf("it leaves %s", left)
	}
}

// left describes what differs from the initial state of the screen, with the numbers of modes;
// "" if nothing does.
func (term *terminal) left() (left string) {
	term.mu.Lock()
	defer term.mu.Unlock()
	for mode, set := range term.modes {
		if set != (mode == "7" || mode == "25") { // initially, only automatic line breaks and the cursor are on
			left += fmt.Sprintf("mode %s %t, ", mode, set)
		}
	}
	if term.screen.Mode()&vt10x.ModeAltScreen != 0 || !term.screen.CursorVisible() {
		left += "the other screen, or the cursor hidden"
	}
	return left
}

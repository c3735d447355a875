//go:build linux

// Package terminal runs programs in a terminal, whose screen it knows.
package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	line "golang.org/x/term"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// A Terminal is a terminal in which a program runs, with its screen.
type Terminal struct {
	Cmd *exec.Cmd

	t   *testing.T
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

// Start starts a command line in a terminal with a number of columns and lines. Quotes have no special meaning.
func Start(t *testing.T, dir, words string, columns, lines int, env ...string) *Terminal {
	t.Helper()
	term := &Terminal{t: t, Cmd: programs.Command(dir, words), modes: make(map[string]bool), read: make(chan struct{}),
		screen: vt10x.New(vt10x.WithSize(columns, lines))}
	var err error
	if term.pty, term.own, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	must.OK(t, pty.Setsize(term.pty, size(columns, lines)))
	term.was = term.settings()
	term.Cmd.Stdin, term.Cmd.Stdout, term.Cmd.Stderr = term.own, term.own, term.own
	term.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	term.Cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "COLORTERM=", "NO_COLOR=", "LC_ALL=C.UTF-8", "XDG_STATE_HOME="+t.TempDir()), env...)
	must.OK(t, term.Cmd.Start())
	go term.show()
	t.Cleanup(func() {
		term.Cmd.Process.Kill()
		term.Cmd.Wait()
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
func (term *Terminal) settings() *line.State {
	term.t.Helper()
	s, err := line.GetState(int(term.own.Fd()))
	if err != nil {
		term.t.Fatal(err)
	}
	return s
}

// show passes the output to the emulator.
func (term *Terminal) show() {
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

// Resize changes the number of columns and lines.
func (term *Terminal) Resize(columns, lines int) {
	term.t.Helper()
	term.mu.Lock()
	term.screen.Resize(columns, lines)
	term.mu.Unlock()
	must.OK(term.t, pty.Setsize(term.pty, size(columns, lines)))
}

// Output returns all that the program has written.
func (term *Terminal) Output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.output.String()
}

// Text returns the text of the screen, without blanks at the ends of lines.
func (term *Terminal) Text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	lines := strings.Split(term.screen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Shows waits until the screen matches a pattern, and returns its text.
func (term *Terminal) Shows(pattern string) string {
	term.t.Helper()
	want, text := regexp.MustCompile(pattern), ""
	shows := func() bool { text = term.Text(); return want.MatchString(text) }
	must.Until(term.t, shows, func() string { return fmt.Sprintf("the screen does not show %s:\n%s", pattern, text) })
	return text
}

// Wrote reports whether the program has written a text at any time.
func (term *Terminal) Wrote(text string) bool {
	return strings.Contains(term.Output(), text)
}

// Clicks presses and releases the left mouse button at a column and a line, counted from 1.
func (term *Terminal) Clicks(column, line int) {
	term.t.Helper()
	term.Types(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", column, line, column, line))
}

// Types sends input.
func (term *Terminal) Types(text string) {
	term.t.Helper()
	if _, err := term.pty.WriteString(text); err != nil {
		term.t.Fatal(err)
	}
}

// Ends waits for the end of the program, and checks that the terminal is as it was before: the
// line settings, the screen, the cursor, and all modes.
func (term *Terminal) Ends(status int) {
	term.t.Helper()
	done := make(chan error, 1)
	go func() { done <- term.Cmd.Wait() }()
	must.Until(term.t, func() bool { return len(done) > 0 }, func() string { return "it does not end:\n" + term.Text() })
	if got := process.ExitStatus(term.Cmd); got != status {
		term.t.Errorf("exit status %d, want %d:\n%s", got, status, term.Text())
	}
	if now := term.settings(); !reflect.DeepEqual(now, term.was) {
		term.t.Errorf("the terminal is left in %+v, it was in %+v", now, term.was)
	}
	// The last bytes may still be in transit.
	must.Until(term.t, func() bool { return term.left() == "" }, func() string { return "it leaves " + term.left() })
}

// left describes what differs from the initial state of the screen, with the numbers of modes;
// "" if nothing does.
func (term *Terminal) left() (left string) {
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

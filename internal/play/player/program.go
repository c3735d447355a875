package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/gtp"
)

const (
	// startTime is how long a program may take to start and to take the game up: that
	// is of no move.
	startTime = 10 * time.Second
	// quitTime is how long it may take to end when it is told to.
	quitTime = time.Second
	// maxStderr is how much of the end of its stderr is kept, maxTold how much of the
	// last line there a message has.
	maxStderr = 4096
	maxTold   = 200
)

// Program is a player in a process of its own, which speaks the protocol of package gtp
// on its stdin and stdout. Whatever it does, it and the processes that it has started in
// its group are gone when it is closed, or when it has failed.
type Program struct {
	cmd    *exec.Cmd
	client *gtp.Client
	stdin  io.Closer
	stdout *os.File
	stderr *tail
	ended  chan struct{} // closed when the process has
	timed  bool          // it knows time_left
	made   []string      // the moves on its board
	failed error
}

// NewProgram starts a command line of the shell, and has the program take up a game.
func NewProgram(ctx context.Context, g game.Game, command string) (*Program, error) {
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &Program{cmd: exec.Command("sh", "-c", command), stdout: out, stderr: new(tail), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for us; and it goes with all its children
	p.cmd.WaitDelay = quitTime
	stdin, err := p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	stdout.Close()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("program: %w", err)
	}
	p.client, p.stdin = gtp.NewClient(out, stdin), stdin
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // how it ended is asked of ProcessState
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	known, err := p.ask(ctx, "list_commands")
	if err == nil {
		p.timed = slices.Contains(strings.Fields(known), "time_left")
		_, err = p.ask(ctx, "game", strings.Fields(g.Spec())...)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("program: it does not take the game up within %v", startTime)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Move asks the program, after it has been told the moves that it does not know of.
func (p *Program) Move(ctx context.Context, h *History, limit time.Duration) (string, error) {
	if n := len(p.made); n > len(h.Names()) || !slices.Equal(p.made, h.Names()[:n]) {
		if _, err := p.ask(ctx, "clear_board"); err != nil {
			return "", err
		}
		p.made = nil
	}
	for i := len(p.made); i < len(h.Names()); i++ {
		name := h.Names()[i]
		if _, err := p.ask(ctx, "play", Side(h.Mover(i)), name); err != nil {
			return "", err
		}
		p.made = append(p.made, name)
	}
	side := Side(h.Turn())
	if p.timed && limit > 0 {
		if _, err := p.ask(ctx, "time_left", side, strconv.FormatFloat(limit.Seconds(), 'f', -1, 64), "1"); err != nil {
			return "", err
		}
	}
	name, err := p.ask(ctx, "genmove", side)
	if err != nil {
		return "", err
	}
	if strings.EqualFold(name, "resign") && !slices.ContainsFunc(h.Moves(), func(m game.Move) bool { return m.Name == name }) {
		return "", ErrResigned
	}
	p.made = append(p.made, name)
	return name, nil
}

// ask asks. Where that fails, but by a refusal, the program is ended.
func (p *Program) ask(ctx context.Context, name string, args ...string) (string, error) {
	if p.failed != nil {
		return "", p.failed
	}
	answer, err := p.client.Do(ctx, name, args...)
	refusal, wrong := new(gtp.Refusal), new(gtp.ProtocolError)
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &refusal):
		return "", fmt.Errorf("program: %w", err)
	case errors.As(err, &wrong):
		err = fmt.Errorf("asked %s, it breaks the protocol: %w", name, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		select { // it may be about to end
		case <-p.ended:
		case <-time.After(quitTime):
		}
		err = fmt.Errorf("asked %s, it answers no more", name)
	}
	p.failed = fmt.Errorf("program: %w%s", err, p.kill())
	return "", p.failed
}

// kill ends the program and all that it has started in its group, and says how it ended,
// if it did so itself, and its last words.
func (p *Program) kill() (how string) {
	alone := false
	select {
	case <-p.ended:
		alone = true
	default:
	}
	// Its group may outlive it; that there is none is no error.
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
	p.stdout.Close()
	if alone {
		how = fmt.Sprintf(" (%v)", p.cmd.ProcessState)
	}
	if last := p.stderr.lastLine(); last != "" {
		how += fmt.Sprintf("; on stderr: %s", strconv.Quote(last))
	}
	return how
}

// Close tells the program to quit, and ends it if it does not.
func (p *Program) Close() error {
	if p.failed == nil {
		ctx, cancel := context.WithTimeout(context.Background(), quitTime)
		defer cancel()
		if _, err := p.client.Do(ctx, "quit"); err == nil {
			p.stdin.Close()
			select {
			case <-p.ended:
			case <-ctx.Done():
			}
		}
		p.kill()
		p.failed = errors.New("program: closed")
	}
	return nil
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxStderr):]
	return len(b), nil
}

// lastLine is the last line that is not blank, or the beginning of it.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	last := lines[len(lines)-1]
	return last[:min(len(last), maxTold)]
}

package pipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
)

const (
	// waitDelay is how long a process that has ended may leave its output open
	// in somebody else's hands.
	waitDelay = 5 * time.Second
	// causeWait is how long after what came of the death of a process the process
	// itself is seen to have died.
	causeWait = time.Second
	// keptBytes is how much is kept of what a process says on stderr, and of a line
	// of it: the error that ends a run is one line for a person to read.
	keptBytes = 2 << 10
)

// A child is a process of a pipeline: a task, or a sort.
type child struct {
	*exec.Cmd
	name  string
	said  messages
	ended chan struct{} // closed when it has ended, and what follows is known

	err   error // why it failed
	piped bool  // it wrote what nobody read: not its own fault
}

// command makes a child that ends when the job does.
func (p *pipeline) command(name, program string, args ...string) *child {
	c := &child{Cmd: exec.CommandContext(p.ctx, program, args...), name: name, ended: make(chan struct{})}
	c.SysProcAttr, c.WaitDelay = runner.OwnGroup(), waitDelay
	c.Cancel = func() error { // with all that a shell has started
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	c.Stderr = &c.said
	return c
}

// start starts a child that reads one end of a pipe and writes another; from then on
// these are its own. The other ends are not closed by its end, so that what it has
// written can be read, and what it did not read is found out by EPIPE.
func (p *pipeline) start(c *child, in, out *os.File) error {
	c.Stdin, c.Stdout = in, out
	err := c.Start()
	in.Close()
	out.Close()
	if err != nil {
		close(c.ended)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w (to build it: %s)", c.Path, err, step.HowToBuild())
		}
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	go func() {
		defer close(c.ended)
		err := runner.Wait(p.ctx, c.Cmd)
		c.said.end()
		c.err = c.failure(err)
	}()
	return nil
}

// failure makes an error of how a process ended, and of what it said.
func (c *child) failure(err error) error {
	if err == nil {
		return nil
	}
	said := c.said.String()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			c.piped = status.Signal() == syscall.SIGPIPE
			if said != "" {
				said = ": " + said
			}
			if status.Signal() == syscall.SIGKILL {
				said = ", as the system does where memory runs out (--memory bounds what the sorts take)" + said
			}
			return fmt.Errorf("%s was killed (%w)%s", c.name, err, said)
		}
	}
	if said != "" {
		return fmt.Errorf("%s: %s", c.name, said)
	}
	return fmt.Errorf("%s: %w", c.name, err)
}

// failed reports whether it has ended, and by a fault of its own.
func (c *child) failed() bool {
	select {
	case <-c.ended:
		return c.err != nil && !c.piped
	default:
		return false
	}
}

// cause is why err came: the error of the first of these children that failed, if
// one did, of which err is what the next in the row made of it.
func (p *pipeline) cause(err error, of ...*child) error {
	ctx, stop := context.WithTimeout(p.ctx, causeWait)
	defer stop()
	for _, c := range of {
		select {
		case <-c.ended:
		case <-ctx.Done():
		}
		if c.failed() {
			return c.err
		}
	}
	return err
}

// openPipes opens n pipes, or none.
func openPipes(n int) (r, w []*os.File, err error) {
	for range n {
		from, to, err := os.Pipe()
		if err != nil {
			for i := range r {
				r[i].Close()
				w[i].Close()
			}
			return nil, nil, err
		}
		r, w = append(r, from), append(w, to)
	}
	return r, w, nil
}

// messages is the stderr of a process: counters and status are Streaming's, the
// rest is for people, of which the beginning is kept.
type messages struct {
	counters map[string]int64
	line     []byte // that has begun
	cut      bool   // it is longer than that
	kept     []string
	bytes    int // of what is kept
	left     int // lines that are left out
}

func (m *messages) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part, rest, ended := bytes.Cut(b, []byte{'\n'})
		fits := min(len(part), keptBytes-len(m.line))
		m.line, m.cut = append(m.line, part[:fits]...), m.cut || fits < len(part)
		if ended {
			m.end()
		}
		b = rest
	}
	return n, nil
}

// end ends a line.
func (m *messages) end() {
	line := strings.TrimSpace(string(m.line))
	if m.cut {
		line += " …"
	}
	m.line, m.cut = m.line[:0], false
	counter, ok := strings.CutPrefix(line, "reporter:counter:")
	switch {
	case ok:
		f := strings.Split(counter, ",")
		if n, err := strconv.ParseInt(f[len(f)-1], 10, 64); err == nil && len(f) == 3 {
			if m.counters == nil {
				m.counters = make(map[string]int64)
			}
			m.counters[f[1]] += n
		}
	case line == "" || strings.HasPrefix(line, "reporter:status:"):
	case m.bytes > 0 && m.bytes+len(line) > keptBytes:
		m.left++
	default:
		m.kept = append(m.kept, line)
		m.bytes += len(line)
	}
}

// String is what is for people, in one line.
func (m *messages) String() string {
	text := strings.Join(m.kept, "; ")
	if m.left > 0 {
		text += fmt.Sprintf(" … (%d lines more)", m.left)
	}
	return text
}

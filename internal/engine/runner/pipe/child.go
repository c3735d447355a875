package pipe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// orphanWait is for a pipe that an ended process has left open in another process: if
	// there is no data for this long, the pipe counts as closed.
	orphanWait = time.Second
	// sortWait is how long a sort may go on after a reducer of the user has ended.
	sortWait = 10 * time.Second
	// causeWait is how long to wait for the end of a process, after an error that the death of
	// that process may have caused.
	causeWait = time.Second
	// keptBytes limits how much of a process's stderr is kept, and how much of a line: the
	// error that ends a run is one line for people.
	keptBytes = 2 << 10
)

// A child is a process of a pipeline: a task, or a sort.
type child struct {
	*exec.Cmd
	group    *system.Group
	name     string
	messages messages
	exited   chan struct{} // closed when the process has ended
	ended    chan struct{} // closed when the process has ended and the fields below are set

	err   error // why the process failed
	piped bool  // it wrote to a closed pipe, which is not its own fault
}

// command returns a child, not yet started.
func (p *pipeline) command(name, program string, args ...string) *child {
	return &child{Cmd: exec.Command(program, args...), name: name, exited: make(chan struct{}), ended: make(chan struct{})}
}

// start starts a child that reads from one pipe and writes to another. It closes the driver's
// copies of the ends that the child uses. The other ends stay open when the child ends, so
// that its output can be read, and input that it did not read causes EPIPE. The child and its process group are killed
// when the job ends.
func (p *pipeline) start(c *child, in, out *os.File) error {
	stderr, w, err := os.Pipe()
	c.Stdin, c.Stdout, c.Stderr = in, out, w
	if err == nil {
		if c.group, err = system.Start(p.ctx, c.Cmd); err != nil {
			stderr.Close()
		}
		w.Close()
	}
	in.Close()
	out.Close()
	if err != nil {
		close(c.ended)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w (to build it: %s)", c.Path, err, step.HowToBuild())
		}
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer stderr.Close()
		io.Copy(&c.messages, &outlet{stderr, c}) // an error ends the messages
	}()
	go func() {
		defer close(c.ended)
		err := runner.Wait(p.ctx, c.Cmd)
		c.group.Kill() // what a program of the user has left behind
		close(c.exited)
		<-read
		c.messages.end()
		c.err = c.failure(err)
	}()
	return nil
}

// An outlet reads a pipe that a child writes. It ends with the child, even if another process
// still has the pipe open.
type outlet struct {
	pipe *os.File // not embedded: io.Copy would call its WriteTo
	of   *child
}

func (o *outlet) Read(b []byte) (int, error) {
	for {
		last := closed(o.of.exited) // then all its output is in the pipe
		if err := o.pipe.SetReadDeadline(time.Now().Add(orphanWait)); err != nil {
			return 0, err
		}
		n, err := o.pipe.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if last {
			return 0, io.EOF
		}
	}
}

// failure returns an error that describes how a process ended, with its stderr.
func (c *child) failure(err error) error {
	if err == nil {
		return nil
	}
	text := c.messages.String()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			c.piped = status.Signal() == syscall.SIGPIPE
			if text != "" {
				text = ": " + text
			}
			if status.Signal() == syscall.SIGKILL {
				text = ", as the system does where memory runs out (--memory bounds what the sorts take)" + text
			}
			return fmt.Errorf("%s was killed (%w)%s", c.name, err, text)
		}
	}
	if text != "" {
		return fmt.Errorf("%s: %s", c.name, text)
	}
	return fmt.Errorf("%s: %w", c.name, err)
}

// failed reports whether the child has ended with an error of its own.
func (c *child) failed() bool { return closed(c.ended) && c.err != nil && !c.piped }

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// converse starts a child. write writes its input, and read reads its output. converse returns
// when both have returned and the child has ended. If the child did not read all of its input,
// wrote is errUnread.
func (p *pipeline) converse(c *child, write func(io.Writer) error, read func(io.Reader) error) (started, wrote, readErr error) {
	r, w, err := openPipes(2)
	if err != nil {
		return err, nil, nil
	}
	stdin, stdout := w[0], r[1]
	if err := p.start(c, r[0], w[1]); err != nil {
		stdin.Close()
		stdout.Close()
		return err, nil, nil
	}
	feeding := make(chan error, 1)
	go func() {
		feeding <- cmp.Or(write(stdin), stdin.Close())
	}()
	readErr = read(&outlet{stdout, c})
	stdout.Close() // if its output is invalid, the rest is not needed
	<-c.ended
	select {
	case wrote = <-feeding:
	case <-time.After(orphanWait): // a process that it left behind may not read
		stdin.SetWriteDeadline(time.Now())
		wrote = <-feeding
	}
	if errors.Is(wrote, syscall.EPIPE) || errors.Is(wrote, os.ErrDeadlineExceeded) {
		wrote = errUnread
	}
	return nil, wrote, readErr
}

// errUnread is the error of converse if a child ended before its input.
var errUnread = errors.New("ended before its input")

// cause returns the error of the first of these children that failed, as err is then only a
// consequence of it; otherwise err.
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

// messages parses the stderr of a process. Counters and status lines follow the protocol of
// Streaming. All other lines are for people; the first of them are kept.
type messages struct {
	counters map[string]int64
	line     []byte // the incomplete last line
	cut      bool   // the line was longer than that
	kept     []string
	bytes    int // size of kept
	left     int // number of lines that were not kept
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

// end processes a complete line.
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

// String returns the lines for people, joined to one.
func (m *messages) String() string {
	text := strings.Join(m.kept, "; ")
	if m.left > 0 {
		text += fmt.Sprintf(" … (%s more)", numfmt.Count(m.left, "line"))
	}
	return text
}

package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/internal/child"
	"github.com/treereduce/treereduce/internal/sandbox"
)

const (
	// maxLine is the number of bytes of the longest line.
	maxLine = 128 << 10
	// maxHeader is the number of lines of the longest header, and maxHeaderBytes that of its bytes.
	maxHeader, maxHeaderBytes = 1000, 1 << 20
	// noticeTime is the time after which a notice says that a program has not ended its header.
	noticeTime = 10 * time.Second
	// lastTime is the time for answers after the end of the context: a program that computes does not delay a Ctrl-C,
	// and the others answer until the command has ended in order.
	lastTime = time.Second / 2
	// maxErrorLine is the number of bytes of the last line of stderr that an error has.
	maxErrorLine = 300
)

// A process is one run of a program. It is used by one goroutine at a time. After an error it cannot be used
// any more: it is killed.
type process struct {
	*child.Child
	ctx     context.Context // its end kills the process
	group   *sandbox.Group
	command string        // as errors name it
	limit   time.Duration // for the header, later for an answer
	end     time.Time     // of the time for the header or an answer; zero: it has not begun
	out     *bufio.Reader
	lines   [][]byte // the lines of the header
	header  *header  // what they say
}

// start runs a shell command with some words after it.
func start(ctx context.Context, command string, words []string, o Options) (*process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cmd, group, err := o.Sandbox.Command(command, "", words...)
	if err != nil {
		return nil, fmt.Errorf("rules program %q: %w", command, err)
	}
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(o.Hidden, name)
	})
	cmd.Env = append(cmd.Env, within+"="+os.Getenv(within)+"\n"+command)
	c, err := child.Start(ctx, cmd)
	if err != nil {
		group.Close()
		return nil, fmt.Errorf("rules program %q: %w", command, err)
	}
	p := &process{Child: c, ctx: ctx, group: group, command: command, limit: o.HeaderLimit}
	p.out = bufio.NewReaderSize(p, maxLine)
	return p, nil
}

// readHeader reads the header, and the empty line at its end.
func (p *process) readHeader(o Options) error {
	if o.Notice != nil {
		notice := time.AfterFunc(noticeTime, func() {
			o.Notice(fmt.Sprintf("waiting for the header of the rules program %q, at most %v", p.command, o.HeaderLimit))
		})
		defer notice.Stop()
	}
	defer func() { p.limit, p.end = o.Limit, time.Time{} }()
	for size := 0; ; {
		line, err := p.line()
		switch {
		case errors.Is(err, errSilent):
			return fmt.Errorf("%w, and ends it with an empty line", err)
		case err != nil:
			return err
		case len(line) == 0:
			p.header, err = parseHeader(p.lines)
			return err
		case len(p.lines) == maxHeader:
			return fmt.Errorf("its header has more than %d lines", maxHeader)
		}
		if size += len(line); size > maxHeaderBytes {
			return fmt.Errorf("its header has more than %d bytes", maxHeaderBytes)
		}
		p.lines = append(p.lines, bytes.Clone(line))
	}
}

// errSilent is the advice for a program that does not answer.
var errSilent = errors.New("check that it flushes its output")

// Read reads output of the program, until p.end.
func (p *process) Read(b []byte) (int, error) {
	if p.end.IsZero() {
		p.end = time.Now().Add(p.limit)
	}
	timer := time.AfterFunc(time.Until(p.end), func() { p.Kill(0) })
	n, err := p.Stdout.Read(b)
	if !timer.Stop() {
		err = fmt.Errorf("no answer within %v: %w", p.limit, errSilent)
	}
	return n, err
}

// line reads a line, which is valid until the next call.
func (p *process) line() ([]byte, error) {
	line, err := p.out.ReadSlice('\n')
	switch {
	case err == nil:
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		return line, checkText(line)
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("a line has more than %d bytes: %q", maxLine, clip(line))
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, fmt.Errorf("its output ends in a line: %q", clip(line))
	case errors.Is(err, io.EOF):
		return nil, errors.New("its output ends")
	}
	return nil, err
}

// ask sends n questions, lines that end with a newline, and calls each with the number and the line of each
// answer. question is the text of a question, for errors.
func (p *process) ask(questions []byte, n int, question func(i int) string, each func(i int, line []byte) error) error {
	sent := make(chan error, 1)
	go func() { // while the program writes answers, it may not read
		_, err := p.Stdin.Write(append(questions, '\n'))
		sent <- err
	}()
	for i := range n + 1 {
		p.end = time.Time{}
		line, err := p.line()
		switch {
		case err != nil:
		case i < n && len(line) == 0:
			err = errors.New("answered an empty line")
		case i < n:
			if err = each(i, line); err != nil {
				err = fmt.Errorf("answered %q: %w", clip(line), err)
			}
		case len(line) > 0:
			err = fmt.Errorf("after the last answer, expected an empty line, found %q", clip(line))
		}
		if err != nil {
			return p.failed(question(min(i, n-1)), err)
		}
	}
	select {
	case err := <-sent:
		if err != nil {
			err = p.failed("the questions", err)
		}
		return err
	case <-time.After(p.limit):
		return p.failed("the questions", fmt.Errorf("it answered without reading them, and did not read them within %v", p.limit))
	}
}

// failed kills the process, and returns the error with what is known of its end; at the end of its context, the cause of
// that.
func (p *process) failed(question string, err error) error {
	p.Wait(child.QuitTime / 10) // it may be about to exit
	how := p.Kill(maxErrorLine)
	reason := p.group.Reason()
	p.group.Close()
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	if reason != "" {
		err, how = errors.New(reason), ""
	}
	return fmt.Errorf("rules program %q: %s: %w%s", p.command, question, err, how)
}

// quit ends the process, which may exit by itself until a time.
func (p *process) quit(until time.Time) {
	p.Wait(time.Until(until))
	p.Kill(0)
	p.group.Close()
}

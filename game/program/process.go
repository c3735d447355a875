package program

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/tail"
)

const (
	// maxLine is the number of bytes of the longest line of an answer.
	maxLine = 64 << 10
	// maxHeader is the number of lines of the longest header.
	maxHeader = 1000
	// maxErrorLine is the number of bytes of the last line of stderr that an error has.
	maxErrorLine = 300
	// quitTime is the time in which a program may exit at the end of its input.
	quitTime = time.Second
)

// A process is one run of a program. It is used by one goroutine at a time. After an error it cannot be used
// any more: it is killed.
type process struct {
	command string        // as errors name it
	limit   time.Duration // for an answer
	cmd     *exec.Cmd
	group   *system.Group
	stdin   io.WriteCloser
	stdout  *os.File
	out     *bufio.Reader
	stderr  *tail.Tail
	ended   chan struct{} // closed when the process has ended
	killed  sync.Once
	lines   [][]byte // the lines of the header
	header  *header  // what they say
}

// start runs a shell command with some words after it, and reads its header.
func start(command string, words []string, limit time.Duration) (*process, error) {
	p := &process{command: command, limit: limit, stderr: new(tail.Tail), ended: make(chan struct{})}
	p.cmd = system.Shell(command, words...)
	p.cmd.Stderr, p.cmd.WaitDelay = p.stderr, quitTime
	out, stdout, err := os.Pipe()
	if err == nil {
		p.stdout, p.cmd.Stdout = out, stdout
		p.out = bufio.NewReaderSize(p, maxLine)
		if p.stdin, err = p.cmd.StdinPipe(); err == nil {
			err = p.cmd.Start()
		}
		err = errors.Join(err, stdout.Close())
	}
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("rules program %q: %w", command, err)
	}
	p.group = system.GroupOf(p.cmd.Process)
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // ProcessState has the exit status
	}()
	if err := p.readHeader(); err != nil {
		return nil, p.failed("the header", err)
	}
	return p, nil
}

// readHeader reads the header, and the empty line at its end.
func (p *process) readHeader() error {
	for {
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
		p.lines = append(p.lines, bytes.Clone(line))
	}
}

// errSilent is the advice for a program that does not answer.
var errSilent = errors.New("check that it flushes its output")

// Read reads output of the program, with a time limit.
func (p *process) Read(b []byte) (int, error) {
	timer := time.AfterFunc(p.limit, p.kill)
	n, err := p.stdout.Read(b)
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
		return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
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
		_, err := p.stdin.Write(append(questions, '\n'))
		sent <- err
	}()
	for i := range n + 1 {
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
	return <-sent
}

// failed kills the process, and returns the error with what is known of its end.
func (p *process) failed(question string, err error) error {
	select { // it may be about to exit
	case <-p.ended:
		if !errors.Is(err, errSilent) { // then we have killed it
			err = fmt.Errorf("%w (%v)", err, p.cmd.ProcessState)
		}
	case <-time.After(quitTime / 10):
	}
	p.kill()
	err = fmt.Errorf("rules program %q: %s: %w", p.command, question, err)
	if last := p.stderr.LastLine(maxErrorLine); last != "" {
		err = fmt.Errorf("%w; on stderr: %s", err, strconv.Quote(last))
	}
	return err
}

// kill ends the process and its process group, once: later, the number may be that of another group.
func (p *process) kill() {
	p.killed.Do(func() {
		p.stdin.Close()
		p.group.Kill() // its processes may outlive it; there may be none any more
		<-p.ended
		p.stdout.Close()
	})
}

// close ends the input of the process, and kills it if it does not exit.
func (p *process) close() {
	p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(quitTime):
	}
	p.kill()
}

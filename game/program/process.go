package program

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/treereduce/treereduce/internal/child"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// maxLine is the number of bytes of the longest line: 1,000 moves with names of 100 bytes fit.
	maxLine = 128 << 10
	// maxHeader is the number of lines of the longest header.
	maxHeader = 1000
	// maxErrorLine is the number of bytes of the last line of stderr that an error has.
	maxErrorLine = 300
)

// A process is one run of a program. It is used by one goroutine at a time. After an error it cannot be used
// any more: it is killed.
type process struct {
	*child.Child
	command string        // as errors name it
	limit   time.Duration // for an answer
	out     *bufio.Reader
	lines   [][]byte // the lines of the header
	header  *header  // what they say
}

// start runs a shell command with some words after it.
func start(command string, words []string, limit time.Duration) (*process, error) {
	c, err := child.Start(system.Shell(command, words...))
	if err != nil {
		return nil, fmt.Errorf("rules program %q: %w", command, err)
	}
	p := &process{Child: c, command: command, limit: limit}
	p.out = bufio.NewReaderSize(p, maxLine)
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
	timer := time.AfterFunc(p.limit, func() { p.Kill(0) })
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
	p.Wait(child.QuitTime / 10) // it may be about to exit
	return fmt.Errorf("rules program %q: %s: %w%s", p.command, question, err, p.Kill(maxErrorLine))
}

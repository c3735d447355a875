package gtp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
)

// A Client is the controller's side: it sends commands to an engine, one at a time.
type Client struct {
	in     *bufio.Reader
	out    io.Writer
	lastID int
	line   int         // number of lines read from the engine
	broken error       // set after a fatal error: the client cannot be used any more
	begun  atomic.Bool // a line of the answer has been read
}

// ErrUnended is wrapped by the error for an answer without its last line, which is empty, at the end of
// ctx or of the engine.
var ErrUnended = errors.New("the answer lacks the empty line that ends it")

// NewClient makes a client of an engine that reads commands from w and writes answers to r.
func NewClient(r io.Reader, w io.Writer) *Client {
	return &Client{in: bufio.NewReader(r), out: w}
}

// A Refusal is the error for an answer that begins with a question mark.
type Refusal struct{ Command, Message string }

// Error returns one line, even if the answer has several.
func (r *Refusal) Error() string {
	return fmt.Sprintf("answered %q with an error: %s", r.Command, strings.ReplaceAll(r.Message, "\n", " "))
}

// A ProtocolError is the error for an answer that violates the protocol.
type ProtocolError struct {
	Line        int // number of the engine's output line, from 1
	Want, Found string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("line %d: expected %s, found %s", e.Line, e.Want, e.Found)
}

// Do sends a command and returns the answer, with its lines separated by \n. If the engine
// has ended, the error is io.ErrUnexpectedEOF. After any error except a *Refusal the client
// cannot be used any more. If that error is the end of ctx, a goroutine goes on reading to
// the end of r: the caller must close r, or end the engine.
func (c *Client) Do(ctx context.Context, name string, args ...string) (string, error) {
	if c.broken != nil {
		return "", c.broken
	}
	c.lastID = c.lastID%maxID + 1
	command := Command{ID: c.lastID, Name: name, Args: args}
	if again, ok, err := ParseCommand(command.String()); err != nil || !ok || again.String() != command.String() || len(again.Args) != len(args) {
		return "", fmt.Errorf("%q cannot be sent as one line", command)
	}
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	c.begun.Store(false)
	go func() {
		text, err := c.ask(command)
		answered <- answer{text, err}
	}()
	select {
	case a := <-answered:
		if refusal := new(Refusal); a.err != nil && !errors.As(a.err, &refusal) {
			c.broken = a.err
		}
		return a.text, a.err
	case <-ctx.Done():
		c.broken = context.Cause(ctx)
		if c.begun.Load() {
			c.broken = fmt.Errorf("%w: %w", ErrUnended, c.broken)
		}
		return "", c.broken
	}
}

// ask writes a command and reads the answer.
func (c *Client) ask(command Command) (string, error) {
	_, deaf := io.WriteString(c.out, command.String()+"\n")
	text, refused, err := c.read(command.ID) // an engine that no longer reads may have written why
	switch {
	case err == nil && deaf != nil:
		return "", fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, deaf)
	case err == nil && refused:
		return "", &Refusal{Command: strings.Join(append([]string{command.Name}, command.Args...), " "), Message: text}
	}
	return text, err
}

// next returns the next line of the engine.
func (c *Client) next() (string, error) {
	c.line++
	line, err := readLine(c.in)
	switch {
	case err == io.EOF:
		return "", io.ErrUnexpectedEOF
	case errors.Is(err, errLongLine):
		return "", c.errorf("an answer", err.Error())
	case err != nil:
		return "", fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return clean(line), nil
}

func (c *Client) errorf(want, found string) error {
	return &ProtocolError{Line: c.line, Want: want, Found: found}
}

// read reads the answer to the command with number id. It skips empty lines before the
// answer.
func (c *Client) read(id int) (text string, refused bool, err error) {
	line := ""
	for strings.TrimSpace(line) == "" {
		if line, err = c.next(); err != nil {
			return "", false, err
		}
	}
	mark := line[0]
	if mark != '=' && mark != '?' {
		return "", false, c.errorf("an answer that begins with = or ?", strconv.Quote(line))
	}
	number, first, _ := strings.Cut(line[1:], " ")
	if number != strconv.Itoa(id) {
		return "", false, c.errorf(fmt.Sprintf("the answer %c%d", mark, id), strconv.Quote(line))
	}
	lines, size := []string{strings.TrimSpace(first)}, len(first)
	c.begun.Store(true)
	for {
		if line, err = c.next(); errors.Is(err, io.ErrUnexpectedEOF) {
			return "", false, fmt.Errorf("%w: %w", ErrUnended, err)
		} else if err != nil {
			return "", false, err
		}
		if line == "" {
			return strings.Trim(strings.Join(lines, "\n"), "\n"), mark == '?', nil
		}
		if size += len(line) + 1; size > maxAnswer {
			return "", false, c.errorf(fmt.Sprintf("an answer of at most %d bytes", maxAnswer), "more")
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
}

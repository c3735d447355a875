package player

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxLine is the number of bytes of a line that a Console keeps: no move is longer.
const maxLine = 256

// A Console is the terminal of one or two Humans. It reads a line when Line is called. If
// the call ends before the line is complete, the next call of Line returns that line.
type Console struct {
	in    *bufio.Reader
	out   io.Writer
	lines chan typed
	asked bool // a line is being read and has not been returned yet
}

type typed struct {
	line string
	err  error
}

// NewConsole makes a console that reads from r and writes to w.
func NewConsole(r io.Reader, w io.Writer) *Console {
	return &Console{in: bufio.NewReaderSize(r, maxLine), out: w, lines: make(chan typed, 1)}
}

// Out returns the writer for messages to the humans.
func (c *Console) Out() io.Writer { return c.out }

// Line returns the next line, without its line end and surrounding blanks. The error is
// io.EOF at the end of the input, the cause of ctx's end, or that of the read.
func (c *Console) Line(ctx context.Context) (string, error) {
	if !c.asked {
		c.asked = true
		go func() { c.lines <- c.read() }()
	}
	select {
	case t := <-c.lines:
		c.asked = false
		return strings.TrimSpace(t.line), t.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// read reads a line and keeps at most its first maxLine bytes.
func (c *Console) read() typed {
	part, err := c.in.ReadSlice('\n')
	line := string(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = c.in.ReadSlice('\n')
	}
	if err == io.EOF && line != "" {
		err = nil
	}
	return typed{line, err}
}

// Human is a player who types the names of moves, or resign, or quit. All output to the
// human is complete lines, so that a log of it is readable without the input. For input
// that is not a move, Human prints one line with what was expected, and asks again.
type Human struct{ console *Console }

// NewHuman makes a Human at a console.
func NewHuman(c *Console) *Human { return &Human{c} }

// Move returns the move that the human types. At the end of the input it returns ErrLeft;
// if the console fails, an error that wraps ErrLeft and the cause.
func (p *Human) Move(ctx context.Context, h *History, _ time.Duration) (string, error) {
	for {
		if _, err := fmt.Fprintf(p.console.out, "%s to move\n", Who(h.Game(), h.Turn())); err != nil {
			return "", fmt.Errorf("%w: %w", ErrLeft, err)
		}
		line, err := p.console.Line(ctx)
		switch {
		case err == io.EOF:
			return "", ErrLeft
		case ctx.Err() != nil:
			return "", err
		case err != nil:
			return "", fmt.Errorf("%w: %w", ErrLeft, err)
		}
		name := line
		if moveName := h.Game().Info().MoveName; moveName != nil {
			name = moveName(line)
		}
		bad := h.Clone().Play(name)
		if bad != nil {
			bad = h.Clone().Play(line) // the text may be a name without MoveName
		}
		switch {
		case bad == nil:
			return name, nil
		case line == "quit":
			return "", ErrLeft
		case line == "resign":
			return "", ErrResigned
		}
		fmt.Fprintf(p.console.out, "%v\n", bad)
	}
}

// Close does nothing: the console does not belong to the human.
func (*Human) Close() error { return nil }

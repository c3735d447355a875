package player

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
)

// maxLine is how many bytes of a line a Console keeps: what is longer is no move.
const maxLine = 256

// A Console is where people sit: one or two Humans may share one. It reads a line when
// somebody waits for it; one that comes too late is the next.
type Console struct {
	in    *bufio.Reader
	out   io.Writer
	lines chan typed
	asked bool // a line is being read that nobody has fetched
}

type typed struct {
	line string
	err  error
}

// NewConsole is a console on these streams.
func NewConsole(r io.Reader, w io.Writer) *Console {
	return &Console{in: bufio.NewReaderSize(r, maxLine), out: w, lines: make(chan typed, 1)}
}

// Out is where what is said to people goes.
func (c *Console) Out() io.Writer { return c.out }

// Line is the next line, without its end and blanks around it. The error is io.EOF at the
// end of the input, that of ctx, or of the reading.
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

// read reads a line; of a long one, the beginning is kept.
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

// Human is a player who types the names of moves; or resign, or quit. What is said to him
// is whole lines, so that it can be read where nobody types between them. What is no move
// gets one line that says what was expected, and is asked for again.
type Human struct{ console *Console }

// NewHuman makes a Human at a console.
func NewHuman(c *Console) *Human { return &Human{c} }

// Move is what the human types. The end of the input is ErrLeft; a console that is broken
// is that too, and why.
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
		if g, ok := h.Game().(game.Typed); ok {
			name = g.MoveName(line)
		}
		bad := h.Clone().Play(name)
		if bad != nil {
			bad = h.Clone().Play(line) // in his own words
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

// Close does nothing: the console is not the human's own.
func (*Human) Close() error { return nil }

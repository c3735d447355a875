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

// maxLine is how many bytes of a line a Console keeps.
const maxLine = 4096

// A Console is where people sit: one or two Humans may share one. It reads a line when
// somebody waits for it, and what was typed before that is not lost.
type Console struct {
	out   io.Writer
	want  chan struct{}
	lines chan typed
	asked bool // a line is being read that nobody has fetched
}

type typed struct {
	line string
	err  error
}

// NewConsole is a console on these streams. Its reading ends when r does.
func NewConsole(r io.Reader, w io.Writer) *Console {
	c := &Console{out: w, want: make(chan struct{}, 1), lines: make(chan typed, 1)}
	go func() {
		in := bufio.NewReaderSize(r, maxLine)
		for range c.want {
			line, err := in.ReadSlice('\n')
			for part := line; errors.Is(err, bufio.ErrBufferFull); { // the rest of a long line
				line = part[:maxLine:maxLine]
				_, err = in.ReadSlice('\n')
			}
			if err == io.EOF && len(line) > 0 {
				err = nil
			}
			c.lines <- typed{string(line), err}
		}
	}()
	return c
}

// Line is the next line, without its end and blanks around it. The error is io.EOF at the
// end of the input, that of ctx, or of the reading.
func (c *Console) Line(ctx context.Context) (string, error) {
	if !c.asked {
		c.asked = true
		c.want <- struct{}{}
	}
	select {
	case t := <-c.lines:
		c.asked = false
		return strings.TrimSpace(t.line), t.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Human is a player who types the names of moves; or resign, or quit. What is no move
// gets one line that says what was expected, and is asked for again.
type Human struct{ console *Console }

// NewHuman makes a Human at a console.
func NewHuman(c *Console) *Human { return &Human{c} }

// Move is what the human types. The end of the input is ErrLeft.
func (p *Human) Move(ctx context.Context, h *History, _ time.Duration) (string, error) {
	for {
		if _, err := fmt.Fprintf(p.console.out, "%s to move: ", Who(h.Game(), h.Turn())); err != nil {
			return "", err
		}
		line, err := p.console.Line(ctx)
		switch {
		case err == io.EOF:
			fmt.Fprintln(p.console.out)
			return "", ErrLeft
		case err != nil:
			return "", err
		}
		bad := h.Clone().Play(line)
		switch {
		case bad == nil:
			return line, nil
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

package player

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
)

// maxLine is the number of bytes of a line that a Console keeps: no move is longer.
const maxLine = 256

// A Console is the terminal of one or two Humans. It reads a line when Line is called. If
// the call ends before the line is complete, the next call of Line returns that line.
type Console struct {
	Undo bool                                                  // humans may take back moves
	Hint func(ctx context.Context, h *History) (string, error) // finds the best move; nil: humans get no hints

	in     *bufio.Reader
	out    io.Writer
	lines  chan typed
	asked  bool // a line is being read and has not been returned yet
	humans int
}

type typed struct {
	line string
	err  error
}

// NewConsole makes a console that reads from r and writes to w.
func NewConsole(r io.Reader, w io.Writer) *Console {
	return &Console{in: bufio.NewReaderSize(r, maxLine), out: w, lines: make(chan typed, 1)}
}

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

// The words that a human may type instead of a move.
const (
	Help   = "help"
	hint   = "hint"
	undo   = "undo"
	resign = "resign"
	Quit   = "quit"
)

// words are these words, and what they do.
var words = []struct{ word, means string }{
	{Help, "list the moves and these words"},
	{hint, "show the best move"},
	{undo, "take back your last move"},
	{resign, "give up the game"},
	{Quit, "exit the program"},
}

// Word returns the word that a line from a human means, in lower case: quit for q and exit, help for ?.
func Word(line string) string {
	switch word := strings.ToLower(line); word {
	case "q", "exit":
		return Quit
	case "?":
		return Help
	default:
		return word
	}
}

// Human is a player who types the names of moves, or help, hint, undo, resign or quit. All output
// to the human is complete lines, so that a log of it is readable without the input. For
// input that is not a move, Human prints one line with what was expected, and asks again.
type Human struct{ console *Console }

// NewHuman makes a Human at a console.
func NewHuman(c *Console) *Human {
	c.humans++
	return &Human{c}
}

// Move returns the move that the human types. At the end of the input it returns ErrLeft;
// if the console fails, an error that wraps ErrLeft and the cause.
func (p *Human) Move(ctx context.Context, h *History, _ time.Duration) (string, error) {
	prompt := Who(h.Game(), h.Turn()) + " to move"
	if h.Game().Values().Puzzle {
		prompt = "your move"
	}
	for state := prompt; ; {
		if _, err := fmt.Fprintln(p.console.out, state); err != nil {
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
		name, bad := Named(h, line)
		switch word := Word(line); {
		case bad == nil:
			return name, nil
		case word == Quit:
			return "", ErrLeft
		case word == resign:
			return "", ErrResigned
		case word == Help:
			p.help(h)
			continue
		case word == hint && p.console.Hint != nil:
			best, err := p.console.Hint(ctx, h)
			if err != nil {
				return "", err
			}
			state = prompt + ". Hint: " + best
			continue
		case word == undo && p.console.Undo:
			turn := h.Turn() // the other player may sit at another console, or be a machine
			if n := h.Since(func(of game.Player) bool { return p.console.humans > 1 || of == turn }); n > 0 {
				fmt.Fprintf(p.console.out, "taken back: %s\n", strings.Join(h.Names()[len(h.Names())-n:], " "))
				return "", TakenBack{n}
			}
			fmt.Fprintln(p.console.out, "undo: you have not made a move yet")
			continue
		}
		fmt.Fprintf(p.console.out, "%v; or %s\n", bad, strings.Join(p.words(), ", "))
	}
}

// Named returns the name of the move that a line from a human means.
func Named(h *History, line string) (string, error) {
	if moveName := h.Game().Info().MoveName; moveName != nil {
		if name := moveName(line); h.Clone().Play(name) == nil {
			return name, nil
		}
	}
	return line, h.Clone().Play(line)
}

// words returns the words that the human may type instead of a move.
func (p *Human) words() (known []string) {
	for _, w := range words {
		if (w.word != undo || p.console.Undo) && (w.word != hint || p.console.Hint != nil) {
			known = append(known, w.word)
		}
	}
	return known
}

// help prints the legal moves and the words.
func (p *Human) help(h *History) {
	fmt.Fprintf(p.console.out, "moves: %s\n", listed(h.Moves()))
	for _, w := range words {
		if slices.Contains(p.words(), w.word) {
			fmt.Fprintf(p.console.out, "%-6s  %s\n", w.word, w.means)
		}
	}
}

// Close does nothing: the console does not belong to the human.
func (*Human) Close() error { return nil }

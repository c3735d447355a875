package gtp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Handler answers a command with the given arguments. The answer may have several lines.
// An error is a refusal: its text is the answer after ?.
type Handler func(args []string) (string, error)

// An Engine answers commands. It always has the commands that the protocol requires of
// every engine: protocol_version, name, version, known_command, list_commands and quit.
type Engine struct {
	commands map[string]Handler
	quit     bool
}

// NewEngine makes an engine with a name and a version.
func NewEngine(name, version string) *Engine {
	e := &Engine{commands: make(map[string]Handler)}
	e.Handle("protocol_version", none(func() string { return "2" }))
	e.Handle("name", none(func() string { return name }))
	e.Handle("version", none(func() string { return version }))
	e.Handle("list_commands", none(func() string { return strings.Join(slices.Sorted(maps.Keys(e.commands)), "\n") }))
	e.Handle("quit", none(func() string {
		e.quit = true
		return ""
	}))
	e.Handle("known_command", func(args []string) (string, error) {
		if len(args) != 1 {
			return "", fmt.Errorf("expected a command name, found %d words", len(args))
		}
		return strconv.FormatBool(e.commands[args[0]] != nil), nil
	})
	return e
}

// none makes a Handler of a command without arguments.
func none(answer func() string) Handler {
	return func(args []string) (string, error) {
		if len(args) > 0 {
			return "", fmt.Errorf("expected no argument, found %q", args[0])
		}
		return answer(), nil
	}
}

// Handle adds a command, or replaces its handler.
func (e *Engine) Handle(name string, h Handler) { e.commands[name] = h }

// Serve reads commands from r and writes answers to w, each before it reads the next
// command, until the command quit or the end of r. It refuses malformed lines with their
// line number. Its error is that of r or w.
func (e *Engine) Serve(r io.Reader, w io.Writer) error {
	in := bufio.NewReader(r)
	for n := 1; !e.quit; n++ {
		line, err := readLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return err
		}
		c, ok := Command{ID: -1}, true
		if err == nil {
			c, ok, err = ParseCommand(line)
		}
		if !ok {
			continue
		}
		answer := ""
		if err != nil {
			err = fmt.Errorf("syntax error: line %d: %w", n, err)
		} else if answer, err = e.answer(c); err != nil && strings.TrimSpace(err.Error()) == "" {
			err = errors.New("refused")
		}
		if _, err := io.WriteString(w, frame(c.ID, answer, err)); err != nil {
			return err
		}
	}
	return nil
}

// answer executes a command.
func (e *Engine) answer(c Command) (string, error) {
	h, ok := e.commands[c.Name]
	if !ok {
		return "", errors.New("unknown command")
	}
	return h(c.Args)
}

// frame formats an answer for the connection. An empty line, which would end the answer, is
// replaced by a blank.
func frame(id int, text string, err error) string {
	mark := "="
	if err != nil {
		mark, text = "?", err.Error()
	}
	if id >= 0 {
		mark += strconv.Itoa(id)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		switch line = clean(line); {
		case i == 0 && line != "":
			line = " " + line
		case i > 0 && line == "":
			line = " "
		}
		lines[i] = line
	}
	return mark + strings.Join(lines, "\n") + "\n\n"
}

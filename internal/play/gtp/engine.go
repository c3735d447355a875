package gtp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Handler answers a command, of which it is given the arguments. What it returns may
// have several lines. An error is a refusal: its text is the answer after ?.
type Handler func(args []string) (string, error)

// An Engine answers commands. It has those that every engine must have:
// protocol_version, name, version, known_command, list_commands and quit.
type Engine struct {
	commands map[string]Handler
	quit     bool
}

// NewEngine makes an engine of that name and version.
func NewEngine(name, version string) *Engine {
	e := &Engine{commands: make(map[string]Handler)}
	e.Handle("protocol_version", none(func() string { return "2" }))
	e.Handle("name", none(func() string { return name }))
	e.Handle("version", none(func() string { return version }))
	e.Handle("list_commands", none(func() string { return strings.Join(e.names(), "\n") }))
	e.Handle("quit", none(func() string {
		e.quit = true
		return ""
	}))
	e.Handle("known_command", func(args []string) (string, error) {
		if len(args) != 1 {
			return "", fmt.Errorf("expected the name of a command, found %d words", len(args))
		}
		return strconv.FormatBool(e.commands[args[0]] != nil), nil
	})
	return e
}

// none is a command without arguments.
func none(answer func() string) Handler {
	return func(args []string) (string, error) {
		if len(args) > 0 {
			return "", fmt.Errorf("expected no argument, found %q", args[0])
		}
		return answer(), nil
	}
}

// names are the names of the commands, sorted.
func (e *Engine) names() []string {
	var names []string
	for name := range e.commands {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Handle gives the engine a command, or another answer to one.
func (e *Engine) Handle(name string, h Handler) { e.commands[name] = h }

// Serve answers the commands of r on w, each before the next is read, until quit or the
// end of r. A line that cannot be read is refused as well, with its number. The error is
// of r or w.
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

// answer carries a command out.
func (e *Engine) answer(c Command) (string, error) {
	h, ok := e.commands[c.Name]
	if !ok {
		return "", errors.New("unknown command")
	}
	return h(c.Args)
}

// frame is an answer as it goes over the line. A line that would be empty, and so end
// the answer, has a blank.
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

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
	commands map[string]handled
	quit     bool
}

// handled is a command with its handler.
type handled struct {
	least, most int // numbers of arguments
	what        string
	handler     Handler
}

// NewEngine makes an engine with a name and a version.
func NewEngine(name, version string) *Engine {
	e := &Engine{commands: make(map[string]handled)}
	says := func(command string, answer func() string) {
		e.Handle(command, 0, 0, "no argument", func([]string) (string, error) { return answer(), nil })
	}
	says("protocol_version", func() string { return "2" })
	says("name", func() string { return name })
	says("version", func() string { return version })
	says("list_commands", func() string { return strings.Join(slices.Sorted(maps.Keys(e.commands)), "\n") })
	says("quit", func() string {
		e.quit = true
		return ""
	})
	e.Handle("known_command", 1, 1, "a command name", func(args []string) (string, error) {
		_, known := e.commands[args[0]]
		return strconv.FormatBool(known), nil
	})
	return e
}

// Handle adds a command with least to most arguments, which what describes in errors, or replaces it.
func (e *Engine) Handle(name string, least, most int, what string, h Handler) {
	e.commands[name] = handled{least, most, what, h}
}

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
	if len(c.Args) < h.least || len(c.Args) > h.most {
		return "", fmt.Errorf("syntax error: expected %s, found %q", h.what, strings.Join(c.Args, " "))
	}
	return h.handler(c.Args)
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

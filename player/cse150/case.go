package cse150

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxCaseLine is the longest line of a case that is read, in bytes.
const maxCaseLine = 1 << 20

// ReadCase reads a test case of the course, two lines:
//
//	State.initial(2, 1)
//	State([1, 0, 1, 1, 1, 0], 1)
//
// and returns the state of the second. Blanks count for nothing, and lines with nothing
// else. Where the second begins with State(None, …), or has None for the row, the
// framework takes it for the initial board, whatever else is said there, and so is it
// here. The error names the line, what was expected and what was found.
func ReadCase(r io.Reader) (State, error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxCaseLine)
	var initial, s State
	number, read := 0, 0
	for scanner.Scan() {
		number++
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		var err error
		switch read++; read {
		case 1:
			initial, err = ParseInitial(text)
		case 2:
			s, err = initial.Parse(text)
		default:
			err = fmt.Errorf("expected nothing after the second state, found %q", shortened(text))
		}
		if err != nil {
			return State{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return State{}, fmt.Errorf("line %d: %w", number+1, err)
	}
	if read < 2 {
		return State{}, fmt.Errorf("line %d: expected %s, found the end", number+1, [...]string{initialForm, stateForm}[read])
	}
	return s, nil
}

// The forms of the two lines, for messages.
const (
	initialForm = "State.initial(M, N)"
	stateForm   = "State([…], row)"
)

// shortened is the beginning of a text, for a message.
func shortened(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// ParseInitial reads State.initial(M, N).
func ParseInitial(text string) (State, error) {
	inside, ok := strings.CutPrefix(squeeze(text), "State.initial(")
	inside, closed := strings.CutSuffix(inside, ")")
	m, n, two := strings.Cut(inside, ",")
	pits, err := strconv.Atoi(m)
	stones, err2 := strconv.Atoi(n)
	if !ok || !closed || !two || err != nil || err2 != nil {
		return State{}, fmt.Errorf("expected %s, found %q", initialForm, shortened(text))
	}
	return Initial(pits, stones)
}

// Parse reads State([…], row) of a board of the size of s, which is the initial one; or
// State(None, …).
func (s State) Parse(text string) (State, error) {
	wrong := fmt.Errorf("expected %s, found %q", stateForm, shortened(text))
	inside, ok := strings.CutPrefix(squeeze(text), "State(")
	inside, closed := strings.CutSuffix(inside, ")")
	if !ok || !closed {
		return State{}, wrong
	}
	args, err := arguments(inside)
	if err != nil || len(args) < 2 || len(args) > 3 {
		return State{}, wrong
	}
	if args[0] == "None" || args[1] == "None" {
		return Initial(s.pits, s.stones)
	}
	board, err := numbers(args[0])
	row, err2 := strconv.Atoi(args[1])
	if err != nil || err2 != nil || len(args) != 2 {
		return State{}, wrong
	}
	return s.With(board, row)
}

// squeeze leaves out blanks.
func squeeze(text string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '\t' {
			return -1
		}
		return c
	}, text)
}

// errArguments is of what is no list of arguments.
var errArguments = errors.New("no arguments")

// arguments are numbers, None and lists of numbers, with commas between them.
func arguments(text string) (list []string, err error) {
	for text != "" {
		end := strings.IndexByte(text, ',')
		if text[0] == '[' {
			end = strings.IndexByte(text, ']')
			if end++; end == 0 || end < len(text) && text[end] != ',' {
				return nil, errArguments
			}
		}
		arg, rest := text, ""
		if 0 <= end && end < len(text) {
			if arg, rest = text[:end], text[end+1:]; rest == "" {
				return nil, errArguments
			}
		}
		if _, err := numbers(arg); err != nil && arg != "None" {
			if _, err := strconv.Atoi(arg); err != nil {
				return nil, errArguments
			}
		}
		list, text = append(list, arg), rest
	}
	return list, nil
}

// numbers reads a list: [1,0,1].
func numbers(text string) (list []int, err error) {
	inside, ok := strings.CutPrefix(text, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	if !ok || !closed {
		return nil, errArguments
	}
	for word := range strings.SplitSeq(inside, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, errArguments
		}
		list = append(list, n)
	}
	return list, nil
}

// Package gtp implements the Go Text Protocol, version 2, so that programs in any language
// can play. Some commands are our own, where Go's do not fit. One side, the controller,
// writes commands; the other, the engine, answers each before it reads the next:
//
//	12 play first 3        a command: a number (optional), a name, arguments
//	=12                    the answer: = and the number, a text, an empty line
//
//	13 play first 9
//	?13 illegal move       a refusal: ? instead of =
//
// A tab counts as a blank, other control characters are ignored; text after a # is a
// comment, and a line without other text is skipped. An answer may have several lines, none
// of them empty. Sides are first and second, seconds have a decimal point, and moves are
// named as the game displays them: docs/play/engines.md describes every command.
//
// The package handles lines and numbers only. The meaning of commands, moves and games is
// defined by its users.
package gtp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Limits on the input from the other side, so that it cannot exhaust memory.
const (
	maxLine   = 1 << 16 // bytes of a line
	maxAnswer = 1 << 20 // bytes of all lines of an answer
)

// maxID is the largest number of a command: 31 bits, as the protocol defines.
const maxID = 1<<31 - 1

// A Command is one line from a controller.
type Command struct {
	ID   int // -1: no number
	Name string
	Args []string
}

// String returns the command as a line, without a line end.
func (c Command) String() string {
	words := append([]string{c.Name}, c.Args...)
	if c.ID >= 0 {
		words = append([]string{strconv.Itoa(c.ID)}, words...)
	}
	return strings.Join(words, " ")
}

// ParseCommand parses a line. ok is false if the line has only blanks and a comment. For a
// line that has only a number, it returns the number and an error.
func ParseCommand(line string) (c Command, ok bool, err error) {
	line, _, _ = strings.Cut(clean(line), "#")
	words := strings.Fields(line)
	if len(words) == 0 {
		return Command{}, false, nil
	}
	c.ID = -1
	if strings.Trim(words[0], "0123456789") == "" {
		id, err := strconv.Atoi(words[0])
		if err != nil || id > maxID {
			return c, true, fmt.Errorf("expected a number up to %d, found %s", maxID, words[0])
		}
		c.ID, words = id, words[1:]
		if len(words) == 0 {
			return c, true, fmt.Errorf("expected a command after the number %d", id)
		}
	}
	c.Name, c.Args = words[0], words[1:]
	return c, true, nil
}

// clean replaces tabs by blanks, and removes other control characters.
func clean(line string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t':
			return ' '
		case unicode.IsControl(c):
			return -1
		}
		return c
	}, line)
}

// errLongLine is returned by readLine for a line that is too long; its rest has been
// skipped.
var errLongLine = fmt.Errorf("a line of more than %d bytes", maxLine)

// readLine returns the next line without its line end. The last line may lack one.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (err != io.EOF || len(line) == 0 && !long):
			return "", err
		case long:
			return "", errLongLine
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
	}
}

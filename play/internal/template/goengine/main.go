// A player of GAME. Fill in choose, save this file as engine.go, and let it play:
//
//	go build -o engine engine.go
//	MATCH 'program:./engine' random
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// choose returns one of the legal moves, such as EXAMPLE. s.side is "first" or "second", the side
// to play; s.played are the moves of both sides so far, the first side's first; s.parameters are
// PARAMETERS; s.deadline is when the time for this move ends.
// Output goes to stderr: println. The option --logs DIR of a match keeps it in a file.
func choose(s *state, moves []string) string {
	return moves[len(moves)/2]
}

func main() { new(state).run() }

// A state is what the player knows of the game. Its methods answer the commands of
// docs/play/engines.md.
type state struct {
	game       string
	parameters map[string]string
	side       string
	played     []string
	deadline   time.Time // zero: no limit
	legal      []string
}

var commands = strings.Fields("protocol_version name version known_command list_commands game clear_board play time_left legal_moves genmove quit")

// run answers commands until quit or the end of the input.
func (s *state) run() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		line, _, _ := strings.Cut(in.Text(), "#")
		words, number := strings.Fields(line), ""
		if len(words) > 0 && strings.Trim(words[0], "0123456789") == "" {
			number, words = words[0], words[1:]
		}
		if len(words) == 0 {
			continue
		}
		mark := "="
		text, err := s.answer(words[0], append(words[1:], "", "")[:max(2, len(words)-1)])
		if err != nil {
			mark, text = "?", err.Error()
		}
		fmt.Printf("%s%s %s\n\n", mark, number, text)
		if words[0] == "quit" {
			return
		}
	}
}

func (s *state) answer(command string, args []string) (string, error) {
	switch command {
	case "protocol_version":
		return "2", nil
	case "known_command":
		return fmt.Sprint(slices.Contains(commands, args[0])), nil
	case "list_commands":
		return strings.Join(commands, "\n"), nil
	case "name":
		return filepath.Base(os.Args[0]), nil
	case "game":
		s.game, s.parameters = args[0], make(map[string]string)
		for _, word := range args[1:] {
			name, value, _ := strings.Cut(word, "=")
			s.parameters[name] = value
		}
		s.played, s.deadline = nil, time.Time{}
	case "clear_board":
		s.played, s.deadline = nil, time.Time{}
	case "play":
		s.played = append(s.played, args[1])
	case "time_left":
		seconds, err := strconv.ParseFloat(args[1], 64)
		s.deadline = time.Now().Add(time.Duration(seconds * float64(time.Second)))
		return "", err
	case "legal_moves":
		s.legal = args[1:]
	case "genmove":
		s.side = args[0]
		return s.genmove()
	case "version", "quit":
	default:
		return "", fmt.Errorf("unknown command %s", command)
	}
	return "", nil
}

func (s *state) genmove() (move string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("choose%s: %v", place(), cause)
		}
	}()
	if len(s.legal) == 0 {
		return "", fmt.Errorf("expected legal_moves before genmove")
	}
	move = choose(s, slices.Clone(s.legal))
	if move != "resign" {
		if !slices.Contains(s.legal, move) {
			return "", fmt.Errorf("illegal move: choose returned %q, expected one of %s", move, strings.Join(s.legal, " "))
		}
		s.played = append(s.played, move)
	}
	s.legal, s.deadline = nil, time.Time{}
	return move, nil
}

// place returns the line of this program that has caused a panic.
func place() string {
	var callers [50]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if strings.HasPrefix(frame.Function, "main.") {
			return fmt.Sprintf(", %s line %d", filepath.Base(frame.File), frame.Line)
		}
	}
	return ""
}

// Package cse150 implements the interfaces of a course's assignment on Mancala (UCSD, CSE
// 150, spring 2016): the two lines of its test cases, the format of states and moves, its
// players by name, and its game with its rule for late moves. The rules are those of
// game/mancala; package referee runs the game.
package cse150

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/play/internal/player"
)

// maxCaseLine is the longest line of a case that is read, in bytes.
const maxCaseLine = 1 << 20

// The two lines of a case: their forms for messages, and the syntax of an argument without
// blanks.
const (
	initialForm = "State.initial(M, N)"
	stateForm   = "State([…], row)"
	argument    = `None|-?\d+|\[-?\d+(?:,-?\d+)*\]`
)

var (
	initialLine = regexp.MustCompile(`^State\.initial\((\d+),(\d+)\)$`)
	stateLine   = regexp.MustCompile(`^State\((` + argument + `),(` + argument + `)(?:,(` + argument + `))?\)$`)
)

// ReadCase reads a test case of the course, which has two lines:
//
//	State.initial(2, 1)
//	State([1, 0, 1, 1, 1, 0], 1)
//
// and returns the game whose initial position is the state of the second line. Blanks and
// empty lines are ignored. A second line that begins with State(None, …), or has None for the
// row, stands for the initial board, as in the course's framework. The error names the line,
// what was expected and what was found.
func ReadCase(r io.Reader) (game.Tiered, error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxCaseLine)
	var initial, start game.Tiered
	number := 0
	for scanner.Scan() {
		number++
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\ufeff"))
		var err error
		switch {
		case text == "":
		case initial == nil:
			initial, err = parseInitial(text)
		case start == nil:
			start, err = parseState(text, initial)
		default:
			err = errors.New("expected nothing after the second state, found " + player.Quoted(text))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	err := scanner.Err()
	switch {
	case err != nil:
	case initial == nil:
		err = fmt.Errorf("expected %s, found the end", initialForm)
	case start == nil:
		err = fmt.Errorf("expected %s, found the end", stateForm)
	default:
		return start, nil
	}
	return nil, fmt.Errorf("line %d: %w", number+1, err)
}

// parseInitial parses State.initial(M, N).
func parseInitial(text string) (game.Tiered, error) {
	found := initialLine.FindStringSubmatch(squeeze(text))
	if found == nil {
		return nil, fmt.Errorf("expected %s, found %s", initialForm, player.Quoted(text))
	}
	size, err := numbers(found[1:])
	if err != nil {
		return nil, err
	}
	return mancala.New(size[0], size[1])
}

// parseState parses State([…], row), a board of the same size as the initial one, or
// State(None, …).
func parseState(text string, initial game.Tiered) (game.Tiered, error) {
	found := stateLine.FindStringSubmatch(squeeze(text))
	if found != nil && (found[1] == "None" || found[2] == "None") {
		return initial, nil
	}
	if found == nil || found[1][0] != '[' || found[2][0] == '[' || found[3] != "" {
		return nil, fmt.Errorf("expected %s, found %s", stateForm, player.Quoted(text))
	}
	places := strings.Split(strings.Trim(found[1], "[]"), ",")
	if want := len(mancala.Places(initial, initial.Start())); len(places) != want {
		return nil, fmt.Errorf("expected %d places for %d pits a row, found %d", want, want/2-1, len(places))
	}
	list, err := numbers(append(places, found[2]))
	if err != nil {
		return nil, err
	}
	return mancala.From(list[:len(places)], list[len(places)])
}

// squeeze removes blanks.
func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// numbers converts words of digits, optionally with a sign.
func numbers(words []string) ([]int, error) {
	list := make([]int, len(words))
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("expected a smaller number, found %s", player.Quoted(word))
		}
		list[i] = n
	}
	return list, nil
}

// Repr returns repr(state) of a position of Mancala, three lines without a final
// line end: the top pits from right to left, the goals, the bottom pits.
func Repr(g game.Game, p game.Position) string {
	places := mancala.Places(g, p)
	pits := len(places)/2 - 1
	if pits < 1 {
		return ""
	}
	top := places[pits+1 : 2*pits+1]
	slices.Reverse(top)
	text := list(top)
	return fmt.Sprintf("  %s\n%d %s %d\n  %s", text, places[2*pits+1], strings.Repeat(" ", len(text)), places[pits], list(places[:pits]))
}

// list formats numbers as Python prints them.
func list(numbers []int) string { return strings.ReplaceAll(fmt.Sprint(numbers), " ", ", ") }

// ActionText returns str(action) of a move: "Player 0 played at 2", or None for a pass.
func ActionText(row game.Player, move string) string {
	if move == game.Pass {
		return "None"
	}
	return fmt.Sprintf("Player %d played at %s", row, move)
}

// ActionRepr returns repr(action) of a move: "Action(0, 2)", or None for a pass.
func ActionRepr(row game.Player, move string) string {
	if move == game.Pass {
		return "None"
	}
	return fmt.Sprintf("Action(%d, %s)", row, move)
}

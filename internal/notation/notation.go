// Package notation reads positions in the forms that people and programs write them in, and writes
// values from the view of the player to move. It knows no command lines, tables or files.
package notation

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// A Form is a notation for a position.
type Form string

// The forms. AnyForm means that the form is detected.
const (
	AnyForm   Form = ""
	FromMoves Form = "moves" // the moves from the initial position: "3 3 2", "3,3,2" or "332"
	FromBoard Form = "board" // the format of Game.AppendText, with or without quotes
	FromKey   Form = "key"   // the key in the records of the steps: "0x044"
	FromHash  Form = "hash"  // the key in decimal: "#68"
	FromFinal Form = "final" // a line of final, or of a tier's directory
)

// Forms contains all forms except AnyForm.
var Forms = []Form{FromMoves, FromBoard, FromKey, FromHash, FromFinal}

// A Parsed is a position and the text that described it.
type Parsed struct {
	Text     string // the original text
	Position game.Position
	// Moves are the names of the moves since the initial position if the text was moves, and Before is the
	// position before the last one.
	Moves  []string
	Before game.Position
}

// Parse parses a position in the given form. For AnyForm, it tries in this order: moves, if each word is a
// legal move after the previous ones (no words at all are the initial position); a board; moves that count
// columns from 1, "1:44444" or an address with "pos=44444"; a key after 0x; a hash after #; a line that
// contains a tab; and moves without blanks between them. If none of these fits, the error is that of the
// moves if the first word is a legal move, or else that of the board and the moves.
func Parse(g game.Game, text string, form Form) (a Parsed, err error) {
	a.Text = text
	switch form {
	case FromMoves:
		_, err = a.playAny(g, text)
	case FromBoard:
		a.Position, err = parseBoard(g, text)
	case FromKey:
		a.Position, err = parseKey(g, strings.TrimPrefix(text, keyPrefix), 16)
	case FromHash:
		a.Position, err = parseKey(g, strings.TrimPrefix(text, hashPrefix), 10)
	case FromFinal:
		a.Position, err = parseRecord(g, text)
	default:
		err = a.parseAny(g, text)
	}
	return a, brief(err)
}

// maxReported is the number of bytes at the beginning and at the end of an error that brief keeps:
// an error that repeats its input may be as long as a file.
const maxReported = 500

// brief cuts the middle out of a long error.
func brief(err error) error {
	if err == nil || len(err.Error()) <= 2*maxReported {
		return err
	}
	text := err.Error()
	return errors.New(strings.ToValidUTF8(text[:maxReported]+" … "+text[len(text)-maxReported:], ""))
}

// The prefixes of a key and of a hash.
const (
	keyPrefix  = "0x"
	hashPrefix = "#"
)

// parseAny parses a position in any form.
func (a *Parsed) parseAny(g game.Game, text string) (err error) {
	made, notMoves := a.play(g, false, splitMoves(text)...)
	if notMoves == nil && (made > 0 || text == "") {
		return nil
	}
	var notBoard error
	a.Moves = nil
	if a.Position, notBoard = parseBoard(g, text); notBoard == nil {
		return nil
	}
	if columns, ok := fromOne(text); ok {
		return a.playColumns(g, columns)
	}
	switch {
	case strings.HasPrefix(text, keyPrefix):
		a.Position, err = parseKey(g, text[len(keyPrefix):], 16)
		return err
	case strings.HasPrefix(text, hashPrefix):
		a.Position, err = parseKey(g, text[len(hashPrefix):], 10)
		return err
	case strings.Contains(text, "\t") && made == 0:
		a.Position, err = parseRecord(g, text)
		return err
	case made > 0:
		return notMoves
	case notMoves == nil: // only blanks
		return notBoard
	}
	if made, err := a.play(g, true, text); made > 0 {
		return err
	}
	return fmt.Errorf("neither a board nor moves: %w; %w", notBoard, notMoves)
}

// fromOne returns the columns of moves that are counted from 1, as connect4.gamesolver.org does: those after
// "1:", or the parameter pos of an address.
func fromOne(text string) (columns string, ok bool) {
	text = strings.TrimSpace(text)
	if columns, ok = strings.CutPrefix(text, "1:"); ok {
		return columns, true
	}
	if u, err := url.Parse(text); err == nil && u.Query().Has("pos") {
		return u.Query().Get("pos"), true
	}
	return "", false
}

// playColumns makes moves that are digits counted from 1; a move has the name of its column counted from 0.
func (a *Parsed) playColumns(g game.Game, columns string) error {
	var words []string
	for _, digit := range columns {
		if digit < '1' || digit > '9' {
			return fmt.Errorf("columns %q: expected digits from 1 to 9", columns)
		}
		words = append(words, string(digit-1))
	}
	if _, err := a.play(g, false, words...); err != nil {
		return fmt.Errorf("columns %q, here counted from 0: %w", columns, err)
	}
	return nil
}

// parseBoard parses a board in the format of Game.AppendText, with or without the double quotes
// that lookup prints.
func parseBoard(g game.Game, text string) (game.Position, error) {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	return g.Parse(text)
}

// parseKey parses a key in the given base.
func parseKey(g game.Game, digits string, base int) (game.Position, error) {
	p, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		what := "a decimal hash"
		if base == 16 {
			what = "a key of hexadecimal digits"
		}
		return 0, fmt.Errorf("expected %s, found %q", what, digits)
	}
	return p, g.Check(p)
}

// parseRecord parses a line of final or of a tier's directory: a board and its value, a hash
// with its result and remoteness, or a key with its messages.
func parseRecord(g game.Game, line string) (game.Position, error) {
	fields := strings.Split(line, "\t")
	p, err := parseBoard(g, fields[0])
	if board, quoted := strings.CutPrefix(fields[0], "'"); quoted && err != nil { // a game need not read the quotes
		return g.Parse(strings.TrimSuffix(board, "'"))
	}
	if err == nil {
		return p, nil
	}
	base := 16
	if len(fields) == 3 {
		base = 10
	}
	return parseKey(g, fields[0], base)
}

// splitMoves splits a text into words.
func splitMoves(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
}

// playAny makes the moves of a text, with or without blanks between them.
func (a *Parsed) playAny(g game.Game, text string) (made int, err error) {
	if made, err = a.play(g, false, splitMoves(text)...); err == nil || made > 0 {
		return made, err
	}
	if made, notOne := a.play(g, true, text); made > 0 {
		return made, notOne
	}
	return 0, err
}

// play makes moves from the initial position. Each word is a move, or, if joined is true,
// several moves without blanks between them; then each move is the longest one that fits. play
// returns the number of moves made.
func (a *Parsed) play(g game.Game, joined bool, words ...string) (made int, err error) {
	a.Position, a.Moves = g.Start(), nil
	for _, word := range words {
		for ; word != ""; made++ {
			moves, best := g.Moves(nil, a.Position), -1
			for i, m := range moves {
				fits := m.Name == word || joined && m.Name != "" && strings.HasPrefix(word, m.Name)
				if fits && (best < 0 || len(m.Name) > len(moves[best].Name)) {
					best = i
				}
			}
			if best < 0 {
				return made, noMove(moves, made, word)
			}
			a.Before, a.Position, a.Moves = a.Position, moves[best].To, append(a.Moves, moves[best].Name)
			word = word[len(moves[best].Name):]
		}
	}
	return made, nil
}

// noMove returns the error for a word that is not one of the moves, after made moves.
func noMove(moves []game.Move, made int, name string) error {
	if len(moves) == 0 {
		return fmt.Errorf("move %d (%s): the game is over before it", made+1, name)
	}
	var can []string
	for _, m := range moves {
		can = append(can, m.Name)
	}
	return fmt.Errorf("move %d: expected one of %s, found %q", made+1, strings.Join(can, " "), name)
}

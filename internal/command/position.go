package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// StartFlag returns --start, which asks for the initial position.
func StartFlag() cli.Flag {
	return &cli.BoolFlag{Name: "start", Usage: "the initial position"}
}

// Positions reads the positions of a command line, or of stdin.
type Positions struct {
	Game game.Game
	From Form
	// Refused, if it is not nil, writes an answer for a text that is not a position, with the
	// reason. Commands with answers for programs use it: they give one answer for each line. If
	// it returns an error, the command ends.
	Refused func(out io.Writer, text string, why error) error
}

// Each calls answer for the position that the arguments of a command line describe, or --start,
// or else for each line of stdin. See ParseAsked and EachLine.
func (ps Positions) Each(ctx context.Context, c *cli.Context, answer func(out io.Writer, a Asked) error) error {
	type parsed struct {
		Asked
		why error
	}
	parse := func(text string) (p parsed, err error) {
		p.Asked, p.why = ParseAsked(ps.Game, text, ps.From)
		return p, nil
	}
	one := func(out io.Writer, text string, p parsed) error {
		if p.why == nil {
			return answer(out, p.Asked)
		}
		if ps.Refused != nil {
			if err := ps.Refused(out, text, p.why); err != nil {
				return err
			}
		}
		return Refuse(p.why)
	}
	if c.Args().Len() == 0 && !c.Bool("start") {
		texts := stdinOf(ctx, c)
		if ps.From == AnyForm || ps.From == FromPicture {
			texts = newDrawings(ps.Game, texts, ps.From == FromPicture).next
		}
		return eachText(ctx, c, "a position", texts, parse, one)
	}
	text := strings.Join(c.Args().Slice(), " ")
	p, _ := parse(text)
	var output bytes.Buffer
	err := one(&output, text, p)
	if _, lost := c.App.Writer.Write(output.Bytes()); err == nil {
		err = lost
	}
	return err
}

// A refusal is an error that affects one line of stdin; the command goes on with the next line.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// Refuse marks an error as one that affects only the current line or argument; why is the
// reason.
func Refuse(why error) error { return refusal{why} }

// EachLine answers each line of stdin as it arrives: an answer is written completely before the
// next line is read. If a line cannot be parsed, or answer returns a refusal, the error is
// printed immediately, with the line number; EachLine goes on with the next line, but the
// command fails at the end. The output of answer is written even if it returns an error. An
// error that is not a refusal ends the command, as does the end of ctx. At a terminal, the user
// sees a prompt.
func EachLine[T any](ctx context.Context, c *cli.Context, what string, parse func(line string) (T, error), answer func(out io.Writer, line string, asked T) error) error {
	return eachText(ctx, c, what, stdinOf(ctx, c), parse, answer)
}

// stdinName is the name of stdin in errors.
const stdinName = "stdin"

// stdinOf returns the lines of stdin, until ctx ends.
func stdinOf(ctx context.Context, c *cli.Context) source {
	return linesOf(streamfmt.NewLineReader(Until(ctx, c.App.Reader), stdinName))
}

// eachText is EachLine for texts that may have several lines.
func eachText[T any](ctx context.Context, c *cli.Context, what string, next source, parse func(text string) (T, error), answer func(out io.Writer, text string, asked T) error) error {
	prompt := promptOf(c, what)
	var output bytes.Buffer
	var failed error
	report := func(err error) {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", c.App.Name, Printable(err.Error()))
		failed = ErrReported
	}
	for {
		prompt()
		text, line, err := next()
		if err == io.EOF {
			return failed
		}
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		if long := new(streamfmt.LineError); errors.As(err, &long) {
			report(err)
			continue
		}
		if err != nil {
			return err
		}
		output.Reset()
		asked, err := parse(text)
		if err != nil {
			err = Refuse(err)
		} else {
			err = answer(&output, text, asked)
		}
		if _, lost := c.App.Writer.Write(output.Bytes()); lost != nil {
			return lost // the reader of the answers has closed the pipe
		}
		var refused refusal
		switch {
		case errors.As(err, &refused):
			report(streamfmt.NewLineError(stdinName, line, fmt.Sprintf("%s (%v)", what, refused), text))
		case err != nil:
			return err
		}
	}
}

// promptOf returns a function that prints a prompt if stdin and stderr are a terminal.
func promptOf(c *cli.Context, what string) func() {
	if !IsTerminal(c.App.Reader) || !IsTerminal(c.App.ErrWriter) {
		return func() {}
	}
	return func() { fmt.Fprintf(c.App.ErrWriter, "%s> ", what) }
}

// Heading returns the beginning of a line about a position: its text, and the player to move if
// one needs that to interpret the value, or else its hash.
func Heading(g game.Game, p game.Position) string {
	values, board := g.Values(), g.AppendText(nil, p)
	if values.OfMover {
		return fmt.Sprintf("%q, hash %d", board, p)
	}
	return fmt.Sprintf("%q, %s to move", board, values.Players[g.ToMove(p)])
}

// A Form is a notation for a position.
type Form string

// The forms. AnyForm means that the form is detected.
const (
	AnyForm   Form = ""
	FromMoves Form = "moves" // the moves from the initial position: "3 3 2", "3,3,2" or "332"
	FromBoard Form = "board" // the format of Game.AppendText, with or without quotes; or a drawing, see game.ReadPicture
	FromKey   Form = "key"   // the key in the records of the steps: "0x044"
	FromHash  Form = "hash"  // the key in decimal: "#68"
	FromFinal Form = "final" // a line of final, or of a tier's directory
	// FromPicture is a drawing of the board: see game.ReadPicture, and drawings for stdin.
	FromPicture Form = "picture"
)

var forms = []Form{FromMoves, FromBoard, FromKey, FromHash, FromFinal, FromPicture}

// FromFlag returns --from, which sets the form of positions; FormOf returns its value.
func FromFlag() cli.Flag {
	return &cli.StringFlag{Name: "from", Usage: "`FORM` of the positions: moves, board, key (hexadecimal), hash (decimal), final (its lines) or picture (as drawn)", DefaultText: "detected"}
}

// FormOf returns the value of FromFlag.
func FormOf(c *cli.Context) (Form, error) {
	f := Form(c.String("from"))
	if c.IsSet("from") && !slices.Contains(forms, f) {
		return "", Usagef("--from %q: expected moves, board, key, hash, final or picture", f)
	}
	return f, nil
}

// An Asked is a position and the text that described it.
type Asked struct {
	Text     string // the original text
	Position game.Position
	// If Moved is true, the text was moves, and Before is the position before the last one.
	Before game.Position
	Moved  bool
}

// ParseAsked parses a position in the given form. For AnyForm, it tries in this order: moves,
// if each word is a legal move after the previous ones (no words at all are the initial
// position); a board; a key after 0x; a hash after #; a line that contains a tab; and moves
// without blanks between them. If none of these fits, the error is that of the moves if the
// first word is a legal move, or else that of the board and the moves.
func ParseAsked(g game.Game, text string, form Form) (a Asked, err error) {
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
	case FromPicture:
		a.Position, err = game.ReadPicture(g, text)
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

// drawn reports whether a text has several lines, which only a picture has.
func drawn(text string) bool { return strings.Contains(strings.Trim(text, "\r\n"), "\n") }

// parseAny parses a position in any form.
func (a *Asked) parseAny(g game.Game, text string) (err error) {
	if drawn(text) {
		a.Position, err = parseBoard(g, text)
		return err
	}
	made, notMoves := a.play(g, false, splitMoves(text)...)
	if notMoves == nil && (made > 0 || text == "") {
		return nil
	}
	var notBoard error
	if a.Position, notBoard = parseBoard(g, text); notBoard == nil {
		return nil
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

// parseBoard parses a board in the format of Game.AppendText, with or without the double quotes
// that lookup prints, or, if it has several lines, a drawing.
func parseBoard(g game.Game, text string) (game.Position, error) {
	if drawn(text) {
		return game.ReadPicture(g, text)
	}
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
	p, notBoard := parseBoard(g, fields[0])
	if notBoard == nil {
		return p, nil
	}
	if strings.HasPrefix(fields[0], "'") {
		return 0, notBoard
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
func (a *Asked) playAny(g game.Game, text string) (made int, err error) {
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
func (a *Asked) play(g game.Game, joined bool, words ...string) (made int, err error) {
	a.Position, a.Moved = g.Start(), false
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
			a.Before, a.Position, a.Moved = a.Position, moves[best].To, true
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

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

// StartFlag asks for the position before the first move.
func StartFlag() cli.Flag {
	return &cli.BoolFlag{Name: "start", Usage: "the position before the first move"}
}

// Positions is how the positions of a command line, or of stdin, are read.
type Positions struct {
	Game game.Game
	From Form
	// Refused, if it is not nil, writes the answer to what names no position, and why: a
	// command whose answers are for programs has one for each line. What it returns ends
	// the command.
	Refused func(out io.Writer, text string, why error) error
}

// Each answers the position that the words of a command line name, or --start, or else
// that of each line of stdin. See ParseAsked and EachLine.
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
	var said bytes.Buffer
	err := one(&said, text, p)
	if _, lost := c.App.Writer.Write(said.Bytes()); err == nil {
		err = lost
	}
	return err
}

// A refusal is what is wrong with one line of stdin; the others are answered.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// Refuse makes the error of a line, or of the words of a command line, that cannot be
// answered: why not.
func Refuse(why error) error { return refusal{why} }

// EachLine answers each line of stdin as it comes: an answer is written whole before the
// next line is read. A line that cannot be parsed, or whose answer is a refusal, is told
// at once, with its number; it does not stop the others, but the command fails at the
// end. What answer writes goes out even if it returns an error; one that is no refusal
// ends the command, as ctx does. A person at a terminal sees a prompt.
func EachLine[T any](ctx context.Context, c *cli.Context, what string, parse func(line string) (T, error), answer func(out io.Writer, line string, asked T) error) error {
	return eachText(ctx, c, what, stdinOf(ctx, c), parse, answer)
}

// stdinName is what stdin is called in errors.
const stdinName = "stdin"

// stdinOf are the lines of stdin, until ctx ends.
func stdinOf(ctx context.Context, c *cli.Context) source {
	return linesOf(streamfmt.NewLineReader(Until(ctx, c.App.Reader), stdinName))
}

// eachText is EachLine of texts, which may be of several lines.
func eachText[T any](ctx context.Context, c *cli.Context, what string, next source, parse func(text string) (T, error), answer func(out io.Writer, text string, asked T) error) error {
	prompt := promptOf(c, what)
	var said bytes.Buffer
	var failed error
	tell := func(err error) {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", c.App.Name, Printable(err.Error()))
		failed = ErrTold
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
			tell(err)
			continue
		}
		if err != nil {
			return err
		}
		said.Reset()
		asked, err := parse(text)
		if err != nil {
			err = Refuse(err)
		} else {
			err = answer(&said, text, asked)
		}
		if _, lost := c.App.Writer.Write(said.Bytes()); lost != nil {
			return lost // nobody hears the answers any more
		}
		var refused refusal
		switch {
		case errors.As(err, &refused):
			tell(streamfmt.NewLineError(stdinName, line, fmt.Sprintf("%s (%v)", what, refused), text))
		case err != nil:
			return err
		}
	}
}

// promptOf asks for what, if a person sits there: stdin and stderr are a terminal.
func promptOf(c *cli.Context, what string) func() {
	if !IsTerminal(c.App.Reader) || !IsTerminal(c.App.ErrWriter) {
		return func() {}
	}
	return func() { fmt.Fprintf(c.App.ErrWriter, "%s> ", what) }
}

// Heading begins a line about a position: it as text, and what one must know to read its
// value, whose turn it is; where that makes no difference, its hash.
func Heading(g game.Game, p game.Position) string {
	values, board := g.Values(), g.AppendText(nil, p)
	if values.OfMover {
		return fmt.Sprintf("%q, hash %d", board, p)
	}
	return fmt.Sprintf("%q, %s to move", board, values.Players[g.ToMove(p)])
}

// A Form is a way to name a position.
type Form string

// The forms; AnyForm is whichever fits.
const (
	AnyForm   Form = ""
	FromMoves Form = "moves" // that lead to it from the start: "3 3 2", "3,3,2" or "332"
	FromBoard Form = "board" // as Game.AppendText writes it, in quotes or not; or as it is drawn, see game.ReadPicture
	FromKey   Form = "key"   // of the steps: "0x044"
	FromHash  Form = "hash"  // the key in decimal: "#68"
	FromFinal Form = "final" // a line of final, or of a tier's directory
	// FromPicture is a board as it is drawn: see game.ReadPicture, and of stdin drawings.
	FromPicture Form = "picture"
)

var forms = []Form{FromMoves, FromBoard, FromKey, FromHash, FromFinal, FromPicture}

// FromFlag fixes the form of positions; FormOf is its value.
func FromFlag() cli.Flag {
	return &cli.StringFlag{Name: "from", Usage: "read positions as `FORM`: moves, board, key (hexadecimal), hash (decimal), final (its lines) or picture (as drawn)", DefaultText: "whichever fits"}
}

// FormOf is the value of FromFlag.
func FormOf(c *cli.Context) (Form, error) {
	f := Form(c.String("from"))
	if c.IsSet("from") && !slices.Contains(forms, f) {
		return "", Usagef("--from %q: expected moves, board, key, hash, final or picture", f)
	}
	return f, nil
}

// An Asked is a position, as it was asked for.
type Asked struct {
	Text     string // as it came
	Position game.Position
	// Before is the position before the last move, if Moved: it was asked for by moves.
	Before game.Position
	Moved  bool
}

// ParseAsked reads a position in the form that is asked for. Of a text that may have any,
// words of which each is a move of the position that the ones before lead to are moves;
// no words are the start; then come boards, keys after 0x, hashes after #, lines with a
// tab, and moves without blanks between them. Where a text is none of these, the error is
// of the moves, if the first word is one; else of the board and the moves.
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

// mostTold is how many bytes of an error are told at its beginning, and at its end: one
// that repeats what it found may be as long as a file.
const mostTold = 500

// brief is an error without its middle, if it is long.
func brief(err error) error {
	if err == nil || len(err.Error()) <= 2*mostTold {
		return err
	}
	text := err.Error()
	return errors.New(strings.ToValidUTF8(text[:mostTold]+" … "+text[len(text)-mostTold:], ""))
}

// What stands before a key and before a hash.
const (
	keyPrefix  = "0x"
	hashPrefix = "#"
)

// drawn reports whether a text is of several lines, as nothing but a picture is.
func drawn(text string) bool { return strings.Contains(strings.Trim(text, "\r\n"), "\n") }

// parseAny reads a position of any form.
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
	case notMoves == nil: // nothing but blanks
		return notBoard
	}
	if made, err := a.play(g, true, text); made > 0 {
		return err
	}
	return fmt.Errorf("neither a board nor moves: %w; %w", notBoard, notMoves)
}

// parseBoard reads a board as it is written, which lookup prints in double quotes, or, if
// it has several lines, as it is drawn.
func parseBoard(g game.Game, text string) (game.Position, error) {
	if drawn(text) {
		return game.ReadPicture(g, text)
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	return g.Parse(text)
}

// parseKey reads a key in this base.
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

// parseRecord reads a line of final or of a tier's directory: a board and its value, a
// hash with its result and remoteness, or a key with what is told of it.
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

// splitMoves cuts a text into words.
func splitMoves(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
}

// playAny makes the moves of a text, with blanks between them or without.
func (a *Asked) playAny(g game.Game, text string) (made int, err error) {
	if made, err = a.play(g, false, splitMoves(text)...); err == nil || made > 0 {
		return made, err
	}
	if made, notOne := a.play(g, true, text); made > 0 {
		return made, notOne
	}
	return 0, err
}

// play makes moves from the start: each word is one, or, joined, moves that follow one
// another without a blank, each the longest that fits. It returns how many could be made.
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

// noMove is the error of a word that is not one of the moves; made were made before.
func noMove(moves []game.Move, made int, name string) error {
	if len(moves) == 0 {
		return fmt.Errorf("move %d (%s): the game is finished before it", made+1, name)
	}
	var can []string
	for _, m := range moves {
		can = append(can, m.Name)
	}
	return fmt.Errorf("move %d: expected one of %s, found %q", made+1, strings.Join(can, " "), name)
}

// Moves is a number of moves in words.
func Moves(n int) string { return Count(int64(n), "move") }

// Count is a number of things with their name.
func Count[N int64 | uint64](n N, one string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, one))
}

// Noun is the name of so many things: of one, or with an s.
func Noun[N int64 | uint64 | float64](n N, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

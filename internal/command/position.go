package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/streamfmt"
)

// StartFlag returns --start, which asks for the initial position.
func StartFlag() cli.Flag {
	return &cli.BoolFlag{Name: "start", Usage: "the initial position"}
}

// Positions reads the positions of a command line, or of stdin.
type Positions struct {
	Game game.Game
	From notation.Form
	// Refused, if it is not nil, writes an answer for a text that is not a position, or for which
	// the answer is a refusal, with the reason. Commands with answers for programs use it: they give one answer for each line. If
	// it returns an error, the command ends.
	Refused func(out io.Writer, text string, why error) error
}

// Each calls answer for the position that the arguments of a command line describe, or --start,
// or else for each line of stdin. See notation.Parse and EachLine.
func (ps Positions) Each(ctx context.Context, c *cli.Context, answer func(out io.Writer, a notation.Parsed) error) error {
	one := func(out io.Writer, text string) error {
		p, why := notation.Parse(ps.Game, text, ps.From)
		if why == nil {
			refused, err := refusal{}, answer(out, p)
			if !errors.As(err, &refused) {
				return err
			}
			why = refused.error
		}
		if ps.Refused != nil {
			if err := ps.Refused(out, text, why); err != nil {
				return err
			}
		}
		return Refuse(why)
	}
	if c.Bool("start") && c.Args().Len() > 0 {
		return Usagef("%q: --start is the initial position, and excludes a position", c.Args().First())
	}
	if c.Args().Len() == 0 && !c.Bool("start") {
		return EachLine(ctx, c.App, "a position", one)
	}
	var output bytes.Buffer
	err := one(&output, strings.Join(c.Args().Slice(), " "))
	if _, lost := c.App.Writer.Write(output.Bytes()); err == nil {
		err = lost
	}
	return err
}

// A refusal is an error that affects one line of stdin; the command continues with the next line.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// Refuse marks an error as one that affects only the current line or argument; why is the
// reason.
func Refuse(why error) error { return refusal{why} }

// EachLine answers each line of stdin as it arrives: an answer is written completely before the
// next line is read. If answer returns a refusal, the error is printed immediately, with the line
// number; EachLine continues with the next line, but the command fails at the end. The output of
// answer is written even if it returns an error. An error that is not a refusal ends the command,
// as does the end of ctx. At a terminal, the user sees a prompt.
func EachLine(ctx context.Context, app *cli.App, what string, answer func(out io.Writer, line string) error) error {
	lines := streamfmt.NewEditedReader(Until(ctx, app.Reader), "stdin")
	prompts := IsTerminal(app.Reader) && IsTerminal(app.ErrWriter)
	var output bytes.Buffer
	var failed error
	report := func(err error) {
		fmt.Fprintf(app.ErrWriter, "%s: %s\n", app.Name, Printable(err.Error()))
		failed = ErrReported
	}
	for {
		if prompts {
			fmt.Fprintf(app.ErrWriter, "%s> ", what)
		}
		line, err := lines.Next()
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
		err = answer(&output, string(line))
		if _, lost := app.Writer.Write(output.Bytes()); lost != nil {
			return lost // the reader of the answers has closed the pipe
		}
		var refused refusal
		switch {
		case errors.As(err, &refused):
			report(lines.Errorf(fmt.Sprintf("%s (%v)", what, refused), line))
		case err != nil:
			return err
		}
	}
}

// FromFlag returns --from, which sets the form of positions; FormOf returns its value.
func FromFlag() cli.Flag {
	return &cli.StringFlag{Name: "from", Usage: "`FORM` of the positions: moves, board, key (hexadecimal), hash (decimal) or final (its lines)", DefaultText: "detected"}
}

// FormOf returns the value of FromFlag.
func FormOf(c *cli.Context) (notation.Form, error) {
	f := notation.Form(c.String("from"))
	if c.IsSet("from") && !slices.Contains(notation.Forms, f) {
		return "", Usagef("--from %q: expected moves, board, key, hash or final", f)
	}
	return f, nil
}

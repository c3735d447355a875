package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// StartFlag asks for the position before the first move.
func StartFlag() cli.Flag {
	return &cli.BoolFlag{Name: "start", Usage: "the position before the first move"}
}

// lateFlag is what a word after others looks like that was meant to be a flag.
var lateFlag = regexp.MustCompile(`^--[a-z]`)

// NoLateFlags refuses a flag after the words that name something: they would count as
// part of it.
func NoLateFlags(c *cli.Context, of string) error {
	for _, word := range c.Args().Slice() {
		if lateFlag.MatchString(word) {
			return Usagef("%s comes after %s: flags come first", word, of)
		}
	}
	return nil
}

// EachPosition answers the position that the words of a command line name, or --start,
// or else that of each line of stdin. See ParsePosition and EachLine.
func EachPosition(ctx context.Context, c *cli.Context, g game.Game, answer func(out io.Writer, p game.Position) error) error {
	if c.Args().Len() == 0 && !c.Bool("start") {
		return EachLine(ctx, c, "a position", func(line string) (game.Position, error) { return ParsePosition(g, line) },
			func(out io.Writer, _ string, p game.Position) error { return answer(out, p) })
	}
	p, err := ParsePosition(g, strings.Join(c.Args().Slice(), " "))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = answer(&text, p)
	if _, lost := c.App.Writer.Write(text.Bytes()); err == nil {
		err = lost
	}
	return err
}

// EachLine answers each line of stdin as it comes: an answer is written whole before the
// next line is read. A line that cannot be parsed is told at once, with its number; it
// does not stop the others, but the command fails at the end. What answer writes goes
// out even if it returns an error, which ends the command, as ctx does.
func EachLine(ctx context.Context, c *cli.Context, what string, parse func(line string) (game.Position, error), answer func(out io.Writer, line string, p game.Position) error) error {
	r := streamfmt.NewLineReader(Until(ctx, c.App.Reader), "stdin")
	var text bytes.Buffer
	var failed error
	for {
		line, err := r.Next()
		if err == io.EOF {
			return failed
		}
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		if err != nil {
			return err
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		p, err := parse(string(line))
		if err != nil {
			fmt.Fprintf(c.App.ErrWriter, "%s: %v\n", c.App.Name, r.Errorf(fmt.Sprintf("%s (%v)", what, err), line))
			failed = ErrTold
			continue
		}
		text.Reset()
		err = answer(&text, string(line), p)
		if _, lost := c.App.Writer.Write(text.Bytes()); err == nil {
			err = lost // nobody hears the answers any more
		}
		if err != nil {
			return err
		}
	}
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

// ParsePosition reads moves from the start, or a board. Words of which each is a move
// of the position that the ones before lead to are moves; no words are the start. Where
// a text is neither, the error is of the moves, if the first word is one; else of both.
func ParsePosition(g game.Game, text string) (game.Position, error) {
	p, made, notMoves := playMoves(g, strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }))
	if notMoves == nil && (made > 0 || text == "") {
		return p, nil
	}
	p, notBoard := g.Parse(text)
	switch {
	case notBoard == nil:
		return p, nil
	case made > 0:
		return 0, notMoves
	case notMoves == nil: // nothing but blanks
		return 0, notBoard
	}
	return 0, fmt.Errorf("neither a board nor moves: %w; %w", notBoard, notMoves)
}

// playMoves makes moves from the start. It returns how many could be made.
func playMoves(g game.Game, names []string) (p game.Position, made int, err error) {
	p = g.Start()
	for i, name := range names {
		moves := g.Moves(nil, p)
		at := slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == name })
		switch {
		case at >= 0:
			p = moves[at].To
		case len(moves) == 0:
			return 0, i, fmt.Errorf("move %d (%s): the game is finished before it", i+1, name)
		default:
			var can []string
			for _, m := range moves {
				can = append(can, m.Name)
			}
			return 0, i, fmt.Errorf("move %d: expected one of %s, found %q", i+1, strings.Join(can, " "), name)
		}
	}
	return p, len(names), nil
}

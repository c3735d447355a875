package driver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

func lookupCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:      "lookup",
		Usage:     "the value of a position, and of each of its moves",
		UsageText: "driver lookup [--data DIRECTORY] [POSITION]",
		Description: "POSITION is a board as in DIR/final ('XO  '; in Connect N, blanks may be . or _), or the moves that\n" +
			"lead to it from the start (3 3 2, or a1- 'b2|'): words are moves if each is one in its turn. A board that\n" +
			"begins with - comes after --. Without a POSITION, each line of stdin is one.",
		Flags: []cli.Flag{
			dataFlag(),
			&cli.BoolFlag{Name: "start", Usage: "the position before the first move"},
		},
		Action: func(c *cli.Context) error {
			for _, word := range c.Args().Slice() {
				if flag.MatchString(word) {
					return command.Usagef("%s comes after the position: flags come first", word)
				}
			}
			return withTable(c, games, func(t *table.Table, _ *filesys.Place) error {
				if c.Args().Len() > 0 || c.Bool("start") {
					return lookup(c.App.Writer, t, strings.Join(c.Args().Slice(), " "))
				}
				return lookupLines(c.App.Writer, t, c.App.Reader)
			})
		},
	}
}

// flag is what a word after the position looks like that was meant to be a flag.
var flag = regexp.MustCompile(`^--[a-z]`)

// lookupLines looks every line up. A line that is no position does not stop the
// others, but the command fails at the end.
func lookupLines(out io.Writer, t *table.Table, in io.Reader) error {
	w := bufio.NewWriter(out)
	r := streamfmt.NewLineReader(in, "stdin")
	var failed []error
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return errors.Join(err, w.Flush())
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if err := lookup(w, t, string(line)); err != nil {
			failed = append(failed, r.Errorf(fmt.Sprintf("a position (%v)", err), line))
		}
		if _, err := w.Write(nil); err != nil {
			break // nobody hears the answers any more
		}
	}
	return errors.Join(append(failed, w.Flush())...)
}

// lookup prints the value of a position, and of those to which its moves lead. Where
// values are those of the player to move, that is the opponent there.
func lookup(out io.Writer, t *table.Table, text string) error {
	g := t.Game()
	p, err := parsePosition(g, text)
	if err != nil {
		return err
	}
	v, ok, err := t.Lookup(p)
	if err != nil {
		return err
	}
	values, board := g.Values(), g.AppendText(nil, p)
	fmt.Fprintf(out, "%s", g.Picture(p))
	switch {
	case !ok:
		fmt.Fprintf(out, "%q cannot be reached: play stops before it\n", board)
		return nil
	case finished(v):
		fmt.Fprintf(out, "%q is finished: %s\n", board, values.Word(v.Outcome()))
		return nil
	case values.OfMover:
		fmt.Fprintf(out, "%q, hash %d: %s\n", board, p, values.Text(v))
	default:
		fmt.Fprintf(out, "%q, %s to move: %s\n", board, values.Players[g.ToMove(p)], values.Text(v))
	}
	choices, err := t.Choices(p)
	if err != nil {
		return err
	}
	if !v.Valid() {
		var keep []string
		for _, m := range choices {
			if !m.Value.Valid() {
				keep = append(keep, m.Name)
			}
		}
		fmt.Fprintf(out, "play need never end; what keeps the draw: %s\n", strings.Join(keep, " "))
	}
	for _, m := range choices {
		if finished(m.Value) {
			fmt.Fprintf(out, "  %s: %s at once\n", m.Name, values.Word(m.Value.Outcome()))
		} else {
			fmt.Fprintf(out, "  %s: %s\n", m.Name, values.Text(m.Value))
		}
	}
	return nil
}

// finished reports whether a value is that of a position in which play has ended.
func finished(v game.Value) bool { return v.Valid() && v.Remoteness() == 0 }

// parsePosition reads moves from the start, or a board. Words of which each is a move
// of the position that the ones before lead to are moves; no words are the start. Where
// a text is neither, the error is of the moves, if the first word is one; else of both.
func parsePosition(g game.Game, text string) (game.Position, error) {
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

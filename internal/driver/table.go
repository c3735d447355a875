package driver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// withTable calls do with the table of the data directory of a command line.
func withTable(c *cli.Context, do func(*table.Table) error) error {
	fsys, path, done, err := openData(c)
	if err != nil {
		return err
	}
	defer done()
	t, err := table.Open(fsys, path)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t)
}

func lookupCommand() *cli.Command {
	return &cli.Command{
		Name:      "lookup",
		Usage:     "the value of a position, and of each of its moves",
		UsageText: "driver lookup [--data DIRECTORY] [POSITION]",
		Description: "POSITION is a board as in DIR/final ('XO  ', blanks may be . or _), or the moves that lead to it\n" +
			"from the start (3 3 2). Without one, each line of stdin is a position.",
		Flags: []cli.Flag{
			dataFlag(),
			&cli.BoolFlag{Name: "start", Usage: "the position before the first move"},
		},
		Action: func(c *cli.Context) error {
			for _, word := range c.Args().Slice() {
				if strings.HasPrefix(word, "--") {
					return command.Usagef("%s comes after the position: flags come first", word)
				}
			}
			return withTable(c, func(t *table.Table) error {
				if c.Args().Len() > 0 || c.Bool("start") {
					return lookup(c.App.Writer, t, strings.Join(c.Args().Slice(), " "))
				}
				return lookupLines(c.App.Writer, t, c.App.Reader)
			})
		},
	}
}

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
	}
	return errors.Join(append(failed, w.Flush())...)
}

// lookup prints what the table says of a position.
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
	fmt.Fprintf(out, "%s", g.Picture(p))
	if !ok {
		fmt.Fprintf(out, "%q cannot be reached: play stops before it\n", g.AppendText(nil, p))
		return nil
	}
	if v.Remoteness() == 0 {
		fmt.Fprintf(out, "%q is finished: %s\n", g.AppendText(nil, p), finished(v))
		return nil
	}
	fmt.Fprintf(out, "%q, %s to move: %s\n", g.AppendText(nil, p), g.ToMove(p), v)
	choices, err := t.Choices(p)
	if err != nil {
		return err
	}
	for _, m := range choices {
		if m.Value.Remoteness() == 0 {
			fmt.Fprintf(out, "  %s: %s at once\n", m.Name, finished(m.Value))
		} else {
			fmt.Fprintf(out, "  %s: %s\n", m.Name, m.Value)
		}
	}
	return nil
}

// finished says how a finished position ended.
func finished(v game.Value) string {
	text, _, _ := strings.Cut(v.String(), " in ")
	return text
}

// parsePosition reads a board, or moves from the start. Words of which each is
// a move of the position that the ones before lead to are moves.
func parsePosition(g game.Game, text string) (game.Position, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(words) == 0 || strings.Trim(words[0], "0123456789") != "" {
		p, err := g.Parse(text)
		if err == nil || text != "" {
			return p, err
		}
		return g.Start(), nil
	}
	p := g.Start()
	for i, w := range words {
		moves := g.Moves(nil, p)
		found := false
		var names []string
		for _, m := range moves {
			if m.Name == w {
				p, found = m.To, true
				break
			}
			names = append(names, m.Name)
		}
		if found {
			continue
		}
		if len(moves) == 0 {
			return 0, fmt.Errorf("move %d (%s): the game is finished before it", i+1, w)
		}
		return 0, fmt.Errorf("move %d: expected one of %s, found %q", i+1, strings.Join(names, " "), w)
	}
	return p, nil
}

func statsCommand() *cli.Command {
	return &cli.Command{
		Name:  "stats",
		Usage: "how many positions a tier has, by value",
		Flags: []cli.Flag{
			dataFlag(),
			&cli.BoolFlag{Name: "json", Usage: "as JSON, with every remoteness"},
			&cli.StringFlag{Name: "svg", Usage: "as a picture, into `FILE`"},
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ": --data names the directory"); err != nil {
				return err
			}
			if c.Bool("json") && c.String("svg") != "" {
				return command.Usagef("--json and --svg exclude each other")
			}
			return withTable(c, func(t *table.Table) error { return printStats(c, t) })
		},
	}
}

// printStats prints the statistics of a table in the form that is asked for.
func printStats(c *cli.Context, t *table.Table) error {
	s, err := t.Stats()
	if err != nil {
		return err
	}
	if name := c.String("svg"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		return errors.Join(s.WriteSVG(f), f.Close())
	}
	if c.Bool("json") {
		return s.WriteJSON(c.App.Writer)
	}
	fmt.Fprintf(c.App.Writer, "%s: %s\n\n", s.Game, s.Value)
	return s.WriteTable(c.App.Writer)
}

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:  "verify",
		Usage: "check a table on its own: every value, nothing missing, nothing that cannot be reached",
		Flags: []cli.Flag{dataFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ": --data names the directory"); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			fsys, path, done, err := openData(c)
			if err != nil {
				return err
			}
			defer done()
			g, n, err := table.Verify(ctx, fsys, path)
			if errors.Is(err, context.Canceled) {
				return command.ErrInterrupted
			}
			if err != nil {
				return fmt.Errorf("verify: %w", err)
			}
			fmt.Fprintf(c.App.Writer, "%s: %d positions, every one as it should be\n", g.Spec(), n)
			return nil
		},
	}
}

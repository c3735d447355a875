package driver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/solve"
	"github.com/treereduce/treereduce/store"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// A tableView is what the commands want of a table, whichever kind of game it is of.
type tableView interface {
	// lookup prints what the table says of a position.
	lookup(out io.Writer, text string) error
	// stats counts the positions.
	stats() (statistics, error)
	// verify checks the table on its own.
	verify(ctx context.Context, fsys store.FS, path string) (g game.Game, positions uint64, err error)
	Close() error
}

// statistics are those of a table, in several forms.
type statistics interface {
	title() string
	WriteTable(io.Writer) error
	WriteJSON(io.Writer) error
	WriteSVG(io.Writer) error
}

// openTable opens the table of a data directory: here the two kinds of games part.
func openTable(fsys store.FS, path string) (tableView, error) {
	cyclic, err := table.IsCyclic(fsys, path)
	if err != nil {
		return nil, err
	}
	if cyclic {
		t, err := table.OpenCyclic(fsys, path)
		return cyclicTable{t}, err
	}
	t, err := table.Open(fsys, path)
	return tieredTable{t}, err
}

// withTable calls do with the table of the data directory of a command line.
func withTable(c *cli.Context, do func(tableView, store.FS, string) error) error {
	fsys, path, done, err := openData(c)
	if err != nil {
		return err
	}
	defer done()
	t, err := openTable(fsys, path)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t, fsys, path)
}

// A tieredTable is the table of a tiered game.
type tieredTable struct{ *table.Table }

type tieredStats struct{ table.Stats }

func (s tieredStats) title() string { return s.Game + ": " + s.Value }

func (t tieredTable) stats() (statistics, error) {
	s, err := t.Stats()
	return tieredStats{s}, err
}

func (t tieredTable) verify(ctx context.Context, fsys store.FS, path string) (game.Game, uint64, error) {
	return table.Verify(ctx, fsys, path)
}

func lookupCommand() *cli.Command {
	return &cli.Command{
		Name:      "lookup",
		Usage:     "the value of a position, and of each of its moves",
		UsageText: "driver lookup [--data DIRECTORY] [POSITION]",
		Description: "POSITION is a board as in DIR/final ('XO  ', blanks may be . or _), or the moves that lead to it\n" +
			"from the start (3 3 2, or a1- 'b2|'). A board that begins with - comes after --. Without a POSITION, each\n" +
			"line of stdin is one.",
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
			return withTable(c, func(t tableView, _ store.FS, _ string) error {
				if c.Args().Len() > 0 || c.Bool("start") {
					return t.lookup(c.App.Writer, strings.Join(c.Args().Slice(), " "))
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
func lookupLines(out io.Writer, t tableView, in io.Reader) error {
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
		if err := t.lookup(w, string(line)); err != nil {
			failed = append(failed, r.Errorf(fmt.Sprintf("a position (%v)", err), line))
		}
	}
	return errors.Join(append(failed, w.Flush())...)
}

func (t tieredTable) lookup(out io.Writer, text string) error {
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

// isMove reports whether a word looks like a move: a number, or one from the start.
func isMove(g game.Game, word string) bool {
	return strings.Trim(word, "0123456789") == "" ||
		slices.ContainsFunc(g.Moves(nil, g.Start()), func(m game.Move) bool { return m.Name == word })
}

// parsePosition reads a board, or moves from the start. Words of which each is
// a move of the position that the ones before lead to are moves.
func parsePosition(g game.Game, text string) (game.Position, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(words) == 0 || !isMove(g, words[0]) {
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
			return withTable(c, func(t tableView, _ store.FS, _ string) error { return printStats(c, t) })
		},
	}
}

// printStats prints the statistics of a table in the form that is asked for.
func printStats(c *cli.Context, t tableView) error {
	s, err := t.stats()
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
	fmt.Fprintf(c.App.Writer, "%s\n\n", s.title())
	return s.WriteTable(c.App.Writer)
}

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:  "verify",
		Usage: "check a table on its own: every value, nothing missing, nothing that cannot be reached; and that final is as it was written",
		Flags: []cli.Flag{dataFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ": --data names the directory"); err != nil {
				return err
			}
			ctx, stop := interruptible(c.Context)
			defer stop()
			err := withTable(c, func(t tableView, fsys store.FS, path string) error {
				g, n, err := t.verify(ctx, fsys, path)
				if err == nil {
					err = solve.CheckFinal(ctx, fsys, path, g.Spec())
				}
				if err == nil {
					fmt.Fprintf(c.App.Writer, "%s: %d positions, every one as it should be\n", g.Spec(), n)
				}
				return err
			})
			if errors.Is(err, context.Canceled) {
				return command.ErrInterrupted
			}
			if err != nil {
				return fmt.Errorf("verify: %w", err)
			}
			return nil
		},
	}
}

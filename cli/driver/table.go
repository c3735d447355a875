package driver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/solve"
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
	// verifyRules checks it by the plain rules.
	verifyRules(ctx context.Context, fsys store.FS, path string, rules table.Rules) (g game.Game, checked, all uint64, err error)
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

func (t tieredTable) verifyRules(ctx context.Context, fsys store.FS, path string, rules table.Rules) (game.Game, uint64, uint64, error) {
	return rules.Verify(ctx, fsys, path)
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
		if _, err := w.Write(nil); err != nil {
			break // nobody hears the answers any more
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
			&cli.StringFlag{Name: "svg", Usage: "as a picture, into `FILE`, on this machine or in HDFS"},
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
		fsys, path, done, err := open("svg", name)
		if err != nil {
			return err
		}
		defer done()
		var picture bytes.Buffer
		if err := s.WriteSVG(&picture); err != nil {
			return err
		}
		return store.WriteFile(fsys, path, picture.Bytes())
	}
	if c.Bool("json") {
		return s.WriteJSON(c.App.Writer)
	}
	fmt.Fprintf(c.App.Writer, "%s\n\n", s.title())
	return s.WriteTable(c.App.Writer)
}

// An optional is a flag that may stand alone or have a word, as in --rules=1000.
type optional struct{ text string }

// alone is the text of an optional flag without a word.
const alone = "true"

func (o *optional) String() string        { return "" } // no default is to be shown
func (o *optional) IsBoolFlag() bool      { return true }
func (o *optional) Set(text string) error { o.text = text; return nil }

// sampleOf is what --rules of a command line asks for: nothing, all positions or so
// many.
func sampleOf(c *cli.Context) (asked bool, sample uint64, err error) {
	text, words := c.Generic("rules").(*optional).text, c.Args().Slice()
	if text == alone && len(words) == 1 {
		text, words = words[0], nil // --rules 1000
	}
	if len(words) > 0 {
		return false, 0, command.Usagef("unexpected argument %q: --data names the directory, and the number of --rules comes last, or after =", words[0])
	}
	if text != "" && text != alone {
		if sample, err = strconv.ParseUint(text, 10, 64); err != nil || sample == 0 {
			return false, 0, command.Usagef("--rules: expected how many positions, found %q", text)
		}
	}
	if sample == 0 && c.IsSet("seed") {
		return false, 0, command.Usagef("--seed is that of the positions of --rules N, which is missing")
	}
	return text != "", sample, nil
}

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a table on its own: every value, nothing missing, nothing that cannot be reached; and that final is as it was written",
		UsageText: "driver verify [--data DIRECTORY] [--seed NUMBER] [--rules [N]]",
		Flags: []cli.Flag{
			dataFlag(),
			&cli.GenericFlag{Name: "rules", Usage: "instead by the plain moves of the rules, apart from the steps that made the table: all positions, or `N` at random", Value: new(optional)},
			&cli.Uint64Flag{Name: "seed", Usage: "of the random positions of --rules N; for the same ones again", DefaultText: "another each time"},
		},
		Action: func(c *cli.Context) error {
			rules, sample, err := sampleOf(c)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(c.Context)
			defer stop()
			err = withTable(c, func(t tableView, fsys store.FS, path string) error {
				if rules {
					return verifyRules(ctx, c, t, fsys, path, sample)
				}
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

// verifyRules checks a table, or a sample of it, by the plain rules. A sample can be
// had again: its seed is told.
func verifyRules(ctx context.Context, c *cli.Context, t tableView, fsys store.FS, path string, sample uint64) error {
	rules := table.Rules{Sample: sample}
	seed := ""
	if sample > 0 {
		if rules.Seed = c.Uint64("seed"); !c.IsSet("seed") {
			rules.Seed = rand.Uint64()
		}
		seed = fmt.Sprintf(" (seed %d)", rules.Seed)
	}
	p := newProgress(c)
	rules.Report = func(share float64) { p.report(solve.Event{Step: "verify --rules", Share: share}) }
	g, checked, all, err := t.verifyRules(ctx, fsys, path, rules)
	p.end()
	var tiered *table.Fault
	var cyclic *table.CyclicFault
	switch {
	case errors.As(err, &tiered), errors.As(err, &cyclic):
		return fmt.Errorf("%w%s", err, seed)
	case err != nil:
		return err
	case checked == all:
		seed = ""
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %d of %d positions, every one as the rules have it%s\n", g.Spec(), checked, all, seed)
	return err
}

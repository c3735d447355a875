package driver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/result/lookup"
	"github.com/treereduce/treereduce/table"
)

func (p *program) lookupCommand() *cli.Command {
	return p.reads(&cli.Command{
		Name:  "lookup",
		Usage: "look up the value of a position and of each of its moves",
		UsageText: "driver lookup [--data DIRECTORY] [--json | --tsv] [--line] [--parents] [POSITION]\n" +
			"driver lookup [--data DIRECTORY | --game NAME] --value N",
		Description: "POSITION is in any form that the commands print: the moves from the start (3 3 2, 332, or a1- 'b2|'),\n" +
			"a board as in DIR/final ('XO  '; in Connect N, blanks may be . or _), a key of the steps (0x044), its hash\n" +
			"(#68), or a line of DIR/final. If several forms fit, --from selects one. Without a POSITION, each\n" +
			"line of stdin is one.\n\n" +
			"Moves are listed best first, with their value for the player to move.\n\n" +
			"--json writes a line for each position: input, position, hash, value (win, lose, tie or draw, for the player\n" +
			"to move; solved or unsolvable, in a puzzle), remoteness (moves to the end; a draw has none), outcome (the value in the game's words), and moves, each with move, value and remoteness\n" +
			"for the same player; with --line, line; with --parents, parents, each with position, hash, move, value and\n" +
			"remoteness for the player to move there. An invalid position has input and error. --tsv writes input,\n" +
			"position, hash, value, remoteness and moves (0:win:3 1:lose:4), then line, parents (#68:win:4) and error, if\n" +
			"present; a tab within the input is \\t.\n\n" +
			"--value describes a value (66, 0x42 or 0b1000010). Its two low bits are the outcome: 1 second player wins, 2 first\n" +
			"player wins, 3 tie. The other bits are the remoteness: the number of moves to the end under best play. In a game\n" +
			"whose values are from the view of the player to move, the outcome is 0 draw, 1 lose, 2 win, 3 tie.\n\n" +
			"   driver lookup 1 1 2 --line\n" +
			"   driver lookup '     XO   X         '\n" +
			"   head -20 all_data/final/part-r-00000 | driver lookup --json\n" +
			"   driver lookup --game quickcross --value 66",
		Flags: append([]cli.Flag{
			command.StartFlag(),
			command.FromFlag(),
			&cli.BoolFlag{Name: "line", Usage: "print best play to the end"},
			&cli.BoolFlag{Name: "parents", Usage: "print the predecessors"},
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each position"},
			&cli.BoolFlag{Name: "tsv", Usage: "print a line for each position, with tabs between its fields"},
		}, p.valueFlags()...),
		Action: p.lookup,
	})
}

// lookup implements driver lookup.
func (p *program) lookup(c *cli.Context) error {
	if c.IsSet("value") {
		return p.lookupValues(c)
	}
	if c.IsSet("game") {
		return command.Usagef("--game requires --value N")
	}
	form, err := command.FormOf(c)
	if err != nil {
		return err
	}
	if c.Bool("json") && c.Bool("tsv") {
		return command.Usagef("--json and --tsv exclude each other")
	}
	return datadir.WithTable(c.Context, c.String("data"), p.games, func(t *table.Table, _ *filesys.Place) error {
		o := lookup.Options{Line: c.Bool("line"), Parents: c.Bool("parents")}
		positions := command.Positions{Game: t.Game(), From: form}
		write := func(a *lookup.Answer, out io.Writer) error {
			return a.WriteText(out, t.Game(), coloursOf(c.App.Writer))
		}
		switch {
		case c.Bool("json"):
			write, positions.Refused = (*lookup.Answer).WriteJSON, lookup.RefuseJSON
		case c.Bool("tsv"):
			write, positions.Refused = (*lookup.Answer).WriteTSV, o.RefuseTSV
		}
		return positions.Each(c.Context, c, func(out io.Writer, asked notation.Parsed) error {
			a, err := lookup.Of(t, asked, o)
			if errors.Is(err, lookup.ErrUnreachable) {
				return command.Refuse(err)
			}
			if err != nil {
				return err
			}
			return write(a, out)
		})
	}, p.openers(c.Context)...)
}

// coloursOf reports whether a stream is a terminal and colours are not disabled.
func coloursOf(out io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && command.IsTerminal(out)
}

// valueFlags returns the options of lookup that describe a value.
func (p *program) valueFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "value", Usage: "describe the value byte `N` of a step or of final"},
		&cli.StringFlag{Name: "game", Usage: "with --value and without a table, `NAME` of the game: " + strings.Join(p.games.Names(), ", "), DefaultText: "that of the table"},
	}
}

// lookupValues implements driver lookup --value.
func (p *program) lookupValues(c *cli.Context) error {
	if err := command.NoArguments(c, ": --value excludes a position"); err != nil {
		return err
	}
	for _, name := range []string{"start", "from", "line", "parents", "json", "tsv"} {
		if c.IsSet(name) {
			return command.Usagef("--value and --%s exclude each other", name)
		}
	}
	var values []game.Value
	for _, word := range c.StringSlice("value") {
		n, err := strconv.ParseUint(word, 0, 16)
		if err != nil {
			return command.Usagef("--value %q: expected 0 to 65535", word)
		}
		values = append(values, game.Value(n))
	}
	g, err := p.gameOfValues(c)
	if err != nil {
		return err
	}
	var lines []byte
	for _, v := range values {
		lines = fmt.Appendf(lines, "%d = %d·4 + %d: %s\n", v, v.Remoteness(), v.Outcome(), notation.Meaning(g, v))
	}
	_, err = c.App.Writer.Write(lines)
	return err
}

// gameOfValues returns the game that --game names, or else that of the table.
func (p *program) gameOfValues(c *cli.Context) (g game.Game, err error) {
	if !c.IsSet("game") {
		err = datadir.WithTable(c.Context, c.String("data"), p.games, func(t *table.Table, _ *filesys.Place) error {
			g = t.Game()
			return nil
		}, p.openers(c.Context)...)
		if err != nil {
			err = fmt.Errorf("%w; --game NAME needs no table", err)
		}
		return g, err
	}
	if c.IsSet("data") {
		return nil, command.Usagef("--game and --data exclude each other")
	}
	kind, ok := p.games.Named(c.String("game"))
	if !ok {
		return nil, command.Usagef("--game %q: expected one of %s", c.String("game"), strings.Join(p.games.Names(), ", "))
	}
	return kind.Default()
}

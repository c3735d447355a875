package driver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

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

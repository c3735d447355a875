package driver

import (
	"bytes"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/table"
)

func statsCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:  "stats",
		Usage: "how many positions a tier has, by value",
		Flags: []cli.Flag{
			datadir.Flag(),
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
			return datadir.WithTable(c, games, func(t *table.Table, _ *filesys.Place) error { return printStats(c, t) })
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
		place, err := datadir.OpenFile("svg", name)
		if err != nil {
			return err
		}
		defer place.Close()
		var picture bytes.Buffer
		if err := s.WriteSVG(&picture); err != nil {
			return err
		}
		return store.WriteFile(place.FS, place.Path, picture.Bytes())
	}
	if c.Bool("json") {
		return s.WriteJSON(c.App.Writer)
	}
	fmt.Fprintf(c.App.Writer, "%s: %s\n\n", s.Game, s.Value)
	return s.WriteTable(c.App.Writer)
}

package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

func (p *program) statsCommand() *cli.Command {
	return p.reads(&cli.Command{
		Name:  "stats",
		Usage: "count the positions of each tier by value",
		Description: "For an unfinished run, as with solve --until-tier, it prints how many positions its tiers\n" +
			"have, or its passes have found, and how many of them are terminal.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "images", Usage: "count all images (mirrored, rotated …) of the positions that the table stores; it reads the complete table"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON, with every remoteness"},
			&cli.BoolFlag{Name: "csv", Usage: "print CSV, a line for each tier, outcome and remoteness"},
			&cli.StringFlag{Name: "svg", Usage: "write a picture to `FILE`, on this machine or in HDFS; - is stdout"},
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ": --data names the directory"); err != nil {
				return err
			}
			form := ""
			for _, name := range []string{"json", "csv", "svg"} {
				if !c.IsSet(name) || c.Value(name) == false {
					continue
				}
				if form != "" {
					return command.Usagef("--json, --csv and --svg exclude each other")
				}
				form = name
			}
			name, openers, out := c.String("data"), p.openers(c.Context), c.App.Writer
			r, err := unsolved(name, openers)
			switch {
			case err != nil:
				return err
			case r != nil && form == "svg":
				return fmt.Errorf("%s: %s is not solved yet: a picture needs values", name, r.Game)
			case r != nil:
				return printStats(out, table.Stats{Game: r.Game, Rows: r.Found()}, "not solved yet", form)
			}
			return datadir.WithTable(c.Context, name, p.games, func(t *table.Table, _ *filesys.Place) error {
				s, err := t.Stats()
				if c.Bool("images") {
					s, err = t.StatsWithImages(c.Context)
				}
				if err != nil {
					return err
				}
				if form == "svg" {
					var picture bytes.Buffer
					s.WriteSVG(&picture) // a Buffer takes every write
					return datadir.Write(out, "svg", c.String("svg"), picture.Bytes())
				}
				value, _, err := t.Lookup(t.Game().Start())
				if err != nil {
					return err
				}
				return printStats(out, s, notation.Summary(t.Game().Values(), value), form)
			}, openers...)
		},
	})
}

// unsolved returns the report of a run that has no table yet; nil if there is a table, or no
// run.
func unsolved(name string, openers []filesys.Opener) (*status.Run, error) {
	place, err := datadir.OpenDir(name, openers...)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	if _, err := place.FS.Stat(path.Join(place.Path, table.Dir)); !errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r, err := status.Read(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.Status == solve.Solved { // if Solved, the table has been deleted
		return nil, nil
	}
	return r, err
}

// printStats prints statistics in a form: json, csv, or "" for text, which begins with a summary.
func printStats(out io.Writer, s table.Stats, summary, form string) error {
	switch form {
	case "json":
		return s.WriteJSON(out)
	case "csv":
		return s.WriteCSV(out)
	}
	fmt.Fprintf(out, "%s: %s\n\n", s.Game, summary)
	return s.WriteTable(out)
}

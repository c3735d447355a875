package driver

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

func (p *program) statsCommand() *cli.Command {
	return p.reads(&cli.Command{
		Name:  "stats",
		Usage: "count the positions of each tier by value",
		Description: "For an unfinished run, as with solve --until-tier, it prints how many positions its tiers\n" +
			"have, or its passes have found, and how many of them are terminal.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, with every remoteness"},
			&cli.BoolFlag{Name: "csv", Usage: "print CSV, a line for each tier, outcome and remoteness"},
			&cli.StringFlag{Name: "svg", Usage: "write a picture to `FILE`, on this machine, in HDFS or in S3; - is stdout"},
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
			j, err := unsolved(name, openers)
			switch {
			case err != nil:
				return err
			case j != nil && form == "svg":
				return fmt.Errorf("%s: %s is not solved yet: a picture needs values", name, j.Game)
			case j != nil:
				return printUnsolved(out, j, form)
			}
			return datadir.WithTable(c.Context, name, p.games, func(t *table.Table, _ *filesys.Place) error {
				if form != "svg" {
					return printStats(out, t, form)
				}
				var picture bytes.Buffer
				if err := printStats(&picture, t, form); err != nil {
					return err
				}
				return datadir.Write(out, "svg", c.String("svg"), picture.Bytes(), openers...)
			}, openers...)
		},
	})
}

// unsolved returns the journal of a run that has no table yet; nil if there is a table, or no
// run.
func unsolved(name string, openers []filesys.Opener) (*solve.Journal, error) {
	place, err := datadir.OpenDir(name, openers...)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	if _, err := place.FS.Stat(path.Join(place.Path, table.Dir)); !errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	j, err := solve.ReadJournal(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && j.State == solve.Solved { // if Solved, the table has been deleted
		return nil, nil
	}
	return j, err
}

// A tierCount is the number of positions that a run has found in a tier, or in a pass.
type tierCount struct {
	Tier      int   `json:"tier"`
	Positions int64 `json:"positions"`
	Finished  int64 `json:"finished"`
}

// found returns what the forward jobs of a run have found.
func found(j *solve.Journal) (counts []tierCount) {
	for _, done := range j.Jobs {
		switch {
		case done.Step == step.Create: // the passes of mark are numbered from 1
			counts = append(counts, tierCount{0, done.Records, done.Finished})
		case done.Step == step.Init, done.Step == step.Possible, done.Step == step.Mark:
			counts = append(counts, tierCount{done.Tier, cmp.Or(done.Positions, done.Records), done.Finished})
		}
	}
	return counts
}

// printUnsolved prints the known counts of a run without a table.
func printUnsolved(out io.Writer, j *solve.Journal, form string) error {
	counts := found(j)
	switch form {
	case "json":
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"game": j.Game, "solved": false, "tiers": counts})
	case "csv":
		w := csv.NewWriter(out)
		w.Write([]string{"tier", "positions", "finished"})
		for _, n := range counts {
			w.Write([]string{strconv.Itoa(n.Tier), fmt.Sprint(n.Positions), fmt.Sprint(n.Finished)})
		}
		w.Flush()
		return w.Error()
	}
	fmt.Fprintf(out, "%s: not solved yet\n\n", j.Game)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "tier\tpositions\tfinished\t\n")
	all := tierCount{}
	for _, n := range counts {
		fmt.Fprintf(w, "%d\t%s\t%s\t\n", n.Tier, numfmt.Number(n.Positions), numfmt.Number(n.Finished))
		all.Positions, all.Finished = all.Positions+n.Positions, all.Finished+n.Finished
	}
	fmt.Fprintf(w, "total\t%s\t%s\t\n", numfmt.Number(all.Positions), numfmt.Number(all.Finished))
	return w.Flush()
}

// printStats prints the statistics of a table in a form: json, csv, svg, or "" for text.
func printStats(out io.Writer, t *table.Table, form string) error {
	s, err := t.Stats()
	if err != nil {
		return err
	}
	switch form {
	case "json":
		return s.WriteJSON(out)
	case "csv":
		return s.WriteCSV(out)
	case "svg":
		return s.WriteSVG(out)
	}
	value, _, err := t.Lookup(t.Game().Start())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n\n", s.Game, notation.Summary(t.Game().Values(), value))
	return s.WriteTable(out)
}

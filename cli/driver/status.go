package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/store"
)

func (p *program) statusCommand() *cli.Command {
	usage := "driver status [--data DIRECTORY] [--all] [--json]"
	for _, f := range p.FileSystems {
		usage += "\ndriver status " + f.Scheme + "PATH [--all] [--json]"
	}
	return p.reads(&cli.Command{
		Name:      "status",
		Usage:     "show the progress of a run and its jobs",
		UsageText: usage,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "print a line for each job, not for each step"},
			&cli.BoolFlag{Name: "json", Usage: "print the journal as JSON, with the status of the run"},
		},
		Action: p.status,
	})
}

// status implements driver status.
func (p *program) status(c *cli.Context) error {
	name := c.String("data")
	if word := c.Args().First(); c.Args().Len() == 1 && p.extends(word) && !c.IsSet("data") {
		name = word // it cannot mean anything else
	} else if err := command.NoArguments(c, ": --data names the directory"); err != nil {
		return err
	}
	place, err := datadir.OpenDir(name, p.openers(c.Context)...)
	if err != nil {
		return err
	}
	defer place.Close()
	r, err := status.Read(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if absent := datadir.Absent(place, name); absent != nil {
			return absent
		}
		return fmt.Errorf("%s: no run has written a %s here", name, store.JournalFile)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(r)
	}
	return printStatus(c.App.Writer, r, c.Bool("all"))
}

// printStatus prints the report of a run as text, with a line for each step or, if all is true,
// for each job.
func printStatus(out io.Writer, r *status.Run, all bool) error {
	for _, line := range r.Lines() {
		fmt.Fprintln(out, line)
	}
	what, lines := "step", r.Steps()
	if all {
		what, lines = "job", r.Jobs()
	}
	if len(lines) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	header, rows := status.Columns(what, lines)
	for _, row := range slices.Insert(rows, 0, header) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	return w.Flush()
}

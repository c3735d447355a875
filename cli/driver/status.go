package driver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

func (p *program) statusCommand() *cli.Command {
	usage := "driver status [--data DIRECTORY] [--all] [--json]"
	for _, f := range p.FileSystems {
		usage += "\ndriver status " + f.Scheme + "PATH [--all] [--json]"
	}
	return &cli.Command{
		Name:      "status",
		Usage:     "show the progress of a run and its jobs",
		UsageText: usage,
		Flags: []cli.Flag{
			p.dataFlag(),
			&cli.BoolFlag{Name: "all", Usage: "print a line for each job, not for each step"},
			&cli.BoolFlag{Name: "json", Usage: "print the journal as JSON, with the status of the run"},
		},
		Action: p.status,
	}
}

// dataAsArgument uses the only argument of a command line as --data if it names a directory in
// one of the further file systems, because it cannot mean anything else.
func (p *program) dataAsArgument(c *cli.Context) error {
	if name := c.Args().First(); c.Args().Len() == 1 && p.extends(name) && !c.IsSet("data") {
		return c.Set("data", name)
	}
	return command.NoArguments(c, ": --data names the directory")
}

// status implements driver status.
func (p *program) status(c *cli.Context) error {
	if err := p.dataAsArgument(c); err != nil {
		return err
	}
	place, err := datadir.Open(c, p.openers(c.Context)...)
	if err != nil {
		return err
	}
	defer place.Close()
	r, err := readReport(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if absent := datadir.Absent(place, c.String("data")); absent != nil {
			return absent
		}
		return fmt.Errorf("%s: no run has written a %s here", c.String("data"), store.JournalFile)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(r)
	}
	return r.print(c.App.Writer, c.Bool("all"))
}

// A report is the report of a run, with methods to print it.
type report struct{ *solve.Report }

// readReport reads the report of a data directory.
func readReport(fsys store.FS, path string) (*report, error) {
	r, err := solve.ReadReport(fsys, path)
	if err != nil {
		return nil, err
	}
	return &report{r}, nil
}

// place describes where a run stopped.
func (r *report) place() string {
	switch {
	case r.Now != nil && !r.Now.Done:
		return " in " + r.Now.Job
	case r.Now != nil:
		return " after " + r.Now.Job
	case len(r.Jobs) > 0:
		return " after " + r.Jobs[len(r.Jobs)-1].Job
	}
	return ""
}

// prints the report as text, with a line for each step, or, if all is true, for each job.
func (r *report) print(out io.Writer, all bool) error {
	fmt.Fprintf(out, "%s: %s", r.Game, r.Status)
	if r.Status == solve.Died || r.Status == solve.Stopped {
		fmt.Fprintf(out, "%s; --resume continues", r.place())
	}
	fmt.Fprintln(out)
	if r.Error != "" {
		fmt.Fprintf(out, "error: %s\n", r.Error)
	}
	if r.Status == solve.Died && !r.Asked {
		fmt.Fprintf(out, "no update for %s: it was killed, or its machine failed\n", numfmt.Duration(r.Silence))
	}
	if e := r.Now; e != nil {
		alive := r.Status == solve.Running && r.Silence <= solve.Silent
		fmt.Fprintf(out, "%.1f%% done; at %s: %s, %s", 100*e.Share, e.Job, e.Step, e.Place())
		if alive && e.Tracking != "" { // for a failed job, Hadoop reports 100%
			fmt.Fprintf(out, ", map %.0f%%, reduce %.0f%%", 100*e.Map, 100*e.Reduce)
		}
		if e.Tracking != "" {
			fmt.Fprintf(out, ", %s", e.Tracking)
		}
		if alive && e.Left > 0 {
			fmt.Fprintf(out, "; %s left", progress.Left(*e))
		}
		fmt.Fprintln(out)
	}
	if all {
		return printJobs(out, r.Jobs)
	}
	return printPhases(out, r.Jobs)
}

// A jobLine contains the statistics of a job, or the totals of a step.
type jobLine struct {
	name               string
	jobs               int
	positions          int64
	finished, shuffled int64
	combined, bytes    int64
	waiting, working   float64
	seconds            float64
	application        string
}

// lineOf returns the line of a job.
func lineOf(done solve.JobRecord) jobLine {
	l := jobLine{name: done.Job, jobs: 1, positions: cmp.Or(done.Positions, done.Records), finished: done.Finished, seconds: done.Seconds}
	if l.application = done.Application; l.application == "" {
		return l
	}
	l.shuffled, l.bytes, l.waiting, l.working = done.Shuffled, done.Bytes, done.Waiting, done.Working
	if done.Step == step.Possible { // not of a solve job, where a position receives a message for each move
		l.combined = done.Shuffled - done.Records
	}
	return l
}

// add adds the numbers of another line.
func (l *jobLine) add(o jobLine) {
	l.jobs += o.jobs
	l.positions += o.positions
	l.finished += o.finished
	l.shuffled += o.shuffled
	l.combined += o.combined
	l.bytes += o.bytes
	l.waiting += o.waiting
	l.working += o.working
	l.seconds += o.seconds
}

// printPhases prints a line for each step with the totals of its jobs, in the order of the run.
func printPhases(out io.Writer, jobs []solve.JobRecord) error {
	var lines []jobLine
	for _, done := range jobs {
		i := slices.IndexFunc(lines, func(l jobLine) bool { return l.name == done.Step })
		if i < 0 {
			i = len(lines)
			lines = append(lines, jobLine{name: done.Step})
		}
		l := lineOf(done)
		lines[i].add(l)
	}
	return printLines(out, "step", lines)
}

// printJobs prints a line for each job.
func printJobs(out io.Writer, jobs []solve.JobRecord) error {
	var lines []jobLine
	for _, done := range jobs {
		lines = append(lines, lineOf(done))
	}
	return printLines(out, "job", lines)
}

// printLines prints lines in columns, without the empty columns.
func printLines(out io.Writer, what string, lines []jobLine) error {
	if len(lines) == 0 {
		return nil
	}
	columns := []struct {
		head string
		text func(jobLine) string
	}{
		{what, func(l jobLine) string { return l.name }},
		{"jobs", func(l jobLine) string {
			if what == "job" {
				return ""
			}
			return number(int64(l.jobs))
		}},
		{"positions", func(l jobLine) string { return numfmt.Number(l.positions) }},
		{"finished", func(l jobLine) string { return number(l.finished) }},
		{"shuffled", func(l jobLine) string { return number(l.shuffled) }},
		{"combined", func(l jobLine) string { return number(l.combined) }},
		{"bytes", func(l jobLine) string { return number(l.bytes) }},
		{"waiting s", func(l jobLine) string { return seconds(l.waiting) }},
		{"working s", func(l jobLine) string { return seconds(l.working) }},
		{"seconds", func(l jobLine) string { return fmt.Sprintf("%.2f", l.seconds) }},
		{"application", func(l jobLine) string { return l.application }},
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows := make([]string, len(lines)+1)
	for _, column := range columns {
		if !slices.ContainsFunc(lines, func(l jobLine) bool { return column.text(l) != "" }) {
			continue
		}
		rows[0] += column.head + "\t"
		for i, l := range lines {
			rows[i+1] += column.text(l) + "\t"
		}
	}
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	return w.Flush()
}

// seconds formats a time; "" for 0.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", s)
}

// number formats a count; "" for 0.
func number(n int64) string {
	if n <= 0 {
		return ""
	}
	return numfmt.Number(n)
}

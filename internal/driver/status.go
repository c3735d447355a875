package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/solve"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/store"
)

// silent is how long a driver that is alive may not have written its journal.
const silent = 3 * solve.Heartbeat

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "how far a run is, or came, and what each of its jobs did",
		Flags: []cli.Flag{
			dataFlag(),
			&cli.BoolFlag{Name: "json", Usage: "the journal as JSON"},
		},
		Action: status,
	}
}

// status is driver status.
func status(c *cli.Context) error {
	if err := command.NoArguments(c, ": --data names the directory"); err != nil {
		return err
	}
	fsys, path, done, err := openData(c)
	if err != nil {
		return err
	}
	defer done()
	j, err := solve.ReadJournal(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no run has left a %s here", c.String("data"), store.JournalFile)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(j)
	}
	return printStatus(c.App.Writer, j, time.Now())
}

// printStatus says in words what a journal says.
func printStatus(out io.Writer, j *solve.Journal, now time.Time) error {
	fmt.Fprintf(out, "%s: %s\n", j.Game, j.State)
	if j.Error != "" {
		fmt.Fprintf(out, "error: %s\n", j.Error)
	}
	ago := now.Sub(j.Updated).Round(time.Second)
	alive := j.State == solve.Running && ago <= silent
	if j.State == solve.Running && !alive {
		fmt.Fprintf(out, "nothing was heard of it for %s: it was killed, or its machine was (--resume goes on)\n", ago)
	}
	if e := j.Now; e != nil {
		fmt.Fprintf(out, "%.1f%% done; at %s: %s, %s", 100*e.Share, e.Job, e.Step, e.Place())
		if alive && e.Tracking != "" { // of a job that failed Hadoop says 100 %
			fmt.Fprintf(out, ", map %.0f%%, reduce %.0f%%", 100*e.Map, 100*e.Reduce)
		}
		if e.Tracking != "" {
			fmt.Fprintf(out, ", %s", e.Tracking)
		}
		if alive && e.Left > 0 {
			fmt.Fprintf(out, "; %s left", time.Duration(e.Left*float64(time.Second)).Round(time.Second))
		}
		fmt.Fprintln(out)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "job\tpositions\tfinished\tshuffled\tcombined\tbytes\twaiting s\tworking s\tseconds\tapplication\t\n")
	for _, r := range j.Jobs {
		fmt.Fprintf(w, "%s\t%d\t%s\t", r.Job, r.Records, number(r.Finished))
		if r.Application == "" {
			fmt.Fprintf(w, "\t\t\t\t\t%.2f\t\t\n", r.Seconds)
			continue
		}
		combined := int64(0) // of a solve job: a position hears as often as it has moves
		if r.Step == step.Possible {
			combined = r.Shuffled - r.Records
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%.2f\t%.2f\t%.2f\t%s\t\n", r.Shuffled, number(combined),
			r.Bytes, r.Waiting, r.Working, r.Seconds, r.Application)
	}
	return w.Flush()
}

// number writes a count, nothing for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

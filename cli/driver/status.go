package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/solve"
)

// silent is how long a driver that is alive may not have written its journal.
const silent = 3 * solve.Heartbeat

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "how far a run is, or came, and what each of its jobs did",
		Flags: []cli.Flag{
			datadir.Flag(),
			&cli.BoolFlag{Name: "json", Usage: "the journal as JSON, and in status what has become of the run"},
		},
		Action: status,
	}
}

// status is driver status.
func status(c *cli.Context) error {
	if err := command.NoArguments(c, ": --data names the directory"); err != nil {
		return err
	}
	place, err := datadir.Open(c)
	if err != nil {
		return err
	}
	defer place.Close()
	r, err := readReport(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no run has left a %s here", c.String("data"), store.JournalFile)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(r)
	}
	return r.print(c.App.Writer)
}

// died is the status of a run whose driver ended without a word: it was killed, or
// its machine was.
const died = "died"

// A report is the journal of a run, and what has become of the run since.
type report struct {
	*solve.Journal
	Status string `json:"status"` // State, or died

	silence time.Duration // since the journal was written
	asked   bool          // the lock was, which knows whether a driver lives
}

// readReport reads the journal of a data directory. Whether a run goes on that does
// so by its journal, the lock tells; in HDFS the journal's age.
func readReport(fsys store.FS, path string) (*report, error) {
	j, err := solve.ReadJournal(fsys, path)
	if err != nil {
		return nil, err
	}
	if states := []string{solve.Running, solve.Stopped, solve.Failed, solve.Solved}; !slices.Contains(states, j.State) {
		return nil, fmt.Errorf("%s: expected a state of %s, found %q", filepath.Join(path, store.JournalFile), strings.Join(states, ", "), j.State)
	}
	r := &report{Journal: j}
	if j.State == solve.Running {
		var working bool
		working, r.asked = store.AtWork(fsys, path)
		// A driver gives the lock up after its last word, which may have come
		// since the first look.
		if r.Journal, err = solve.ReadJournal(fsys, path); err != nil {
			return nil, err
		}
		r.silence = time.Since(r.Updated)
		if r.State == solve.Running && r.Begun.Equal(j.Begun) && !working && (r.asked || r.silence > silent) {
			r.Status = died
		}
	}
	if r.Status == "" {
		r.Status = r.State
	}
	if r.State == solve.Stopped {
		r.Error = "" // that a signal came is none
	}
	return r, nil
}

// place is where a run came to that goes no more.
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

// print says it in words.
func (r *report) print(out io.Writer) error {
	fmt.Fprintf(out, "%s: %s", r.Game, r.Status)
	if r.Status == died || r.Status == solve.Stopped {
		fmt.Fprintf(out, "%s; --resume goes on", r.place())
	}
	fmt.Fprintln(out)
	if r.Error != "" {
		fmt.Fprintf(out, "error: %s\n", r.Error)
	}
	if r.Status == died && !r.asked {
		fmt.Fprintf(out, "nothing was heard of it for %s: it was killed, or its machine was\n", r.silence.Round(time.Second))
	}
	if e := r.Now; e != nil {
		alive := r.Status == solve.Running && r.silence <= silent
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
	for _, done := range r.Jobs {
		positions := positionsOf(done.Stats)
		fmt.Fprintf(w, "%s\t%d\t%s\t", done.Job, positions, number(done.Finished))
		if done.Application == "" {
			fmt.Fprintf(w, "\t\t\t\t\t%.2f\t\t\n", done.Seconds)
			continue
		}
		combined := int64(0) // of a solve job: a position hears as often as it has moves
		if done.Step == step.Possible {
			combined = done.Shuffled - done.Records
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%.2f\t%.2f\t%.2f\t%s\t\n", done.Shuffled, number(combined),
			done.Bytes, done.Waiting, done.Working, done.Seconds, done.Application)
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

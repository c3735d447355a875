// Package status describes a run from its journal: how far it has come, how it ended, and what
// each job did. Reading it does not disturb the run.
package status

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// Died is a status that no journal has: its state is solve.Running, but its driver, or the driver's machine, was killed.
const Died = "died"

// A Run is the journal of a run, with the present status of the run.
type Run struct {
	*solve.Journal
	Status string `json:"status"` // State, or Died

	Silence time.Duration `json:"-"` // since the journal was last written
	Asked   bool          `json:"-"` // whether the lock could be checked, which shows if a driver is alive
}

// Read reads the journal of a data directory. If its state is solve.Running, Read checks whether a driver is alive: by the lock, or
// in HDFS by the age of the journal. If no run has written a journal there, the error is fs.ErrNotExist.
func Read(fsys store.FS, dir string) (*Run, error) {
	j, err := solve.ReadJournal(fsys, dir)
	if err != nil {
		return nil, err
	}
	if states := []string{solve.Running, solve.Stopped, solve.Failed, solve.Solved}; !slices.Contains(states, j.State) {
		return nil, fmt.Errorf("%s: expected a state of %s, found %q", path.Join(dir, store.JournalFile), strings.Join(states, ", "), j.State)
	}
	r := &Run{Journal: j, Status: j.State}
	if j.State == solve.Running {
		var working bool
		working, r.Asked = store.AtWork(fsys, dir)
		// A driver releases the lock after it last writes the journal, which it may have done
		// since the first read.
		if r.Journal, err = solve.ReadJournal(fsys, dir); err != nil {
			return nil, err
		}
		r.Silence, r.Status = time.Since(r.Updated), r.Journal.State
		if r.Status == solve.Running && r.Begun.Equal(j.Begun) && !working && (r.Asked || r.Silence > solve.Silent) {
			r.Status = Died
		}
	}
	if r.Journal.State == solve.Stopped {
		r.Error = "" // a signal is not an error
	}
	return r, nil
}

// State describes whether the run is at work or has ended: "running", or
// "stopped after data_first3; --resume continues".
func (r *Run) State() string {
	if r.Status != Died && r.Status != solve.Stopped {
		return r.Status
	}
	place := ""
	switch {
	case r.Now != nil && !r.Now.Done:
		place = " in " + r.Now.Job
	case r.Now != nil:
		place = " after " + r.Now.Job
	case len(r.Journal.Jobs) > 0:
		place = " after " + r.Journal.Jobs[len(r.Journal.Jobs)-1].Job
	}
	return r.Status + place + "; --resume continues"
}

// Trouble returns why the run failed or died; "" if it did not, or if the reason is unknown.
func (r *Run) Trouble() string {
	switch {
	case r.Error != "":
		return "error: " + r.Error
	case r.Status == Died && !r.Asked:
		return fmt.Sprintf("no update for %s: it was killed, or its machine failed", numfmt.Duration(r.Silence))
	}
	return ""
}

// Alive reports whether a driver is at work.
func (r *Run) Alive() bool { return r.Status == solve.Running && r.Silence <= solve.Silent }

// Share returns the completed fraction of the run, 0 to 1.
func (r *Run) Share() float64 {
	switch {
	case r.Status == solve.Solved:
		return 1
	case r.Now == nil:
		return 0
	case r.Now.Step == step.Final: // its share is that of final alone
		return 1
	}
	return min(max(0, r.Now.Share), 1)
}

// Left returns the time that the run will still take; "" if that is unknown.
func (r *Run) Left() string {
	if r.Now == nil || r.Now.Left <= 0 || !r.Alive() {
		return ""
	}
	return r.Now.TimeLeft()
}

// Lines returns the report in lines of text, without the jobs.
func (r *Run) Lines() []string {
	lines := []string{r.Game + ": " + r.State()}
	if trouble := r.Trouble(); trouble != "" {
		lines = append(lines, trouble)
	}
	if e := r.Now; e != nil {
		line := fmt.Sprintf("%.1f%% done; at %s: %s, %s", 100*e.Share, e.Job, e.Step, e.Place())
		if e.Tracking != "" {
			if r.Alive() { // for a failed job, Hadoop reports 100%
				line += fmt.Sprintf(", map %.0f%%, reduce %.0f%%", 100*e.Map, 100*e.Reduce)
			}
			line += ", " + e.Tracking
		}
		if left := r.Left(); left != "" {
			line += "; " + left + " left"
		}
		lines = append(lines, line)
	}
	return lines
}

// Tiers returns how many tiers the forward and the retrograde passes have done, of how many; 0 if
// that is unknown. For a game with one tier it returns numbers of jobs, and of is 0.
func (r *Run) Tiers() (forward, back, of int) {
	last, lowest := 0, math.MaxInt // the last tier of the forward pass; the lowest one with values
	firsts, seconds := 0, 0        // jobs
	for _, j := range r.Journal.Jobs {
		switch {
		case step.IsForward(j.Step):
			firsts++
			last = max(last, j.Tier)
			if j.Pass == 0 {
				forward++
			}
		case j.Step != step.Final:
			seconds++
			if j.Pass == 0 && j.Step != step.Begin {
				back++
				lowest = min(lowest, j.Tier)
			}
		}
	}
	switch {
	case r.Now != nil:
		last = r.Now.Tiers
	case r.Status != solve.Solved && last > 0:
		return forward, back, 0
	}
	if last == 0 {
		return firsts, seconds, 0
	}
	if back > 0 { // with blocks, the last tier has no job of its own
		back = last + 1 - lowest
	}
	return forward, back, last + 1
}

// Rate returns the positions per second of the finished jobs of the current step, 0 if there are
// none.
func (r *Run) Rate() float64 {
	if r.Now == nil {
		return 0
	}
	for _, l := range r.Steps() {
		if l.Name == r.Now.Step && l.Seconds > 0 {
			return float64(l.Positions) / l.Seconds
		}
	}
	return 0
}

// Positions returns the number of positions found so far.
func (r *Run) Positions() (n int64) {
	for _, found := range r.Found() {
		n += int64(found.Positions)
	}
	return n
}

// Found returns what the forward jobs found, by tier, or by pass if only one tier has been reached: terminal positions, and
// others.
func (r *Run) Found() (rows []table.Row) {
	tiers := slices.ContainsFunc(r.Journal.Jobs, func(j solve.JobRecord) bool { return step.IsForward(j.Step) && j.Tier > 0 })
	for _, j := range r.Journal.Jobs {
		if !step.IsForward(j.Step) {
			continue
		}
		number := j.Tier
		if !tiers {
			number = j.Pass
		}
		if n := len(rows); n == 0 || rows[n-1].Tier != number {
			rows = append(rows, table.Row{Tier: number}, table.Row{Tier: number, Remoteness: table.NoEnd})
		}
		last := rows[len(rows)-2:]
		last[0].Positions += uint64(j.Finished)
		last[1].Positions += uint64(cmp.Or(j.Positions, j.Records) - j.Finished)
	}
	return rows
}

// A Line contains the statistics of a job, or the totals of a step.
type Line struct {
	Name         string // the job or the step
	Jobs         int
	Combined     int64 // positions that the combiner has merged
	Seconds      float64
	Tracking     string // the URL of the job's page
	runner.Stats        // Positions is set in any case
}

// lineOf returns the line of a job.
func lineOf(j solve.JobRecord) Line {
	l := Line{Name: j.Job, Jobs: 1, Seconds: j.Seconds, Tracking: j.Tracking, Stats: j.Stats}
	l.Positions = cmp.Or(j.Positions, j.Records)
	if j.Application != "" && j.Step == step.Possible { // not of a solve job, where a position receives a message for each move
		l.Combined = j.Shuffled - j.Records
	}
	return l
}

// Add adds the numbers of another line.
func (l *Line) Add(o Line) {
	l.Jobs += o.Jobs
	l.Positions += o.Positions
	l.Finished += o.Finished
	l.Shuffled += o.Shuffled
	l.Combined += o.Combined
	l.Bytes += o.Bytes
	l.Waiting += o.Waiting
	l.Working += o.Working
	l.Seconds += o.Seconds
}

// Jobs returns a line for each finished job.
func (r *Run) Jobs() (lines []Line) {
	for _, j := range r.Journal.Jobs {
		lines = append(lines, lineOf(j))
	}
	return lines
}

// Steps returns a line for each step, with the totals of its jobs, in the order of the run.
func (r *Run) Steps() (lines []Line) {
	for _, j := range r.Journal.Jobs {
		i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == j.Step })
		if i < 0 {
			i = len(lines)
			lines = append(lines, Line{Name: j.Step})
		}
		lines[i].Add(lineOf(j))
	}
	return lines
}

// Columns returns lines of jobs, or of steps if what is "step", as a table without its empty
// columns. The first column has the name, the column "application" is the last one.
func Columns(what string, lines []Line) (header []string, rows [][]string) {
	rows = make([][]string, len(lines))
	for _, column := range []struct {
		head string
		text func(Line) string
	}{
		{what, func(l Line) string { return l.Name }},
		{"jobs", func(l Line) string {
			if what == "job" {
				return ""
			}
			return number(int64(l.Jobs))
		}},
		{"positions", func(l Line) string { return numfmt.Number(l.Positions) }},
		{"finished", func(l Line) string { return number(l.Finished) }},
		{"shuffled", func(l Line) string { return number(l.Shuffled) }},
		{"combined", func(l Line) string { return number(l.Combined) }},
		{"bytes", func(l Line) string { return number(l.Bytes) }},
		{"waiting s", func(l Line) string { return seconds(l.Waiting) }},
		{"working s", func(l Line) string { return seconds(l.Working) }},
		{"seconds", func(l Line) string { return fmt.Sprintf("%.2f", l.Seconds) }},
		{"application", func(l Line) string { return l.Application }},
	} {
		if !slices.ContainsFunc(lines, func(l Line) bool { return column.text(l) != "" }) {
			continue
		}
		header = append(header, column.head)
		for i, l := range lines {
			rows[i] = append(rows[i], column.text(l))
		}
	}
	return header, rows
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

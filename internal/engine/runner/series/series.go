// Package series runs a series: consecutive jobs, executed one after the other by one task on a
// cluster, where each job alone would take longer to start than to run. The task executes them
// as runner inline does. It reads the jobs as lines of JSON, writes the directory of each job
// below its own output directory, and prints a line with the counts of each job that it has run.
// When the task has succeeded, its driver commits the directories, one by one.
//
// The driver does not know how many records the later jobs will read. So the task decides after
// each job whether the series goes on: only while the job has written more records than the driver
// would process itself, and all jobs together have written no more than one task should.
package series

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// Name is the name of the command of mapper that runs a series.
const Name = "series"

// Memory is how many bytes the process of a series may use, apart from its code.
const Memory = 256 << 20

// A line is a job of a series. Output is the directory that the job's attempt becomes when it is
// committed.
type line struct {
	*runner.Job
	Inbox []string `json:"inbox,omitempty"` // the directories of Job.Inbox, without those that the series writes
	// The job runs only if the one before it has written more than Above records, and all
	// before it together at most Most.
	Above int64 `json:"above"`
	Most  int64 `json:"most"`
}

// Lines returns the jobs of a series as the task reads them. data is the data directory. above and
// most become Above and Most of each line.
func Lines(data string, jobs []*runner.Job, above, most int64) ([]byte, error) {
	var text bytes.Buffer
	for _, job := range jobs {
		own := *job
		own.Output, own.Codec = path.Join(data, job.Name), jobs[0].Codec
		l := line{Job: &own, Above: above, Most: most}
		for _, d := range job.Inbox {
			l.Inbox = append(l.Inbox, d.Path)
		}
		if err := json.NewEncoder(&text).Encode(l); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// A Result describes a job that has run.
type Result struct {
	Job string // its name
	step.Counts
}

// Results parses the output of Run.
func Results(text []byte) (all []Result, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, counts, _ := strings.Cut(lines.Text(), "\t")
		of := make(map[string]int64)
		if err := json.Unmarshal([]byte(counts), &of); err != nil {
			return nil, fmt.Errorf("result of a series: line %d: %w", len(all)+1, err)
		}
		all = append(all, Result{name, step.Named(func(name string) int64 { return of[name] }).Counts})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("result of a series: line %d: %w", len(all)+1, err)
	}
	return all, nil
}

// Run runs the jobs that it reads from in, until the series ends. It writes their directories into
// the directory work of fsys, and the results to out.
func Run(ctx context.Context, in io.Reader, out io.Writer, fsys store.FS, work string, m game.Method) error {
	t := task{fs: overlay{FS: fsys, work: work}, m: m, runner: inline.Runner{Memory: Memory}}
	var written, all int64
	for jobs := json.NewDecoder(in); ; {
		var l line
		if err := jobs.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("job of a series: %w", err)
		}
		if len(t.fs.dirs) > 0 && (written <= l.Above || all > l.Most) {
			_, err := io.Copy(io.Discard, in)
			return err
		}
		stats, err := t.run(ctx, l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
		counts := make(map[string]int64)
		(&step.Counters{Counts: stats.Counts}).Each(func(name string, n int64) { counts[name] = n })
		text, err := json.Marshal(counts)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\t%s\n", l.Name, text); err != nil {
			return err
		}
		written = stats.Records
		all += written
	}
}

// A task runs a series.
type task struct {
	fs     overlay
	m      game.Method
	runner inline.Runner
	boxes  []*lists.Dir // of lists: the directories that the series has written
}

// run runs a job, and completes its directory for the jobs after it.
func (t *task) run(ctx context.Context, l line) (stats runner.Stats, err error) {
	job := l.Job
	job.FS, job.Method, job.Reducers = &t.fs, t.m, 1
	for _, dir := range l.Inbox {
		d, err := lists.OpenDir(job.FS, dir, t.m.Game)
		if err != nil {
			return stats, err
		}
		job.Inbox = append(job.Inbox, d)
	}
	if job.Step == step.Solve { // in the order of their tiers: the series goes backward
		job.Inbox = slices.Concat(t.boxes, job.Inbox)
	} else {
		job.Inbox = slices.Concat(job.Inbox, t.boxes)
	}
	t.fs.dirs = append(t.fs.dirs, job.Output)
	if err := job.FS.MkdirAll(job.Output); err != nil {
		return stats, err
	}
	if stats, err = t.runner.Run(ctx, job); err != nil {
		return stats, err
	}
	if t.m.States != nil {
		err = t.index(job, stats)
	}
	if err == nil {
		err = store.WriteFile(job.FS, path.Join(job.Output, store.Success), nil)
	}
	if err != nil || t.m.Lists == nil {
		return stats, err
	}
	d, err := lists.OpenDir(job.FS, job.Output, t.m.Game)
	if job.Step == step.Solve {
		t.boxes = slices.Insert(t.boxes, 0, d)
	} else {
		t.boxes = append(t.boxes, d)
	}
	return stats, err
}

// index writes the index of a pass.
func (t *task) index(job *runner.Job, stats runner.Stats) (err error) {
	var before *jobdir.Index
	if job.PreviousPass != "" {
		if before, err = jobdir.ReadIndex(job.FS, job.PreviousPass, t.m.States); err != nil {
			return err
		}
	}
	_, err = before.WriteNext(job.FS, job.Output, t.m.States, job.Found(stats))
	return err
}

// An overlay is a file system in which the directories of a series are where they will be when
// they are committed. They are in the directory work.
type overlay struct {
	store.FS
	work string
	dirs []string
}

// at returns where a file is.
func (o *overlay) at(name string) string {
	for _, dir := range o.dirs {
		if below, ok := strings.CutPrefix(name, dir); ok && (below == "" || below[0] == '/') {
			return path.Join(o.work, path.Base(dir)) + below
		}
	}
	return name
}

func (o *overlay) Open(name string) (store.File, error)       { return o.FS.Open(o.at(name)) }
func (o *overlay) Create(name string) (io.WriteCloser, error) { return o.FS.Create(o.at(name)) }
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) { return o.FS.ReadDir(o.at(name)) }
func (o *overlay) Stat(name string) (fs.FileInfo, error)      { return o.FS.Stat(o.at(name)) }
func (o *overlay) Rename(from, to string) error               { return o.FS.Rename(o.at(from), o.at(to)) }
func (o *overlay) RemoveAll(name string) error                { return o.FS.RemoveAll(o.at(name)) }
func (o *overlay) MkdirAll(name string) error                 { return o.FS.MkdirAll(o.at(name)) }

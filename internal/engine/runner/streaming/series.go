package streaming

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/runner/series"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// seriesPart is the file with the results of a series, in the output directory of its job.
const seriesPart = "part-00000"

// seriesDir returns the output directory of the series that begins with the job of an attempt. It
// belongs to the attempt.
func seriesDir(attempt string) string { return attempt + ".series" }

// A madeJob is the result of a job that a series has run before its turn.
type madeJob struct {
	dir   string
	stats runner.Stats
}

// ofSeries sets series if the job needs only one task, jobs follow it, the number of reducers is
// not given, and the memory of a series is enough.
func (p *plan) ofSeries() error {
	job := p.job
	if job.Ahead == nil || p.Reducers > 0 || p.reads > taskRecords || inline.Least(job.Method, -1, false) > series.Memory {
		return nil
	}
	ahead, err := job.Ahead()
	if err == nil && len(ahead) > 0 {
		p.series = append([]*runner.Job{job}, ahead...)
		p.maps, p.together = 1, false
	}
	return err
}

// collect returns the statistics of a job on the cluster that has succeeded, after moving its
// directory from that of its series, if it has begun one. It moves the directories of the later
// jobs too, the last one first: a driver that dies in between leaves the beginning of the series,
// which the next driver can collect.
func (r *Runner) collect(job *runner.Job, stats runner.Stats) (runner.Stats, error) {
	dir := seriesDir(job.Output)
	text, err := store.ReadFile(job.FS, path.Join(dir, seriesPart))
	if errors.Is(err, fs.ErrNotExist) {
		return count(job, stats)
	}
	if err != nil {
		return stats, err
	}
	results, err := series.Results(text)
	if err == nil && (len(results) == 0 || results[0].Job != job.Name) {
		err = fmt.Errorf("expected a series that begins with %s", job.Name)
	}
	if err != nil {
		return stats, &store.DamageError{Name: dir, Reason: err.Error()}
	}
	// This directory must remain when the attempt of the first job is committed. The next driver
	// deletes it.
	ahead := job.Output + "-ahead"
	r.made = make(map[string]madeJob)
	if len(results) > 1 {
		if err := job.FS.MkdirAll(ahead); err != nil {
			return stats, err
		}
	}
	for i := len(results) - 1; i > 0; i-- {
		name := results[i].Job
		to := path.Join(ahead, name)
		switch err := job.FS.Rename(path.Join(dir, name), to); {
		case err == nil:
			r.made[name] = madeJob{to, runner.Stats{Counts: results[i].Counts, Application: stats.Application}}
		case !errors.Is(err, fs.ErrNotExist):
			return stats, err
		}
	}
	if len(r.made) == 0 {
		if err := job.FS.RemoveAll(ahead); err != nil {
			return stats, err
		}
	}
	stats.Counts = results[0].Counts
	from := path.Join(dir, job.Name)
	if _, err := job.FS.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return stats, nil // an earlier driver has moved it
	}
	return stats, replace(job.FS, from, job.Output)
}

// take moves the directory of a job that a series has already run to its place, and returns its
// statistics.
func (r *Runner) take(job *runner.Job, made madeJob) (runner.Stats, error) {
	delete(r.made, job.Name)
	err := replace(job.FS, made.dir, job.Output)
	if err == nil && len(r.made) == 0 {
		err = job.FS.RemoveAll(path.Dir(made.dir))
	}
	return made.stats, err
}

// replace moves a directory to the place of another one.
func replace(fsys store.FS, from, to string) error {
	if err := fsys.RemoveAll(to); err != nil {
		return err
	}
	return fsys.Rename(from, to)
}

package solve

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// journalEvery is the minimum time between two writes while a job reports progress.
	journalEvery = 5 * time.Second
	// doneShare limits writes after finished jobs: at least doneShare times as long as a write takes
	// must pass between them. In HDFS a small job takes no longer than a write. progressShare limits
	// the others.
	doneShare     = 10
	progressShare = 2000
	// Heartbeat is the age at which the journal is written again while there is no progress to report.
	Heartbeat = 20 * time.Second
	// Silent is the age of a journal beyond which its driver is considered dead.
	Silent = 3 * Heartbeat
)

// The states of a run.
const (
	Running = "running"
	Stopped = "stopped" // by Ctrl-C or --until-tier
	Failed  = "failed"
	Solved  = "solved"
)

// A Journal describes how far the solving of a game has come, and what each job did. It is a
// file in the data directory, for people and programs; no run needs it to continue.
type Journal struct {
	Game    string      `json:"game"`
	State   string      `json:"state"`
	Error   string      `json:"error,omitempty"`   // why it failed
	Begun   time.Time   `json:"begun"`             // start of the last run
	Updated time.Time   `json:"updated"`           // when this was written
	Now     *Event      `json:"now,omitempty"`     // the current or last job
	Jobs    []JobRecord `json:"jobs"`              // finished jobs, of all runs
	Damaged int         `json:"damaged,omitempty"` // how often output was damaged or missing, in all runs
}

// A JobRecord describes a finished job.
type JobRecord struct {
	Job     string  `json:"job"`
	Step    string  `json:"step"`
	Tier    int     `json:"tier"`
	Pass    int     `json:"pass,omitempty"`
	Seconds float64 `json:"seconds"`
	runner.Stats
	Tracking string `json:"tracking,omitempty"` // the URL of the job's page
}

// ReadJournal reads the journal of a data directory.
func ReadJournal(fsys store.FS, dir string) (*Journal, error) {
	name := path.Join(dir, store.JournalFile)
	j := new(Journal)
	if err := store.ReadSummed(fsys, name, j); err != nil {
		return nil, err
	}
	if m, err := store.ReadManifest(fsys, dir); err == nil && m.Game != j.Game {
		return nil, &store.DamageError{Name: name, Reason: fmt.Sprintf("of another game: expected %q, found %q", m.Game, j.Game)}
	}
	return j, nil
}

// A journal is the Journal of the current run.
type journal struct {
	data *store.Data

	mu sync.Mutex
	Journal
	saved  time.Time
	took   time.Duration // how long the last write took
	good   time.Time     // when the last write succeeded
	warned bool          // note or beat has returned an error since then
}

// openJournal continues the journal of earlier runs, or starts a new one if that cannot be
// read. It writes the journal at once.
func openJournal(data *store.Data) *journal {
	j := &journal{data: data, good: time.Now()}
	if old, err := ReadJournal(data.FS, data.Path); err == nil && old.Game == data.Game {
		j.Jobs, j.Damaged = old.Jobs, old.Damaged
	}
	j.Game, j.State, j.Begun = data.Game, Running, time.Now()
	j.save() // an error will recur
	return j
}

// ran reports whether the journal has a record of a job.
func (j *journal) ran(job string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.Jobs, func(r JobRecord) bool { return r.Job == job })
}

// note records an event, and writes the journal if it is due. A failed write does not fail the
// job: the next write is tried as usual. See saveOrWarn for its error.
func (j *journal) note(e Event) (warning error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Kind == Damaged {
		j.Damaged++
	}
	if !e.Kind.IsProgress() {
		return nil
	}
	tracking := ""
	if j.Now != nil && j.Now.Job == e.Job {
		tracking = j.Now.Tracking
	}
	j.Now = &e
	every := max(journalEvery, progressShare*j.took)
	if e.Done {
		j.Jobs = slices.DeleteFunc(j.Jobs, func(r JobRecord) bool { return r.Job == e.Job }) // if it was rerun
		j.Jobs = append(j.Jobs, JobRecord{e.Job, e.Step, e.Tier, e.Pass, e.Seconds, e.Stats, tracking})
		every = doneShare * j.took
	}
	if time.Since(j.saved) >= every {
		return j.saveOrWarn()
	}
	return nil
}

// saveOrWarn is save, but returns an error only if none has succeeded for 2 × Heartbeat, and only once; never ErrTakenOver, which
// ends the run.
func (j *journal) saveOrWarn() error {
	err := j.save()
	if err == nil || j.warned || time.Since(j.good) < 2*Heartbeat || errors.Is(err, store.ErrTakenOver) {
		return nil
	}
	j.warned = true
	return err
}

// beat writes the journal when it is as old as Heartbeat, until stop is called. Otherwise a run whose job
// reports no progress for long would look as if it had been killed. It calls warn as note returns an error.
func (j *journal) beat(warn func(error)) (stop func()) {
	timer, stopped, ended := time.NewTimer(Heartbeat), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			case <-timer.C:
				var warning error
				j.mu.Lock()
				if time.Since(j.saved) >= Heartbeat {
					warning = j.saveOrWarn()
				}
				timer.Reset(Heartbeat - time.Since(j.saved))
				j.mu.Unlock()
				if warning != nil {
					warn(warning)
				}
			}
		}
	}()
	return func() {
		timer.Stop()
		close(stopped)
		<-ended
	}
}

// end writes how the run ended, with its error.
func (j *journal) end(state string, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.State = state
	if err != nil {
		j.Error = err.Error()
	} else if state == Solved {
		j.Now = nil
	}
	return j.save()
}

// save writes the journal. The caller must have locked mu.
func (j *journal) save() error {
	j.Updated = time.Now()
	defer func() {
		j.saved = time.Now()
		j.took = j.saved.Sub(j.Updated)
	}()
	text, err := store.MarshalSummed(j.Journal)
	if err != nil {
		return err
	}
	if err := j.data.WriteFile(store.JournalFile, text); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.good, j.warned = j.Updated, false
	return nil
}

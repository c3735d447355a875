package solve

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// journalEvery is how often the journal is written while there is news of a job.
	journalEvery = 2 * time.Second
	// journalShare is how many times as long as it takes to write the journal jobs
	// run until it is written again: in HDFS small jobs take no longer than that.
	journalShare = 10
	// Heartbeat is how often it is written while there is none.
	Heartbeat = 20 * time.Second
	// Silent is how long a driver that is alive may not have written it.
	Silent = 3 * Heartbeat
)

// The states of a run.
const (
	Running = "running"
	Stopped = "stopped" // by Ctrl-C or --until-tier
	Failed  = "failed"
	Solved  = "solved"
	// Died is that of a Report only: the journal says Running, but its driver, or the
	// driver's machine, was killed.
	Died = "died"
)

// A Journal says how far the solving of a game is, or came, and what each job
// did. It lies beside the data, for people and programs; nothing of it is needed
// to go on.
type Journal struct {
	Game    string      `json:"game"`
	State   string      `json:"state"`
	Error   string      `json:"error,omitempty"` // why it failed
	Begun   time.Time   `json:"begun"`           // the last run
	Updated time.Time   `json:"updated"`         // when this was written
	Now     *Event      `json:"now,omitempty"`   // the job that runs, or ran last
	Jobs    []JobRecord `json:"jobs"`            // that are done, of all runs
}

// A JobRecord is a job that is done.
type JobRecord struct {
	Job     string  `json:"job"`
	Step    string  `json:"step"`
	Tier    int     `json:"tier"`
	Seconds float64 `json:"seconds"`
	runner.Stats
}

// ReadJournal reads the journal of a data directory.
func ReadJournal(fsys store.FS, dir string) (*Journal, error) {
	name := path.Join(dir, store.JournalFile)
	text, err := store.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	j := new(Journal)
	if err := store.UnmarshalSummed(name, text, j); err != nil {
		return nil, err
	}
	if m, err := store.ReadManifest(fsys, dir); err == nil && m.Game != j.Game {
		return nil, &store.DamageError{Name: name, Reason: fmt.Sprintf("of another game: expected %q, found %q", m.Game, j.Game)}
	}
	return j, nil
}

// A Report is the journal of a run, and what has become of the run since.
type Report struct {
	*Journal
	Status string `json:"status"` // State, or Died

	Silence time.Duration `json:"-"` // since the journal was written
	Asked   bool          `json:"-"` // the lock was, which knows whether a driver lives
}

// ReadReport reads the journal of a data directory, and finds out whether a run that is at
// work by its journal still is: by the lock, or in HDFS by the journal's age.
func ReadReport(fsys store.FS, dir string) (*Report, error) {
	j, err := ReadJournal(fsys, dir)
	if err != nil {
		return nil, err
	}
	if states := []string{Running, Stopped, Failed, Solved}; !slices.Contains(states, j.State) {
		return nil, fmt.Errorf("%s: expected a state of %s, found %q", path.Join(dir, store.JournalFile), strings.Join(states, ", "), j.State)
	}
	r := &Report{Journal: j}
	if j.State == Running {
		var working bool
		working, r.Asked = store.AtWork(fsys, dir)
		// A driver gives the lock up after its last word, which may have come
		// since the first look.
		if r.Journal, err = ReadJournal(fsys, dir); err != nil {
			return nil, err
		}
		r.Silence = time.Since(r.Updated)
		if r.State == Running && r.Begun.Equal(j.Begun) && !working && (r.Asked || r.Silence > Silent) {
			r.Status = Died
		}
	}
	if r.Status == "" {
		r.Status = r.State
	}
	if r.State == Stopped {
		r.Error = "" // that a signal came is none
	}
	return r, nil
}

// A journal is a Journal that is being kept.
type journal struct {
	data *store.Data

	mu sync.Mutex
	Journal
	saved time.Time
	took  time.Duration // to save it
}

// openJournal goes on with the journal of earlier runs. One that cannot be read
// is begun anew. It is there from the beginning.
func openJournal(data *store.Data) *journal {
	j := &journal{data: data}
	if old, err := ReadJournal(data.FS, data.Path); err == nil && old.Game == data.Game {
		j.Jobs = old.Jobs
	}
	j.Game, j.State, j.Begun = data.Game, Running, time.Now()
	j.save() // an error comes again at the end
	return j
}

// ran reports whether a job is known to be done.
func (j *journal) ran(job string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.Jobs, func(r JobRecord) bool { return r.Job == job })
}

// note takes an event, and writes the journal if it is time. No job fails for want
// of a journal: what cannot be written is written later, and an error at the end.
func (j *journal) note(e Event, took time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Now = &e
	every := journalEvery
	if e.Done {
		j.Jobs = slices.DeleteFunc(j.Jobs, func(r JobRecord) bool { return r.Job == e.Job }) // run again
		j.Jobs = append(j.Jobs, JobRecord{e.Job, e.Step, e.Tier, took.Seconds(), e.Stats})
		every = journalShare * j.took
	}
	if time.Since(j.saved) >= every {
		j.save()
	}
}

// beat writes the journal from time to time until it is stopped: the run of a job
// that has no news for long would look as if it had been killed.
func (j *journal) beat() (stop func()) {
	ticker, stopped, ended := time.NewTicker(Heartbeat), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			case <-ticker.C:
				j.mu.Lock()
				j.save() // an error comes again at the end
				j.mu.Unlock()
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(stopped)
		<-ended
	}
}

// end writes how the run ended, and returns that.
func (j *journal) end(state string, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.State = state
	if err != nil {
		j.Error = err.Error()
		j.save() // what went wrong is to be told, not what follows from it
		return err
	}
	j.Now = nil
	return j.save()
}

// save writes the journal; mu is held.
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
	return nil
}

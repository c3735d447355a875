// Package runner says what a job is, and what a pass over a game with cycles is, and
// what runs them. A runner decides where the records of a job come from, on how many
// cores or machines its steps run and how they are shuffled; it never changes a byte
// of the result. It knows nothing of games beyond the interface, and nothing of the
// loop of jobs.
package runner

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
)

// Work is what a Job and a Pass have in common: a map and a reduce that make a
// directory.
type Work struct {
	Name string   // of the directory, e.g. data_first3
	Step string   // one of package step's names
	FS   store.FS // where all directories are

	// Input is what the map reads; see Job and Pass.
	Input []string
	// Output is the directory of the attempt, made and empty; or Adopted, one in
	// which the runner is at work already, for a driver that has died.
	Output  string
	Adopted bool
	// Reducers is how many parts are written; their ranges ascend. A cluster may
	// write as many as it has reducers.
	Reducers int
	Codec    tierio.Codec // of the parts
	// Combine lets mappers merge what they print; it does not change the result.
	Combine bool
	// Progress is called from time to time, from one goroutine, with how far the
	// work is. May be nil.
	Progress func(Progress)
}

// A Job is one map and reduce over a tier. Its Input is the directory of the
// parents (possible) or of the solved children (solve); for the final step the
// directories or files of every tier, in the order of tiers from 1.
type Job struct {
	Work
	Game game.Tiered // the rules
	// Tier is the tier of what the job writes; for the final step, that of the
	// last input.
	Tier int
	// Parents is the directory of the positions that exist in Tier; solve's.
	Parents string
}

// Progress is how far a job or a pass is.
type Progress struct {
	Share float64 // of all that is to be done, 0 to 1

	// What follows is of a cluster's job.

	Map, Reduce float64 // shares of its two sides
	Tracking    string  // the address of its page
}

// Border returns the range at which part i of the job begins. The first part
// begins at 0.
func (j *Job) Border(i int) uint64 {
	if i == 0 {
		return 0
	}
	tier := j.Tier
	if len(j.Input) > 1 {
		tier = (j.Game.Tiers()*3 + 3) / 4 // of all tiers at once: where most positions are
	}
	return j.Game.Border(tier, float64(i)/float64(j.Reducers))
}

// Report calls Progress, if there is one.
func (w *Work) Report(p Progress) {
	if w.Progress != nil {
		w.Progress(p)
	}
}

// A Runner runs jobs and passes.
type Runner interface {
	// Run fills the job's output directory with its parts, and tells of them. It
	// writes no _SUCCESS: whoever made the attempt does, if Run returned no
	// error. When ctx is done it ends what it began and returns ctx's error.
	Run(ctx context.Context, job *Job) (Stats, error)
	// RunPass does the same with a pass; the index is written with _SUCCESS.
	RunPass(ctx context.Context, pass *Pass) (PassStats, error)
}

// Stats are what a runner tells of a job that it has run.
type Stats struct {
	Records  int64 `json:"records,omitempty"`  // that the job wrote
	Finished int64 `json:"finished,omitempty"` // finished positions among them; possible's

	Messages int64 `json:"messages,omitempty"` // moves that the map of mark told of; see step.Pass

	// What follows is of a cluster's job.

	Application string  `json:"application,omitempty"`   // its name there
	Shuffled    int64   `json:"shuffled,omitempty"`      // positions that the maps sent
	Bytes       int64   `json:"shuffle_bytes,omitempty"` // that went through the shuffle
	Waiting     float64 `json:"waiting,omitempty"`       // seconds in which no task was at work
	Working     float64 `json:"working,omitempty"`       // seconds in which one was
	CPU         float64 `json:"cpu,omitempty"`           // seconds, of the tasks with their JVMs
	Programs    float64 `json:"programs_cpu,omitempty"`  // seconds, of the map and reduce programs alone
}

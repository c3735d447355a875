// Package runner says what a job is, and what a pass over a game with cycles is, and
// what runs them. A runner decides where the records of a job come from, on how many
// cores or machines its steps run and how they are shuffled; it never changes a byte
// of the result. It knows nothing of games beyond the interface, and nothing of the
// loop of jobs.
package runner

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/lists"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
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
	Codec    jobdir.Codec // of the parts
	// Combine lets mappers merge what they print; it does not change the result.
	Combine bool
	// Progress is called from time to time, from one goroutine, with how far the
	// work is. May be nil.
	Progress func(Progress)
}

// A Job is one map and reduce over a tier. Its Input is, in init, a file with any
// line; in possible, the directory of the parents, and in solve that of the solved
// children; in the final step, the directories or files of tiers that follow one
// another, see InputTier. Possible and solve by lists have no Input: they read what
// Told tells them.
type Job struct {
	Work
	// Game is the rules. One that is a game.Tiered is solved on blocks, any other on
	// lists of rows.
	Game game.Acyclic
	// Tier is the tier of what the job writes; for the final step, that of the
	// last input.
	Tier int
	// Parents is the directory of the positions that exist in Tier; solve's.
	Parents string

	// What follows is of lists.

	// Told are the directories that tell Tier something, in the order of their tiers,
	// be they none.
	Told []*lists.Dir
	// Like is a directory, or a file, whose rows are spread over the keys about as
	// those of the job will be; "": none is known. See Borders.
	Like string
}

// Blocks is the game of a job that goes by blocks; ok is false if it goes by lists.
func (j *Job) Blocks() (g game.Tiered, ok bool) {
	g, ok = j.Game.(game.Tiered)
	return g, ok
}

// InputTier is the tier of the i-th input, of a step that reads one of each.
func (j *Job) InputTier(i int) int {
	if j.Step == step.Final {
		return j.Tier - len(j.Input) + 1 + i
	}
	return step.InputTier(j.Step, j.Tier)
}

// Progress is how far a job or a pass is.
type Progress struct {
	Share float64 // of all that is to be done, 0 to 1

	// What follows is of a cluster's job.

	Map, Reduce float64 // shares of its two sides
	Tracking    string  // the address of its page
}

// Borders returns the keys at which the parts of the job begin, but the first; they
// ascend. Of a game with blocks they are borders of ranges.
func (j *Job) Borders() (borders []game.Position, err error) {
	g, ok := j.Blocks()
	if !ok {
		return lists.Borders(j.FS, j.Like, j.Game, j.Reducers)
	}
	tier := j.Tier
	if j.Step == step.Final {
		tier = (g.Tiers()*3 + 3) / 4 // of all tiers at once: where most positions are
	}
	for i := 1; i < j.Reducers; i++ {
		borders = append(borders, g.Border(tier, float64(i)/float64(j.Reducers))<<g.LowBits())
	}
	return borders, nil
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

	// Positions is how many positions the records are of, where one may have several:
	// in the lists of possible, one for each of its parents. 0: as many as records.
	Positions int64 `json:"positions,omitempty"`
	// Messages is how many moves were told of: by the map of mark, see step.Pass; by
	// possible and solve of lists, those of a position to the same child as one.
	Messages int64 `json:"messages,omitempty"`

	// What follows is of a cluster's job.

	Application string  `json:"application,omitempty"`   // its name there
	Shuffled    int64   `json:"shuffled,omitempty"`      // positions that the maps sent
	Bytes       int64   `json:"shuffle_bytes,omitempty"` // that went through the shuffle
	Waiting     float64 `json:"waiting,omitempty"`       // seconds in which no task was at work
	Working     float64 `json:"working,omitempty"`       // seconds in which one was
	CPU         float64 `json:"cpu,omitempty"`           // seconds, of the tasks with their JVMs
	Programs    float64 `json:"programs_cpu,omitempty"`  // seconds, of the map and reduce programs alone
}

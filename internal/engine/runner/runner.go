// Package runner defines jobs, how a method executes them, and the interface of runners. A runner decides where
// the records of a job come from, on how many cores or machines its steps run, and how records
// are shuffled. It never changes a byte of the result. It knows nothing of the rules of a game
// or the loop of jobs.
package runner

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Job is one map and reduce, whose output is a directory: a tier, or one pass over it.
type Job struct {
	Name string   // the name of the output directory, e.g. data_first3
	Step string   // a step name of package step
	FS   store.FS // the file system of all directories
	// Method is the game and how it is solved.
	Method Method
	// Tier is the tier of the output; for the final step, the tier of the last input.
	Tier int
	// Pass is, for layers, the number of the pass over the tier, see step.Stage.
	Pass int

	// Input is what the map reads: for possible the directory of the predecessors, for solve that of the solved
	// successors, and for the final step the table, or the directories or files of consecutive
	// tiers, see InputTier. Init has none. With layers, only final has an Input: other jobs read the
	// messages in Inbox.
	Input []string
	// Predecessors is, for solve with blocks, the directory of the positions of Tier, which are the
	// predecessors of those of Input.
	Predecessors string
	// Output is the directory of the attempt, made and empty. Temporary files belong there, and must be gone when Run
	// returns.
	Output string
	// Reducers is the number of parts; part i precedes part i+1 in the order of keys. A
	// cluster may write as many parts as it has reducers.
	Reducers int
	// Table is set if the table lacks the tier, to all of whose positions the job gives values. Its shards of the table,
	// see jobdir.TablePart, are written by the runner, or from the parts by WriteTable. Parts is set if the parts are
	// needed beside them.
	Table, Parts bool
	// Stored restricts the output to the positions that the table stores. Inputs may have all positions.
	Stored bool
	// Combine makes mappers merge their output. It does not change the result.
	Combine bool
	// Progress is called from time to time, from one goroutine, with the progress of the job.
	// It may be nil.
	Progress func(Progress)

	// The following fields are used for layers only.

	// Inbox lists the directories with messages to the stage, in the order in which they were
	// written. It may be empty.
	Inbox []Sender
	// Edges lists the directories with the predecessors of the tier's positions; the retrograde
	// pass reads them.
	Edges []string
	// Runs lists the directories with the states of the tier, from the oldest to the newest.
	// The job absorbs the newest Absorb of them.
	Runs   []string
	Absorb int
	// BordersFrom is a directory or file from whose rows Borders computes the borders, because
	// they are distributed over the keys about as those of the output will be; "" if none is
	// known.
	BordersFrom string
}

// OnlyTable reports whether the values of the output are needed in the table alone.
func (j *Job) OnlyTable() bool { return j.Table && !j.Parts }

// Stage returns the stage of the job.
func (j *Job) Stage() step.Stage { return step.At(j.Tier, j.Pass) }

// InputTier returns the tier of the i-th input, for a step whose inputs are tiers.
func (j *Job) InputTier(i int) int {
	if j.Step == step.Final {
		return j.Tier - len(j.Input) + 1 + i
	}
	return step.InputTier(j.Step, j.Tier)
}

// Progress is the progress of a job.
type Progress struct {
	Share float64 // completed fraction, 0 to 1

	// The following fields are only set for a job on a cluster.

	State       string  // Accepted or Running
	Map, Reduce float64 // completed fractions of the map and the reduce side
	Tracking    string  // the URL of the job's page
}

// The states of a job on a cluster.
const (
	Accepted = "accepted" // it waits for the cluster to start it
	Running  = "running"
)

// Report calls Progress, if it is set.
func (j *Job) Report(p Progress) {
	if j.Progress != nil {
		j.Progress(p)
	}
}

// ErrAgain is wrapped by the error of a job that has not failed, but whose result is lost: its output must be deleted, and it
// can run again.
var ErrAgain = errors.New("the job runs again")

// A Runner executes jobs.
type Runner interface {
	// Run writes the parts of the job into its output directory, and returns statistics. It
	// does not write _SUCCESS: the caller does, if Run returned no error. When ctx is done,
	// Run stops what it has started and returns the error of ctx.
	Run(ctx context.Context, job *Job) (Stats, error)
}

// A Sender is the directory of a job that sends messages to other stages.
type Sender interface {
	// Receivers returns the numbers of the stages that receive messages from it, ascending: those of tiers, then those of
	// passes.
	Receivers() []int
	// Rows returns the number of rows that it has for a stage.
	Rows(to step.Stage) int64
}

// A StoredRunner is a Runner that can execute jobs with Stored.
type StoredRunner interface {
	Runner
	// RunsStored marks the runner. It does nothing.
	RunsStored()
}

// Stats are the statistics of a finished job.
type Stats struct {
	step.Counts
	Size int64 `json:"size,omitempty"` // bytes of the output; set by the caller of Run

	// The following fields are only set for a job on a cluster.

	Application string  `json:"application,omitempty"`   // the application's ID
	Retries     int64   `json:"retries,omitempty"`       // how often tasks failed and were run again
	Shuffled    int64   `json:"shuffled,omitempty"`      // positions sent by the maps
	Bytes       int64   `json:"shuffle_bytes,omitempty"` // bytes that went through the shuffle
	Read        int64   `json:"bytes_read,omitempty"`    // bytes that the tasks received from data nodes
	Waiting     float64 `json:"waiting,omitempty"`       // seconds in which no task was running
	Working     float64 `json:"working,omitempty"`       // seconds in which a task was running
	CPU         float64 `json:"cpu,omitempty"`           // seconds, of all tasks including their JVMs
	Programs    float64 `json:"programs_cpu,omitempty"`  // seconds, of the map and reduce programs only
}

// Count sets the counts from the counters of all reducers, by name. If every record has a value, Finished and Positions are
// not set.
func (s *Stats) Count(j *Job, reduced map[string]int64) {
	s.Counts = step.Named(reduced).Counts
	if step.Valued(j.Step, j.Method.Game(), j.Tier) {
		s.Finished, s.Positions = 0, 0
	}
}

// WriteTable writes the shard of the table that has the values in the parts of the output.
func (j *Job) WriteTable(ctx context.Context) error {
	entries, err := j.FS.ReadDir(j.Output)
	if err != nil {
		return err
	}
	var parts []jobdir.File
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), store.PartPrefix) {
			parts = append(parts, jobdir.File{Name: path.Join(j.Output, e.Name())})
		}
	}
	return j.Method.WriteTable(ctx, j, parts)
}

// CreateTable creates the shard that WriteTable writes.
func (j *Job) CreateTable() (io.WriteCloser, error) {
	return j.Create(jobdir.ShardName(jobdir.TablePart, 0))
}

// Create creates a file in the directory of the job.
func (j *Job) Create(name string) (io.WriteCloser, error) {
	return j.FS.Create(path.Join(j.Output, name))
}

// CodeMemory is about how much of --memory, in bytes, the driver's executable uses, which Go's
// collector does not count.
const CodeMemory = 14 << 20

// Package runner says what a job is, and what runs it. A runner decides where the
// records of a job come from, on how many cores or machines its steps run and how they
// are shuffled; it never changes a byte of the result. It knows nothing of games beyond the interface, and nothing of the
// loop of jobs.
package runner

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Job is one map and reduce that make a directory: over a tier, or one pass over a
// game with cycles.
type Job struct {
	Name string   // of the directory, e.g. data_first3
	Step string   // one of package step's names
	FS   store.FS // where all directories are
	// Game is the rules, which game.ByMethod makes a game.Tiered, solved on blocks, a
	// game.Cyclic, on states of ranges, or a game.Acyclic, on lists of rows.
	Game game.Game
	// Tier is the tier of what the job writes; for the final step, that of the last
	// input. Of a game with cycles it is the number of the pass, from 1: what is decided
	// has it as remoteness.
	Tier int

	// Input is what the map reads: in init and create, a file with any line; in possible,
	// the directory of the parents, and in solve that of the solved children; in the
	// final step, the directories or files of tiers that follow one another, see
	// InputTier, or the table. Possible and solve by lists have none: they read what
	// Told tells them. In a pass it is the directories of the positions that were new in
	// passes before; the parts of its output are those that are new.
	Input []string
	// Parents is the directory of the positions that exist in Tier; solve's.
	Parents string
	// States is the directory of the pass before, whose index has the states of all
	// ranges; none for create and the final step.
	States string
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
	// Warn is called with a line for the user; may be nil.
	Warn func(string)

	// What follows is of lists.

	// Told are the directories that tell Tier something, in the order of their tiers,
	// be they none.
	Told []*lists.Dir
	// Like is a directory, or a file, whose rows are spread over the keys about as
	// those of the job will be; "": none is known. See Borders.
	Like string
}

// InputTier is the tier of the i-th input, of a step that reads one of each.
func (j *Job) InputTier(i int) int {
	if j.Step == step.Final {
		return j.Tier - len(j.Input) + 1 + i
	}
	return step.InputTier(j.Step, j.Tier)
}

// Progress is how far a job is.
type Progress struct {
	Share float64 // of all that is to be done, 0 to 1

	// What follows is of a cluster's job.

	Map, Reduce float64 // shares of its two sides
	Tracking    string  // the address of its page
}

// Borders returns the keys at which the parts of the job begin, but the first; they
// ascend. Of a game with blocks or states they are borders of ranges.
func (j *Job) Borders() (borders []game.Position, err error) {
	var border func(part int) game.Position
	switch g := game.ByMethod(j.Game).(type) {
	case game.Tiered:
		tier := j.Tier
		if j.Step == step.Final {
			tier = (g.Tiers()*3 + 3) / 4 // of all tiers at once: where most positions are
		}
		border = func(part int) game.Position {
			return g.Border(tier, float64(part)/float64(j.Reducers)) << g.LowBits()
		}
	case game.Cyclic:
		border = func(part int) game.Position {
			return step.Portion(game.Ranges(g), part, j.Reducers) * uint64(g.RangeSize())
		}
	case game.Acyclic:
		return lists.Borders(j.FS, j.Like, g, j.Reducers)
	}
	for part := 1; part < j.Reducers; part++ {
		borders = append(borders, border(part))
	}
	return borders, nil
}

// Report calls Progress, if there is one.
func (j *Job) Report(p Progress) {
	if j.Progress != nil {
		j.Progress(p)
	}
}

// A Runner runs jobs.
type Runner interface {
	// Run fills the job's output directory with its parts, and tells of them. It
	// writes no _SUCCESS: whoever made the attempt does, if Run returned no
	// error. When ctx is done it ends what it began and returns ctx's error.
	Run(ctx context.Context, job *Job) (Stats, error)
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
	// New are the positions that are new, of a game with cycles: the records by result.
	New game.Tally `json:"-"`

	// What follows is of a cluster's job.

	Application string  `json:"application,omitempty"`   // its name there
	Shuffled    int64   `json:"shuffled,omitempty"`      // positions that the maps sent
	Bytes       int64   `json:"shuffle_bytes,omitempty"` // that went through the shuffle
	Waiting     float64 `json:"waiting,omitempty"`       // seconds in which no task was at work
	Working     float64 `json:"working,omitempty"`       // seconds in which one was
	CPU         float64 `json:"cpu,omitempty"`           // seconds, of the tasks with their JVMs
	Programs    float64 `json:"programs_cpu,omitempty"`  // seconds, of the map and reduce programs alone
}

// AddNew counts positions that are new, of a game with cycles.
func (s *Stats) AddNew(fresh game.Tally) {
	s.New.Add(fresh)
	s.Records += fresh.Total()
	s.Finished += fresh.Decided()
}

// Count takes over what the tasks of a job counted, by side, map or reduce, and the names
// of package step. Of values that are solved tier by tier all are there, so that they are
// not told apart.
func (s *Stats) Count(j *Job, of func(side, name string) int64) {
	s.Records = of("reduce", step.RecordsOut)
	s.Messages = of("map", step.MessagesSaid) + of("reduce", step.MessagesSaid)
	if _, cycles := game.ByMethod(j.Game).(game.Cyclic); cycles || j.Step != step.Solve {
		s.Finished, s.Positions = of("reduce", step.RecordsDone), of("reduce", step.Positions)
	}
	for result := range s.New {
		s.New[result] = of("reduce", step.NewRecords(game.Result(result)))
	}
}

// Package solve runs the loop of jobs that solves a game. It decides which job is next, what
// the job reads, which directories can be deleted, and where an interrupted run continues.
// Everything that differs between kinds of games is in a method: byBlocks and byLists for games
// with tiers, states for games with cycles. The package knows neither how a runner executes a
// job nor what a step computes.
//
// The jobs of a game solved by blocks are InitFirst, PossibleMoves from the first tier to the
// last, SolveMoves from the last to the first, the table, and FinalMoves:
//
//	tier     0           1                 N
//	      data_first0 → data_first1 → … → data_firstN      possible, forward
//	           ↘             ↘                 ↓
//	      data_second0 ← data_second1 ← … ←────┘           solve, backward
//	           ↓             ↓                 ↓
//	      table/tier-00  table/tier-01 …  table/tier-N  →  final
//
// In a game solved by lists (see package lists), a tier receives messages from every earlier
// tier that has moves into it and, backward, from every later tier that it has moves into. The
// last tier has a data_second like all others.
//
// A game with cycles is solved in passes, until one finds no new positions:
//
//	create → mark1 → mark2 → … → solve1 → solve2 → … → ties1 → … → table → final
//
// The passes solve1 and ties1 read the terminal positions that create and mark found; every
// other pass reads the positions that the previous one found. If the game cannot compute
// predecessors, all solve and ties passes also read the edges that create and mark stored.
package solve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// FinalDir is the directory, within a data directory, of the course's text output.
const FinalDir = "final"

// seedFile is the input of InitFirst: a file with one line of any content.
const seedFile = "temp"

// A Final selects whether the course's text output is written.
type Final string

// The choices for Final. FinalAuto writes the text if there are at most FinalLimit positions.
const (
	FinalYes  Final = "yes"
	FinalNo   Final = "no"
	FinalAuto Final = "auto"

	FinalLimit = 10_000_000
)

// Options control how a game is solved. None of them changes a byte of the result.
type Options struct {
	Runner    runner.Runner
	Reducers  int
	Combine   bool
	KeepAll   bool         // keep the directories of all jobs
	Codec     jobdir.Codec // format of those directories
	Final     Final
	UntilTier int // stop after this many rounds of PossibleMoves; -1: solve completely
	// SyncAfter is how long a job must run before its directory, and every directory after it,
	// is synced to disk; 0 means one second. The table is always synced.
	SyncAfter time.Duration
	// WorthIt is how many bytes of unneeded files a directory must have for them to be
	// deleted before the directory itself is; 0 means 256 KB. Only lists have such files.
	WorthIt int64
	Report  func(Event) // called from one goroutine at a time; may be nil

	// LateKeep means that KeepAll, or the format, was not requested when the run began. The
	// run is refused if the request can no longer be met.
	LateKeep bool
	Remember map[string]string // the options to save in the manifest, for resuming
	Warn     func(string)      // receives a line about each damaged item that is rebuilt; may be nil
}

// An Event reports the progress of a run.
type Event struct {
	Job     string  `json:"job"`     // the directory that is written, e.g. data_first3
	Step    string  `json:"step"`    // a step name of package step
	Tier    int     `json:"tier"`    // the tier that is written; for a game with cycles, the number of the pass
	Tiers   int     `json:"tiers"`   // the last tier of the game; 0 for a game with cycles
	Done    bool    `json:"done"`    // whether the job is finished; false: it is running
	Share   float64 `json:"share"`   // completed fraction of the run, 0 to 1: of slots (blocks), of tiers forward and rows backward (lists), of positions (states); during final, the last job, of final alone
	Elapsed float64 `json:"elapsed"` // seconds since the run began
	Left    float64 `json:"left"`    // estimated seconds to the end, 0 if unknown; for a game with cycles an upper bound

	runner.Stats // set when Done

	// The following fields are only set for a job that runs on a cluster.

	Map      float64 `json:"map,omitempty"`      // completed fractions of the map and the reduce side, 0 to 1
	Reduce   float64 `json:"reduce,omitempty"`   //
	Tracking string  `json:"tracking,omitempty"` // the URL of the job's page
}

// Place returns what the job writes: its tier, of the number of tiers, or its pass.
func (e Event) Place() string {
	if e.Tiers == 0 {
		return fmt.Sprintf("pass %d", e.Tier)
	}
	return fmt.Sprintf("tier %d of %d", e.Tier, e.Tiers)
}

// A Result is the outcome of a run.
type Result struct {
	Solved    bool       // false if --until-tier ended the run
	Before    bool       // an earlier run had already solved it
	Value     string     // of the initial position
	Start     game.Value // Value as a number
	Positions uint64     // the number of positions, including the initial position
	Final     bool       // whether the text of all positions exists
	Tiers     []int64    // positions by tier, counted by the forward jobs of this run, -1 for other tiers; for a game with cycles, what each forward pass found
	Wall      time.Duration
}

// A method is a way to solve a game: by blocks or lists, tier by tier, or by passes over
// states. It decides which job is next, and what can be reused from an earlier run.
type method interface {
	// lookOver finds what an earlier run has left.
	lookOver(ctx context.Context) error
	// canKeep returns an error if a directory that --keep all must keep is missing or has
	// another format than requested.
	canKeep(ctx context.Context) error
	// solve runs all jobs up to the table, each by loop.job. If Options.UntilTier is set, it
	// stops there and sets Result.Tiers.
	solve(ctx context.Context) error
	// weight returns the job's part of the work of the run, if that is known in advance.
	weight(job *runner.Job) float64
	// finish commits the directory of a job that has run.
	finish(job *runner.Job, stats runner.Stats) error
	// final sets the input of the final step, and Result.Positions.
	final(job *runner.Job)
	// ours reports whether a name is that of a job's directory.
	ours(name string) bool
}

// A loop is one run: the loop of jobs that all games share.
type loop struct {
	Options
	how   method
	m     game.Method
	data  *store.Data
	begun time.Time
	last  int // the last tier; 0 for a game with cycles

	sealed bool // an earlier run has completed the table

	work, done, before float64 // of the complete run; done so far; done by earlier runs
	result             Result

	looked bool // whether attempts of an earlier run have been looked for

	journal *journal
	jobAt   time.Time // when the current job began

	mu     sync.Mutex             // guards the fields below
	seals  map[string]*store.Seal // of the directories that have been checked; nil: not complete
	damage map[string]error       // why a directory is not complete
	gone   bool                   // the user has been warned that a directory is missing
}

// Run solves the game in a data directory, continuing where an earlier run stopped.
func Run(ctx context.Context, data *store.Data, g game.Game, o Options) (Result, error) {
	l := &loop{Options: o, m: game.MethodOf(g), data: data, begun: time.Now(), journal: openJournal(data),
		seals: make(map[string]*store.Seal), damage: make(map[string]error)}
	stop := l.journal.beat()
	err := l.run(ctx)
	stop()
	if lost := data.Held(); err != nil && errors.Is(lost, store.ErrTakenOver) {
		err = lost // err may only be a consequence: files that were about to be read may have been deleted
	}
	l.result.Wall = time.Since(l.begun)
	state := Solved
	switch {
	case ctx.Err() != nil || err == nil && !l.result.Solved:
		state = Stopped
	case err != nil:
		state = Failed
	}
	return l.result, l.journal.end(state, err)
}

// Check returns an error if the game cannot be solved on any machine.
func Check(m game.Method) error {
	if n := m.Game.Info().Vast; n > 0 {
		return fmt.Errorf("%s: about %.2g positions are too many to solve; play and search it", m.Game.Spec(), n)
	}
	if err := m.CheckLength(); err != nil {
		return err
	}
	if g := m.States; g != nil {
		if vs := g.Values(); !vs.OfMover || !vs.TiesSoon {
			return fmt.Errorf("%s: it has no tiers, so that its values must be those of the player to move, and of several ties the soonest", g.Spec())
		}
		return game.CheckRanges(g)
	}
	return nil
}

// run solves the game with its method.
func (l *loop) run(ctx context.Context) error {
	if err := Check(l.m); err != nil {
		return err
	}
	switch {
	case l.m.Blocks != nil:
		l.how = newBlocks(l, l.m.Blocks)
	case l.m.States != nil:
		l.how = newStates(l, l.m.States)
	default:
		l.how = newLists(l, l.m.Lists)
	}
	if err := l.resume(ctx); err != nil {
		return err
	}
	if err := l.data.Remember(l.Remember); err != nil {
		return err
	}
	if err := l.how.solve(ctx); err != nil {
		return err
	}
	if l.KeepAll {
		if err := l.syncKept(); err != nil {
			return err
		}
	}
	if l.UntilTier >= 0 {
		return nil
	}
	return l.end(ctx)
}

// resume finds what an earlier run has left. It returns an error if LateKeep is set and the
// request can no longer be met.
func (l *loop) resume(ctx context.Context) (err error) {
	if l.data.Resumed {
		if l.sealed, err = l.wholeTable(ctx); err != nil {
			return err
		}
	}
	if err := l.how.lookOver(ctx); err != nil || !l.LateKeep || !l.KeepAll {
		return err
	}
	return l.how.canKeep(ctx)
}

// job runs a job and commits its directory, unless the directory is already complete.
func (l *loop) job(ctx context.Context, job *runner.Job) error {
	if whole, err := l.whole(ctx, job.Name); err != nil || whole {
		l.skip(job)
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stats, err := l.runJob(ctx, job)
	if err != nil {
		return fmt.Errorf("%s: %w", job.Name, err)
	}
	e := l.event(job, 1)
	l.done += l.how.weight(job)
	e.Done, e.Stats = true, stats
	if job.Step == step.Final {
		e.Share = 1
	}
	l.report(e)
	return nil
}

// runJob runs a job: it provides the output directory, writes the seed file if the step reads
// it, and reports progress.
func (l *loop) runJob(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	l.again(job.Name)
	if err := l.attempt(job); err != nil {
		return stats, err
	}
	job.Method, job.FS, job.Reducers, job.Combine, job.Codec = l.m, &jobdir.SumFS{FS: l.data.FS}, l.Reducers, l.Combine, l.Codec
	switch job.Step {
	case step.Init, step.Create:
		if err := l.data.WriteFile(seedFile, []byte("start\n")); err != nil {
			return stats, err
		}
	case step.Final:
		job.Codec = jobdir.Text
	}
	l.jobAt = time.Now()
	job.Progress = func(p runner.Progress) {
		e := l.event(job, p.Share)
		e.Map, e.Reduce, e.Tracking = p.Map, p.Reduce, p.Tracking
		l.report(e)
	}
	job.Warn = l.Warn
	job.Progress(runner.Progress{})
	if stats, err = l.Runner.Run(ctx, job); err != nil {
		return stats, err
	}
	return stats, l.how.finish(job, stats)
}

// skip counts the work of a job that an earlier run has done.
func (l *loop) skip(job *runner.Job) {
	weight := l.how.weight(job)
	l.done += weight
	l.before += weight
}

// attempt sets the directory that a job writes to. The first job of this run may still be
// running on a cluster, started by a driver that has died; then its attempt is adopted.
func (l *loop) attempt(job *runner.Job) (err error) {
	if !l.looked {
		l.looked = true
		kept, err := l.data.Attempts(job.Name)
		if err != nil {
			return err
		}
		if len(kept) > 0 {
			job.Output, job.Adopted = kept[0], true
			return nil
		}
	}
	job.Output, err = l.data.Attempt(job.Name)
	return err
}

// event returns an Event for a job that has completed a share of its work. The total work
// covers only the jobs that solve the game, so the share of final, which runs after them, is
// its own.
func (l *loop) event(job *runner.Job, share float64) Event {
	e := Event{Job: job.Name, Step: job.Step, Tier: job.Tier, Tiers: l.last, Elapsed: time.Since(l.begun).Seconds()}
	if job.Step == step.Final {
		e.Share = share
		if share > 0 {
			e.Left = time.Since(l.jobAt).Seconds() * (1 - share) / share
		}
		return e
	}
	done := l.done + share*l.how.weight(job)
	e.Share = min(1, done/l.work)
	if now := done - l.before; now > l.work/1000 { // with less done, the start of a job would distort the estimate
		e.Left = max(0, e.Elapsed*(l.work-done)/now)
	}
	return e
}

// report passes an event to Options.Report and to the journal.
func (l *loop) report(e Event) {
	if l.Report != nil {
		l.Report(e)
	}
	l.journal.note(e, time.Since(l.jobAt))
}

// end looks up the value of the initial position, and writes the course's text if requested.
func (l *loop) end(ctx context.Context) error {
	value, err := l.lookUp()
	if err != nil {
		return err
	}
	l.result.Solved, l.result.Before, l.result.Start, l.result.Value = true, l.sealed, value, l.m.Game.Values().Text(value)
	job := runner.Job{Name: FinalDir, Step: step.Final}
	l.how.final(&job)
	wanted, err := l.wantsFinal(ctx)
	if err == nil && wanted {
		err = l.job(ctx, &job)
	}
	if err != nil || l.KeepAll {
		return err
	}
	return l.clean()
}

// lookUp returns the value of the initial position.
func (l *loop) lookUp() (game.Value, error) {
	t, err := table.OpenOf(l.data.FS, l.data.Path, l.m.Game)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	value, ok, err := t.Lookup(l.m.Game.Start())
	if err == nil && !ok {
		err = errors.New("table: the start is missing: driver solve --overwrite begins anew")
	}
	return value, err
}

// clean deletes what remains of the jobs' directories.
func (l *loop) clean() error {
	entries, err := l.data.FS.ReadDir(l.data.Path)
	for _, e := range entries {
		if l.how.ours(e.Name()) {
			err = errors.Join(err, l.remove(e.Name()))
		}
	}
	return errors.Join(err, l.data.FS.RemoveAll(l.data.Dir(seedFile)))
}

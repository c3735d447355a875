// Package solve is the loop of jobs that solves a game. It decides which job is
// next, what it reads, what may go, and where an interrupted run goes on; what of that
// depends on the kind of game, a method says: byBlocks and byLists, of tiers, or states.
// It knows neither how a runner runs a job nor what a step does. Of a tiered game:
// InitFirst, PossibleMoves down the tiers, SolveMoves up again, the table,
// FinalMoves.
//
//	tier     0           1                 N
//	      data_first0 → data_first1 → … → data_firstN      possible, forward
//	           ↘             ↘                 ↓
//	      data_second0 ← data_second1 ← … ←────┘           solve, backward
//	           ↓             ↓                 ↓
//	      table/tier-00  table/tier-01 …  table/tier-N  →  final
//
// Of a game by lists (see package lists) each tier is told by all before it that have
// moves there, and backward by all after it, what it has to know; and data_second of the
// last tier is made as the others are.
//
// Of a game with cycles: pass after pass, until one finds nothing new.
//
//	create → mark1 → mark2 → … → solve1 → solve2 → … → ties1 → … → table → final
//
// What solve1 and ties1 read is what create and mark found finished; each pass
// else reads what the one before found. If the game does not know its moves backwards,
// all passes of solve and ties read those that create and mark told, too.
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

// FinalDir is the name of the course's text within a data directory.
const FinalDir = "final"

// seedFile is what InitFirst reads: a file of any one line.
const seedFile = "temp"

// A Final says whether the course's text is written.
type Final string

// The choices for Final; FinalAuto is yes up to FinalLimit positions.
const (
	FinalYes  Final = "yes"
	FinalNo   Final = "no"
	FinalAuto Final = "auto"

	FinalLimit = 10_000_000
)

// Options are how a game is solved. None of them changes a byte of the result.
type Options struct {
	Runner    runner.Runner
	Reducers  int
	Combine   bool
	KeepAll   bool         // keep the directories of the tiers
	Codec     jobdir.Codec // of those directories
	Final     Final
	UntilTier int // stop after so many rounds of PossibleMoves; -1: do not
	// SyncAfter is how long a job must have run for its directory, and all that is made
	// after it, to be synced for a power cut; 0: a second. The table always is.
	SyncAfter time.Duration
	// WorthIt is how many bytes must lie in files of a directory that nobody needs for
	// them to go before the directory does; 0: 256 KB. Only lists have such.
	WorthIt int64
	Report  func(Event) // called from one goroutine at a time; may be nil

	// LateKeep says that KeepAll, or the form, was not asked for when the run began:
	// it is refused if it cannot be met any more.
	LateKeep bool
	Remember map[string]string // what the manifest says of the options, for who resumes
	Warn     func(string)      // is told, in a line, what is damaged and run again; may be nil
}

// An Event is news of a run.
type Event struct {
	Job     string  `json:"job"`     // directory that is made, e.g. data_first3
	Step    string  `json:"step"`    // one of package step's names
	Tier    int     `json:"tier"`    // of what is written; of a game with cycles the number of the pass
	Tiers   int     `json:"tiers"`   // the last tier of the game; 0 of a game with cycles
	Done    bool    `json:"done"`    // the job is finished; false: it runs
	Share   float64 `json:"share"`   // of the whole run that is done, 0 to 1, by slots; of a game by lists by tiers forward, by rows backward; of final, which comes last, of final alone
	Elapsed float64 `json:"elapsed"` // seconds since the run began
	Left    float64 `json:"left"`    // seconds still to go, 0 if not known; of a game with cycles at most

	runner.Stats // once Done

	// What follows is of a job that runs on a cluster.

	Map      float64 `json:"map,omitempty"`      // shares of its sides that are done, 0 to 1
	Reduce   float64 `json:"reduce,omitempty"`   //
	Tracking string  `json:"tracking,omitempty"` // the address of its page
}

// Place names what a job writes: its tier of so many, or its pass.
func (e Event) Place() string {
	if e.Tiers == 0 {
		return fmt.Sprintf("pass %d", e.Tier)
	}
	return fmt.Sprintf("tier %d of %d", e.Tier, e.Tiers)
}

// A Result is what a run came to.
type Result struct {
	Solved    bool       // false after --until-tier
	Before    bool       // solved by an earlier run
	Value     string     // of the start
	Start     game.Value // the same as a number
	Positions uint64     // with the start
	Final     bool       // whether the text of all positions is there
	Tiers     []int64    // positions of the tiers that this run made going forward, by tier; -1 for others; of a game with cycles what each pass forward found
	Wall      time.Duration
}

// A method is how a game is solved: by blocks or lists, tier by tier, or by passes over
// states. It says what comes next, and what of an earlier run still holds.
type method interface {
	// lookOver looks for what an earlier run has left.
	lookOver(ctx context.Context) error
	// canKeep wants that to be there, in the form asked for, which --keep all keeps.
	canKeep(ctx context.Context) error
	// solve runs the jobs up to the table, each by loop.job, or where Options.UntilTier
	// ends them, and counts Result.Tiers then.
	solve(ctx context.Context) error
	// weight is how much of the work of the run a job is, where that is known before.
	weight(job *runner.Job) float64
	// finish makes the directory of a job that has run count.
	finish(job *runner.Job, stats runner.Stats) error
	// final says what the final step reads, and counts Result.Positions.
	final(job *runner.Job)
	// ours reports whether a directory is of a job, by its name.
	ours(name string) bool
}

// loop is a run: the one loop of jobs of all games.
type loop struct {
	Options
	how   method
	g     game.Game
	data  *store.Data
	begun time.Time
	last  int // tier; 0 of a game with cycles

	sealed bool // an earlier run has made the table whole

	work, done, before float64 // of the whole run; done so far; done by earlier runs
	result             Result

	looked bool // whether the attempts of an earlier run have been looked for

	journal *journal
	jobAt   time.Time // when the job that runs began

	mu     sync.Mutex             // of what follows
	seals  map[string]*store.Seal // of directories that have been looked at; nil: not whole
	damage map[string]error       // why one is not
	gone   bool                   // that a directory is gone has been told
}

// Run solves the game in a data directory, from where an earlier run stopped.
func Run(ctx context.Context, data *store.Data, g game.Game, o Options) (Result, error) {
	l := &loop{Options: o, g: g, data: data, begun: time.Now(), journal: openJournal(data),
		seals: make(map[string]*store.Seal), damage: make(map[string]error)}
	stop := l.journal.beat()
	err := l.run(ctx)
	stop()
	if lost := data.Held(); err != nil && errors.Is(lost, store.ErrTakenOver) {
		err = lost // what it was about to read may be gone
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

// Check says why a game cannot be solved, whatever the machine; nil if it can.
func Check(g game.Game) error {
	if v, ok := g.(game.Vast); ok {
		return fmt.Errorf("%s: about %.2g positions are too many to solve; play and search it", g.Spec(), v.Vast())
	}
	if err := game.CheckLength(g); err != nil {
		return err
	}
	if g, cyclic := game.ByMethod(g).(game.Cyclic); cyclic {
		if vs := g.Values(); !vs.OfMover || !vs.TiesSoon {
			return fmt.Errorf("%s: it has no tiers, so that its values must be those of the player to move, and of several ties the soonest", g.Spec())
		}
		return game.CheckRanges(g)
	}
	return nil
}

// run chooses the method, the one place in which the kinds of games part, and solves.
func (l *loop) run(ctx context.Context) error {
	if err := Check(l.g); err != nil {
		return err
	}
	switch g := game.ByMethod(l.g).(type) {
	case game.Tiered:
		l.how = newBlocks(l, g)
	case game.Cyclic:
		l.how = newStates(l, g)
	case game.Acyclic:
		l.how = newLists(l, g)
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

// resume looks for what an earlier run has left, and refuses a LateKeep that cannot be
// met any more.
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

// job runs a job unless its directory is whole, and makes that count.
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

// runJob gives a job a directory to write in, the seed if its step is the one that reads
// it, and hears of its progress.
func (l *loop) runJob(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	l.again(job.Name)
	if err := l.attempt(job); err != nil {
		return stats, err
	}
	job.Game, job.FS, job.Reducers, job.Combine, job.Codec = l.g, &jobdir.SumFS{FS: l.data.FS}, l.Reducers, l.Combine, l.Codec
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

// attempt gives a job the directory to write in. The first job of a run may be at
// work already, for a driver that has died.
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

// event is news of a job of which a share is done. What all of a run will have done is
// known of the jobs that solve; final comes after them.
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
	if now := done - l.before; now > l.work/1000 { // of less it is the start of a job that counts
		e.Left = max(0, e.Elapsed*(l.work-done)/now)
	}
	return e
}

// report tells an event, and notes it.
func (l *loop) report(e Event) {
	if l.Report != nil {
		l.Report(e)
	}
	l.journal.note(e, time.Since(l.jobAt))
}

// end looks up the value of the start, and writes the course's text, if it is wanted.
func (l *loop) end(ctx context.Context) error {
	value, err := l.lookUp()
	if err != nil {
		return err
	}
	l.result.Solved, l.result.Before, l.result.Start, l.result.Value = true, l.sealed, value, l.g.Values().Text(value)
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

// lookUp is the value of the start.
func (l *loop) lookUp() (game.Value, error) {
	t, err := table.OpenOf(l.data.FS, l.data.Path, l.g)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	value, ok, err := t.Lookup(l.g.Start())
	if err == nil && !ok {
		err = errors.New("table: the start is missing: driver solve --overwrite begins anew")
	}
	return value, err
}

// clean removes what is left over.
func (l *loop) clean() error {
	entries, err := l.data.FS.ReadDir(l.data.Path)
	for _, e := range entries {
		if l.how.ours(e.Name()) {
			err = errors.Join(err, l.remove(e.Name()))
		}
	}
	return errors.Join(err, l.data.FS.RemoveAll(l.data.Dir(seedFile)))
}

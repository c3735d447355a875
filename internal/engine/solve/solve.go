// Package solve runs the jobs that solve a game. It decides which job is next, what
// the job reads, which directories can be deleted, and where an interrupted run continues (graph.go). It knows no method: it
// asks the method of the game whether jobs send messages. It knows neither how a runner executes a job nor what a step computes.
//
// The jobs of a game are init, possible from the first tier to the last, solve from the last to the first, which write the
// table, and final. By blocks, a job reads the tier beside its own:
//
//	tier     0           1                 N
//	      data_first0 → data_first1 → … → data_firstN      possible, forward
//	           ↘             ↘                 ↓
//	      table/tier-00 ← table/tier-01 ← … table/tier-N   solve, backward  →  final
//
// The directory of a solve job, data_secondN, has its values as well with --keep all, and for runners that need positions
// that the table does not store; then the next job reads them there.
//
// By layers, a tier receives messages from every earlier tier that has moves into it and, backward, from every later tier
// that it has moves into. The last tier has a data_second like all others. A tier with inner moves is solved in passes, see
// passes.go:
//
//	data_firstN → data_firstN.1 → data_firstN.2 → …                              possible, mark
//	data_secondN.0 → data_secondN.1 → … → data_secondN.t1 → … → data_secondN     begin, solve, ties, values
package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/table"
)

// FinalDir is the directory, within a data directory, of the course's text output.
const FinalDir = "final"

// A Final selects whether the course's text output is written.
type Final string

// The choices for Final. FinalAuto writes the text if there are at most FinalLimit positions.
const (
	FinalYes  Final = "yes"
	FinalNo   Final = "no"
	FinalAuto Final = "auto"

	FinalLimit = 10_000_000
)

// Options control how a game is solved. None of them changes a position or a value of the result.
type Options struct {
	Runner    runner.Runner
	Reducers  int
	Combine   bool
	KeepAll   bool // keep the directories of all jobs
	Lines     bool // write the records of each directory as lines, too
	Final     Final
	UntilTier int // stop after this many rounds of possible; -1: solve completely
	// SyncAfter is how long a job must run before its directory, and every directory after it,
	// is synced to disk; 0 means one second. The table is always synced.
	SyncAfter time.Duration
	// MinDrop is how many bytes of unneeded files a directory must have for them to be
	// deleted before the directory itself is; 0 means 256 KB. Only layers have such files.
	MinDrop  int64
	Report   func(Event)       // called from one goroutine at a time; may be nil
	Remember map[string]string // the options to save in the manifest, for resuming
}

// A Kind is what an Event reports.
type Kind string

// The kinds of events. Those from Resumed on have only Text and Job: a directory, or a tier of the table.
const (
	Working Kind = ""      // how far a job has come
	Begun   Kind = "begun" // a job begins
	Done    Kind = "done"  // a job is done

	Resumed Kind = "resumed" // the run continues an earlier one
	Retried Kind = "retried" // a job on a cluster, or tasks of it, have run again
	Damaged Kind = "damaged" // output of an earlier run is damaged or missing, and will be rebuilt if it is needed
	Rebuilt Kind = "rebuilt" // damaged output has been written again
	Warning Kind = "warning" // anything else that the user should know
)

// IsProgress reports whether an event of this kind describes how far the run has come.
func (k Kind) IsProgress() bool { return k == Working || k == Begun || k == Done }

// An Event reports the progress of a run, or something that has happened in it.
type Event struct {
	Kind Kind   `json:"-"`
	Text string `json:"-"` // a line for the user, "" if the event needs none

	Job     string  `json:"job"`            // the directory that is written, e.g. data_first3
	Step    string  `json:"step"`           // a step name of package step
	Tier    int     `json:"tier"`           // the tier that is written
	Pass    int     `json:"pass,omitempty"` // the number of the pass over it, see step.Stage
	Tiers   int     `json:"tiers"`          // the last tier of the game
	Done    bool    `json:"done"`           // whether the job is finished; false: it is running
	Share   float64 `json:"share"`          // completed fraction of the run, 0 to 1: a third is that of the forward jobs, by slots (blocks) or tiers, the rest by records of data_first; during final, the last job, of final alone
	Elapsed float64 `json:"elapsed"`        // seconds since the run began
	Left    float64 `json:"left"`           // estimated seconds to the end, 0 if unknown

	// The following fields are set when Done.

	Seconds float64 `json:"seconds,omitempty"` // duration of the job
	runner.Stats

	// The following fields are only set for a job that runs on a cluster.

	Map      float64 `json:"map,omitempty"`      // completed fractions of the map and the reduce side, 0 to 1
	Reduce   float64 `json:"reduce,omitempty"`   //
	State    string  `json:"state,omitempty"`    // see runner.Progress
	Tracking string  `json:"tracking,omitempty"` // the URL of the job's page
}

// Place returns what the job writes: its tier, of the number of tiers, and its pass, as in "tier 3 of 15, pass 12".
func (e Event) Place() string {
	var parts []string
	if e.Tiers > 0 || e.Pass == 0 {
		parts = append(parts, fmt.Sprintf("tier %d of %d", e.Tier, e.Tiers))
	}
	if e.Pass > step.TiesPass {
		parts = append(parts, fmt.Sprintf("ties, pass %d", e.Pass-step.TiesPass))
	} else if e.Pass > 0 {
		parts = append(parts, fmt.Sprintf("pass %d", e.Pass))
	}
	return strings.Join(parts, ", ")
}

// TimeLeft formats the time that the run will still take.
func (e Event) TimeLeft() string {
	return numfmt.Seconds(math.Round(e.Left))
}

// A Result is the outcome of a run.
type Result struct {
	Solved    bool       // false if --until-tier ended the run
	Before    bool       // an earlier run had already solved it
	Value     string     // of the initial position
	Start     game.Value // Value as a number
	Positions uint64     // the number of positions, including the initial position
	Final     bool       // whether the text of all positions exists
	Tiers     []int64    // positions by tier, up to that of --until-tier
	Wall      time.Duration
}

// A run executes jobs, reports their progress, and knows which directories are complete.
type run struct {
	Options
	g      game.Game
	method runner.Method
	data   *store.Data
	begun  time.Time
	last   int     // the last tier
	stored bool    // jobs compute only the positions that the table stores; otherwise all, of which the table drops the others
	nodes  []*node // in the order in which they run

	table         *store.Seal // lists the tiers that are in the table
	tableComplete bool        // an earlier run has completed the table

	done, before float64 // the work that has been done, of work; that of earlier runs
	result       Result

	journal *journal
	failed  string    // the attempt of the job that failed
	jobAt   time.Time // when the current job began
	size    int64     // bytes of the directory that was committed last

	reporting sync.Mutex      // guards Report and broken
	broken    map[string]bool // what has been reported as damaged, and is not rebuilt yet

	seals  map[string]*store.Seal // of the directories that have been checked; nil: not complete
	damage map[string]error       // why a directory is not complete
	warned bool                   // the user has been warned that a directory is missing
}

// Run solves the game in a data directory, continuing where an earlier run stopped.
func Run(ctx context.Context, data *store.Data, g game.Game, o Options) (Result, error) {
	r := newRun(data, g, o)
	r.journal = openJournal(data)
	stop := r.journal.beat(func(err error) {
		r.reporting.Lock()
		defer r.reporting.Unlock()
		r.warnJournal(err)
	})
	err := r.solve(ctx)
	stop()
	err = data.Cause(err)
	r.result.Wall = time.Since(r.begun)
	state := Solved
	switch {
	case ctx.Err() != nil || err == nil && !r.result.Solved:
		state = Stopped
	case err != nil:
		state = Failed
	}
	if end := r.endJournal(state, err); err == nil {
		err = data.Cause(end)
	}
	return r.result, err
}

// newRun returns a run without a journal.
func newRun(data *store.Data, g game.Game, o Options) *run {
	r := &run{Options: o, g: g, method: method.Of(g), data: data, begun: time.Now(), last: game.LastTier(g),
		table: &store.Seal{Game: data.Game, Job: table.Dir},
		seals: make(map[string]*store.Seal), damage: make(map[string]error), broken: make(map[string]bool)}
	_, stored := o.Runner.(runner.StoredRunner)
	r.stored = stored && !o.KeepAll
	return r
}

// endJournal writes into the journal how the run ended. On a full disk, it deletes for that what the job that failed has
// written, and if that is not enough, the old journal.
func (r *run) endJournal(state string, err error) error {
	end := r.journal.end(state, err)
	if errors.Is(end, system.ErrDiskFull) && r.data.RemoveAttempt(r.failed) == nil {
		end = r.journal.end(state, err)
	}
	if errors.Is(end, system.ErrDiskFull) && r.data.FS.RemoveAll(r.data.Dir(store.JournalFile)) == nil {
		end = r.journal.end(state, err)
	}
	return end
}

// Check returns an error if the game cannot be solved on any machine.
func Check(g game.Game) error {
	if n := g.Info().Vast; n > 0 {
		return fmt.Errorf("%s: about %.2g positions are too many to solve; play and search it", g.Spec(), n)
	}
	if !g.Values().TiesSoon && !game.IsAcyclic(g) {
		return fmt.Errorf("%s: it has tiers with inner moves, so that of several ties players must prefer the nearest", g.Spec())
	}
	return game.CheckLength(g)
}

// solve solves the game with the method for its kind.
func (r *run) solve(ctx context.Context) (err error) {
	if err := Check(r.g); err != nil {
		return err
	}
	r.newNodes()
	if r.data.Resumed {
		r.report(Event{Kind: Resumed})
		if err := r.resumeTable(ctx); err != nil {
			return err
		}
	}
	if r.KeepAll { // its directories are results, too
		if err := r.data.EnableSync(); err != nil {
			return err
		}
	}
	if err := r.data.Remember(r.Remember); err != nil {
		return err
	}
	if err := r.runJobs(ctx); err != nil {
		return err
	}
	if r.UntilTier >= 0 {
		return nil
	}
	return r.end(ctx)
}

// execute runs a job of a node; nil: the final job. finish must commit the job's directory. A job whose result is lost runs once
// more.
func (r *run) execute(ctx context.Context, job *runner.Job, n *node, finish func(runner.Stats) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stats, err := r.runJob(ctx, job, n)
	if errors.Is(err, runner.ErrAgain) {
		r.report(Event{Kind: Retried, Job: job.Name, Text: err.Error()})
		if err = r.data.RemoveAttempt(job.Output); err == nil {
			stats, err = r.runJob(ctx, job, n)
			stats.Retries++
		}
	}
	if err == nil && time.Since(r.jobAt) > cmp.Or(r.SyncAfter, syncAfter) {
		err = r.data.EnableSync()
	}
	if err == nil {
		err = finish(stats)
	}
	if err != nil {
		r.failed = job.Output
		return fmt.Errorf("%s: %w", job.Name, err)
	}
	e := r.event(job, n, 1)
	if stats.Retries > 0 {
		r.report(Event{Kind: Retried, Job: job.Name})
	}
	stats.Size = r.size
	e.Kind, e.Done, e.Stats, e.Seconds = Done, true, stats, time.Since(r.jobAt).Seconds()
	r.report(e)
	r.rebuilt(job.Name)
	if job.Table {
		r.rebuilt(table.TierFile(job.Tier))
	}
	return nil
}

// runJob runs a job: it provides the output directory, and reports progress.
func (r *run) runJob(ctx context.Context, job *runner.Job, n *node) (stats runner.Stats, err error) {
	r.warnRerun(job.Name)
	// No earlier: a run without a job writes no file that an earlier program cannot read.
	if err := r.data.Remember(r.Remember, r.method.Needs()...); err != nil {
		return stats, err
	}
	if job.Output, err = r.data.Attempt(job.Name); err != nil {
		return stats, err
	}
	job.Method, job.FS, job.Reducers, job.Combine = r.method, r.data.FS, r.Reducers, r.Combine
	if job.Step != step.Final {
		job.Stored = r.stored
	}
	r.jobAt = time.Now()
	job.Progress = func(p runner.Progress) {
		e := r.event(job, n, p.Share)
		e.Map, e.Reduce, e.State, e.Tracking = p.Map, p.Reduce, p.State, p.Tracking
		r.report(e)
	}
	begun := r.event(job, n, 0)
	begun.Kind = Begun
	r.report(begun)
	return r.Runner.Run(ctx, job)
}

// work is the sum of the weights of all nodes.
const work = 3

// event returns an Event for a job of a node that has completed a share of its work. The final job, which runs after those of
// all nodes, has a share of its own.
func (r *run) event(job *runner.Job, n *node, share float64) Event {
	e := Event{Job: job.Name, Step: job.Step, Tier: job.Tier, Pass: job.Pass, Tiers: r.last, Elapsed: time.Since(r.begun).Seconds()}
	if n == nil {
		if e.Share = share; share > 0 {
			e.Left = time.Since(r.jobAt).Seconds() * (1 - share) / share
		}
		return e
	}
	before, own := n.progress(job.Step)
	done := r.done + (before+share*own)*n.weight
	e.Share = min(1, done/work)
	if now := done - r.before; now > 0.001*work { // with less done, the start of a job would distort the estimate
		e.Left = max(0, e.Elapsed*(work-done)/now)
	}
	return e
}

// report passes an event to Options.Report and to the journal.
func (r *run) report(e Event) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	if e.Kind == Damaged {
		r.broken[e.Job] = true
	}
	if r.Report != nil {
		r.Report(e)
	}
	if err := r.journal.note(e); err != nil {
		r.warnJournal(err)
	}
}

// warnJournal reports that the journal cannot be written. The caller has locked reporting.
func (r *run) warnJournal(err error) {
	if r.Report != nil {
		r.Report(Event{Kind: Warning, Text: fmt.Sprintf("%v: until it can be written, driver status shows an earlier state of the run", err)})
	}
}

// reportDamage reports that the output of a job, or a file of the table, is damaged or missing.
func (r *run) reportDamage(name, format string, args ...any) {
	r.report(Event{Kind: Damaged, Job: name, Text: fmt.Sprintf(format, args...)})
}

// rebuilt reports that output has been written again, if it has been reported as damaged.
func (r *run) rebuilt(name string) {
	r.reporting.Lock()
	damaged := r.broken[name]
	delete(r.broken, name)
	r.reporting.Unlock()
	if damaged {
		r.report(Event{Kind: Rebuilt, Job: name})
	}
}

// end looks up the value of the initial position, and writes the course's text if requested.
func (r *run) end(ctx context.Context) error {
	value, err := r.lookUp()
	if err != nil {
		return err
	}
	r.result.Solved, r.result.Before, r.result.Start, r.result.Value = true, r.tableComplete, value, r.g.Values().Text(value)
	for tier := range r.last + 1 {
		n, _ := r.tabled(tier)
		r.result.Positions += n
	}
	wanted, err := r.wantsFinal(ctx)
	if err == nil && wanted {
		job := &runner.Job{Name: FinalDir, Step: step.Final}
		r.setFinal(job)
		err = r.execute(ctx, job, nil, func(stats runner.Stats) error { return r.commit(job, stats.Records, nil) })
		if errors.Is(err, system.ErrDiskFull) {
			err = fmt.Errorf("%w: the table is complete; --resume --final no ends without this text", err)
		}
	}
	if err != nil || r.KeepAll {
		return err
	}
	return r.clean()
}

// setFinal makes a job read the files of the table.
func (r *run) setFinal(job *runner.Job) {
	job.Tier = r.last
	most := uint64(0)
	for tier := range r.last + 1 {
		name := r.data.Dir(table.TierFile(tier))
		if tier > 0 || game.Listed(r.g, r.g.Start()) {
			job.Input = append(job.Input, name)
		}
		if n, _ := r.tabled(tier); n > most {
			most, job.BordersFrom = n, name
		}
	}
}

// lookUp returns the value of the initial position.
func (r *run) lookUp() (game.Value, error) {
	t, err := table.OpenOf(r.data.FS, r.data.Path, r.g)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	value, ok, err := t.Lookup(r.g.Start())
	if err == nil && !ok {
		err = errors.New("table: the initial position is missing: driver solve --overwrite starts over")
	}
	return value, err
}

// clean deletes what remains of the jobs' directories.
func (r *run) clean() error {
	entries, err := r.data.FS.ReadDir(r.data.Path)
	for _, e := range entries {
		if jobName.MatchString(e.Name()) {
			err = errors.Join(err, r.remove(e.Name()))
		}
	}
	return err
}

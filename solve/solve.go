// Package solve is the loop of jobs that solves a game. It decides which job is
// next, what it reads, what may go, and where an interrupted run goes on. It knows
// neither how a runner runs a job nor what a step does. Of a tiered game:
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
// Of a game with cycles: pass after pass, until one finds nothing new.
//
//	create → mark1 → mark2 → … → solve1 → solve2 → … → ties1 → … → table → final
//
// What solve1 and ties1 read is what create and mark found finished; each pass
// else reads what the one before found.
package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/streamfmt"
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
	Codec     tierio.Codec // of those directories
	Final     Final
	UntilTier int // stop after so many rounds of PossibleMoves; -1: do not
	// SyncAfter is how long a job must have run for its directory, and all that is made
	// after it, to be synced for a power cut; 0: a second. The table always is.
	SyncAfter time.Duration
	Report    func(Event) // called from one goroutine at a time; may be nil

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
	Share   float64 `json:"share"`   // of the whole run that is done, 0 to 1, by slots
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
	Solved    bool    // false after --until-tier
	Before    bool    // solved by an earlier run
	Value     string  // of the start
	Positions uint64  // with the start
	Final     bool    // whether the text of all positions is there
	Tiers     []int64 // positions of the tiers that this run made going forward, by tier; -1 for others; of a game with cycles what each pass forward found
	Wall      time.Duration
}

// loop is what the loops of both kinds of games have in common.
type loop struct {
	Options
	data  *store.Data
	begun time.Time

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

// run is one run of the loop over a tiered game. Work is measured in slots.
type run struct {
	*loop
	g    game.Tiered
	last int // tier

	tables string      // the attempt in which tiers of the table are written; "" before the first
	tabled []bool      // by tier, whether an earlier run has put it into the table
	sealed bool        // an earlier run has put in all
	tiers  *store.Seal // of those that are in it
}

func first(tier int) string  { return fmt.Sprintf("data_first%d", tier) }
func second(tier int) string { return fmt.Sprintf("data_second%d", tier) }

// values is the directory with the values of a tier: in the last one every
// position is finished.
func (r *run) values(tier int) string {
	if tier == r.last {
		return first(tier)
	}
	return second(tier)
}

// Run solves the game in a data directory, from where an earlier run stopped.
func Run(ctx context.Context, data *store.Data, g game.Game, o Options) (Result, error) {
	l := &loop{Options: o, data: data, begun: time.Now(), journal: openJournal(data),
		seals: make(map[string]*store.Seal), damage: make(map[string]error)}
	stop := l.journal.beat()
	err := l.solve(ctx, g)
	stop()
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
	if err := game.CheckLength(g); err != nil {
		return err
	}
	switch g := g.(type) {
	case game.Tiered:
	case game.Cyclic:
		if n := game.Ranges(g); n > maxRanges {
			return fmt.Errorf("%s: its positions are %d ranges, at most %d can be solved", g.Spec(), n, maxRanges)
		}
	default:
		return game.UnknownKind(g)
	}
	return nil
}

// solve chooses the loop: the one place in which the two kinds of games part.
func (l *loop) solve(ctx context.Context, g game.Game) error {
	if err := Check(g); err != nil {
		return err
	}
	switch g := g.(type) {
	case game.Tiered:
		r := &run{loop: l, g: g, last: g.Tiers()}
		for tier := range r.last + 1 {
			r.work += 2 * g.Slots(tier)
			r.result.Tiers = append(r.result.Tiers, -1)
		}
		return r.run(ctx)
	case game.Cyclic:
		return newCyclicRun(l, g).run(ctx)
	}
	return game.UnknownKind(g)
}

func (r *run) run(ctx context.Context) error {
	if err := r.lookOver(ctx); err != nil {
		return err
	}
	if err := r.data.Remember(r.Remember); err != nil {
		return err
	}
	until := r.last
	if r.UntilTier >= 0 {
		until = min(until, r.UntilTier)
	}
	if err := r.forward(ctx, until); err != nil {
		return err
	}
	if r.UntilTier >= 0 {
		return r.count(ctx, until)
	}
	if err := r.backward(ctx); err != nil {
		return err
	}
	if err := r.final(ctx); err != nil {
		return err
	}
	return r.clean()
}

// lookOver looks for the tiers that an earlier run has put into the table.
func (r *run) lookOver(ctx context.Context) (err error) {
	r.tabled = make([]bool, r.last+1)
	r.tiers = &store.Seal{Game: r.data.Game, Job: table.Dir}
	if !r.data.Resumed {
		return nil
	}
	if r.sealed, err = r.wholeTable(ctx); err != nil {
		return err
	}
	if r.sealed {
		for tier := range r.tabled {
			r.tabled[tier] = true
		}
		return r.canKeep(ctx)
	}
	there, err := store.ReadSealFile(r.data.FS, r.data.Dir(filepath.Join(table.Dir, tiersSeal)))
	switch {
	case err == nil && there.Game == r.data.Game:
		for _, f := range there.Files {
			if err := r.takeTier(ctx, f); err != nil {
				return err
			}
		}
	case err != nil && !tierio.Damaged(err):
		return err
	case !errors.Is(err, fs.ErrNotExist):
		r.warn("%s is not as it was written: the table is made again", r.data.Dir(filepath.Join(table.Dir, tiersSeal)))
	}
	return r.canKeep(ctx)
}

// takeTier takes a tier that an earlier run has put into the table. One that is
// damaged is taken out.
func (r *run) takeTier(ctx context.Context, f store.SealedFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for tier := range r.tabled {
		name := table.TierFile(r.g, tier)
		if filepath.Base(name) != f.Name {
			continue
		}
		switch err := tierio.CheckFile(r.data.FS, r.data.Dir(name), &f); {
		case err == nil:
			r.tabled[tier] = true
			r.tiers.Files = append(r.tiers.Files, f)
		case tierio.Damaged(err):
			r.warn("%v: made again", err)
			return r.data.Remove(name)
		default:
			return err
		}
	}
	return nil
}

// canKeep refuses a LateKeep that cannot be met any more.
func (r *run) canKeep(ctx context.Context) error {
	if !r.LateKeep || !r.KeepAll {
		return nil
	}
	for tier := range r.last + 1 {
		for _, name := range []string{first(tier), second(tier)} {
			needed := r.tabled[tier] && (name == first(tier) || tier < r.last)
			if err := r.canKeepDir(ctx, name, needed); err != nil {
				return err
			}
		}
	}
	return nil
}

// forward runs InitFirst and PossibleMoves until a tier, as far as somebody needs
// what they make.
func (r *run) forward(ctx context.Context, until int) error {
	needed := make([]bool, r.last+2)
	for tier := until; tier >= 0; tier-- {
		switch whole, err := r.wholeAfter(ctx, tier, needed[tier+1]); {
		case err != nil:
			return err
		case !whole: // the next is to be made from it
			needed[tier] = true
		case r.tabled[tier]:
		case r.UntilTier >= 0 || tier == r.last:
			needed[tier] = true
		default:
			solved, err := r.whole(ctx, second(tier))
			if err != nil {
				return err
			}
			needed[tier] = !solved
		}
	}
	for tier := range r.last + 1 {
		if !needed[tier] {
			r.skip(r.g.Slots(tier))
			continue
		}
		job := runner.Job{Work: runner.Work{Name: first(tier), Step: step.Possible}, Tier: tier}
		if tier == 0 {
			job.Step = step.Init
			job.Input = []string{r.data.Dir(seedFile)}
		} else {
			job.Input = []string{r.data.Dir(first(tier - 1))}
		}
		if err := r.job(ctx, &job, r.g.Slots(tier)); err != nil {
			return err
		}
	}
	return nil
}

// wholeAfter reports whether the positions of the tier after this one are there, or
// not needed.
func (r *run) wholeAfter(ctx context.Context, tier int, needed bool) (bool, error) {
	if !needed {
		return true, nil
	}
	return r.whole(ctx, first(tier+1))
}

// count counts the tiers that earlier runs made: in the table, where they are
// solved already.
func (r *run) count(ctx context.Context, until int) error {
	for tier := range until + 1 {
		if !r.tabled[tier] {
			seal, err := r.sealOf(ctx, first(tier))
			if err != nil {
				return err
			}
			r.result.Tiers[tier] = int64(seal.Records())
			continue
		}
		f, err := tierio.Seal(r.data.FS, r.data.Dir(table.TierFile(r.g, tier)))
		if err != nil {
			return err
		}
		r.result.Tiers[tier] = int64(f.Records)
	}
	return nil
}

// backward runs SolveMoves from the last tier to the start. A tier is put into
// the table while the job of the next one runs: both read its values and neither
// needs the other.
func (r *run) backward(ctx context.Context) error {
	tabling := make(chan error, 1) // the outcome for the tier before
	tabling <- nil
	for tier := r.last; tier >= 0; tier-- {
		err := r.solveTier(ctx, tier)
		if tabled := <-tabling; err == nil {
			err = tabled
		}
		if err != nil {
			return err
		}
		go func() { tabling <- r.tableAndRemove(tier) }()
	}
	if err := <-tabling; err != nil || r.sealed {
		return err
	}
	return r.sealTable()
}

// solveTier runs SolveMoves of a tier, unless it has its values.
func (r *run) solveTier(ctx context.Context, tier int) error {
	if r.tabled[tier] || tier == r.last {
		r.skip(r.g.Slots(tier))
		return nil
	}
	job := runner.Job{Tier: tier, Parents: r.data.Dir(first(tier)), Work: runner.Work{
		Name: r.values(tier), Step: step.Solve, Input: []string{r.data.Dir(r.values(tier + 1))}}}
	if r.tabled[tier+1] { // then the directory may be gone
		switch whole, err := r.whole(ctx, r.values(tier+1)); {
		case err != nil:
			return err
		case !whole:
			job.Input = []string{r.data.Dir(table.TierFile(r.g, tier+1))}
		}
	}
	return r.job(ctx, &job, r.g.Slots(tier))
}

// sealTable makes the table whole, in which all tiers are and nothing else is to be.
func (r *run) sealTable() error {
	entries, err := r.data.FS.ReadDir(r.data.Dir(table.Dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != tiersSeal && r.tiers.File(e.Name()) == nil {
			if err := r.data.Remove(filepath.Join(table.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	// Its tiers may have been made before anything was worth to be synced.
	if err := r.data.Last(); err != nil {
		return err
	}
	if err := r.tiers.Sync(r.data.FS, r.data.Dir(table.Dir)); err != nil {
		return err
	}
	if err := r.tiers.Replace(r.data.FS, r.data.Dir(table.Dir), store.Success); err != nil {
		return err
	}
	return r.data.Remove(filepath.Join(table.Dir, tiersSeal))
}

// tableAndRemove puts a tier into the table, and lets the directories go that
// nothing needs any more.
func (r *run) tableAndRemove(tier int) error {
	if !r.tabled[tier] {
		if err := r.table(tier, r.values(tier)); err != nil {
			return fmt.Errorf("%s: %w", table.TierFile(r.g, tier), err)
		}
	}
	if r.KeepAll || tier == r.last {
		return nil
	}
	for _, name := range []string{r.values(tier + 1), first(tier)} {
		if err := r.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// table writes a tier's file of the table from the directory with its values.
func (r *run) table(tier int, from string) error {
	in, err := tierio.Open(r.data.FS, r.data.Dir(from), r.g, tier)
	if err != nil {
		return err
	}
	defer in.Close()
	if n := in.Counts()[streamfmt.Open]; n > 0 {
		return fmt.Errorf("%s: %d positions have no value", from, n)
	}
	if r.tables == "" {
		if err := r.data.FS.MkdirAll(r.data.Dir(table.Dir)); err != nil {
			return err
		}
		if err := r.data.FS.Sync(r.data.Path); err != nil {
			return err
		}
		if r.tables, err = r.data.Attempt(table.Dir); err != nil {
			return err
		}
	}
	name := filepath.Join(r.tables, filepath.Base(table.TierFile(r.g, tier)))
	out, err := r.data.FS.Create(name)
	if err != nil {
		return err
	}
	w := tierio.NewWriter(out, r.g, tier, tierio.Blocks)
	if err := w.Finish(w.AppendTier(in), out); err != nil {
		return err
	}
	if err := r.data.CommitFile(name, table.TierFile(r.g, tier)); err != nil {
		return err
	}
	f, err := tierio.Seal(r.data.FS, r.data.Dir(table.TierFile(r.g, tier)))
	if err != nil {
		return err
	}
	r.tiers.Files = append(r.tiers.Files, f)
	slices.SortFunc(r.tiers.Files, func(a, b store.SealedFile) int { return strings.Compare(a.Name, b.Name) })
	return r.tiers.Replace(r.data.FS, r.data.Dir(table.Dir), tiersSeal)
}

// final counts the table and writes the course's text, if it is wanted.
func (r *run) final(ctx context.Context) error {
	t, err := table.OpenOf(r.data.FS, r.data.Path, r.g)
	if err != nil {
		return err
	}
	defer t.Close()
	job := runner.Job{Work: runner.Work{Name: FinalDir, Step: step.Final}, Tier: r.last}
	for tier := 1; tier <= r.last; tier++ {
		job.Input = append(job.Input, r.data.Dir(table.TierFile(r.g, tier)))
	}
	if r.result.Positions, err = t.Positions(); err != nil {
		return err
	}
	r.result.Solved, r.result.Before = true, r.sealed
	value, ok, err := t.Lookup(r.g.Start())
	if err == nil && !ok {
		err = errNoStart
	}
	if err != nil {
		return err
	}
	r.result.Value = r.g.Values().Text(value)
	if wanted, err := r.wantsFinal(ctx); err != nil || !wanted {
		return err
	}
	return r.job(ctx, &job, 0)
}

// errNoStart is of a table in which the position before the first move is not.
var errNoStart = errors.New("table: the start is missing: driver solve --overwrite begins anew")

// clean removes what is left over.
func (r *run) clean() error {
	var err error
	if r.tables != "" {
		err = r.data.FS.RemoveAll(r.tables)
	}
	if r.KeepAll {
		return err
	}
	entries, listed := r.data.FS.ReadDir(r.data.Path)
	err = errors.Join(err, listed)
	for _, e := range entries {
		for tier := range r.last + 1 {
			if name := e.Name(); name == first(tier) || name == second(tier) {
				err = errors.Join(err, r.remove(name))
			}
		}
	}
	return errors.Join(err, r.data.FS.RemoveAll(r.data.Dir(seedFile)))
}

// job runs a job unless its directory is whole; slots is its share of the work.
func (r *run) job(ctx context.Context, job *runner.Job, slots float64) error {
	if whole, err := r.whole(ctx, job.Name); err != nil || whole {
		r.skip(slots)
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	job.Game = r.g
	err := r.begin(&job.Work, step.Init, func(p runner.Progress) Event { return r.event(job, r.done+p.Share*slots) })
	if err != nil {
		return fmt.Errorf("%s: %w", job.Name, err)
	}
	stats, err := r.Runner.Run(ctx, job)
	if err == nil {
		err = r.commit(&job.Work, stats.Records)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", job.Name, err)
	}
	r.done += slots
	if job.Step == step.Init || job.Step == step.Possible {
		r.result.Tiers[job.Tier] = stats.Records
	}
	e := r.event(job, r.done)
	e.Done, e.Stats = true, stats
	r.report(e)
	return nil
}

// begin readies a job or a pass for the runner: with a directory to write in, with
// the seed if its step is the one that reads it, and with news as event makes it.
func (l *loop) begin(w *runner.Work, seeded string, event func(runner.Progress) Event) error {
	l.again(w.Name)
	if err := l.attempt(w); err != nil {
		return err
	}
	w.FS, w.Reducers, w.Combine, w.Codec = &tierio.SumFS{FS: l.data.FS}, l.Reducers, l.Combine, l.Codec
	switch w.Step {
	case seeded:
		if err := l.data.WriteFile(seedFile, []byte("start\n")); err != nil {
			return err
		}
	case step.Final:
		w.Codec = tierio.Text
	}
	l.jobAt = time.Now()
	w.Progress = func(p runner.Progress) {
		e := event(p)
		e.Map, e.Reduce, e.Tracking = p.Map, p.Reduce, p.Tracking
		l.report(e)
	}
	w.Progress(runner.Progress{})
	return nil
}

// attempt gives a job the directory to write in. The first job of a run may be at
// work already, for a driver that has died.
func (l *loop) attempt(w *runner.Work) (err error) {
	if !l.looked {
		l.looked = true
		kept, err := l.data.Attempts(w.Name)
		if err != nil {
			return err
		}
		if len(kept) > 0 {
			w.Output, w.Adopted = kept[0], true
			return nil
		}
	}
	w.Output, err = l.data.Attempt(w.Name)
	return err
}

// skip counts work that an earlier run has done.
func (r *run) skip(slots float64) {
	r.done += slots
	r.before += slots
}

// event is news of a job, with so many slots done of the run.
func (r *run) event(job *runner.Job, done float64) Event {
	e := r.loop.event(job.Name, job.Step, done)
	e.Tier, e.Tiers = job.Tier, r.last
	return e
}

// event is news of a job with so much done of the run's work.
func (l *loop) event(job, step string, done float64) Event {
	e := Event{Job: job, Step: step, Share: min(1, done/l.work), Elapsed: time.Since(l.begun).Seconds()}
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

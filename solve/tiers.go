package solve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/table"
)

// run is one run of the loop over a game with tiers.
type run struct {
	*loop
	method
	g    game.Acyclic
	last int // tier

	tables string      // the attempt in which tiers of the table are written; "" before the first
	tabled []bool      // by tier, whether an earlier run has put it into the table
	sealed bool        // an earlier run has put in all
	tiers  *store.Seal // of those that are in it

	unsaved []int     // tiers that the seal on disk does not have yet, descending
	savedAt time.Time // when it was written
}

// tiersEvery is how often the seal of the tiers is written: of small tiers there are
// many a second, and it names them all.
const tiersEvery = 100 * time.Millisecond

// A method is how the tiers of a game are solved: by blocks or by lists. It says what
// a job reads, and what is needed no more.
type method interface {
	// weight is how much of the work of the run a job of a tier is.
	weight(step string, tier int) float64
	// needed reports, by tier, which of data_first0 to that of the tier until somebody
	// needs; what is there, and is not to be made again, stays.
	needed(ctx context.Context, until int) ([]bool, error)
	// setPossible says what the job of data_first of a tier after 0 reads; made lets go
	// what nobody needs once that is there, or need not be.
	setPossible(ctx context.Context, job *runner.Job) error
	made(ctx context.Context, tier int) error
	// setSolve says what the job of data_second of a tier reads; ok is false if the
	// tier needs none.
	setSolve(ctx context.Context, job *runner.Job) (ok bool, err error)
	// write writes the values of a tier as a file of the table.
	write(out io.WriteCloser, tier int) error
	// letGo removes what nobody needs once a tier is in the table.
	letGo(tier int) error
	// positions is how many positions a tier has that is not in the table.
	positions(ctx context.Context, tier int) (int64, error)
	// canKeep wants that to be there of a tier, in the form asked for, which --keep all
	// keeps.
	canKeep(ctx context.Context, tier int) error
}

func first(tier int) string  { return fmt.Sprintf("data_first%d", tier) }
func second(tier int) string { return fmt.Sprintf("data_second%d", tier) }

func newRun(l *loop, g game.Acyclic) *run {
	r := &run{loop: l, g: g, last: g.Tiers()}
	for range r.last + 1 {
		r.result.Tiers = append(r.result.Tiers, -1)
	}
	return r
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
		r.tiers, err = r.sealOf(ctx, table.Dir)
		return errors.Join(err, r.canKeepAll(ctx))
	}
	there, err := store.ReadSealFile(r.data.FS, r.data.Dir(filepath.Join(table.Dir, tiersSeal)))
	switch {
	case err == nil && there.Game == r.data.Game:
		for _, f := range there.Files {
			if err := r.takeTier(ctx, f); err != nil {
				return err
			}
		}
	case err != nil && !jobdir.Damaged(err):
		return err
	case !errors.Is(err, fs.ErrNotExist):
		r.warn("%s is not as it was written: the table is made again", r.data.Dir(filepath.Join(table.Dir, tiersSeal)))
	}
	return r.canKeepAll(ctx)
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
		switch err := jobdir.CheckFile(r.data.FS, r.data.Dir(name), &f); {
		case err == nil:
			r.tabled[tier] = true
			r.tiers.Files = append(r.tiers.Files, f)
		case jobdir.Damaged(err):
			r.warn("%v: made again", err)
			return r.data.Remove(name)
		default:
			return err
		}
	}
	return nil
}

// canKeepAll refuses a LateKeep that cannot be met any more.
func (r *run) canKeepAll(ctx context.Context) error {
	if !r.LateKeep || !r.KeepAll {
		return nil
	}
	for tier := range r.last + 1 {
		if err := r.canKeep(ctx, tier); err != nil {
			return err
		}
	}
	return nil
}

// forward runs InitFirst and PossibleMoves until a tier, as far as somebody needs
// what they make.
func (r *run) forward(ctx context.Context, until int) error {
	needed, err := r.needed(ctx, until)
	if err != nil {
		return err
	}
	for tier := range r.last + 1 {
		job := runner.Job{Work: runner.Work{Name: first(tier), Step: step.Possible}, Tier: tier}
		if tier > until || !needed[tier] {
			r.skip(&job)
		} else if err := r.possibleTier(ctx, &job); err != nil {
			return err
		}
		if tier <= until {
			if err := r.made(ctx, tier); err != nil {
				return err
			}
		}
	}
	return nil
}

// possibleTier runs PossibleMoves of a tier; of tier 0, InitFirst.
func (r *run) possibleTier(ctx context.Context, job *runner.Job) error {
	if job.Tier == 0 {
		job.Step = step.Init
		job.Input = []string{r.data.Dir(seedFile)}
	} else if err := r.setPossible(ctx, job); err != nil {
		return err
	}
	return r.job(ctx, job)
}

// count counts the tiers that earlier runs made.
func (r *run) count(ctx context.Context, until int) (err error) {
	for tier := range until + 1 {
		switch {
		case r.result.Tiers[tier] >= 0:
		case r.tabled[tier]:
			r.result.Tiers[tier] = int64(r.inTable(tier).Records)
		default:
			if r.result.Tiers[tier], err = r.positions(ctx, tier); err != nil {
				return err
			}
		}
	}
	return nil
}

// inTable is the file of a tier that is in the table.
func (r *run) inTable(tier int) *store.SealedFile {
	return r.tiers.File(filepath.Base(table.TierFile(r.g, tier)))
}

// backward runs SolveMoves from the last tier to the start. A tier is put into
// the table while the job of the next one runs: both read its values and neither
// needs the other.
func (r *run) backward(ctx context.Context) error {
	tabling := make(chan error, 1) // the outcome for the tier before
	tabling <- nil
	for tier := r.last; tier >= 0; tier-- {
		err := r.solveTier(ctx, tier)
		tabled := <-tabling
		switch {
		case err != nil && tabled == nil:
			return errors.Join(err, r.saveTiers())
		case err != nil:
			return err
		case tabled != nil:
			return tabled
		}
		go func() { tabling <- r.tableAndLetGo(tier) }()
	}
	if err := <-tabling; err != nil || r.sealed {
		return err
	}
	return r.sealTable()
}

// solveTier runs SolveMoves of a tier, unless it has its values.
func (r *run) solveTier(ctx context.Context, tier int) error {
	job := runner.Job{Tier: tier, Parents: r.data.Dir(first(tier)), Work: runner.Work{Name: second(tier), Step: step.Solve}}
	ok, err := r.setSolve(ctx, &job)
	if err == nil && ok {
		return r.job(ctx, &job)
	}
	r.skip(&job)
	return err
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

// tableAndLetGo puts a tier into the table, and lets go what nothing needs any more.
func (r *run) tableAndLetGo(tier int) error {
	if !r.tabled[tier] {
		if err := r.table(tier); err != nil {
			return fmt.Errorf("%s: %w", table.TierFile(r.g, tier), err)
		}
	}
	r.unsaved = append(r.unsaved, tier)
	if tier > 0 && time.Since(r.savedAt) < tiersEvery {
		return nil
	}
	if err := r.saveTiers(); err != nil {
		return err
	}
	for _, tier := range r.unsaved {
		if r.KeepAll {
			break
		}
		if err := r.letGo(tier); err != nil {
			return err
		}
	}
	r.unsaved, r.savedAt = r.unsaved[:0], time.Now()
	return nil
}

// saveTiers writes the seal of the tiers that are in the table.
func (r *run) saveTiers() error {
	if r.tables == "" {
		return nil // an earlier run has put in all
	}
	slices.SortFunc(r.tiers.Files, func(a, b store.SealedFile) int { return strings.Compare(a.Name, b.Name) })
	return r.tiers.Replace(r.data.FS, r.data.Dir(table.Dir), tiersSeal)
}

// table writes a tier's file of the table.
func (r *run) table(tier int) (err error) {
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
	if err := r.write(out, tier); err != nil {
		return err
	}
	if err := r.data.CommitFile(name, table.TierFile(r.g, tier)); err != nil {
		return err
	}
	f, err := jobdir.Seal(r.data.FS, r.data.Dir(table.TierFile(r.g, tier)))
	if err != nil {
		return err
	}
	r.tiers.Files = append(r.tiers.Files, f)
	return nil
}

// final counts the table and writes the course's text, if it is wanted.
func (r *run) final(ctx context.Context) error {
	value, err := r.lookUp()
	if err != nil {
		return err
	}
	r.result.Solved, r.result.Before, r.result.Value = true, r.sealed, value
	job := runner.Job{Work: runner.Work{Name: FinalDir, Step: step.Final}, Tier: r.last}
	most := uint64(0)
	for tier := range r.last + 1 {
		f := r.inTable(tier)
		r.result.Positions += f.Records
		name := r.data.Dir(table.TierFile(r.g, tier))
		if tier > 0 || game.Listed(r.g, r.g.Start()) {
			job.Input = append(job.Input, name)
		}
		if f.Records > most {
			most, job.Like = f.Records, name
		}
	}
	if wanted, err := r.wantsFinal(ctx); err != nil || !wanted {
		return err
	}
	return r.job(ctx, &job)
}

// lookUp is the value of the start, in words.
func (r *run) lookUp() (string, error) {
	t, err := table.OpenOf(r.data.FS, r.data.Path, r.g)
	if err != nil {
		return "", err
	}
	defer t.Close()
	value, ok, err := t.Lookup(r.g.Start())
	if err == nil && !ok {
		err = errNoStart
	}
	return r.g.Values().Text(value), err
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
	ours := make(map[string]bool)
	for tier := range r.last + 1 {
		ours[first(tier)], ours[second(tier)] = true, true
	}
	for _, e := range entries {
		if ours[e.Name()] {
			err = errors.Join(err, r.remove(e.Name()))
		}
	}
	return errors.Join(err, r.data.FS.RemoveAll(r.data.Dir(seedFile)))
}

// job runs a job unless its directory is whole.
func (r *run) job(ctx context.Context, job *runner.Job) error {
	if whole, err := r.whole(ctx, job.Name); err != nil || whole {
		r.skip(job)
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	job.Game = r.g
	weight := r.weight(job.Step, job.Tier)
	err := r.begin(&job.Work, step.Init, func(p runner.Progress) Event { return r.event(job, r.done+p.Share*weight) })
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
	r.done += weight
	if job.Step == step.Init || job.Step == step.Possible {
		r.result.Tiers[job.Tier] = stats.Records
		if stats.Positions > 0 {
			r.result.Tiers[job.Tier] = stats.Positions
		}
	}
	e := r.event(job, r.done)
	e.Done, e.Stats = true, stats
	r.report(e)
	return nil
}

// skip counts the work of a job that an earlier run has done.
func (r *run) skip(job *runner.Job) {
	weight := r.weight(job.Step, job.Tier)
	r.done += weight
	r.before += weight
}

// event is news of a job, with so much done of the work of the run.
func (r *run) event(job *runner.Job, done float64) Event {
	e := r.loop.event(job.Name, job.Step, done)
	e.Tier, e.Tiers = job.Tier, r.last
	return e
}

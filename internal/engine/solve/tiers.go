package solve

import (
	"cmp"
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
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// tiers solves a game tier by tier, forward and back.
type tiers struct {
	*loop
	records
	g game.Acyclic

	tables string      // the attempt in which tiers of the table are written; "" before the first
	tabled []bool      // by tier, whether an earlier run has put it into the table
	inIt   *store.Seal // the tiers that are in the table

	unsaved []int     // tiers that the seal on disk does not have yet, descending
	savedAt time.Time // when it was written
}

// tiersEvery is how often the seal of the tiers is written: of small tiers there are
// many a second, and it names them all.
const tiersEvery = 100 * time.Millisecond

// records are those of the tiers of a game: blocks or lists. They say what a job reads, and
// what is needed no more.
type records interface {
	// weightOf is how much of the work of the run a job of a tier is.
	weightOf(step string, tier int) float64
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
	// dirs are the directories that the jobs of a tier make.
	dirs(tier int) []string
}

func first(tier int) string  { return fmt.Sprintf("data_first%d", tier) }
func second(tier int) string { return fmt.Sprintf("data_second%d", tier) }

func newTiers(l *loop, g game.Acyclic) *tiers {
	l.last = g.Tiers()
	t := &tiers{loop: l, g: g, tabled: make([]bool, l.last+1), inIt: &store.Seal{Game: l.data.Game, Job: table.Dir}}
	for range t.tabled {
		l.result.Tiers = append(l.result.Tiers, -1)
	}
	return t
}

func (r *tiers) weight(job *runner.Job) float64 {
	if job.Step == step.Final {
		return 0
	}
	return r.weightOf(job.Step, job.Tier)
}

func (r *tiers) solve(ctx context.Context) error {
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
	return r.backward(ctx)
}

// lookOver looks for the tiers that an earlier run has put into the table.
func (r *tiers) lookOver(ctx context.Context) (err error) {
	if r.sealed {
		for tier := range r.tabled {
			r.tabled[tier] = true
		}
		r.inIt, err = r.sealOf(ctx, table.Dir)
		return err
	}
	if !r.data.Resumed {
		return nil
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
	return nil
}

// takeTier takes a tier that an earlier run has put into the table. One that is
// damaged is taken out.
func (r *tiers) takeTier(ctx context.Context, f store.SealedFile) error {
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
			r.inIt.Files = append(r.inIt.Files, f)
		case jobdir.Damaged(err):
			r.warn("%v: made again", err)
			return r.data.Remove(name)
		default:
			return err
		}
	}
	return nil
}

func (r *tiers) canKeep(ctx context.Context) error {
	for tier := range r.last + 1 {
		for _, dir := range r.dirs(tier) {
			if err := r.canKeepDir(ctx, dir, r.tabled[tier]); err != nil {
				return err
			}
		}
	}
	return nil
}

// forward runs InitFirst and PossibleMoves until a tier, as far as somebody needs
// what they make.
func (r *tiers) forward(ctx context.Context, until int) error {
	needed, err := r.needed(ctx, until)
	if err != nil {
		return err
	}
	for tier := range r.last + 1 {
		job := runner.Job{Name: first(tier), Step: step.Possible, Tier: tier}
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
func (r *tiers) possibleTier(ctx context.Context, job *runner.Job) error {
	if job.Tier == 0 {
		job.Step = step.Init
		job.Input = []string{r.data.Dir(seedFile)}
	} else if err := r.setPossible(ctx, job); err != nil {
		return err
	}
	return r.job(ctx, job)
}

// count counts the tiers that earlier runs made.
func (r *tiers) count(ctx context.Context, until int) (err error) {
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
func (r *tiers) inTable(tier int) *store.SealedFile {
	return r.inIt.File(filepath.Base(table.TierFile(r.g, tier)))
}

// backward runs SolveMoves from the last tier to the start. A tier is put into
// the table while the job of the next one runs: both read its values and neither
// needs the other.
func (r *tiers) backward(ctx context.Context) error {
	tabling := make(chan error, 1) // the outcome for the tier before
	tabling <- nil
	for tier := r.last; tier >= 0; tier-- {
		err := r.solveTier(ctx, tier)
		tabled := <-tabling
		switch {
		case err != nil && tabled == nil:
			r.saveTiers() // an error of it follows from err, as on a full disk; --resume redoes those tiers
			return err
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
func (r *tiers) solveTier(ctx context.Context, tier int) error {
	job := runner.Job{Name: second(tier), Step: step.Solve, Tier: tier, Parents: r.data.Dir(first(tier))}
	ok, err := r.setSolve(ctx, &job)
	if err == nil && ok {
		return r.job(ctx, &job)
	}
	r.skip(&job)
	return err
}

// sealTable makes the table whole, in which all tiers are and nothing else of ours.
func (r *tiers) sealTable() error {
	dir := r.data.Dir(table.Dir)
	entries, err := r.data.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if store.OwnFile(e.Name()) && e.Name() != tiersSeal && r.inIt.File(e.Name()) == nil {
			if err := r.data.Remove(filepath.Join(table.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if r.tables != "" {
		if err := r.data.FS.RemoveAll(r.tables); err != nil {
			return err
		}
	}
	// Its tiers may have been made before anything was worth to be synced.
	if err := r.data.Last(); err != nil {
		return err
	}
	if err := r.inIt.Sync(r.data.FS, dir); err != nil {
		return err
	}
	// The seal of its tiers becomes that of the table: the one or the other is there.
	if err := r.inIt.Replace(r.data.FS, dir, tiersSeal); err != nil {
		return err
	}
	if err := r.data.FS.Rename(filepath.Join(dir, tiersSeal), filepath.Join(dir, store.Success)); err != nil {
		return err
	}
	return r.data.FS.Sync(dir)
}

// tableAndLetGo puts a tier into the table, and lets go what nothing needs any more.
func (r *tiers) tableAndLetGo(tier int) error {
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
func (r *tiers) saveTiers() error {
	if r.tables == "" {
		return nil // an earlier run has put in all
	}
	slices.SortFunc(r.inIt.Files, func(a, b store.SealedFile) int { return strings.Compare(a.Name, b.Name) })
	return r.inIt.Replace(r.data.FS, r.data.Dir(table.Dir), tiersSeal)
}

// table writes a tier's file of the table.
func (r *tiers) table(tier int) (err error) {
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
	r.inIt.Files = append(r.inIt.Files, f)
	return nil
}

func (r *tiers) final(job *runner.Job) {
	job.Tier = r.last
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
}

func (r *tiers) finish(job *runner.Job, stats runner.Stats) error {
	err := r.commit(job, stats.Records)
	if err == nil && (job.Step == step.Init || job.Step == step.Possible) {
		r.result.Tiers[job.Tier] = cmp.Or(stats.Positions, stats.Records)
	}
	return err
}

func (r *tiers) ours(name string) bool {
	for tier := range r.tabled {
		if slices.Contains(r.dirs(tier), name) {
			return true
		}
	}
	return false
}

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

// tiers solves a game tier by tier: a forward pass to the last tier, then a retrograde pass.
type tiers struct {
	*loop
	records
	g game.Acyclic

	tables string      // the attempt in which tiers of the table are written; "" before the first
	tabled []bool      // by tier, whether an earlier run has put it into the table
	inIt   *store.Seal // lists the tiers that are in the table

	unsaved []int     // tiers in the table that its seal on disk does not list yet, descending
	savedAt time.Time // when the seal was last written
}

// tiersEvery is the minimum time between two writes of the seal of the table's tiers. Many
// small tiers are finished per second, and the seal lists all of them.
const tiersEvery = 100 * time.Millisecond

// records is the part of the method that depends on the record format: blocks or lists. It
// decides what a job reads and which directories can be deleted.
type records interface {
	// weightOf returns a job's part of the work of the run.
	weightOf(step string, tier int) float64
	// needed reports, for the tiers 0 to until, whether a later job needs data_first. Complete
	// directories that need not be rebuilt stay.
	needed(ctx context.Context, until int) ([]bool, error)
	// setPossible sets the input of the possible job of a tier after 0. made is called when
	// that tier's data_first exists or is not needed; it deletes what no later job needs.
	setPossible(ctx context.Context, job *runner.Job) error
	made(ctx context.Context, tier int) error
	// setSolve sets the input of the solve job of a tier; ok is false if the tier needs no
	// such job.
	setSolve(ctx context.Context, job *runner.Job) (ok bool, err error)
	// write writes the values of a tier as a file of the table.
	write(out io.WriteCloser, tier int) error
	// letGo deletes what no job needs once a tier is in the table.
	letGo(tier int) error
	// positions returns the number of positions of a tier that is not in the table.
	positions(ctx context.Context, tier int) (int64, error)
	// dirs returns the directories that the jobs of a tier write.
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

// lookOver finds the tiers that an earlier run has put into the table.
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

// takeTier reuses a tier that an earlier run has put into the table. A damaged one is deleted.
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

// forward runs InitFirst and PossibleMoves for the tiers up to until, as far as later jobs
// need their output.
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

// possibleTier runs PossibleMoves for a tier, or InitFirst for tier 0.
func (r *tiers) possibleTier(ctx context.Context, job *runner.Job) error {
	if job.Tier == 0 {
		job.Step = step.Init
		job.Input = []string{r.data.Dir(seedFile)}
	} else if err := r.setPossible(ctx, job); err != nil {
		return err
	}
	return r.job(ctx, job)
}

// count sets Result.Tiers for the tiers that earlier runs made.
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

// inTable returns the table's file of a tier, as sealed.
func (r *tiers) inTable(tier int) *store.SealedFile {
	return r.inIt.File(filepath.Base(table.TierFile(r.g, tier)))
}

// backward runs SolveMoves from the last tier to the first. While the job of a tier runs, the
// tier solved before it is written to the table: both only read its values.
func (r *tiers) backward(ctx context.Context) error {
	tabling := make(chan error, 1) // the result of writing the previous tier to the table
	tabling <- nil
	for tier := r.last; tier >= 0; tier-- {
		err := r.solveTier(ctx, tier)
		tabled := <-tabling
		switch {
		case err != nil && tabled == nil:
			r.saveTiers() // any error here is a consequence of err, e.g. a full disk; --resume redoes those tiers
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

// solveTier runs SolveMoves for a tier, unless the tier needs no such job.
func (r *tiers) solveTier(ctx context.Context, tier int) error {
	job := runner.Job{Name: second(tier), Step: step.Solve, Tier: tier, Parents: r.data.Dir(first(tier))}
	ok, err := r.setSolve(ctx, &job)
	if err == nil && ok {
		return r.job(ctx, &job)
	}
	r.skip(&job)
	return err
}

// sealTable completes the table: it deletes our other files from the directory, and seals it.
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
	// The tiers may have been written before syncs were switched on.
	if err := r.data.EnableSync(); err != nil {
		return err
	}
	if err := r.inIt.Sync(r.data.FS, dir); err != nil {
		return err
	}
	// The seal of the tiers becomes the seal of the table by a rename: one of them always
	// exists.
	if err := r.inIt.Replace(r.data.FS, dir, tiersSeal); err != nil {
		return err
	}
	if err := r.data.FS.Rename(filepath.Join(dir, tiersSeal), filepath.Join(dir, store.Success)); err != nil {
		return err
	}
	return r.data.FS.Sync(dir)
}

// tableAndLetGo writes a tier to the table, and deletes what no later job needs.
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

// saveTiers writes the seal that lists the tiers in the table.
func (r *tiers) saveTiers() error {
	if r.tables == "" {
		return nil // all tiers were put in by an earlier run
	}
	slices.SortFunc(r.inIt.Files, func(a, b store.SealedFile) int { return strings.Compare(a.Name, b.Name) })
	return r.inIt.Replace(r.data.FS, r.data.Dir(table.Dir), tiersSeal)
}

// table writes the table's file of a tier.
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

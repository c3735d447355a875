package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// The output of an earlier run is read completely before it is used: it may have been
// truncated by a crash of the machine, or changed since. Damaged output is treated as missing,
// and is rebuilt if a later job needs it.

// sealOf returns the seal of a directory; nil: the directory is not complete.
func (r *run) sealOf(ctx context.Context, name string) (*store.Seal, error) {
	if seal, known := r.seals[name]; known || !r.data.Resumed {
		return seal, nil
	}
	seal, err := jobdir.Check(ctx, r.data.FS, r.data.Dir(name), r.data.Game)
	switch {
	case err == nil:
	case jobdir.Damaged(err):
		if _, missing := r.data.FS.Stat(r.data.Dir(name)); !errors.Is(missing, fs.ErrNotExist) {
			r.damage[name] = err
		}
	default:
		return nil, err
	}
	r.seals[name] = seal
	return seal, nil
}

// checkTable reports whether the table exists and matches its seal. The seal of a damaged
// table becomes the seal of its tiers. A table of another game is an error: we must not change
// it.
func (r *run) checkTable(ctx context.Context) (bool, error) {
	dir := r.data.Dir(table.Dir)
	seal, err := store.ReadSeal(r.data.FS, dir)
	if err == nil && seal != nil && seal.Game != r.data.Game {
		return false, fmt.Errorf("%s: of another game: expected %q, found %q: move it away, --data DIR names another directory, --overwrite replaces this one", dir, r.data.Game, seal.Game)
	}
	checked, err := r.sealOf(ctx, table.Dir)
	complete := checked != nil
	if complete && !r.namesTiers(checked) {
		// A driver that was taken over in its last step has renamed the seal of the tiers of another one.
		seal, complete, r.seals[table.Dir] = checked, false, nil
	}
	if err != nil || complete {
		return complete, err
	}
	if err := r.damage[table.Dir]; err != nil && !errors.Is(err, store.ErrIncomplete) {
		r.notify(Damaged, table.Dir, "%v", err)
	}
	if errors.Is(r.damage[table.Dir], syscall.ENOTDIR) {
		return false, r.data.Remove(table.Dir)
	}
	if seal == nil {
		return false, r.data.Remove(path.Join(table.Dir, store.Success))
	}
	return false, r.data.FS.Rename(path.Join(dir, store.Success), path.Join(dir, TiersSeal))
}

// namesTiers reports whether the seal of the table names all its files.
func (r *run) namesTiers(seal *store.Seal) bool {
	for tier := range game.LastTier(r.g) + 1 {
		if len(table.TierShards(seal, tier)) == 0 {
			return false
		}
	}
	return true
}

// warnRerun warns that a step is rerun because its output is damaged. It also warns, only once per
// run, if the output of a step that has run is missing.
func (r *run) warnRerun(name string) {
	if err := r.damage[name]; err != nil {
		delete(r.damage, name)
		r.notify(Damaged, name, "%v: the job runs again", err)
	} else if r.seals[name] == nil && r.journal.ran(name) && !r.warned {
		r.warned = true
		if r.KeepAll {
			r.notify(Damaged, name, "%s is missing: the job runs again", name)
		} else {
			r.notify(Damaged, name, "%s is missing, and a later job needs it: it is made again", name)
		}
	}
}

// syncAfter is the default of Options.SyncAfter: repeating a shorter job costs less than
// waiting for the disk.
const syncAfter = time.Second

// commit seals and commits the directory of a job that has run. Its parts must have the given
// number of records.
func (r *run) commit(job *runner.Job, records int64) error {
	if job.Step == step.Final {
		if err := jobdir.NameFinal(job.FS, job.Output); err != nil {
			return err
		}
	} else if r.Lines {
		if err := job.Method.WriteLines(job); err != nil {
			return err
		}
	}
	files, err := jobdir.SealAll(job.FS, job.Output)
	if err != nil {
		return err
	}
	r.size = 0
	for _, f := range files {
		r.size += f.Length
	}
	seal := &store.Seal{Game: r.data.Game, Job: job.Name, Files: files}
	if n := seal.Records(); n != uint64(records) && !(job.OnlyTable() && n == 0) {
		return &store.DamageError{Name: job.Output, Reason: fmt.Sprintf("%s made, but %s there", numfmt.Count(records, "record"), numfmt.Count(n, "record"))}
	}
	if err := r.data.Commit(job.Output, job.Name, files); err != nil {
		return err
	}
	r.seals[job.Name] = seal
	return nil
}

// remove deletes a directory that no later job needs.
func (r *run) remove(name string) error {
	delete(r.damage, name)
	r.seals[name] = nil
	return r.data.Remove(name)
}

// syncKept syncs the directories that --keep all keeps: those of quick jobs were not synced
// when they were committed.
func (r *run) syncKept() error {
	if err := r.data.EnableSync(); err != nil {
		return err
	}
	entries, err := r.data.FS.ReadDir(r.data.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !jobName.MatchString(e.Name()) {
			continue
		}
		dir := r.data.Dir(e.Name())
		seal, err := store.ReadSeal(r.data.FS, dir)
		if store.Damaged(err) || err == nil && seal == nil {
			continue // this run does not need it: it is of a tier after --until-tier, or contains only files of the user
		}
		if err == nil {
			err = seal.Sync(r.data.FS, dir)
		}
		for _, name := range []string{path.Join(dir, store.Success), dir} {
			if err == nil {
				err = r.data.FS.Sync(name)
			}
		}
		if err != nil {
			return err
		}
	}
	return r.data.FS.Sync(r.data.Path)
}

// CheckKept verifies the directories of all jobs of a game solved with --keep all.
func CheckKept(ctx context.Context, fsys store.FS, data string, g game.Game) error {
	m := method.Of(g)
	for tier := range game.LastTier(g) + 1 {
		for _, forward := range []bool{true, false} {
			err := eachDir(m, tier, forward, func(name string, _ step.Stage) ([]int, error) {
				if _, err := jobdir.Check(ctx, fsys, path.Join(data, name), g.Spec()); err != nil {
					return nil, err
				}
				return m.Receivers(fsys, path.Join(data, name))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// wantsFinal reports whether the text of all positions must be written. It sets result.Final
// to whether the text will exist then.
func (r *run) wantsFinal(ctx context.Context) (bool, error) {
	seal, err := r.sealOf(ctx, FinalDir) // an earlier run may have written it
	if err != nil {
		return false, err
	}
	there := seal != nil
	wanted := !there && (r.Final == FinalYes || r.Final == FinalAuto && r.result.Positions <= FinalLimit)
	r.result.Final = there || wanted
	if err := r.damage[FinalDir]; err != nil && !wanted {
		r.notify(Damaged, FinalDir, "%v: it is removed", err)
		return false, r.remove(FinalDir)
	}
	return wanted, nil
}

// CheckFinal verifies the text of all positions in a data directory, if it exists.
func CheckFinal(ctx context.Context, fsys store.FS, data, game string) error {
	dir := path.Join(data, FinalDir)
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := jobdir.Check(ctx, fsys, dir, game)
	return err
}
